! SPDX-License-Identifier: BSD-3-Clause
! MPI_Pcontrol from Fortran, once through mpif.h and once through mpi_f08: each
! function exchanges 2 numbers with the next rank at level 1, 3 at level 0, and
! 4 at level 2.
module exchange
  implicit none
contains
  subroutine by_header(times)
    include 'mpif.h'
    integer, intent(in) :: times
    integer :: i, rank, ranks, ierror, status(MPI_STATUS_SIZE)
    double precision :: sent(1), got(1)

    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    sent = rank
    do i = 1, times
      call MPI_Sendrecv(sent, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, got, 1, &
        MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, status, ierror)
    end do
  end subroutine

  subroutine by_module(times)
    use mpi_f08
    integer, intent(in) :: times
    integer :: i, rank, ranks
    double precision :: sent(1), got(1)

    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    sent = rank
    do i = 1, times
      call MPI_Sendrecv(sent, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, got, 1, &
        MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, &
        MPI_STATUS_IGNORE)
    end do
  end subroutine

  subroutine old_levels()
    include 'mpif.h'

    call by_header(2)
    call MPI_Pcontrol(0)
    call by_header(3)
    call MPI_Pcontrol(2)
    call by_header(4)
    call MPI_Pcontrol(1)
  end subroutine

  subroutine new_levels()
    use mpi_f08

    call by_module(2)
    call MPI_Pcontrol(0)
    call by_module(3)
    call MPI_Pcontrol(2)
    call by_module(4)
    call MPI_Pcontrol(1)
  end subroutine
end module

program options
  use mpi_f08
  use exchange
  implicit none

  call MPI_Init()
  call old_levels()
  call new_levels()
  call MPI_Finalize()
end program
