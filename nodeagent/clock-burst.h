/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparing the clocks of the nodes while the job runs; lives in the courier, as
 * that has MPI. The agents form a tree of fan-out 16 below agent 0. At times
 * agreed on (global ones: 1, 2, 4, 8, 16 s after the start, then at intervals)
 * each compares its clock with that of its parent:
 *
 *	asker    ASK          PING      PING ...   DONE
 *	server        READY        PONG      PONG
 *
 * Both wait for each other asleep, for a few ms; only between READY and DONE, for
 * about 1 ms, they spin. A partner that does not come costs nothing but that. The
 * server adds what it knows of the global time. Afterwards some agents that are not
 * parent and child compare theirs in the same way, as a check.
 */
#ifndef VFTR_NODEAGENT_CLOCK_BURST_H
#define VFTR_NODEAGENT_CLOCK_BURST_H

#include <stddef.h>

struct clock_burst;
struct clock_sync;
struct peer;
struct pollfd;

/* peer has post and look, and outlives the result. All agents call it at about the same time. */
struct clock_burst *clock_burst_new(struct peer *peer, double interval_s);
void clock_burst_free(struct clock_burst *b);

/* Seconds until there is something to do; 0 or less: now. */
double clock_burst_next(const struct clock_burst *b);
/* Does it. Goes on later if one of the n descriptors becomes ready. */
void clock_burst_run(struct clock_burst *b, const struct pollfd *fds, size_t n);
/*
 * The last one: with the parent, then with all children, which come here about now,
 * too; waits at most so many seconds for each side. Nothing is to be done afterwards.
 */
void clock_burst_last(struct clock_burst *b, double seconds, const struct pollfd *fds, size_t n);
/* Tells parent and children that nothing more is to come from here. */
void clock_burst_gone(struct clock_burst *b);

/* What is known of this node's clock so far. */
const struct clock_sync *clock_burst_sync(const struct clock_burst *b);

#endif
