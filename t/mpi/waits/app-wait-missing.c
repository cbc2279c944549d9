/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of which a part cannot be known. Each rank writes into PREFIX.RANK what it has waited in a
 * barrier by the stamps of all, and for whom: "LATE_RANK SECONDS", in one write each.
 *
 *	app-wait-missing killed|finalized|stuck|storm|threads|ahead PREFIX
 *
 *	killed	rank 3 is late before barriers, and kills itself instead of coming to the last one
 *	finalized	rank 3 is late before barriers, and kills itself behind MPI_Finalize
 *	stuck	ranks 0 and 1 each wait for a message of the other one
 *	storm	the same without an end like that, between floods of calls
 *	threads	two threads of rank 1 wait for the same messages at the same time
 *	ahead	rank 0 is AHEAD calls of a collective ahead of rank 1
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TURNS 8
#define AHEAD 70000

static int rank, size, out;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void nap(int ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* What this rank waited in a barrier that it was in from `enter` to `leave`. */
static void tell_barrier(double enter, double leave)
{
	struct {
		double at;
		int rank;
	} mine = {enter, rank}, last;
	char line[64];
	double wait;
	int n;

	PMPI_Allreduce(&mine, &last, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
	wait = (last.at < leave ? last.at : leave) - enter;
	n = snprintf(line, sizeof(line), "%d %.9f\n", last.rank, wait > 0.0 ? wait : 0.0);
	if (write(out, line, (size_t)n) != n)
		abort();
}

static void late_before_barrier(void)
{
	double enter, leave;

	if (rank == 3)
		nap(20);
	enter = now();
	MPI_Barrier(MPI_COMM_WORLD);
	leave = now();
	tell_barrier(enter, leave);
}

static void __attribute__((noinline)) drop_in_the_ocean(void)
{
	__asm__ volatile("");
}

static void storm(void)
{
	for (int turn = 0; turn < TURNS; turn++) {
		late_before_barrier();
		for (int i = 0; i < 300000; i++)
			drop_in_the_ocean();
	}
}

static void killed(void)
{
	for (int turn = 0; turn < TURNS; turn++)
		late_before_barrier();
	nap(rank == 3 ? 100 : 0);
	if (rank == 3)
		kill(getpid(), SIGKILL);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void finalized(void)
{
	for (int turn = 0; turn < TURNS; turn++)
		late_before_barrier();
}

static void __attribute__((noinline)) stuck(void)
{
	int value;

	if (rank > 1)
		return;
	MPI_Recv(&value, 1, MPI_INT, rank ^ 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Send(&value, 1, MPI_INT, rank ^ 1, 7, MPI_COMM_WORLD);
}

static void *receive(void *arg)
{
	int value;

	for (int turn = 0; turn < TURNS; turn++)
		MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return arg;
}

static void threads(void)
{
	pthread_t other;
	int value = 0;

	if (rank == 0)
		for (int i = 0; i < 2 * TURNS; i++) {
			nap(5);
			MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
		}
	if (rank != 1)
		return;
	if (pthread_create(&other, NULL, receive, NULL))
		abort();
	receive(NULL);
	pthread_join(other, NULL);
}

/* Rank 1 takes what comes, so that rank 0 can send, and is in none of the calls yet. */
static void take_in(MPI_Comm both)
{
	int there = 0;

	while (!there)
		MPI_Iprobe(0, 7, both, &there, MPI_STATUS_IGNORE);
	MPI_Recv(NULL, 0, MPI_INT, 0, 7, both, MPI_STATUS_IGNORE);
}

static void ahead(void)
{
	MPI_Comm both;
	int value = 0;

	MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &both);
	if (both == MPI_COMM_NULL)
		return;
	if (rank == 1)
		take_in(both);
	for (int i = 0; i < AHEAD; i++)
		MPI_Bcast(&value, 1, MPI_INT, 0, both);
	if (rank == 0)
		MPI_Send(NULL, 0, MPI_INT, 1, 7, both);
	MPI_Comm_free(&both);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {{"killed", killed}, {"finalized", finalized}, {"stuck", stuck}, {"storm", storm},
		{"threads", threads}, {"ahead", ahead}};
	char path[256];
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 3 || size != 4 || level != MPI_THREAD_MULTIPLE) {
		fprintf(stderr, "four ranks, a name and a prefix, please\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	snprintf(path, sizeof(path), "%s.%d", argv[2], rank);
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(argv[1], all[i].name))
			all[i].run();
	MPI_Finalize();
	if (rank == 3 && !strcmp(argv[1], "finalized"))
		kill(getpid(), SIGKILL);
	return 0;
}
