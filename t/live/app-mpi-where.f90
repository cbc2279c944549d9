! SPDX-License-Identifier: BSD-3-Clause
! For tests of `vftr where': four ranks that receive from each other in Fortran, with -DF08 by mpi_f08.
program where_mpi
#ifdef F08
	use mpi_f08
	implicit none
	type(MPI_Request) :: request
#else
	use mpi
	implicit none
	integer :: request
#endif
	integer :: rank, word(2), ierror

	call MPI_Init(ierror)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
	word = rank
	select case (rank)
	case (0)
		call MPI_Recv(word, 1, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
	case (1)
		call MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
	case (2)
		call MPI_Sendrecv(word(1), 1, MPI_INTEGER, MPI_PROC_NULL, 4, word(2), 1, MPI_INTEGER, &
			0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
	case (3)
		call MPI_Irecv(word, 1, MPI_INTEGER, 2, 6, MPI_COMM_WORLD, request, ierror)
		call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
	end select
end program
