/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Properties of one-sided communication, after PPerfMark and the APART test suite (ATS); README
 * says which. Written from their descriptions.
 *
 *	app-known-rma FILE
 *
 * Four ranks on one machine; FILE: known_open(). Each property makes the windows that it needs.
 */
#include <mpi.h>
#include <stdio.h>

#include "known.h"

#define RANKS	  4
#define WORLD	  MPI_COMM_WORLD
#define BIT(rank) (1u << (rank))
#define OTHERS	  ((BIT(RANKS) - 1) & ~BIT(known_rank))
#define PARTNER	  (known_rank ^ 1)
#define NOBODY	  KNOWN_NOBODY

static int exposed[RANKS], more[RANKS], data[RANKS];
static MPI_Comm pair; /* ranks 0 and 1, ranks 2 and 3 */

/* The late one: works until the others have come to their nth call of this turn, and then so many
 * ms more. */
static void bottleneck(unsigned others, int nth, int ms)
{
	struct known_stamp *s = known_inside(__func__);

	known_after(others, nth);
	known_spin(ms);
	known_called(s);
}

static MPI_Win make_window(void *memory, int group, MPI_Comm comm)
{
	MPI_Win w;

	KNOWN_CALL(NXN, group, NOBODY, MPI_Win_create, memory, sizeof(exposed), sizeof(int),
		MPI_INFO_NULL, comm, &w);
	return w;
}

static void free_window(MPI_Win w, int group)
{
	KNOWN_CALL(BARRIER, group, NOBODY, MPI_Win_free, &w);
}

static void put_next(MPI_Win w)
{
	MPI_Put(data, 1, MPI_INT, (known_rank + 1) % RANKS, 0, 1, MPI_INT, w);
}

/* ---- fences ------------------------------------------------------------------------------ */

static void late_at_win_create(void)
{
	MPI_Win w;

	if (known_rank == 1)
		bottleneck(OTHERS, 1, 8);
	KNOWN_CALL(NXN, 0, NOBODY, MPI_Win_create, exposed, sizeof(exposed), sizeof(int),
		MPI_INFO_NULL, WORLD, &w);
	free_window(w, 1);
}

static void late_at_win_free(void)
{
	MPI_Win w = make_window(exposed, 0, WORLD);

	if (known_rank == 3)
		bottleneck(OTHERS, 2, 8);
	KNOWN_CALL(BARRIER, 1, NOBODY, MPI_Win_free, &w);
}

/* Others have put their data where rank 0 works before it closes the epoch. */
static void win_fence_sync(void)
{
	MPI_Win w = make_window(exposed, 0, WORLD);

	KNOWN_CALL(RMA_FENCE, 1, NOBODY, MPI_Win_fence, 0, w);
	if (known_rank)
		MPI_Put(data, 1, MPI_INT, 0, known_rank, 1, MPI_INT, w);
	else
		bottleneck(OTHERS, 3, 8);
	KNOWN_CALL(RMA_FENCE, 2, NOBODY, MPI_Win_fence, 0, w);
	free_window(w, 3);
}

/* In each epoch another one is last. */
static void late_at_fence_in_turn(void)
{
	MPI_Win w = make_window(exposed, 0, WORLD);

	for (int i = 0; i < RANKS; i++) {
		if (known_rank == i)
			bottleneck(OTHERS, 2 + i, 6);
		KNOWN_CALL(RMA_FENCE, 1 + i, NOBODY, MPI_Win_fence, 0, w);
		put_next(w);
	}
	KNOWN_CALL(RMA_FENCE, 1 + RANKS, NOBODY, MPI_Win_fence, MPI_MODE_NOSUCCEED, w);
	free_window(w, 2 + RANKS);
}

