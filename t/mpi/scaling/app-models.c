/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-models [N]: calls, messages and bytes that are known functions of the number of ranks P:
 *
 *	fixed	10 calls, of rank 0
 *	linear	5 P calls
 *	square	3 P^2 calls
 *	around	P calls; each sends a message of 400 bytes to the next rank, and receives one
 *
 * With N, rank 0 also calls levels() log2(N) times.
 */
#include <mpi.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

static volatile int done;

static APART void fixed(void)
{
	done++;
}

static APART void linear(void)
{
	done++;
}

static APART void square(void)
{
	done++;
}

static APART void levels(void)
{
	done++;
}

static APART void around(int rank, int size)
{
	int numbers[100] = {0}, others[100];

	MPI_Sendrecv(numbers, 100, MPI_INT, (rank + 1) % size, 0, others, 100, MPI_INT,
		(rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < 10 && !rank; i++)
		fixed();
	for (int i = 0; i < 5; i++)
		linear();
	for (int i = 0; i < 3 * size; i++)
		square();
	around(rank, size);
	for (int n = argc > 1 && !rank ? atoi(argv[1]) : 1; n > 1; n /= 2)
		levels();
	MPI_Finalize();
	return 0;
}
