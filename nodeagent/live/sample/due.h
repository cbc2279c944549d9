/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A time that is known when it is over: what becomes known in an interval may have been spent in
 * several. It is shown as far as an interval has room for it, and the rest in the next ones.
 */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_DUE_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_DUE_H

#include <stdint.h>

/*
 * Adds ns to *due, takes what is to be shown of it from there, at most `most', and returns that.
 * Before the first look there is no interval: with most = 0 nothing stays due.
 */
static inline uint64_t due_show(uint64_t *due, uint64_t ns, uint64_t most)
{
	const uint64_t all = *due + ns, shown = all < most ? all : most;

	*due = most ? all - shown : 0;
	return shown;
}

#endif
