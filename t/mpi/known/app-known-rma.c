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

/* Comes when others are in their nth call, so that it waits for nobody. */
static void no_sooner(unsigned others, int nth)
{
	known_after(others, nth);
	known_spin(1);
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

/* The fence that MPI refuses rank 2, others do not call. */
static void late_at_fence_after_refusal(void)
{
	MPI_Win w = make_window(exposed, 0, WORLD);

	if (known_rank == 2) {
		MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN);
		if (MPI_Win_fence(-1, w) == MPI_SUCCESS)
			printf("nothing was refused\n");
	}
	for (int i = 0; i < RANKS; i++) {
		if (known_rank == i)
			bottleneck(OTHERS, 2 + i, 6);
		KNOWN_CALL(RMA_FENCE, 1 + i, NOBODY, MPI_Win_fence, 0, w);
	}
	free_window(w, 1 + RANKS);
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

/* ---- post, start, complete, wait ----------------------------------------------------------- */

static MPI_Win shared; /* of all ranks, for what follows */

static void make_shared_window(void)
{
	if (!known_turn)
		shared = make_window(exposed, 0, WORLD);
}

static void free_shared_window(void)
{
	if (!known_turn)
		free_window(shared, 0);
}

static MPI_Group group_of(unsigned ranks)
{
	int members[RANKS], n = 0;
	MPI_Group all, some;

	for (int r = RANKS; r--;) /* in another order than in the window */
		if (ranks & BIT(r))
			members[n++] = r;
	MPI_Comm_group(WORLD, &all);
	MPI_Group_incl(all, n, members, &some);
	MPI_Group_free(&all);
	return some;
}

/* Its calls count for the property that has it. */
#define EPOCH_OF(kind, group, ranks, function)                                                     \
	do {                                                                                       \
		MPI_Group g_ = group_of(ranks);                                                    \
                                                                                                   \
		KNOWN_CALL(kind, group, (int)(ranks), function, g_, 0, shared);                    \
		MPI_Group_free(&g_);                                                               \
	} while (0)

/* Origins wait where MPI lets them: in the one call or the other. */
static void late_post(void)
{
	if (!known_rank) {
		bottleneck(OTHERS, 1, 8);
		EPOCH_OF(EXPOSE, 0, OTHERS, MPI_Win_post);
		KNOWN_CALL(RMA_COMPLETE, 0, (int)OTHERS, MPI_Win_wait, shared);
		return;
	}
	EPOCH_OF(RMA_POST, 0, BIT(0), MPI_Win_start);
	MPI_Put(data, 1, MPI_INT, 0, known_rank, 1, MPI_INT, shared);
	KNOWN_CALL(RMA_POST, 0, BIT(0), MPI_Win_complete, shared);
}

/* Ranks 2 and 3 put data where rank 0 waits for them, and rank 2 works before it is done. */
static void late_complete(void)
{
	if (!known_rank) {
		EPOCH_OF(EXPOSE, 0, BIT(2) | BIT(3), MPI_Win_post);
		KNOWN_CALL(RMA_COMPLETE, 0, BIT(2) | BIT(3), MPI_Win_wait, shared);
		return;
	}
	if (known_rank == 1)
		return;
	EPOCH_OF(RMA_POST, 0, BIT(0), MPI_Win_start);
	MPI_Put(data, 1, MPI_INT, 0, known_rank, 1, MPI_INT, shared);
	if (known_rank == 2)
		bottleneck(BIT(0) | BIT(3), 2, 8);
	KNOWN_CALL(RMA_POST, 0, BIT(0), MPI_Win_complete, shared);
}

/* Each puts to the next one, and in turn another one is late with its post and what follows. */
static void epochs_in_ring(void)
{
	const int next = (known_rank + 1) % RANKS, before = (known_rank + RANKS - 1) % RANKS;

	if (known_rank == known_turn % RANKS)
		bottleneck(OTHERS, 1, 6);
	EPOCH_OF(EXPOSE, 0, BIT(before), MPI_Win_post);
	EPOCH_OF(RMA_POST, 0, BIT(next), MPI_Win_start);
	put_next(shared);
	KNOWN_CALL(RMA_POST, 0, BIT(next), MPI_Win_complete, shared);
	KNOWN_CALL(RMA_COMPLETE, 0, BIT(before), MPI_Win_wait, shared);
}

static void no_wait_for_post_or_complete(void)
{
	if (!known_rank) {
		EPOCH_OF(EXPOSE, 0, OTHERS, MPI_Win_post);
		no_sooner(OTHERS, 2);
		KNOWN_CALL(RMA_COMPLETE, 0, (int)OTHERS, MPI_Win_wait, shared);
		return;
	}
	no_sooner(BIT(0), 1);
	EPOCH_OF(RMA_POST, 0, BIT(0), MPI_Win_start);
	MPI_Put(data, 1, MPI_INT, 0, known_rank, 1, MPI_INT, shared);
	KNOWN_CALL(RMA_POST, 0, BIT(0), MPI_Win_complete, shared);
}

/* ---- locks --------------------------------------------------------------------------------- */

/* Others stay in MPI, which works for the lock. */
static void meet_in_mpi(int group)
{
	KNOWN_CALL(BARRIER, group, NOBODY, MPI_Barrier, WORLD);
}

/* Rank 1 has it, and works in it until rank 3, on the same node, has asked for it. */
static void lock_is_held(void)
{
	if (known_rank == 1) {
		KNOWN_CALL(RMA_LOCK, 1, 0, MPI_Win_lock, MPI_LOCK_EXCLUSIVE, 0, 0, shared);
		MPI_Put(data, 1, MPI_INT, 0, known_rank, 1, MPI_INT, shared);
		KNOWN_CALL(RMA_LOCK, 1, 0, MPI_Win_flush, 0, shared);
		/* when it is here it has the lock */
		KNOWN_CALL(RMA_LOCK, 1, 0, MPI_Win_flush, 0, shared);
		bottleneck(BIT(3), 1, 8);
		KNOWN_CALL(RELEASE, 1, 0, MPI_Win_unlock, 0, shared);
	} else if (known_rank == 3) {
		known_after(BIT(1), 3);
		known_spin(2);
		KNOWN_CALL(RMA_LOCK, 1, BIT(1), MPI_Win_lock, MPI_LOCK_SHARED, 0, 0, shared);
		MPI_Put(data, 1, MPI_INT, 0, known_rank, 1, MPI_INT, shared);
		KNOWN_CALL(RMA_LOCK, 1, BIT(1), MPI_Win_unlock, 0, shared);
	}
	meet_in_mpi(2);
}

/* The same of rank 2, which is on another node than rank 1 if there are two. */
static void lock_is_held_far(void)
{
	if (known_rank == 1) {
		KNOWN_CALL(RMA_LOCK, 1, 0, MPI_Win_lock, MPI_LOCK_EXCLUSIVE, 3, 0, shared);
		MPI_Put(data, 1, MPI_INT, 3, known_rank, 1, MPI_INT, shared);
		KNOWN_CALL(RMA_LOCK, 1, 0, MPI_Win_flush, 3, shared);
		/* when it is here it has the lock */
		KNOWN_CALL(RMA_LOCK, 1, 0, MPI_Win_flush, 3, shared);
		bottleneck(BIT(2), 1, 8);
		KNOWN_CALL(RELEASE, 1, 0, MPI_Win_unlock, 3, shared);
	} else if (known_rank == 2) {
		known_after(BIT(1), 3);
		known_spin(2);
		KNOWN_CALL(RMA_LOCK, 1, BIT(1), MPI_Win_lock, MPI_LOCK_EXCLUSIVE, 3, 0, shared);
		MPI_Put(data, 1, MPI_INT, 3, known_rank, 1, MPI_INT, shared);
		KNOWN_CALL(RMA_LOCK, 1, BIT(1), MPI_Win_unlock, 3, shared);
	}
	meet_in_mpi(2);
}

/* The one that has it for all targets has it for this one. */
static void lock_all_is_held(void)
{
	if (known_rank == 1) {
		KNOWN_CALL(RMA_LOCK, 1, 0, MPI_Win_lock_all, 0, shared);
		MPI_Put(data, 1, MPI_INT, 0, known_rank, 1, MPI_INT, shared);
		KNOWN_CALL(RMA_LOCK, 1, 0, MPI_Win_flush_all, shared);
	}
	meet_in_mpi(3); /* all must be in MPI, so that it is had */
	if (known_rank == 1) {
		bottleneck(BIT(3), 2, 8);
		KNOWN_CALL(RELEASE, 1, 0, MPI_Win_unlock_all, shared);
	} else if (known_rank == 3) {
		known_spin(2);
		KNOWN_CALL(RMA_LOCK, 1, BIT(1), MPI_Win_lock, MPI_LOCK_EXCLUSIVE, 0, 0, shared);
		MPI_Put(data, 1, MPI_INT, 0, known_rank, 1, MPI_INT, shared);
		KNOWN_CALL(RMA_LOCK, 1, BIT(1), MPI_Win_flush, 0, shared);
		MPI_Win_unlock(0, shared);
	}
	meet_in_mpi(2);
}

/* Several may have it at a time, and locks of other targets are others. */
static void locks_that_nobody_waits_for(void)
{
	if (known_rank == 1 || known_rank == 2) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, shared);
		MPI_Win_flush(0, shared);
		known_spin(4);
		MPI_Win_unlock(0, shared);
	} else if (known_rank == 3) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, shared);
		known_spin(4);
		MPI_Win_unlock(3, shared);
	}
	meet_in_mpi(2);
}

