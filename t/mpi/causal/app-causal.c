/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-causal WHAT: a program in which ranks wait for a known reason. Work is sleep, so that ranks
 * that share a CPU disturb each other less, and takes longer than others wait for a CPU that is
 *busy.
 *
 *	late		rank 0 sends 60 ms after the last rank wants to receive, 6 times; that one
 *			prints how long it has waited, by the clock that both have
 *	chain		each rank receives from the one before; rank 0 works 400 ms more, 2 times
 *	straggler	rank 3 is 150 ms late in each fourth of 12 steps that end in MPI_Allreduce
 *	neighbours	rank 0 is 100 ms late in each of 4 MPI_Neighbor_allgather in a ring
 *	groups		rank 0 is 100 ms late in barriers and MPI_Allgather of two groups, 3 times
 *	called FILE	the last rank is 60 ms late in calls that call something meanwhile, each 4
 *			times: an operator of the program, for MPI_Allreduce and MPI_Reduce, and
 *			what opens FILE
 *	balanced	all work the same
 *	kill		as late; in the end rank 1 kills itself
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void work(int ms)
{
	struct timespec t = {0, ms * 1000000L};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

__attribute__((no_instrument_function)) static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void culprit(int ms)
{
	work(ms);
}

static void update(void)
{
	work(10);
}

static void late(void)
{
	double sum = 0, sent, begin, end;

	for (int i = 0; i < 6; i++) {
		if (rank == 0) {
			culprit(60);
			sent = seconds();
			MPI_Send(&sent, 1, MPI_DOUBLE, size - 1, 0, MPI_COMM_WORLD);
		} else if (rank == size - 1) {
			begin = seconds();
			MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			end = seconds();
			end = sent < end ? sent : end;
			sum += end > begin ? end - begin : 0;
		}
	}
	if (rank == size - 1)
		printf("waited %.9f\n", sum);
}

static void chain(void)
{
	int value = 0;

	for (int i = 0; i < 2; i++) {
		work(2);
		if (rank == 0)
			culprit(400);
		else
			MPI_Recv(
				&value, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank + 1 < size)
			MPI_Send(&value, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
	}
}

static void straggler(void)
{
	int value = 0, sum;

	for (int i = 0; i < 12; i++) {
		if (rank == 3 && i % 4 == 3)
			culprit(150);
		update();
		MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
}

static void neighbours(void)
{
	int both[2] = {(rank + size - 1) % size, (rank + 1) % size}, weights[2] = {1, 1};
	int value = 0, got[2];
	MPI_Comm ring;

	MPI_Dist_graph_create_adjacent(
		MPI_COMM_WORLD, 2, both, weights, 2, both, weights, MPI_INFO_NULL, 0, &ring);
	for (int i = 0; i < 4; i++) {
		if (rank == 0)
			culprit(100);
		MPI_Neighbor_allgather(&value, 1, MPI_INT, got, 1, MPI_INT, ring);
	}
	MPI_Comm_free(&ring);
}

static void groups(void)
{
	const int half = rank >= size / 2;
	int value = 0, got[64];
	MPI_Comm own, both;

	MPI_Comm_split(MPI_COMM_WORLD, half, rank, &own);
	MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, half ? 0 : size / 2, 0, &both);
	for (int i = 0; i < 3; i++) {
		if (rank == 0)
			culprit(100);
		MPI_Barrier(both);
		if (rank == 0)
			culprit(100);
		MPI_Allgather(&value, 1, MPI_INT, got, 1, MPI_INT, both);
	}
	MPI_Comm_free(&both);
	MPI_Comm_free(&own);
}

static void add_up(void *in, void *to, int *n, MPI_Datatype *type)
{
	(void)type;
	for (int i = 0; i < *n; i++)
		((int *)to)[i] += ((int *)in)[i];
}

static void called(const char *file)
{
	int value = 1, sum;
	MPI_Op op;
	MPI_File f;

	MPI_Op_create(add_up, 1, &op);
	for (int i = 0; i < 4; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == size - 1)
			culprit(60);
		MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
		if (rank == size - 1)
			culprit(60);
		MPI_Reduce(&value, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		if (rank == size - 1)
			culprit(60);
		MPI_File_open(
			MPI_COMM_WORLD, file, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
		MPI_File_close(&f);
	}
	MPI_Op_free(&op);
}

static void balanced(void)
{
	update();
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!strcmp(what, "late") || !strcmp(what, "kill"))
		late();
	else if (!strcmp(what, "chain"))
		chain();
	else if (!strcmp(what, "straggler"))
		straggler();
	else if (!strcmp(what, "neighbours"))
		neighbours();
	else if (!strcmp(what, "groups"))
		groups();
	else if (!strcmp(what, "called") && argc > 2)
		called(argv[2]);
	else
		balanced();
	if (!strcmp(what, "kill") && rank == 1)
		kill(getpid(), SIGKILL);
	MPI_Finalize();
	return 0;
}
