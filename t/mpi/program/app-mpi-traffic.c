/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication with known numbers, for the tables. For n >= 2 ranks:
 *  - each rank sends 10 messages of 1000 bytes to the next one (Isend, Irecv);
 *  - rank 0 sends one of 0 bytes and one of 5000 to the last (Send, Recv);
 *  - 5 times Allreduce of 8 bytes, on the even and the odd ranks, "odd or even";
 *  - each rank writes 100 bytes into a file, if an argument names one.
 */
#include <mpi.h>
#include <string.h>

static char out[5000], in[5000];

static void ring(int rank, int n)
{
	MPI_Request r[20];
	MPI_Status s[10];

	for (int i = 0; i < 10; i++) {
		MPI_Irecv(
			in + 100 * i, 1000, MPI_BYTE, (rank + n - 1) % n, 7, MPI_COMM_WORLD, &r[i]);
		MPI_Isend(out, 1000, MPI_BYTE, (rank + 1) % n, 7, MPI_COMM_WORLD, &r[10 + i]);
		MPI_Waitall(1, &r[i], s);
	}
	MPI_Waitall(10, r + 10, s);
}

static void far(int rank, int n)
{
	static const int sizes[] = {0, 5000};

	for (int i = 0; i < 2; i++) {
		if (rank == 0)
			MPI_Send(out, sizes[i], MPI_BYTE, n - 1, 8, MPI_COMM_WORLD);
		if (rank == n - 1)
			MPI_Recv(in, sizes[i], MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void together(int rank)
{
	MPI_Comm half;
	double x = rank, sum;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
	MPI_Comm_set_name(half, "odd or even");
	for (int i = 0; i < 5; i++)
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
	MPI_Comm_free(&half);
}

static void write_file(int rank, const char *name)
{
	MPI_File f;

	MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
	MPI_File_write_at(f, 100 * rank, out, 100, MPI_BYTE, MPI_STATUS_IGNORE);
	MPI_File_close(&f);
}

int main(int argc, char **argv)
{
	int rank, n;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	memset(out, 'x', sizeof(out));
	ring(rank, n);
	far(rank, n);
	together(rank);
	if (argc > 1)
		write_file(rank, argv[1]);
	MPI_Finalize();
	return 0;
}
