/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks and two that they have spawned, which wait for each other.
 *
 *	app-known-spawn FILE
 *
 * On one machine; FILE: known_open(). The children are ranks 2 and 3 in what it says.
 */
#include <mpi.h>
#include <stdio.h>

#include "known.h"

#define PARENTS	  2
#define RANKS	  4
#define BIT(rank) (1u << (rank))
#define NOBODY	  KNOWN_NOBODY
#define CHILD(of) (PARENTS + (of))

static int data;
static MPI_Comm both, merged; /* merged: in the order of the numbers above */
static MPI_Comm copy, merged_copy;

/* Works until these ranks are in their nth call, and then so many ms more. */
static void bottleneck(unsigned ranks, int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(ranks, nth);
	known_spin(ms);
	known_called(s);
}

static int is_child(void)
{
	return known_rank >= PARENTS;
}

/* Of rank `from`, whose partner on the other side is `to`, each by its rank in its group. */
static void message(int from, int from_rank, int to, int to_rank, int tag)
{
	if (known_rank == from) {
		bottleneck(BIT(to), 1, 8);
		KNOWN_CALL(SEND, tag, to, MPI_Send, &data, 1, MPI_INT, to_rank, tag, both);
	} else if (known_rank == to) {
		KNOWN_CALL(LATE_SENDER, tag, from, MPI_Recv, &data, 1, MPI_INT, from_rank, tag,
			both, MPI_STATUS_IGNORE);
	}
}

static void late_parent(void)
{
	message(1, 1, CHILD(0), 0, 1);
}

static void late_child(void)
{
	message(CHILD(1), 1, 0, 0, 1);
}

static void late_to_receive(void)
{
	if (known_rank == 0) {
		KNOWN_CALL(LATE_RECEIVER, 1, CHILD(1), MPI_Ssend, &data, 1, MPI_INT, 1, 1, both);
	} else if (known_rank == CHILD(1)) {
		bottleneck(BIT(0), 1, 8);
		KNOWN_CALL(LATE_SENDER, 1, 0, MPI_Recv, &data, 1, MPI_INT, 0, 1, both,
			MPI_STATUS_IGNORE);
	}
}

static void late_at_barrier(void)
{
	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(BARRIER, 1, is_child(), MPI_Barrier, both);
}

static void late_root(void)
{
	if (known_rank == 1)
		bottleneck(BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	if (is_child())
		KNOWN_CALL(LATE_ROOT, 1, 1, MPI_Bcast, &data, 1, MPI_INT, 1, both);
	else if (known_rank == 1)
		KNOWN_CALL(LATE_ROOT, 1, 1, MPI_Bcast, &data, 1, MPI_INT, MPI_ROOT, both);
	else
		MPI_Bcast(&data, 1, MPI_INT, MPI_PROC_NULL, both);
}

/* ---- in a duplicate -----------------------------------------------------------------------------
 */

static void copy_late_child(void)
{
	if (known_rank == CHILD(1)) {
		bottleneck(BIT(0), 1, 8);
		KNOWN_CALL(SEND, 1, 0, MPI_Send, &data, 1, MPI_INT, 0, 1, copy);
	} else if (known_rank == 0) {
		KNOWN_CALL(LATE_SENDER, 1, CHILD(1), MPI_Recv, &data, 1, MPI_INT, 1, 1, copy,
			MPI_STATUS_IGNORE);
	}
}

static void copy_late_at_barrier(void)
{
	if (known_rank == 1)
		bottleneck(BIT(0) | BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(BARRIER, 1, is_child(), MPI_Barrier, copy);
}

/* ---- in one communicator that was merged of both -----------------------------------------------
 */

/* Also within one job, where all members of the communicator have to mean the same one. */
static void merged_message(int from, int to, int tag)
{
	if (known_rank == from) {
		bottleneck(BIT(to), 1, 8);
		KNOWN_CALL(SEND, tag, to, MPI_Send, &data, 1, MPI_INT, to, tag, merged);
	} else if (known_rank == to) {
		KNOWN_CALL(LATE_SENDER, tag, from, MPI_Recv, &data, 1, MPI_INT, from, tag, merged,
			MPI_STATUS_IGNORE);
	}
}

/* Once: of several it is not known which one is which at the other side. */
static void late_to_merge(void)
{
	if (known_turn)
		return;
	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Intercomm_merge, both, is_child(), &merged);
	MPI_Comm_free(&both); /* before the other one is used */
}

static void merged_late_parent(void)
{
	merged_message(1, CHILD(1), 1);
}

static void merged_late_child(void)
{
	merged_message(CHILD(0), 0, 1);
}

static void merged_late_sibling(void)
{
	merged_message(CHILD(1), CHILD(0), 1);
}

static void merged_late_at_barrier(void)
{
	if (known_rank == CHILD(1))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(0)), 1, 8);
	KNOWN_CALL(BARRIER, 1, NOBODY, MPI_Barrier, merged);
}

