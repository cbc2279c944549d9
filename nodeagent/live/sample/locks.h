/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which lock a thread waits for, and which thread of its process has it: of mutexes and read-write
 * locks of the C library by what the lock in the memory of the process says, of critical and
 * ordered regions of OpenMP by the frames of the other threads. Nothing is changed.
 */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_LOCKS_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_LOCKS_H

#include <stddef.h>
#include <stdint.h>

struct process;
struct symcache;
struct thread_ring;
struct unpublished;
struct where_place;

/* A thread of a process, and its locks by OPENMP_LOCK(). */
struct locked_thread {
	const struct thread_ring *thread;
	struct where_place *place;
	uint32_t wanted; /* it waits for this one; 0: for none that is known */
	uint32_t held;	 /* by a region that it has entered and not published; or 0 */
	size_t left;	 /* published frames that it has left */
};

void locks_note(struct locked_thread *to, const struct thread_ring *t, const struct unpublished *u);
/* Names lock and holder in the places of those threads of p that wait; n: all threads of p. One
 * that waits for a mutex which it has itself has "the same thread" for a holder. */
void locks_look(
	struct symcache *names, const struct process *p, const struct locked_thread *all, size_t n);

#endif
