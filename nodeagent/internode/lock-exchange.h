/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of windows that processes of several nodes wanted: agents tell each other when their
 * processes had them, in the meetings of exchange.c, and each finds what its own processes have
 * waited (replay/window/lock-epoch.h). What the holder did meanwhile is told as of late senders
 * (far-causes.h). Waits that are not longer than the error of the clocks do not count.
 *
 * Words, global times:
 *	window, target << 32 | rank, history << 32 | exclusive, began, had, gave back from, to
 */
#ifndef VFTR_NODEAGENT_INTERNODE_LOCK_EXCHANGE_H
#define VFTR_NODEAGENT_INTERNODE_LOCK_EXCHANGE_H

#include <stddef.h>
#include <stdint.h>
#include "nodeagent/match/rank-set.h"

#define LOCK_EXCHANGE_WORDS 7u /* of one */

struct far_telling;
struct host;
struct map64;
struct matching;

/* Adds the ids of processes that may have had the same locks to a set. */
void lock_exchange_want(const struct host *host, struct map64 *wanted);
/*
 * Writes to *to what is sent to the agent of these processes; *causes gets the histories, which are
 * sent before it.
 */
void lock_exchange_put(const struct matching *m, const struct rank_set *proc_ids,
	struct far_telling *causes, struct words *to);
/* Takes the words of another agent. Returns NULL, or what is wrong; then the rest was not taken. */
const char *lock_exchange_take(struct matching *m, const uint64_t *words, size_t n);

#endif
