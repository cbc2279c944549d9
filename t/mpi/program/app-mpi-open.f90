! SPDX-License-Identifier: BSD-3-Clause
! Rank r leaves 2 + r sends open in first, and 3 receives in second.
module open_requests
  use mpi_f08
  implicit none
  integer :: rank, next, before
  integer, asynchronous :: sent(16) = 0, got(16)
  type(MPI_Request) :: kept(16)
contains
  subroutine first()
    integer :: i, one

    do i = 1, 2 + rank
      call MPI_Issend(sent(i:i), 1, MPI_INTEGER, next, 1, MPI_COMM_WORLD, kept(i))
    end do
    do i = 1, 2 + before
      call MPI_Recv(one, 1, MPI_INTEGER, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end do
  end subroutine

  subroutine second()
    integer :: i

    do i = 1, 3
      call MPI_Irecv(got(i:i), 1, MPI_INTEGER, before, 2, MPI_COMM_WORLD, kept(8 + i))
    end do
    do i = 1, 3
      call MPI_Send(sent(1:1), 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD)
    end do
  end subroutine
end module

program main
  use open_requests
  implicit none
  integer :: ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = mod(rank + 1, ranks)
  before = mod(rank + ranks - 1, ranks)
  call first()
  call second()
  call MPI_Barrier(MPI_COMM_WORLD)
  call MPI_Finalize()
end program
