/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells who waits for a lock of a window that another process has. MPI_Win_lock may get the lock or
 * only ask for it, and no call says when a process has it. But of two epochs A and B of different
 * processes with the same window and target, at least one of them exclusive, one is over before the
 * other one has the lock. An epoch has the lock for certain when an MPI_Win_flush in it has ended,
 * or at last its MPI_Win_unlock. So the epoch that has it later for certain, B, comes second. A
 * call of B waited for A if it was made before B had the lock, began before A began to give the
 * lock back, and ended after that. If there are several such epochs A, it waited for the last. An
 * MPI_Win_lock that takes long gets the lock, so its epoch is second.
 *
 * If both have waited for a target that did not enter MPI, the wait is told too long: at most by
 * the time in which calls of both overlap.
 */
#ifndef VFTR_NODEAGENT_REPLAY_WINDOW_LOCK_EPOCH_H
#define VFTR_NODEAGENT_REPLAY_WINDOW_LOCK_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

#define LOCK_CALLS 4u /* of an epoch that are looked at, the longest */

struct lock_call {
	uint64_t enter, leave; /* of one clock, whatever its unit */
	uint32_t path;
	bool asks; /* MPI_Win_lock, MPI_Win_lock_all */
};

/* From a lock to its end. Begins with window, process, target, exclusive and began, else zeros. */
struct lock_epoch {
	uint64_t window;  /* its identity */
	uint64_t process; /* whose it is */
	uint64_t began;
	uint32_t target; /* rank, or MESSAGE_NO_RANK: all */
	bool exclusive;
	bool has;	 /* a flush has ended, so it has the lock */
	uint64_t had_at; /* it had it then: the end of that, or of the last call */
	uint32_t n;
	struct lock_call calls[LOCK_CALLS], last; /* last: that gave it back */
};

enum lock_part { LOCK_ASKS, LOCK_GOES_ON, LOCK_HAS, LOCK_ENDS, LOCK_PARTS };

/* The part of a function of MPI in an epoch of a lock; LOCK_PARTS: none. */
enum lock_part lock_part_of(uint32_t function);

/* The next call of an epoch; with LOCK_ENDS it is over. Shorter ones than `least` have not waited.
 */
void lock_epoch_add(
	struct lock_epoch *e, enum lock_part part, const struct lock_call *call, uint64_t least);

/* Of two that are over: tells each call of a that stood until b was given back. */
void lock_epoch_compare(const struct lock_epoch *a, const struct lock_epoch *b,
	void (*waited)(void *arg, const struct lock_epoch *a, const struct lock_call *call,
		const struct lock_epoch *b),
	void *arg);

#endif
