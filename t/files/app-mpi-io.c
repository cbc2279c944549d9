/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks write 10 blocks of 1 MiB each to one file by MPI, and read those of their neighbour. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK (1 << 20)

int main(int argc, char **argv)
{
	int rank, size, bad = 0;
	char *data = malloc(BLOCK);
	MPI_File f;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_File_open(
		MPI_COMM_WORLD, "together", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
	memset(data, 'a' + rank, BLOCK);
	for (int i = 0; i < 10; i++)
		MPI_File_write_at(f, (MPI_Offset)BLOCK * (10 * rank + i), data, BLOCK, MPI_BYTE,
			MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < 10; i++) {
		MPI_File_read_at(f, (MPI_Offset)BLOCK * (10 * ((rank + 1) % size) + i), data, BLOCK,
			MPI_BYTE, MPI_STATUS_IGNORE);
		bad += data[0] != 'a' + (rank + 1) % size || data[BLOCK - 1] != data[0];
	}
	MPI_File_close(&f);
	if (bad)
		printf("rank %d has read something else\n", rank);
	MPI_Finalize();
	free(data);
	return bad;
}
