/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the clocks of the nodes while the job runs, in the proxy, as that has
 * MPI. The agents form a tree of fan-out 16 below agent 0. At agreed times (global
 * ones: 1, 2, 4, 8, 16 s after the start, then at intervals) each compares its clock
 * with that of its parent:
 *
 *	asker    ASK          PING      PING ...   DONE
 *	server        READY        PONG      PONG
 *
 * Both wait for each other asleep, for a few ms; only between READY and DONE, for
 * about 1 ms, they spin. A partner that does not come costs only this wait. The
 * server sends its own offset to global time along. Afterwards some agents that are not
 * parent and child compare theirs in the same way, as a check. The last comparison,
 * when the job is over, has more patience: 50 ms for an answer, where CPUs are short.
 */
#ifndef VFTR_NODEAGENT_CLOCK_BURST_H
#define VFTR_NODEAGENT_CLOCK_BURST_H

#include <stddef.h>

struct clock_burst;
struct clock_sync;
struct transport;
struct pollfd;

/*
 * transport has the functions post and look, and must outlive the result. All agents call this at
 * about the same time.
 */
struct clock_burst *clock_burst_new(struct transport *transport, double interval_s);
void clock_burst_free(struct clock_burst *b);

/* Seconds until there is something to do; 0 or less: now. */
double clock_burst_next(const struct clock_burst *b);
/* Does what is due. Returns early if one of the n descriptors becomes ready. */
void clock_burst_run(struct clock_burst *b, const struct pollfd *fds, size_t n);
/*
 * The last comparison: with the parent, then with all children, which call it at about the
 * same time; waits at most so many seconds for each side. No other one follows.
 */
void clock_burst_last(struct clock_burst *b, double seconds, const struct pollfd *fds, size_t n);
/* With which agent above 0 this one compares its clock. */
int clock_burst_parent(int rank);

/* Tells parent and children that this side sends nothing more. */
void clock_burst_gone(struct clock_burst *b);

/* The sync points and checks of this node so far; b owns them. */
const struct clock_sync *clock_burst_sync(const struct clock_burst *b);

#endif
