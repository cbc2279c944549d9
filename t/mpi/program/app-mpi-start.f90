! SPDX-License-Identifier: BSD-3-Clause
! Functions without an ierror: MPI_Pcontrol, MPI_Aint_add, MPI_Aint_diff, MPI_Wtime.
! Sends 3 numbers to the next rank, of which 2 are while recording is on.
program start
  use mpi_f08
  implicit none
  integer(MPI_ADDRESS_KIND) :: place
  double precision :: now
  integer :: ranks, rank

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  now = MPI_Wtime()
  if (now < 0) stop 1
  place = MPI_Aint_add(5_MPI_ADDRESS_KIND, 7_MPI_ADDRESS_KIND)
  if (place /= 12) stop 2
  place = MPI_Aint_diff(place, 7_MPI_ADDRESS_KIND)
  if (place /= 5) stop 3
  call to_next
  call MPI_Pcontrol(0)
  call to_next
  call MPI_Pcontrol(1)
  call to_next
  call MPI_Finalize()
contains
  subroutine to_next
    integer :: sent, got
    sent = rank
    call MPI_Sendrecv(sent, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, got, 1, MPI_INTEGER, &
      mod(rank + ranks - 1, ranks), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine
end program
