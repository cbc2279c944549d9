! SPDX-License-Identifier: BSD-3-Clause
! Communicators and collectives in Fortran: `use mpi`, or mpi_f08 with -DF08.
! Constants that are addresses, a name that blanks follow, and handles of
! communicators that are written after their call.
#ifdef F08
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#else
#define COMM integer
#define REQUEST integer
#endif
program comms
#ifdef F08
	use mpi_f08
#else
	use mpi
#endif
	implicit none
	COMM :: dup, late, half
	REQUEST :: request
	integer :: rank, error
	integer :: counts(4) = [1, 2, 3, 4], places(4) = [0, 1, 3, 6], in(16), out(16)
	character(len=20) :: name = 'from Fortran'

	call MPI_Init(error)
	call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
	call MPI_Comm_dup(MPI_COMM_WORLD, dup, error)
	call MPI_Comm_set_name(dup, name, error)
	call MPI_Comm_idup(dup, late, request, error)
	call MPI_Wait(request, MPI_STATUS_IGNORE, error)
	call MPI_Comm_set_name(late, 'late', error)
	call MPI_Barrier(late, error)
	call MPI_Comm_split(dup, mod(rank, 2), rank, half, error)
	call MPI_Comm_set_name(half, merge('odd ', 'even', mod(rank, 2) == 1), error)
	call MPI_Barrier(half, error)
	in = rank
	call in_place
	call own_counts
	call MPI_Comm_free(half, error)
	call MPI_Comm_free(late, error)
	call MPI_Comm_free(dup, error)
	call MPI_Finalize(error)
contains
	subroutine in_place
		call MPI_Allreduce(MPI_IN_PLACE, in, 10, MPI_INTEGER, MPI_SUM, dup, error)
		if (in(10) /= 6) print *, 'wrong sum'
	end subroutine

	subroutine own_counts
		call MPI_Gatherv(in, rank + 1, MPI_INTEGER, out, counts, places, MPI_INTEGER, 0, dup, error)
	end subroutine
end program
