/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of pauses of MPI programs: app-mpi-pause DIR. All ranks meet and send to the next one
 * BEFORE times, wait for DIR/paused, do so WITHIN times, wait for DIR/resumed, and do so AFTER
 * times. A receive that was posted before the pause is completed within it, and one that was posted
 * within it is completed after it. While they wait they call tick(), once more when the file is
 * there.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define APART	 __attribute__((noinline, noipa))
#define UNTRACED __attribute__((no_instrument_function))

enum { BEFORE = 100, WITHIN = 50, AFTER = 70 };

static const char *dir;
static int rank, ranks;
static volatile int sink;

static APART void tick(void)
{
	sink++;
}

static UNTRACED void say_here(const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%d", dir, name, rank);
	f = fopen(path, "w");
	if (f)
		fclose(f);
}

static APART void await(const char *name)
{
	char path[4096];

	say_here(name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	do {
		tick();
		usleep(5000);
	} while (!access(dir, F_OK) && access(path, F_OK));
	tick();
}

static APART void meet(int times)
{
	const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
	int mine = rank, all;

	for (int i = 0; i < times; i++) {
		MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		MPI_Sendrecv(&mine, 1, MPI_INT, next, 1, &all, 1, MPI_INT, before, 1,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int mine = 0, theirs[2];
	MPI_Request request[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	dir = argv[1];
	meet(BEFORE);
	MPI_Irecv(
		&theirs[0], 1, MPI_INT, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, &request[0]);
	await("paused");
	MPI_Send(&mine, 1, MPI_INT, (rank + 1) % ranks, 2, MPI_COMM_WORLD);
	meet(WITHIN);
	MPI_Wait(&request[0], MPI_STATUS_IGNORE);
	MPI_Irecv(
		&theirs[1], 1, MPI_INT, (rank + ranks - 1) % ranks, 3, MPI_COMM_WORLD, &request[1]);
	await("resumed");
	MPI_Send(&mine, 1, MPI_INT, (rank + 1) % ranks, 3, MPI_COMM_WORLD);
	MPI_Wait(&request[1], MPI_STATUS_IGNORE);
	meet(AFTER);
	MPI_Finalize();
	return 0;
}
