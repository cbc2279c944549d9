! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program whose profile is known: module procedures, external
! procedures, recursion, procedure arguments, assumed-shape arrays. Linked with
! app-counter-f.c; app-count FILE writes its own counts to FILE.

module counter
  use iso_c_binding, only: c_char, c_null_char
  implicit none
  interface
     subroutine c_enter(name) bind(C, name='count_enter')
       import :: c_char
       character(kind=c_char), intent(in) :: name(*)
     end subroutine
     subroutine leave() bind(C, name='count_leave')
     end subroutine
     subroutine c_write(name) bind(C, name='count_write')
       import :: c_char
       character(kind=c_char), intent(in) :: name(*)
     end subroutine
  end interface
end module counter

module work
  use counter
  implicit none
  integer :: sink = 0
contains
  subroutine leaf()
    call c_enter('work::leaf' // c_null_char)
    sink = sink + 1
    call leave()
  end subroutine leaf

  recursive function fib(n) result(r)
    integer, intent(in) :: n
    integer :: r
    call c_enter('work::fib' // c_null_char)
    if (n < 2) then
       r = n
    else
       r = fib(n - 1) + fib(n - 2)
    end if
    call leave()
  end function fib

  recursive subroutine ping(n)
    integer, intent(in) :: n
    call c_enter('work::ping' // c_null_char)
    if (n > 0) call pong(n - 1)
    call leave()
  end subroutine ping

  recursive subroutine pong(n)
    integer, intent(in) :: n
    call c_enter('work::pong' // c_null_char)
    call leaf()
    if (n > 0) call ping(n - 1)
    call leave()
  end subroutine pong

  subroutine smooth(a)
    real, intent(inout) :: a(:)
    integer :: i
    call c_enter('work::smooth' // c_null_char)
    do i = 2, size(a) - 1
       a(i) = 0.5 * (a(i - 1) + a(i + 1))
       if (mod(i, 10) == 0) call leaf()
    end do
    call leave()
  end subroutine smooth

  subroutine apply(f, n)
    interface
       subroutine f()
       end subroutine f
    end interface
    integer, intent(in) :: n
    integer :: i
    call c_enter('work::apply' // c_null_char)
    do i = 1, n
       call f()
    end do
    call leave()
  end subroutine apply
end module work

subroutine external_one(n)
  use work
  implicit none
  integer, intent(in) :: n
  call c_enter('external_one' // c_null_char)
  if (n > 0) call leaf()
  call leave()
end subroutine external_one

program app_count
  use work
  implicit none
  character(len=512) :: file
  real :: a(100)
  integer :: i

  call c_enter('main' // c_null_char)
  call c_enter('MAIN' // c_null_char)
  call get_command_argument(1, file)
  if (len_trim(file) == 0) stop 2
  a = 1.0
  do i = 1, 5
     sink = sink + fib(10)
     call ping(7)
     call smooth(a)
     call apply(leaf, i)
     call external_one(i - 1)
  end do
  call c_write(trim(file) // c_null_char)
  call leave()
  call leave()
end program app_count
