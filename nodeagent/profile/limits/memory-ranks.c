/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of many ranks, and of processes without one apart from these: internal.h. */
#include <stddef.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/limits/internal.h"
#include "nodeagent/profile/profile.h"

static uint64_t measure_of(const void *record, unsigned measure)
{
	const struct profile_memory_rank *m = record;
	const uint64_t of[] = {
		m->peak_bytes, m->live_bytes, m->bytes, m->allocations, m->not_followed};

	return of[measure];
}

static unsigned class_of(const void *record)
{
	const struct profile_memory_rank *m = record;

	return m->rank >= PROFILE_UNRANKED;
}

static const struct row_limit limit = {.list = PROFILE_MEMORY_RANKS,
	.rank = offsetof(struct profile_memory_rank, rank),
	.others = offsetof(struct profile_memory_rank, others),
	.measures = 5,
	.measure = measure_of,
	.class = class_of};

void profile_memory_ranks_limit(struct profile *p, uint64_t most, size_t extremes)
{
	profile_rows_limit(p, &limit, most, extremes);
}
