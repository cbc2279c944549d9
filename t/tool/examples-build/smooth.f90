! SPDX-License-Identifier: BSD-3-Clause
! The part of main.c that is Fortran.
subroutine smooth(total) bind(c)
  use, intrinsic :: iso_c_binding, only: c_int
  use vftrace
  implicit none
  integer(c_int), intent(inout) :: total

  call vftrace_region_begin("relax")
  total = total + 10
  call vftrace_region_end("relax")
end subroutine smooth
