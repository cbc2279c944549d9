/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a main loop whose iterations are known. Words:
 *
 *   loop N US      N calls of step(), each of US us of work and one MPI_Allreduce
 *   every K MORE   each K-th iteration has MORE us in output()
 *   grow PERCENT   from the first iteration to the last one
 *   stall I R MS   rank R sleeps for MS ms in iteration I; up to 8
 *   late I R MS    rank R works MS ms longer in output() in iteration I; up to 8
 *   stop I R MS    rank R is stopped for MS ms in iteration I; up to 8
 *   die I R        rank R kills itself in iteration I
 *   bare           without step(): the loop is in main
 *   flat           a loop in main without a function that each iteration calls once
 *   first, last    the same, with one MPI_Bcast first, one MPI_Allreduce last
 *   drag R US      rank R works US us more in disturb() in each iteration, which calls it once
 *   hold I FILE    all wait in iteration I, in disturb(), until there is such a file
 *   warm N         N calls of warm_up() before it, of 1 ms
 *   tail R MS      rank R works MS ms in output() behind it; -1: all
 *   asleep         what is called work is sleep
 *   tell           says of each call of iteration(), by its own clock, "iteration RANK I S
 * IN_MPI_S"
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STALLS	 8
#define TOLD	 4096 /* the first of them */
#define UNTRACED __attribute__((no_instrument_function))

static struct stall {
	int at, rank, ms;
} stall[STALLS], late[STALLS], stop[STALLS];
static int n_stalls, n_late, n_stops, rank, ranks, n, us, every, more, percent, warm, bare, flat,
	first, last, die_at = -1, die_rank, drag_rank = -1, drag_us, hold_at = -1, tail_rank,
		     tail_ms, tell, asleep;
static const char *hold_file;
static double took[TOLD], in_mpi[TOLD];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Work, in CPU time: a busy machine does not change it. */
static void work(double seconds)
{
	double until = now() + seconds;

	if (asleep) {
		usleep((useconds_t)(1e6 * seconds));
		return;
	}
	while (now() < until)
		;
}

static void output(int us_more)
{
	work(1e-6 * us_more);
}

/* Says how much of its time it had a CPU: on a busy machine it may be the smaller part. */
static void be_late(int ms)
{
	struct timespec from, to;
	double cpu = now(), wall;

	clock_gettime(CLOCK_MONOTONIC, &from);
	output(1000 * ms);
	clock_gettime(CLOCK_MONOTONIC, &to);
	cpu = now() - cpu;
	wall = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
	/* at a half nobody can say which it was */
	printf("late: %s\n", cpu > 0.6 * wall ? "work" : cpu > 0.4 * wall ? "either" : "off_cpu");
}

static int ms_of(const struct stall *at, int n_of, int i)
{
	for (int k = 0; k < n_of; k++)
		if (at[k].at == i && at[k].rank == rank)
			return at[k].ms;
	return 0;
}

/* Who is stopped cannot go on by itself. */
static void be_stopped(int ms)
{
	char command[80];

	snprintf(command, sizeof(command), "(sleep %d.%03d; kill -CONT %d) >/dev/null 2>&1 &",
		ms / 1000, ms % 1000, (int)getpid());
	if (!system(command))
		raise(SIGSTOP);
}

static void warm_up(void)
{
	work(1e-3);
}

static void disturb(int i)
{
	const int stalled = ms_of(stall, n_stalls, i), stopped = ms_of(stop, n_stops, i);

	if (stalled)
		usleep((useconds_t)stalled * 1000);
	if (stopped)
		be_stopped(stopped);
	if (rank == drag_rank)
		work(1e-6 * drag_us);
	while (i == hold_at && access(hold_file, F_OK))
		usleep(1000);
}

static void compute(void)
{
	work(0.5e-6 * us);
}

UNTRACED static double clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

UNTRACED static void stamp(int i, double begin, double enter)
{
	const double now_s = clock_s();

	if (i >= TOLD)
		return;
	took[i] = now_s - begin;
	in_mpi[i] = now_s - enter;
}

