! SPDX-License-Identifier: BSD-3-Clause
! Fortran's side of libvftrace: `use vftrace'. See vftrace(3).
!
! Names of regions go to C as Fortran passes them, so that no copy is made and
! the call site is the caller's. Only C, and what compilers put in line, is
! called here: the library must not need the run-time library of one of them.
! Module files are a compiler's own; with another compiler than the one that
! built the library, compile this file with the program.
module vftrace
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_ptr, c_size_t
  implicit none
  private
  public :: vftrace_region_begin, vftrace_region_end
  public :: vftrace_pause, vftrace_resume, vftrace_get_stack

  ! A frame called `name', without its trailing blanks.
  interface vftrace_region_begin
    subroutine vftrace_fortran_begin(name)
      character(len=*), intent(in) :: name
    end subroutine vftrace_fortran_begin
  end interface vftrace_region_begin

  interface vftrace_region_end
    subroutine vftrace_fortran_end(name)
      character(len=*), intent(in) :: name
    end subroutine vftrace_fortran_end
  end interface vftrace_region_end

  interface
    subroutine vftrace_pause() bind(c, name="vftrace_pause")
    end subroutine vftrace_pause

    subroutine vftrace_resume() bind(c, name="vftrace_resume")
    end subroutine vftrace_resume

    function c_stack(bytes) bind(c, name="vftrace_fortran_stack") result(text)
      import :: c_ptr, c_size_t
      integer(c_size_t), intent(out) :: bytes
      type(c_ptr) :: text
    end function c_stack

    subroutine c_free(text) bind(c, name="vftrace_fortran_free")
      import :: c_ptr
      type(c_ptr), value :: text
    end subroutine c_free
  end interface

contains

  ! The call path. The caller deallocates it; not associated without memory.
  function vftrace_get_stack() result(stack)
    character(len=:), pointer :: stack
    character(kind=c_char), pointer :: from(:)
    integer(c_size_t) :: bytes, i
    integer :: failed
    type(c_ptr) :: text

    nullify(stack)
    text = c_stack(bytes)
    if (bytes == 0) return
    call c_f_pointer(text, from, [bytes])
    allocate(character(len=bytes) :: stack, stat=failed)
    if (failed == 0) then
      do i = 1, bytes
        stack(i:i) = from(i)
      end do
    end if
    call c_free(text)
  end function vftrace_get_stack
end module vftrace
