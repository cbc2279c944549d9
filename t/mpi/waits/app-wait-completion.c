/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits in calls that complete collective calls which do not block, as wait-truth.h has it.
 * Persistent ones are of MPI 4.
 */
#include "t/mpi/waits/wait-truth.h"

static MPI_Request request, requests[2];

static void imbalance_at_ibarrier(void)
{
	work_until(5 * rank);
	BEGUN(BARRIER, 0, NOBODY, MPI_Ibarrier(MPI_COMM_WORLD, &request));
	COMPLETED(1, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* They wait only for what is left after their other work. */
static void overlapped_ibarrier(void)
{
	work_until(rank == 2 ? 14 : 0);
	BEGUN(BARRIER, 0, NOBODY, MPI_Ibarrier(MPI_COMM_WORLD, &request));
	work_until(rank == 2 ? 14 : 3 + 2 * rank);
	COMPLETED(1, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void imbalance_at_iallreduce(void)
{
	work_until(rank == 1 ? 12 : 0);
	BEGUN(NXN, 0, NOBODY,
		MPI_Iallreduce(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
	COMPLETED(1, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void late_ibcast(void)
{
	work_until(rank == 1 ? 12 : 0);
	BEGUN(LATE_ROOT, 0, 1, MPI_Ibcast(data, 1, MPI_INT, 1, MPI_COMM_WORLD, &request));
	COMPLETED(1, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void early_ireduce(void)
{
	work_until(rank == 3 ? 15 : 4 * rank);
	BEGUN(EARLY_ROOT, 0, 0,
		MPI_Ireduce(data, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, &request));
	COMPLETED(1, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void late_in_iscan(void)
{
	work_until(rank == 1 ? 12 : 0);
	BEGUN(SCAN, 0, NOBODY, MPI_Iscan(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
	COMPLETED(1, MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* What is later, the message of rank 3 or the last of the barrier, in turn: it counts once. */
static void message_and_ibarrier(void)
{
	work_until(rank == 1 ? 12 : 0);
	BEGUN(BARRIER, 0, NOBODY, MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]));
	if (rank == 0) {
		BEGUN(LATE_SENDER, 1, NOBODY,
			MPI_Irecv(all, 1, MPI_INT, 3, 1, MPI_COMM_WORLD, &requests[1]));
		COMPLETED(2, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
		return;
	}
	if (rank == 3) {
		work_until(turn % 2 ? 20 : 4);
		BEGUN(SEND, 1, 0, MPI_Send(data, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
	}
	COMPLETED(rank == 3 ? 2 : 1, MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}

/* Who asks again and again does not wait in MPI. */
static void nobody_waits_in_test(void)
{
	int flag = 0;

	work_until(rank == 3 ? 10 : 0);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	atomic_store(&steps[rank], turn + 1);
	for (int r = 0; r < RANKS; r++)
		after(r, turn + 1);
	while (!flag)
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void nobody_waits(void)
{
	const int64_t n = 1000 + turn;

	BEGUN(NXN, 0, NOBODY,
		MPI_Iallreduce(data, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]));
	BEGUN(LATE_ROOT, 1, 2, MPI_Ibcast(data, 1, MPI_INT, 2, MPI_COMM_WORLD, &requests[1]));
	atomic_store(&steps[rank], n);
	for (int r = 0; r < RANKS; r++)
		after(r, n);
	COMPLETED(2, MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

#if MPI_VERSION >= 4
static MPI_Request barrier, reduce;

/* Two starts of one call, in which another rank is late. */
static void persistent_barrier(void)
{
	for (int i = 0; i < 2; i++) {
		work_until(20 * i + (rank == 1 + i ? 12 : 0));
		BEGUN(BARRIER, i, NOBODY, MPI_Start(&barrier));
		COMPLETED(1, MPI_Wait(&barrier, MPI_STATUS_IGNORE));
	}
}

/* Rank 2 begins the next turn before the others have completed this one. */
static void persistent_reduce(void)
{
	work_until(rank == 3 ? 15 : 4 * rank);
	BEGUN(EARLY_ROOT, 0, 0, MPI_Start(&reduce));
	work_until(rank == 3 ? 30 : 0);
	COMPLETED(1, MPI_Wait(&reduce, MPI_STATUS_IGNORE));
}
#endif

static const struct property properties[] = {
	PROPERTY(imbalance_at_ibarrier),
	PROPERTY(overlapped_ibarrier),
	PROPERTY(imbalance_at_iallreduce),
	PROPERTY(late_ibcast),
	PROPERTY(early_ireduce),
	PROPERTY(late_in_iscan),
	PROPERTY(message_and_ibarrier),
	PROPERTY(nobody_waits_in_test),
	PROPERTY(nobody_waits),
#if MPI_VERSION >= 4
	PROPERTY(persistent_barrier),
	PROPERTY(persistent_reduce),
#endif
};

int main(int argc, char **argv)
{
	begin_properties(&argc, &argv);
#if MPI_VERSION >= 4
	MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier);
	MPI_Reduce_init(data, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &reduce);
#endif
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		play(&properties[i]);
#if MPI_VERSION >= 4
	MPI_Request_free(&barrier);
	MPI_Request_free(&reduce);
#endif
	MPI_Finalize();
	return 0;
}
