/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/outliers.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define JUDGED_EVERY 16u
#define DEVIATIONS   8u

ORDER_BY(by_value, uint64_t, ORDER(*x, *y))

static void judge_recent(struct outliers *o)
{
	const uint64_t n = o->n < OUTLIERS_RECENT ? o->n : OUTLIERS_RECENT;
	uint64_t sorted[OUTLIERS_RECENT], median, twice;

	memcpy(sorted, o->recent, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	median = sorted[n / 2];
	twice = sorted[n - 2];
	for (uint64_t i = 0; i < n; i++)
		sorted[i] = sorted[i] > median ? sorted[i] - median : median - sorted[i];
	qsort(sorted, n, sizeof(*sorted), by_value);
	o->median = median;
	o->limit = median + DEVIATIONS * sorted[n / 2];
	if (o->limit < twice + twice / 4)
		o->limit = twice + twice / 4;
}

bool outliers_add(struct outliers *o, uint64_t took, uint64_t least)
{
	const bool is = o->n >= OUTLIERS_FROM && took > o->limit && took > least;

	o->recent[o->n++ % OUTLIERS_RECENT] = took;
	if (o->n >= OUTLIERS_FROM && o->n % JUDGED_EVERY == 0)
		judge_recent(o);
	return is;
}