static void merged_late_at_allreduce(void)
{
	int sum;

	if (known_rank == 0)
		bottleneck(BIT(1) | BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Allreduce, &data, &sum, 1, MPI_INT, MPI_SUM, merged);
}

static void merged_late_root(void)
{
	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(LATE_ROOT, 1, CHILD(0), MPI_Bcast, &data, 1, MPI_INT, CHILD(0), merged);
}

/* Twice: the second one is used. */
static void late_to_copy(void)
{
	if (known_turn > 1)
		return;
	if (known_turn == 1)
		MPI_Comm_free(&merged_copy);
	if (known_rank == 1)
		bottleneck(BIT(0) | BIT(CHILD(0)) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Comm_dup, merged, &merged_copy);
}

static void merged_copy_late_at_allreduce(void)
{
	int sum;

	if (known_rank == CHILD(0))
		bottleneck(BIT(0) | BIT(1) | BIT(CHILD(1)), 1, 8);
	KNOWN_CALL(NXN, 1, NOBODY, MPI_Allreduce, &data, &sum, 1, MPI_INT, MPI_SUM, merged_copy);
}

static const struct known_property properties[] = {
	KNOWN_PROPERTY(late_parent, "late_sender MPI_Recv message 1 bottleneck"),
	KNOWN_PROPERTY(late_child, "late_sender MPI_Recv message 3 bottleneck"),
	KNOWN_PROPERTY(late_to_receive, "late_receiver MPI_Ssend late_to_receive 3 bottleneck"),
	KNOWN_PROPERTY(late_at_barrier, "barrier MPI_Barrier late_at_barrier 2 bottleneck"),
	KNOWN_PROPERTY(late_root, "late_root MPI_Bcast late_root 1 bottleneck"),
	KNOWN_PROPERTY(copy_late_child, "late_sender MPI_Recv copy_late_child 3 bottleneck"),
	KNOWN_PROPERTY(
		copy_late_at_barrier, "barrier MPI_Barrier copy_late_at_barrier 1 bottleneck"),
	KNOWN_PROPERTY(late_to_merge, "nxn MPI_Intercomm_merge late_to_merge 2 bottleneck"),
	KNOWN_PROPERTY(merged_late_parent, "late_sender MPI_Recv merged_message 1 bottleneck"),
	KNOWN_PROPERTY(merged_late_child, "late_sender MPI_Recv merged_message 2 bottleneck"),
	KNOWN_PROPERTY(merged_late_sibling, "late_sender MPI_Recv merged_message 3 bottleneck"),
	KNOWN_PROPERTY(
		merged_late_at_barrier, "barrier MPI_Barrier merged_late_at_barrier 3 bottleneck"),
	KNOWN_PROPERTY(merged_late_at_allreduce,
		"nxn MPI_Allreduce merged_late_at_allreduce 0 bottleneck"),
	KNOWN_PROPERTY(merged_late_root, "late_root MPI_Bcast merged_late_root 2 bottleneck"),
	KNOWN_PROPERTY(late_to_copy, "nxn MPI_Comm_dup late_to_copy 1 bottleneck"),
	KNOWN_PROPERTY(merged_copy_late_at_allreduce,
		"nxn MPI_Allreduce merged_copy_late_at_allreduce 2 bottleneck"),
};

int main(int argc, char **argv)
{
	int rank, size, done = 0;
	MPI_Comm first, second;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_get_parent(&both);
	if (size != PARENTS || argc != 2) {
		fprintf(stderr, "two ranks and a file, please\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (both == MPI_COMM_NULL)
		MPI_Comm_spawn(argv[0], argv + 1, PARENTS, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both,
			MPI_ERRCODES_IGNORE);
	else
		rank += PARENTS;
	MPI_Comm_dup(both, &first);
	MPI_Comm_dup(both, &second);
	MPI_Comm_free(&first);
	MPI_Comm_idup(second, &copy, &request);
	while (!done) /* which is no wait */
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
	MPI_Comm_free(&second);
	known_open(argv[1], rank, RANKS);
	known_play(properties, (int)(sizeof(properties) / sizeof(properties[0])));
	MPI_Comm_free(&merged_copy);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&copy);
	MPI_Finalize();
	return 0;
}
