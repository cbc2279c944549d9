/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks write a file each, rank r r + 1 MiB, rank 1 by a second thread; then rank 0 reads all
 * of them. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PIECES 16
#define PIECE  (1 << 16)

static int rank;

static void wait_20_ms(void)
{
	const struct timespec t = {0, 20000000};

	nanosleep(&t, NULL);
}

static int open_data(int of, int flags)
{
	char name[32];

	snprintf(name, sizeof(name), "data-%d", of);
	return open(name, flags, 0600);
}

static void *writes(void *arg)
{
	char *data = arg;
	int f = open_data(rank, O_WRONLY | O_CREAT | O_TRUNC);

	for (int i = 0; i < PIECES; i++) {
		for (int k = 0; k <= rank; k++)
			if (write(f, data, PIECE) != PIECE)
				abort();
		wait_20_ms();
	}
	close(f);
	return NULL;
}

static void reads(char *data, int of)
{
	int f = open_data(of, O_RDONLY);

	while (read(f, data, PIECE) == PIECE)
		;
	close(f);
	wait_20_ms();
}

int main(int argc, char **argv)
{
	char *data = calloc(1, PIECE);
	pthread_t thread;
	int size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	wait_20_ms(); /* what lies on the border of the window is shared out */
	if (rank == 1) {
		pthread_create(&thread, NULL, writes, data);
		pthread_join(thread, NULL);
	} else {
		writes(data);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < size && !rank; i++)
		reads(data, i);
	MPI_Finalize();
	free(data);
	return 0;
}
