/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts its own calls, so that a profile can be compared with the truth:
 *
 *	app-mpi-count PREFIX [ROUNDS]
 *
 * Rank R writes PREFIXR, a line "CALLS PATH" for each path like
 * "fib<work<main<init". The counter knows nothing of the tracer: functions say
 * COUNTED first, and MPI calls go through MPI(). Ranks take different paths, by
 * being odd or even, by their number, and through recursion, plain and mutual.
 * As in the profile, a function that calls itself stays on its path.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HIDDEN __attribute__((no_instrument_function))

/* ---- the counter ----------------------------------------------------------- */

static struct path {
	const char *name;
	int parent;
	long calls;
} paths[4096] = {{"init", -1, 0}};
static int npaths = 1, here; /* index of the path we are on */

static HIDDEN int path_below(int parent, const char *name)
{
	int i;

	for (i = 1; i < npaths; i++)
		if (paths[i].parent == parent && !strcmp(paths[i].name, name))
			return i;
	if (npaths == (int)(sizeof(paths) / sizeof(paths[0]))) {
		fprintf(stderr, "app-mpi-count: more than %d paths\n", npaths);
		abort();
	}
	paths[npaths] = (struct path){name, parent, 0};
	return npaths++;
}

/* The path to go back to. */
static HIDDEN int count_enter(const char *name)
{
	const int back = here;

	if (strcmp(paths[here].name, name) != 0)
		here = path_below(here, name);
	paths[here].calls++;
	return back;
}

static HIDDEN void count_leave(const int *back)
{
	here = *back;
}

static HIDDEN void count_leaf(const char *name)
{
	paths[path_below(here, name)].calls++;
}

static HIDDEN void count_write(const char *prefix, int rank)
{
	char file[4096];
	FILE *f;

	snprintf(file, sizeof(file), "%s%d", prefix, rank);
	f = fopen(file, "w");
	if (!f) {
		perror(file);
		exit(1);
	}
	for (int i = 1; i < npaths; i++) {
		fprintf(f, "%ld ", paths[i].calls);
		for (int p = i; p >= 0; p = paths[p].parent)
			fprintf(f, "%s%s", p == i ? "" : "<", paths[p].name);
		fprintf(f, "\n");
	}
	if (fclose(f)) {
		perror(file);
		exit(1);
	}
}

#define COUNTED                                                                                    \
	const int counted __attribute__((unused, cleanup(count_leave))) = count_enter(__func__)
#define MPI(function, ...) (count_leaf(#function), function(__VA_ARGS__))

/* ---- what is counted --------------------------------------------------------- */

static int rank, size;
static volatile long sink;

static void leaf(void)
{
	COUNTED;
	sink++;
}

static int fib(int n)
{
	COUNTED;
	if (n < 2)
		return n;
	return fib(n - 1) + fib(n - 2);
}

static void pong(int depth);

static void ping(int depth)
{
	COUNTED;
	leaf();
	if (depth > 0)
		pong(depth - 1);
}

static void pong(int depth)
{
	COUNTED;
	if (depth > 0)
		ping(depth - 1);
	if (depth % 3 == rank % 3)
		leaf();
}

static void odd_work(int round)
{
	COUNTED;
	for (int i = 0; i < rank + round % 4; i++)
		leaf();
	sink += fib(rank % 5 + 3);
}

static void even_work(int round)
{
	COUNTED;
	ping(round % 6);
	if (rank % 4 == 0)
		odd_work(round);
}

static void only_the_last(void)
{
	COUNTED;
	leaf();
	pong(2);
}

/* Everybody sends to the next rank; alone, to itself. */
static void pass_on(int round)
{
	const int to = (rank + 1) % size, from = (rank + size - 1) % size;
	MPI_Request request;
	MPI_Status status;
	int got;
	COUNTED;

	MPI(MPI_Irecv, &got, 1, MPI_INT, from, round, MPI_COMM_WORLD, &request);
	MPI(MPI_Send, &round, 1, MPI_INT, to, round, MPI_COMM_WORLD);
	MPI(MPI_Wait, &request, &status);
	if (got != round) {
		fprintf(stderr, "app-mpi-count: %d sent %d in round %d\n", from, got, round);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

static void work(int round)
{
	static void (*const kind[])(int) = {even_work, odd_work};
	COUNTED;

	kind[rank % 2](round);
	if (rank == size - 1)
		only_the_last();
	pass_on(round);
	if (round % 8 == 0)
		MPI(MPI_Barrier, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const int rounds = argc > 2 ? atoi(argv[2]) : 100;
	COUNTED;

	if (argc < 2) {
		fprintf(stderr, "usage: app-mpi-count PREFIX [ROUNDS]\n");
		return 2;
	}
	MPI(MPI_Init, &argc, &argv);
	MPI(MPI_Comm_rank, MPI_COMM_WORLD, &rank);
	MPI(MPI_Comm_size, MPI_COMM_WORLD, &size);
	for (int round = 0; round < rounds; round++)
		work(round);
	MPI(MPI_Finalize);
	count_write(argv[1], rank);
	return 0;
}
