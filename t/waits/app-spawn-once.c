/* SPDX-License-Identifier: BSD-3-Clause */
/* Spawns itself once, and waits for that at a barrier. */
#include <mpi.h>
#include <time.h>

int main(int argc, char **argv)
{
	const struct timespec long_time = {0, 200000000};
	MPI_Comm other;

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&other);
	if (other == MPI_COMM_NULL)
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other,
			MPI_ERRCODES_IGNORE);
	else
		nanosleep(&long_time, NULL);
	MPI_Barrier(other);
	MPI_Comm_disconnect(&other);
	return MPI_Finalize();
}
