! SPDX-License-Identifier: BSD-3-Clause
! OpenMP in Fortran: app-openmp CASE THREADS. Counts go to app-openmp-f.c; `place`
! is the line of the directive of a region or a task.
module counted
  use, intrinsic :: iso_c_binding
  use omp_lib
  implicit none
  interface
    subroutine of_enter(name) bind(c)
      import
      character(kind=c_char), intent(in) :: name(*)
    end subroutine
    subroutine of_leave() bind(c)
    end subroutine
    subroutine of_fork(place) bind(c)
      import
      integer(c_int), value :: place
    end subroutine
    subroutine of_join() bind(c)
    end subroutine
    subroutine of_team() bind(c)
    end subroutine
    subroutine of_part() bind(c)
    end subroutine
    subroutine of_created(place) bind(c)
      import
      integer(c_int), value :: place
    end subroutine
    subroutine of_task(place) bind(c)
      import
      integer(c_int), value :: place
    end subroutine
    subroutine of_write() bind(c)
    end subroutine
  end interface
  integer :: threads = 4
  integer :: total = 0
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
contains
  subroutine counted_frame(name)
    character(*), intent(in) :: name
    call of_enter(name // c_null_char)
  end subroutine

  subroutine waited(name)
    character(*), intent(in) :: name
    call counted_frame(name)
    call of_leave()
  end subroutine
end module

subroutine leaf()
  use counted
  implicit none
  call counted_frame('leaf')
  !$omp atomic
  total = total + 1
  call of_leave()
end subroutine

subroutine loops()
  use counted
  implicit none
  integer :: i, s
  call counted_frame('loops')
  s = 0
  call of_fork(__LINE__ + 1)
  !$omp parallel num_threads(threads) reduction(+:s)
  call of_team()
  call counted_frame('omp_for@app-openmp.f90:0')
  !$omp do schedule(dynamic, 2)
  do i = 1, 50
    call leaf()
    s = s + i
  end do
  !$omp end do nowait
  call of_leave()
  call counted_frame('omp_for@app-openmp.f90:0')
  !$omp do schedule(guided)
  do i = 50, 1, -1
    call leaf()
  end do
  !$omp end do
  call of_leave()
  call waited('omp_barrier_implicit')
  !$omp do schedule(static)
  do i = 1, 20
    call leaf()
  end do
  !$omp end do
  call waited('omp_barrier')
  !$omp single
  call leaf()
  !$omp end single
  call waited('omp_barrier')
  call counted_frame('omp_sections@app-openmp.f90:0')
  !$omp sections
  !$omp section
  call leaf()
  !$omp section
  call leaf()
  !$omp end sections
  call of_leave()
  call waited('omp_barrier_implicit')
  call of_part()
  !$omp end parallel
  call of_join()
  if (s /= 1275) stop 3
  call of_leave()
end subroutine

subroutine locked()
  use counted
  implicit none
  integer :: k
  call counted_frame('locked')
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  call of_fork(__LINE__ + 1)
  !$omp parallel num_threads(threads)
  call of_team()
  do k = 1, 10
    call omp_set_lock(lock)
    call waited('omp_lock_wait')
    call leaf()
    call omp_unset_lock(lock)
    call omp_set_nest_lock(nest)
    call waited('omp_lock_wait')
    call omp_set_nest_lock(nest)
    call waited('omp_lock_wait')
    call leaf()
    call omp_unset_nest_lock(nest)
    call omp_unset_nest_lock(nest)
    call waited('omp_critical_wait')
    !$omp critical
    call counted_frame('omp_critical')
    call leaf()
    call of_leave()
    !$omp end critical
    !$omp barrier
    call waited('omp_barrier')
  end do
  call of_part()
  !$omp end parallel
  call of_join()
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest)
  call of_leave()
end subroutine

recursive function fib(n) result(f)
  use counted
  implicit none
  integer, intent(in) :: n
  integer :: f, a, b
  call counted_frame('fib')
  f = n
  if (n > 1) then
    call of_created(__LINE__ + 1)
    !$omp task shared(a)
    call of_task(__LINE__ - 1)
    a = fib(n - 1)
    call of_part()
    !$omp end task
    call of_created(__LINE__ + 1)
    !$omp task shared(b)
    call of_task(__LINE__ - 1)
    b = fib(n - 2)
    call of_part()
    !$omp end task
    call waited('omp_taskwait')
    !$omp taskwait
    f = a + b
  end if
  call of_leave()

contains
end function

subroutine tasks()
  use counted
  implicit none
  integer :: f
  integer, external :: fib
  call counted_frame('tasks')
  f = 0
  call of_fork(__LINE__ + 1)
  !$omp parallel num_threads(threads)
  call of_team()
  !$omp master
  f = fib(10)
  !$omp end master
  call of_part()
  !$omp end parallel
  call of_join()
  if (f /= 55) stop 3
  call of_leave()
end subroutine

program app_openmp
  use counted
  implicit none
  character(20) :: how, n
  call get_command_argument(1, how)
  call get_command_argument(2, n)
  read (n, *) threads
  call counted_frame('main')
  call counted_frame('MAIN')
  select case (how)
  case ('loops')
    call loops()
  case ('locked')
    call locked()
  case ('tasks')
    call tasks()
  case default
    stop 2
  end select
  call of_leave()
  call of_leave()
  call of_write()
end program
