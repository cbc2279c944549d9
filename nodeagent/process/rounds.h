/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times at which the rounds of a session (vftrace-session(3)) have begun on this node, and
 * the round to which a time belongs. agent/rounds.c sets them.
 */
#ifndef VFTR_NODEAGENT_PROCESS_ROUNDS_H
#define VFTR_NODEAGENT_PROCESS_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/process/host.h"

#define ROUNDS_MAX 100 /* that have files of their own */

struct round_times {
	uint32_t round;			/* the present one */
	uint64_t began[ROUNDS_MAX + 1]; /* ticks */
};

/* True if a round has begun, that is, a session is in use. */
static inline bool rounds_begun(const struct host *host)
{
	return host->rounds;
}

/* The round to which a time (in ticks) belongs; the first one began with the processes. */
static inline unsigned rounds_at(const struct host *host, uint64_t ticks)
{
	const struct round_times *r = host->rounds;
	unsigned round = !r ? 0 : r->round < ROUNDS_MAX ? r->round : ROUNDS_MAX;

	while (round > 1 && ticks < r->began[round])
		round--;
	return round;
}

#endif
