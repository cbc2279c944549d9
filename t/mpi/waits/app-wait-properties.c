/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits in calls that block, one function for each property, as wait-truth.h has it. */
#include "t/mpi/waits/wait-truth.h"

static MPI_Comm halves; /* ranks 0 and 2, ranks 1 and 3 */

static void late_sender(void)
{
	int to = rank - 1;

	work_until(rank % 2 ? 5 * rank : 0);
	if (rank % 2)
		STAMP(SEND, 0, to, MPI_Send(data, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
	else
		STAMP(LATE_SENDER, 0, NOBODY,
			MPI_Recv(data, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* In turn another one is last; the others have waited for nothing. */
static void late_sender_in_waitall(void)
{
	MPI_Request requests[RANKS];

	if (rank) {
		work_until(5 + 4 * ((rank + turn) % 3));
		STAMP(SEND, 0, 0, MPI_Send(data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
		return;
	}
	work_until(0);
	for (int i = 1; i < RANKS; i++)
		MPI_Irecv(&all[i], 1, MPI_INT, i, 2, MPI_COMM_WORLD, &requests[i - 1]);
	STAMP(LATE_SENDER, 0, NOBODY, MPI_Waitall(RANKS - 1, requests, MPI_STATUSES_IGNORE));
}

static void imbalance_at_barrier(void)
{
	work_until(5 * rank);
	STAMP(BARRIER, 0, NOBODY, MPI_Barrier(MPI_COMM_WORLD));
}

static void imbalance_at_alltoall(void)
{
	work_until(rank == 2 ? 15 : 0);
	STAMP(NXN, 0, NOBODY, MPI_Alltoall(data, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
}

static void imbalance_at_allreduce(void)
{
	work_until(rank == turn % RANKS ? 12 : rank);
	STAMP(NXN, 0, NOBODY, MPI_Allreduce(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static void late_broadcast(void)
{
	work_until(rank == 1 ? 12 : 0);
	STAMP(LATE_ROOT, 0, 1, MPI_Bcast(data, 1, MPI_INT, 1, MPI_COMM_WORLD));
}

static void late_scatter(void)
{
	work_until(rank == 2 ? 12 : 0);
	STAMP(LATE_ROOT, 0, 2, MPI_Scatter(all, 1, MPI_INT, data, 1, MPI_INT, 2, MPI_COMM_WORLD));
}

static void early_reduce(void)
{
	work_until(rank == 0 ? 0 : 5 + 3 * rank);
	STAMP(EARLY_ROOT, 0, 0, MPI_Reduce(data, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
}

static void early_gather(void)
{
	work_until(rank == 3 ? 0 : 14 - 4 * rank);
	STAMP(EARLY_ROOT, 0, 3, MPI_Gather(data, 1, MPI_INT, all, 1, MPI_INT, 3, MPI_COMM_WORLD));
}

static void late_in_scan(void)
{
	work_until(rank == 1 ? 12 : 0);
	STAMP(SCAN, 0, NOBODY, MPI_Scan(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

/* In one half a late root, in the other one a late member of a barrier. */
static void two_communicators(void)
{
	work_until(rank > 1 ? 12 : 0);
	if (rank % 2)
		STAMP(BARRIER, 1, NOBODY, MPI_Barrier(halves));
	else
		STAMP(LATE_ROOT, 0, 2, MPI_Bcast(data, 1, MPI_INT, 1, halves));
}

/* Nobody waits: what a call needs was there before. */
static void nobody_waits(void)
{
	const int64_t n = 4 * turn + 1;

	if (rank)
		after(0, n);
	atomic_store(&steps[rank], n);
	STAMP(LATE_ROOT, 0, 0, MPI_Bcast(data, 1, MPI_INT, 0, MPI_COMM_WORLD));
	for (int r = 0; r < RANKS && rank == 1; r++)
		if (r != 1)
			after(r, n + 1);
	atomic_store(&steps[rank], n + 1);
	STAMP(EARLY_ROOT, 1, 1, MPI_Reduce(data, all, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD));
	if (rank)
		after(rank - 1, n + 2);
	atomic_store(&steps[rank], n + 2);
	STAMP(SCAN, 2, NOBODY, MPI_Scan(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	if (rank == 0)
		after(2, n + 3);
	atomic_store(&steps[rank], n + 3);
	if (rank == 2)
		STAMP(SEND, 3, 0, MPI_Send(data, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
	if (rank == 0)
		STAMP(LATE_SENDER, 3, NOBODY,
			MPI_Recv(data, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static const struct property properties[] = {
	PROPERTY(late_sender),
	PROPERTY(late_sender_in_waitall),
	PROPERTY(imbalance_at_barrier),
	PROPERTY(imbalance_at_alltoall),
	PROPERTY(imbalance_at_allreduce),
	PROPERTY(late_broadcast),
	PROPERTY(late_scatter),
	PROPERTY(early_reduce),
	PROPERTY(early_gather),
	PROPERTY(late_in_scan),
	PROPERTY(two_communicators),
	PROPERTY(nobody_waits),
};

int main(int argc, char **argv)
{
	begin_properties(&argc, &argv);
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &halves);
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		play(&properties[i]);
	MPI_Comm_free(&halves);
	MPI_Finalize();
	return 0;
}
