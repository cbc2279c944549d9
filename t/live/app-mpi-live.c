/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of live views: app-mpi-live DIR SLOW. Until DIR/stop is there, all ranks step together,
 * of which SLOW takes the longest. Then each does a number of calls of its own, meets the others,
 * writes them to DIR/there.RANK, and waits for DIR/end: the numbers do not change any more.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))

static int rank, ranks;
static long leaves, steps;
static volatile double sink;

static APART void leaf(void)
{
	leaves++;
	sink += 1;
}

static APART void late_work(void)
{
	usleep(60000);
}

static APART void work(void)
{
	usleep(10000);
	for (int i = 0; i <= rank; i++)
		leaf();
}

static APART void step(int slow)
{
	steps++;
	work();
	if (rank == slow)
		late_work();
}

static int __attribute__((no_instrument_function)) there_is(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

static void __attribute__((no_instrument_function)) tell(const char *dir)
{
	char path[4096], soon[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/there.%d", dir, rank);
	snprintf(soon, sizeof(soon), "%s/soon.%d", dir, rank);
	f = fopen(soon, "w");
	if (!f || fprintf(f, "%ld %ld\n", leaves, steps) < 0 || fclose(f) || rename(soon, path))
		exit(1);
}

static APART void own_calls(void)
{
	for (int i = 0; i < 1000 * (rank + 1); i++)
		leaf();
}

static APART void wait_for_end(const char *dir)
{
	while (!access(dir, F_OK) && !there_is(dir, "end"))
		usleep(100000);
}

int main(int argc, char **argv)
{
	int stop = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	while (!stop) {
		int mine = rank == 0 && there_is(argv[1], "stop");

		step(atoi(argv[2]));
		MPI_Allreduce(&mine, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	}
	own_calls();
	MPI_Barrier(MPI_COMM_WORLD);
	tell(argv[1]);
	wait_for_end(argv[1]);
	MPI_Finalize();
	return 0;
}
