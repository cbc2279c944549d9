/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a program waits for its agent: one rule for the socket and for full rings.
 * After shm.block_most_s without a sign of the agent the process goes on untraced, for good.
 * Time in which the process itself did not run, as in a stopped job, does not count.
 *
 * A process that has given up leaves a mark, the symbolic link SESSION.hung in the runtime
 * directory, until the agent is back: a process that sees it waits for a moment only, so
 * that a chain of programs waits the full time only once.
 */
#ifndef VFTR_LIBHOOK_PATIENCE_H
#define VFTR_LIBHOOK_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define PATIENCE_SLICE_NS 100000000u /* at most from one look to the next */

/* One wait; the caller owns it. */
struct patience {
	uint64_t last_ns, waited_ns;
};

void vftr_patience_begin(struct patience *p);
/* To be called at least once per slice. False: the time is over; call vftr_process_give_up(). */
bool vftr_patience_left(struct patience *p);
/* Longest time to wait before the next call of vftr_patience_left(), in ns. */
uint32_t vftr_patience_slice(void);
/* Sets the path of the mark; the agent that it is of, by the first line of the session's lock file;
 * and vftr_process.block_most_ns, by the second. With the lock held. */
void vftr_patience_of(const char *directory, const char *session);
/* Leaves the mark. True if there was none: then this process may print a sentence. */
bool vftr_patience_over(void);
/* Leaves the link SESSION.lost-PID, by which a process that cannot send GAVE_UP is counted. */
void vftr_patience_over_unseen(void);

#pragma GCC visibility pop

#endif
