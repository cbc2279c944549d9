/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The greatest number of workers that were there at once. A worker is there from the begin of its
 * first part in a team to the end of its last one. Exact for the last AT_ONCE_SPANS workers; of
 * those before, the ones that ended first are taken to have met no later one.
 */
#ifndef VFTR_NODEAGENT_REPLAY_OPENMP_AT_ONCE_H
#define VFTR_NODEAGENT_REPLAY_OPENMP_AT_ONCE_H

#include <stddef.h>
#include <stdint.h>

/* Smaller in tests. */
#ifndef AT_ONCE_SPANS
#define AT_ONCE_SPANS 65536u
#endif

struct at_once_span {
	uint64_t from, to; /* ticks */
};

/* Of one process; zeros: no workers. */
struct at_once {
	struct at_once_span *spans;
	size_t n_spans, cap_spans;
	uint32_t most; /* of those that are no longer in spans[] */
};

void at_once_add(struct at_once *a, uint64_t from, uint64_t to);
/* Who comes when another one goes has not met it. */
uint32_t at_once_most(const struct at_once *a);
void at_once_free(struct at_once *a);

#endif
