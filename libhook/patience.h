/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a program waits for its agent: one rule for the socket and for full rings.
 * After shm.block_most_s without a sign of it the process goes on untraced, for good.
 * Time in which we did not run ourselves, as in a job that was stopped, does not count.
 *
 * Who has given up leaves a mark, the symbolic link SESSION.hung in the runtime
 * directory, for as long as the agent takes to come back: who sees it waits for a
 * moment only, so that a chain of programs does not wait as often as it has links.
 */
#ifndef VFTR_LIBHOOK_PATIENCE_H
#define VFTR_LIBHOOK_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define PATIENCE_SLICE_NS 100000000u /* at most from one look to the next */

/* One wait; of the caller. */
struct patience {
	uint64_t last_ns, waited_ns;
};

void patience_begin(struct patience *p);
/* To be asked at least once per slice. False: it is over; process_give_up() is next. */
bool patience_left(struct patience *p);
/* How long a call may wait before patience_left() is asked, in ns. */
uint32_t patience_slice(void);
/* Where the mark is, and by the lock's first line whose. With the lock held. */
void patience_of(const char *directory, const char *session);
/* Leaves the mark. Whether there was none: then this process may have a word to say. */
bool patience_over(void);
/* Has this process counted, which not even a message could reach the agent from. */
void patience_over_unseen(void);

#pragma GCC visibility pop

#endif
