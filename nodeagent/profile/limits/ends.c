/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that ended badly, in a bounded number of entries: when a job is killed, all of its
 * ranks have one. Of dead[] the lowest ranks are kept. Of ends[] the earliest are, of which one was
 * first, and of each fate the lowest ranks. Any order of merging gives the same: who has others of
 * a part before it has them before it in the whole.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/first-end.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"

void profile_dead_limit(struct profile *p, size_t most)
{
	if (p->n_dead <= most)
		return;
	for (size_t i = most; i < p->n_dead; i++)
		profile_record_drop(&profile_schema[PROFILE_DEAD], &p->dead[i]);
	p->dead_more += p->n_dead - most;
	p->n_dead = most;
}

ORDER_POINTERS_BY(by_time, struct profile_bad_end, bad_end_cmp(x, y))

static void keep_earliest(const struct profile *p, size_t of_each, bool *kept)
{
	const struct profile_bad_end **order = xmalloc((p->n_ends + 1) * sizeof(*order));
	const struct profile_bad_end *certain = first_certain_end(p);

	for (size_t i = 0; i < p->n_ends; i++)
		order[i] = &p->ends[i];
	qsort(order, p->n_ends, sizeof(*order), by_time);
	for (size_t i = 0; i < MIN(of_each, p->n_ends); i++)
		kept[order[i] - p->ends] = true;
	if (certain)
		kept[certain - p->ends] = true;
	free(order);
}

static void keep_lowest(const struct profile *p, size_t of_each, bool *kept)
{
	struct map64 fates = {0};

	for (size_t i = 0; i < p->n_ends; i++) {
		const struct profile_bad_end *e = &p->ends[i];
		const uint64_t fate = (uint64_t)e->end << 32 | (uint32_t)e->exit_status;

		kept[i] |= (*map64_at(&fates, fate, 0))++ < of_each;
	}
	map64_free(&fates);
}

void profile_ends_limit(struct profile *p, size_t most, size_t of_each)
{
	bool *kept;
	size_t n = 0;

	if (p->n_ends + p->ends_more <= most)
		return;
	kept = xcalloc(p->n_ends + 1, sizeof(*kept));
	keep_earliest(p, of_each, kept);
	keep_lowest(p, of_each, kept);
	for (size_t i = 0; i < p->n_ends; i++)
		if (kept[i])
			p->ends[n++] = p->ends[i];
	p->ends_more += p->n_ends - n;
	p->n_ends = n;
	free(kept);
}