UNTRACED static void tell_all(void)
{
	for (int i = 0; i < n && i < TOLD; i++)
		printf("iteration %d %d %.6f %.6f\n", rank, i, took[i], in_mpi[i]);
}

static void iteration(int i)
{
	double one = 1, sum, begin = clock_s(), enter;

	work(1e-6 * us * (1 + 0.01 * percent * i / n));
	if (every && i % every == every - 1)
		output(more);
	disturb(i);
	if (ms_of(late, n_late, i))
		be_late(ms_of(late, n_late, i));
	if (i == die_at && rank == die_rank)
		raise(SIGKILL);
	enter = clock_s();
	MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	stamp(i, begin, enter);
}

static void step(int i)
{
	iteration(i);
}

static void add_stall(struct stall *to, int *n_to, char **word)
{
	if (*n_to < STALLS)
		to[(*n_to)++] = (struct stall){atoi(word[1]), atoi(word[2]), atoi(word[3])};
}

static int take(char **word)
{
	if (!strcmp(word[0], "loop"))
		n = atoi(word[1]), us = atoi(word[2]);
	else if (!strcmp(word[0], "every"))
		every = atoi(word[1]), more = atoi(word[2]);
	else if (!strcmp(word[0], "grow"))
		percent = atoi(word[1]);
	else if (!strcmp(word[0], "warm"))
		warm = atoi(word[1]);
	else if (!strcmp(word[0], "tail"))
		tail_rank = atoi(word[1]), tail_ms = atoi(word[2]);
	else if (!strcmp(word[0], "drag"))
		drag_rank = atoi(word[1]), drag_us = atoi(word[2]);
	else if (!strcmp(word[0], "hold"))
		hold_at = atoi(word[1]), hold_file = word[2];
	else if (!strcmp(word[0], "die"))
		die_at = atoi(word[1]), die_rank = atoi(word[2]);
	else if (!strcmp(word[0], "asleep"))
		asleep = 1;
	else if (!strcmp(word[0], "bare"))
		bare = 1;
	else if (!strcmp(word[0], "flat"))
		flat = 1;
	else if (!strcmp(word[0], "first"))
		first = 1;
	else if (!strcmp(word[0], "tell"))
		tell = 1;
	else if (!strcmp(word[0], "last"))
		last = 1;
	else if (!strcmp(word[0], "stall"))
		add_stall(stall, &n_stalls, word);
	else if (!strcmp(word[0], "late"))
		add_stall(late, &n_late, word);
	else if (!strcmp(word[0], "stop"))
		add_stall(stop, &n_stops, word);
	else
		return 0;
	return 1;
}

int main(int argc, char **word)
{
	double one = 1, sum, in = 0, out = 1;

	MPI_Init(&argc, &word);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 1; i < argc; i++)
		take(word + i);
	for (int i = 0; i < warm; i++)
		warm_up();
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; flat && i < n; i++) {
		MPI_Request request[2];
		MPI_Status status[2];

		MPI_Isend(&out, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &request[0]);
		MPI_Irecv(&in, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
			&request[1]);
		MPI_Waitall(2, request, status);
		compute();
		disturb(i);
		if (ms_of(late, n_late, i))
			be_late(ms_of(late, n_late, i));
		compute();
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	for (int i = 0; first && i < n; i++) {
		MPI_Bcast(&one, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		compute();
		disturb(i);
		if (ms_of(late, n_late, i))
			be_late(ms_of(late, n_late, i));
		compute();
	}
	for (int i = 0; last && i < n; i++) {
		compute();
		disturb(i);
		if (ms_of(late, n_late, i))
			be_late(ms_of(late, n_late, i));
		compute();
		MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Reduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int i = 0; !flat && !first && !last && i < n; i++)
		if (bare)
			iteration(i);
		else
			step(i);
	if (tail_ms && (tail_rank < 0 || rank == tail_rank))
		output(1000 * tail_ms);
	if (tell)
		tell_all();
	if (!rank)
		puts("done");
	return MPI_Finalize();
}