/* Each has it for its own target; then all have all. */
static void locks(void)
{
	for (int i = 0; i < 3; i++) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, known_rank, 0, shared);
		MPI_Put(data, 1, MPI_INT, known_rank, known_rank, 1, MPI_INT, shared);
		MPI_Win_unlock(known_rank, shared);
	}
	meet_in_mpi(1);
	MPI_Win_lock_all(0, shared);
	put_next(shared);
	MPI_Win_flush_all(shared);
	MPI_Win_unlock_all(shared);
	KNOWN_CALL(BARRIER, 0, NOBODY, MPI_Barrier, WORLD); /* MPI works for others in it */
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
	KNOWN_PROPERTY(late_at_fence_after_refusal,
		"rma_fence MPI_Win_fence late_at_fence_after_refusal 0,1,2,3 bottleneck"),
	KNOWN_PROPERTY(fences_of_two_windows,
		"rma_fence MPI_Win_fence fences_of_two_windows 1,2 bottleneck"),
	KNOWN_PROPERTY(fences_in_pairs, "rma_fence MPI_Win_fence fences_in_pairs 0,3 bottleneck"),
	KNOWN_PROPERTY(
		locks_beside_fences, "rma_fence MPI_Win_fence locks_beside_fences 2 bottleneck"),
	KNOWN_PROPERTY(balanced, "anything"),
	KNOWN_PROPERTY(make_shared_window, "anything"),
	KNOWN_PROPERTY(late_post, "anything"),
	KNOWN_PROPERTY(late_complete, "rma_complete MPI_Win_wait late_complete 2 bottleneck"),
	KNOWN_PROPERTY(epochs_in_ring, "anything"),
	KNOWN_PROPERTY(no_wait_for_post_or_complete, NULL),
	KNOWN_PROPERTY(lock_is_held, "anything"),
	KNOWN_PROPERTY(lock_is_held_far, "anything"),
	KNOWN_PROPERTY(lock_all_is_held, "anything"),
	KNOWN_PROPERTY(locks_that_nobody_waits_for, "anything"),
	KNOWN_PROPERTY(locks, "anything"),
	KNOWN_PROPERTY(free_shared_window, "anything"),
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
