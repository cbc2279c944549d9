! SPDX-License-Identifier: BSD-3-Clause
! Calls MPI from several lines, and says how often: "FUNCTION FILE:LINE CALLS".
#define AT(i, name) n(i) = n(i) + 1; line(i) = __LINE__; what(i) = name
program sites
	use mpi
	implicit none
	integer :: n(8) = 0, line(8) = 0, i, x(1), rank, ierror, unit
	character(20) :: what(8) = '', file

	AT(1, 'MPI_Init'); call mpi_init(ierror)
	AT(2, 'MPI_Comm_rank'); call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
	x = 0
	do i = 1, 50
		AT(3, 'MPI_Send'); call mpi_send(x, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, ierror)
		AT(4, 'MPI_Send'); call mpi_send(x, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, ierror)
		AT(5, 'MPI_Recv'); call mpi_recv(x, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
		AT(6, 'MPI_Recv'); call mpi_recv(x, 1, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
		if (mod(i, 7) == 0) then
			AT(7, 'MPI_Bcast'); call mpi_bcast(x, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
		end if
	end do
	AT(8, 'MPI_Finalize'); call mpi_finalize(ierror)
	write (file, '(a, i0)') 'said.', rank
	open (newunit=unit, file=file)
	do i = 1, 8
		write (unit, '(a, 1x, a, i0, 1x, i0)') trim(what(i)), 'app-mpi-sites.f90:', line(i), n(i)
	end do
	close (unit)
end program
