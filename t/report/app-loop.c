/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with a main loop whose iterations are known. Words:
 *
 *   loop N US      N calls of step(), each of US us of work and one MPI_Allreduce
 *   every K MORE   each K-th iteration has MORE us in output()
 *   grow PERCENT   from the first iteration to the last one
 *   stall I R MS   rank R sleeps for MS ms in iteration I; up to 8
 *   die I R        rank R kills itself in iteration I
 *   bare           without step(): the loop is in main
 *   warm N         N calls of warm_up() before it, of 1 ms
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STALLS 8

static struct {
	int at, rank, ms;
} stall[STALLS];
static int n_stalls, rank, n, us, every, more, percent, warm, bare, die_at = -1, die_rank;

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

	while (now() < until)
		;
}

static void output(int i)
{
	work(1e-6 * more + 0 * i);
}

static void warm_up(void)
{
	work(1e-3);
}

static void iteration(int i)
{
	double one = 1, sum;

	work(1e-6 * us * (1 + 0.01 * percent * i / n));
	if (every && i % every == every - 1)
		output(i);
	for (int k = 0; k < n_stalls; k++)
		if (stall[k].at == i && stall[k].rank == rank)
			usleep((useconds_t)stall[k].ms * 1000);
	if (i == die_at && rank == die_rank)
		raise(SIGKILL);
	MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void step(int i)
{
	iteration(i);
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
	else if (!strcmp(word[0], "die"))
		die_at = atoi(word[1]), die_rank = atoi(word[2]);
	else if (!strcmp(word[0], "bare"))
		bare = 1;
	else if (!strcmp(word[0], "stall") && n_stalls < STALLS)
		stall[n_stalls].at = atoi(word[1]), stall[n_stalls].rank = atoi(word[2]),
		stall[n_stalls++].ms = atoi(word[3]);
	else
		return 0;
	return 1;
}

int main(int argc, char **word)
{
	MPI_Init(&argc, &word);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 1; i < argc; i++)
		take(word + i);
	for (int i = 0; i < warm; i++)
		warm_up();
	for (int i = 0; i < n; i++)
		if (bare)
			iteration(i);
		else
			step(i);
	if (!rank)
		puts("done");
	return MPI_Finalize();
}
