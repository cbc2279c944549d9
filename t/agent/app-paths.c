/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 32 766 call paths: each function of a layer calls both of the next one. Then ranks work for
 * each other, the last one for twice as long as the others: MS milliseconds. KILL: it kills
 * itself in the end. Without WITH_MPI there is one process, and no MPI. With FEW there are 254 call paths.
 */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile uint64_t x;

static void left14(void)
{
	x = x * 3 + 1;
}

static void right14(void)
{
	x = x * 5 + 1;
}

#define LAYER(n, next)                                                                             \
	static void left##n(void)                                                                  \
	{                                                                                          \
		left##next();                                                                      \
		right##next();                                                                     \
	}                                                                                          \
	static void right##n(void)                                                                 \
	{                                                                                          \
		right##next();                                                                     \
		left##next();                                                                      \
	}

LAYER(13, 14)
LAYER(12, 13)
LAYER(11, 12)
LAYER(10, 11)
LAYER(9, 10)
LAYER(8, 9)
#ifdef FEW
#define left1  left8
#define right1 right8
#else
LAYER(7, 8)
LAYER(6, 7)
LAYER(5, 6)
LAYER(4, 5)
LAYER(3, 4)
LAYER(2, 3)
LAYER(1, 2)
#endif

__attribute__((no_instrument_function)) static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static void relax(int64_t ms)
{
	const int64_t end = now_ms() + ms;

	while (now_ms() < end)
		x++;
}

static void sweep(int64_t ms)
{
	for (int i = 0; i < 4; i++) {
		relax(ms / 4);
#ifdef WITH_MPI
		MPI_Barrier(MPI_COMM_WORLD);
#endif
	}
}

int main(int argc, char **argv)
{
	int64_t ms = argc > 1 ? atoi(argv[1]) : 200;
	int last = 0, rank = 0;

#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &last);
	last--;
#endif
	left1();
	right1();
	sweep(last && rank == last ? 2 * ms : ms);
	if (rank == last && argc > 2 && !strcmp(argv[2], "KILL"))
		raise(SIGKILL);
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return 0;
}
