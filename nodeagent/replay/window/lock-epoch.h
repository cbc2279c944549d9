/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for a lock of a window that another process has. MPI_Win_lock may get the lock or only
 * ask for it, and no call says when a process has it. What is known: of two epochs of different
 * processes with the same window and target, at least one of them exclusive, one is over before
 * the other one has the lock. That one has it when an MPI_Win_flush of it has ended, or at last
 * when MPI_Win_unlock has; so the one that has it later comes second. Calls of the second one,
 * until it has the lock, that began before the first one began to give it back, and ended after
 * that, stood for so long while that one worked in its epoch; of several ones for the last. A
 * long MPI_Win_lock is one that gets the lock, and so is second.
 *
 * A target that does not enter MPI may have kept both waiting: then this is too much, by no more
 * than the calls of both have in common.
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

/* What a function of MPI is to a lock; LOCK_PARTS: nothing. */
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
