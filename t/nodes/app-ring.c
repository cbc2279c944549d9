/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring MESSAGES [SECONDS [read]]: each rank sends so many messages to the next one, and
 * sleeps; rank 0 prints "N ranks". With the word read, rank 0 first copies standard input
 * to the file "stdin" of this directory.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void copy_input(void)
{
	char buf[1 << 16];
	FILE *out = fopen("stdin", "w");
	ssize_t n;

	while (out && (n = read(STDIN_FILENO, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, (size_t)n, out);
	if (out)
		fclose(out);
}

static void around(int messages, int rank, int size)
{
	int token = rank;

	for (int i = 0; i < messages; i++)
		MPI_Sendrecv_replace(&token, 1, MPI_INT, (rank + 1) % size, 0,
			(rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!rank && argc > 3)
		copy_input();
	around(argc > 1 ? atoi(argv[1]) : 0, rank, size);
	if (!rank)
		printf("%d ranks\n", size);
	fflush(stdout);
	usleep(argc > 2 ? (unsigned)(atof(argv[2]) * 1e6) : 0);
	MPI_Finalize();
	return 0;
}
