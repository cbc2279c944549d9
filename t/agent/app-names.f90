! SPDX-License-Identifier: BSD-3-Clause
! Fortran names. Calls: names::twice 3, more::twice 2, loose 4 (a procedure
! outside any module), inner 5 (contained in outer), outer 1.
module names
  implicit none
contains
  integer function twice(x)
    integer, intent(in) :: x
    twice = 2 * x
  end function twice

  integer function outer(n)
    integer, intent(in) :: n
    integer :: i
    outer = 0
    do i = 1, n
      call inner(i)
    end do
  contains
    subroutine inner(k)
      integer, intent(in) :: k
      outer = outer + k
    end subroutine inner
  end function outer
end module names

module more
  implicit none
contains
  integer function twice(x)
    integer, intent(in) :: x
    twice = x + x
  end function twice
end module more

subroutine loose(x)
  implicit none
  integer, intent(inout) :: x
  x = x + 1
end subroutine loose

program app_names
  use names, only: twice, outer
  use more, only: other_twice => twice
  implicit none
  integer :: i, x
  external :: loose
  x = 1
  do i = 1, 3
    x = twice(x)
  end do
  do i = 1, 2
    x = other_twice(x)
  end do
  do i = 1, 4
    call loose(x)
  end do
  x = x + outer(5)
  if (x /= 51) error stop 2
end program app_names
