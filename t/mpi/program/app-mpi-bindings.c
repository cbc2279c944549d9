/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The C counterpart of app-mpi-bindings.f90: the same calls in the same number,
 * and the same `ok' from rank 0 if every result was right. -DTHREADS starts
 * with MPI_Init_thread, -DABORT ends with MPI_Abort(7).
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void add(void *a, void *b, int *n, MPI_Datatype *t)
{
	for (int i = 0; i < *n; i++)
		((int *)b)[i] += ((int *)a)[i];
	(void)t;
}

int main(int argc, char **argv)
{
	int rank, size, total, got, x, y, n, flag, bad = 0;
	MPI_Request req[2];
	MPI_Datatype pair;
	MPI_Comm half;
	MPI_Info info;
	MPI_Op plus;
	double now;
	char name[MPI_MAX_OBJECT_NAME], value[41];

#ifdef THREADS
	int provided;

	bad += MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS;
	bad += provided < MPI_THREAD_FUNNELED;
#else
	bad += MPI_Init(&argc, &argv) != MPI_SUCCESS;
#endif
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);

	const int peer = rank ^ 1;

	total = rank;
	MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	bad += total != size * (size - 1) / 2;

	MPI_Sendrecv(&rank, 1, MPI_INT, peer, 7, &got, 1, MPI_INT, peer, 7, MPI_COMM_WORLD,
		MPI_STATUS_IGNORE);
	bad += got != peer;

	x = 100 + rank;
	MPI_Irecv(&y, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, &req[0]);
	MPI_Isend(&x, 1, MPI_INT, peer, 8, MPI_COMM_WORLD, &req[1]);
	MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
	bad += y != 100 + peer;

	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Comm_set_name(half, "half the world");
	MPI_Comm_get_name(half, name, &n);
	bad += strcmp(name, "half the world") || n != 14;

	int sums[2] = {1, rank};

	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	MPI_Op_create(add, 1, &plus);
	MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, plus, half);
	bad += sums[0] != size / 2;
	MPI_Bcast(sums, 1, pair, 0, half);
	MPI_Op_free(&plus);
	MPI_Type_free(&pair);
	MPI_Comm_free(&half);

	MPI_Info_create(&info);
	MPI_Info_set(info, "colour", "blue");
	MPI_Info_get(info, "colour", 40, value, &flag);
	bad += !flag || strcmp(value, "blue");
	MPI_Info_free(&info);

	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Pcontrol(1);
	now = MPI_Wtime();
	bad += now < 0 || MPI_Wtick() <= 0;
	n = bad;
	MPI_Reduce(&n, &bad, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0 && bad == 0)
		puts("ok");
	fflush(stdout);
#ifdef ABORT
	MPI_Abort(MPI_COMM_WORLD, 7);
#endif
	return MPI_Finalize() != MPI_SUCCESS;
}
