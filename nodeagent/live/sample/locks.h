/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lock a thread waits for, and which thread of its process has it: of mutexes and read-write
 * locks of the C library by what the lock in the memory of the process says, of critical and
 * ordered regions of OpenMP by the frames of the threads. Of other locks of OpenMP it is known
 * which thread got them last, but for those that omp_test_lock() gave. Nothing is changed.
 */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_LOCKS_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process;
struct got_lock;
struct symcache;
struct thread_ring;
struct unpublished;
struct where;
struct where_place;

/* A thread of a process, and its locks by OPENMP_LOCK(). */
struct locked_thread {
	const struct thread_ring *thread;
	struct where_place *place;
	uint32_t wanted;      /* it waits for this one; 0: for none that is known */
	uint32_t region;      /* of that wait (openmp_region_key()) */
	uint32_t held;	      /* by a region that it has entered and not published; or 0 */
	size_t left;	      /* published frames that it has left */
	struct got_lock *got; /* as in struct unpublished */
	size_t n_got;
	/* set by locks_look() */
	bool for_ever;			    /* it certainly waits until it gets the wanted lock */
	const struct locked_thread *holder; /* that certainly has it; NULL: not known */
};

/* Takes over what u has in `got`: freed by locks_forget(). */
void locks_note(struct locked_thread *to, const struct thread_ring *t, struct unpublished *u);
/*
 * Names lock and holder in the places of those threads of p that wait, and adds to w the cycles of
 * threads that wait for each other, or for what they have themselves; n: all threads of p, which
 * has this rank. One that waits for a lock which it has itself has "the same thread" for a holder.
 */
void locks_look(struct symcache *names, const struct process *p, uint32_t rank,
	struct locked_thread *all, size_t n, struct where *w);
void locks_forget(struct locked_thread *all, size_t n);

#endif
