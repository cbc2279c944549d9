! SPDX-License-Identifier: BSD-3-Clause
! A Fortran program (mpi_f08) whose calls can be written down without counting:
!
!   app-mpi-count PREFIX [ROUNDS]
!
! Rank R writes PREFIXR, a line "CALLS PATH" for each path of its profile. Odd
! ranks go left, even ranks go right; there is recursion, plain (countdown) and
! mutual (seesaw, back_seesaw). The subroutines are external: names without module.
module state
  implicit none
  integer :: rank, ranks
  real :: sink = 0
end module

subroutine leaf()
  use state
  implicit none
  sink = sink + 1
end subroutine

recursive subroutine countdown(n)
  implicit none
  integer, intent(in) :: n
  if (n > 1) call countdown(n - 1)
end subroutine

recursive subroutine seesaw(n)
  implicit none
  integer, intent(in) :: n
  call leaf()
  if (n > 0) call back_seesaw(n - 1)
end subroutine

recursive subroutine back_seesaw(n)
  implicit none
  integer, intent(in) :: n
  if (n > 0) call seesaw(n - 1)
end subroutine

subroutine go_left()
  use state
  implicit none
  integer :: i
  do i = 1, rank
    call leaf()
  end do
  call countdown(rank + 2)
end subroutine

subroutine go_right()
  implicit none
  call seesaw(3)
end subroutine

subroutine add_up(round)
  use mpi_f08
  implicit none
  integer, intent(in) :: round
  integer :: total
  total = round
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
end subroutine

subroutine work(round)
  use state
  implicit none
  integer, intent(in) :: round
  if (mod(rank, 2) == 1) then
    call go_left()
  else
    call go_right()
  end if
  call add_up(round)
end subroutine

subroutine write_counts(prefix, rounds)
  use state
  implicit none
  character(len=*), intent(in) :: prefix
  integer, intent(in) :: rounds
  character(len=*), parameter :: top = 'MAIN<main<init', form = '(i0, 1x, a)'
  character(len=12) :: number
  integer :: unit

  write (number, '(i0)') rank
  open (newunit=unit, file=prefix // trim(number), action='write', status='replace')
  write (unit, form) 1, 'main<init'
  write (unit, form) 1, top
  write (unit, form) 1, 'MPI_Init<' // top
  write (unit, form) 1, 'MPI_Comm_rank<' // top
  write (unit, form) 1, 'MPI_Comm_size<' // top
  write (unit, form) 1, 'MPI_Finalize<' // top
  write (unit, form) 1, 'write_counts<' // top
  write (unit, form) rounds, 'work<' // top
  write (unit, form) rounds, 'add_up<work<' // top
  write (unit, form) rounds, 'MPI_Allreduce<add_up<work<' // top
  if (mod(rank, 2) == 1) then
    write (unit, form) rounds, 'go_left<work<' // top
    write (unit, form) rounds * rank, 'leaf<go_left<work<' // top
    write (unit, form) rounds * (rank + 2), 'countdown<go_left<work<' // top
  else
    write (unit, form) rounds, 'go_right<work<' // top
    write (unit, form) rounds, 'seesaw<go_right<work<' // top
    write (unit, form) rounds, 'leaf<seesaw<go_right<work<' // top
    write (unit, form) rounds, 'back_seesaw<seesaw<go_right<work<' // top
    write (unit, form) rounds, 'seesaw<back_seesaw<seesaw<go_right<work<' // top
    write (unit, form) rounds, 'leaf<seesaw<back_seesaw<seesaw<go_right<work<' // top
    write (unit, form) rounds, 'back_seesaw<seesaw<back_seesaw<seesaw<go_right<work<' // top
  end if
  close (unit)
end subroutine

program main
  use mpi_f08
  use state
  implicit none
  character(len=1024) :: prefix, text
  integer :: round, rounds

  rounds = 100
  call get_command_argument(1, prefix)
  if (prefix == '') then
    print '(a)', 'usage: app-mpi-count PREFIX [ROUNDS]'
    stop 2
  end if
  call get_command_argument(2, text)
  if (text /= '') read (text, *) rounds
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do round = 1, rounds
    call work(round)
  end do
  call MPI_Finalize()
  call write_counts(trim(prefix), rounds)
end program