/* The kth fence of one has nothing to do with that of the other one, on the same communicator. */
static void fences_of_two_windows(void)
{
	MPI_Win one = make_window(exposed, 0, WORLD), two = make_window(more, 1, WORLD);

	if (known_rank == 1)
		bottleneck(OTHERS, 3, 8);
	KNOWN_CALL(RMA_FENCE, 2, NOBODY, MPI_Win_fence, 0, one);
	if (known_rank == 2)
		bottleneck(OTHERS, 4, 8);
	KNOWN_CALL(RMA_FENCE, 3, NOBODY, MPI_Win_fence, 0, two);
	free_window(one, 4);
	free_window(two, 5);
}

/* Two windows of the same number, each of two ranks. */
static void fences_in_pairs(void)
{
	const int group = 10 * (known_rank / 2);
	MPI_Win w = make_window(exposed, group, pair);

	if (known_rank == 0 || known_rank == 3)
		bottleneck(BIT(PARTNER), 2, 8);
	KNOWN_CALL(RMA_FENCE, group + 1, NOBODY, MPI_Win_fence, 0, w);
	MPI_Put(data, 1, MPI_INT, !(known_rank % 2), 0, 1, MPI_INT, w);
	KNOWN_CALL(RMA_FENCE, group + 2, NOBODY, MPI_Win_fence, 0, w);
	free_window(w, group + 3);
}

/* ---- nobody waits, or as it happens -------------------------------------------------------- */

/* All come as they may: what they wait is what their stamps say, and no more. */
static void balanced(void)
{
	MPI_Win w = make_window(exposed, 0, WORLD);

	for (int i = 0; i < 3; i++) {
		known_spin(1);
		KNOWN_CALL(RMA_FENCE, 1 + i, NOBODY, MPI_Win_fence, 0, w);
	}
	free_window(w, 4);
}

/* Locks have the same numbers as fences, and are not taken for these. */
static void locks_beside_fences(void)
{
	MPI_Win w = make_window(exposed, 0, WORLD);

	for (int i = 0; i <= known_rank; i++) {
		MPI_Win_lock(MPI_LOCK_SHARED, known_rank, 0, w);
		MPI_Win_unlock(known_rank, w);
	}
	KNOWN_CALL(RMA_FENCE, 1, NOBODY, MPI_Win_fence, 0, w);
	put_next(w);
	if (known_rank == 2)
		bottleneck(OTHERS, 3, 8);
	KNOWN_CALL(RMA_FENCE, 2, NOBODY, MPI_Win_fence, 0, w);
	free_window(w, 3);
}

/* ------------------------------------------------------------------------------------------ */

static const struct known_property properties[] = {
	KNOWN_PROPERTY(late_at_win_create, "nxn MPI_Win_create late_at_win_create 1 bottleneck"),
	KNOWN_PROPERTY(late_at_win_free, "barrier MPI_Win_free late_at_win_free 3 bottleneck"),
	KNOWN_PROPERTY(win_fence_sync, "rma_fence MPI_Win_fence win_fence_sync 0 bottleneck"),
	KNOWN_PROPERTY(late_at_fence_in_turn,
		"rma_fence MPI_Win_fence late_at_fence_in_turn 0,1,2,3 bottleneck"),
	KNOWN_PROPERTY(fences_of_two_windows,
		"rma_fence MPI_Win_fence fences_of_two_windows 1,2 bottleneck"),
	KNOWN_PROPERTY(fences_in_pairs, "rma_fence MPI_Win_fence fences_in_pairs 0,3 bottleneck"),
	KNOWN_PROPERTY(
		locks_beside_fences, "rma_fence MPI_Win_fence locks_beside_fences 2 bottleneck"),
	KNOWN_PROPERTY(balanced, "anything"),
};
#define PROPERTIES (int)(sizeof(properties) / sizeof(properties[0]))

int main(int argc, char **argv)
{
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	if (size != RANKS || argc != 2) {
		fprintf(stderr, "four ranks and a file, please\n");
		MPI_Abort(WORLD, 2);
	}
	known_open(argv[1], rank, size);
	MPI_Comm_split(WORLD, rank / 2, 0, &pair);
	known_play(properties, PROPERTIES);
	MPI_Comm_free(&pair);
	MPI_Finalize();
	return 0;
}
