/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI without instrumentation: as app-shares, and each rank counts its calls itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))

static volatile double sum;

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

APART static void burn(long n)
{
	static __thread unsigned dice;
	double x = 1;

	/* n on average: work of even lengths would keep step with the clock of the samples */
	dice = dice * 1103515245u + 12345u;
	n = n / 2 + (long)((dice >> 8) % (unsigned long)n);
	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	sum = sum + x;
}

APART void little(void)
{
	burn(200000);
	sum = sum + 1;
}

APART void much(void)
{
	burn(600000);
	sum = sum + 1;
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 1000;
	double took[2] = {0}, one = 1, all;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long i = 0; i < rounds; i++) {
		const double from = cpu_s();
		double middle;

		little();
		middle = cpu_s();
		much();
		took[1] += cpu_s() - middle;
		took[0] += middle - from;
		MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	printf("little %.6f\nmuch %.6f\n", took[0], took[1]);
	MPI_Finalize();
	return 0;
}
