/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI job with calls that are known in advance: each rank calls common()
 * 100 + rank times, odd ranks also odd() 7 times, the last rank last() once.
 *	app-job [SECONDS [EXIT STATUS [FOLDER]]]
 * SECONDS: how long it works in between, or until there is FOLDER/end; then each rank has made its
 * file in FOLDER
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink;

static void leaf(void)
{
	sink++;
}

static void common(void)
{
	leaf();
	leaf();
}

static void odd(void)
{
	common();
}

static void last(void)
{
	leaf();
}

static void work(int rank, double seconds, const char *folder)
{
	double until = MPI_Wtime() + seconds;
	char path[4096], end[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d", folder, rank);
	snprintf(end, sizeof(end), "%s/end", folder);
	f = *folder ? fopen(path, "w") : NULL;
	if (f)
		fclose(f);
	while (MPI_Wtime() < until && !(*folder && !access(end, F_OK)))
		usleep(1000);
}

int main(int argc, char **argv)
{
	int rank, size, sum = 0, one = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 100 + rank; i++)
		common();
	if (argc > 1)
		work(rank, atof(argv[1]), argc > 3 ? argv[3] : "");
	for (int i = 0; rank % 2 && i < 7; i++)
		odd();
	if (rank == size - 1)
		last();
	for (int i = 0; i < 10; i++)
		MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks\n", sum);
	MPI_Finalize();
	return argc > 2 ? atoi(argv[2]) : 0;
}
