/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steps FILE: main calls step() until the file `stop' is there, which calls part() three times; the
 * number of steps is in FILE, as 64 bits. With WITH_MPI the ranks of a job, of which rank 0 counts,
 * meet after each step. The exit status is 7.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef WITH_MPI
#include <mpi.h>
#else
#define MPI_Init(a, b)
#define MPI_Comm_rank(a, b)
#define MPI_Bcast(a, b, c, d, e)
#define MPI_Barrier(a)
#define MPI_Finalize()
#endif

#define KEEP __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function))

static volatile unsigned sink;

KEEP static void part(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}

KEEP static void step(volatile uint64_t *done)
{
	part(1000);
	part(2000);
	part(3000);
	++*done;
}

QUIET static void rest(void)
{
	const struct timespec pause = {0, 500000};

	nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
	const int fd = open(argc > 1 ? argv[1] : "/dev/null", O_RDWR | O_CREAT, 0600);
	volatile uint64_t *done, others = 0;
	int rank = 0, more = 1;

	if (fd < 0 || ftruncate(fd, 8))
		return 1;
	done = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (done == MAP_FAILED)
		return 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	while (more) {
		step(rank ? &others : done);
		rest();
		MPI_Barrier(MPI_COMM_WORLD);
		more = access("stop", F_OK) != 0;
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	if (!rank)
		puts("finished");
	return 7;
}
