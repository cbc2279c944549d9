/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters of all files, under numbers that hold for the whole trace. */
#include <math.h>
#include <string.h>

#include "nodeagent/export/export.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/counters.h"

_Static_assert(EXPORT_COUNTS_MOST >= VFD_COUNTS_MOST, "a record has room");

static uint32_t number_of(struct exporter *x, const struct export_counter *c)
{
	for (size_t i = 0; i < x->n_counters; i++)
		if (x->counters[i].kind == c->kind && !strcmp(x->counters[i].name, c->name) &&
			!strcmp(x->counters[i].unit, c->unit))
			return (uint32_t)i;
	x->counters = grow(x->counters, x->n_counters, &x->cap_counters, sizeof(*x->counters));
	x->counters[x->n_counters] = *c;
	return (uint32_t)x->n_counters++;
}

void export_add_counters(struct exporter *x, uint32_t file)
{
	size_t n;
	const struct vfd_counter *all = vfd_counters(x->files[file], &n);

	x->counter_of[file] = xcalloc(n, sizeof(uint32_t));
	for (size_t i = 0; i < n; i++) {
		const struct export_counter c = {.name = all[i].name ? all[i].name : "?",
			.unit = all[i].unit ? all[i].unit : "",
			.kind = all[i].kind};

		if (all[i].number)
			x->counter_of[file][i] = number_of(x, &c);
	}
}

void export_counts_of(const struct exporter *x, uint32_t file, const struct vfd_counts *counts,
	uint32_t *counters, struct export_counts *to)
{
	for (uint32_t i = 0; i < counts->n; i++)
		counters[i] = x->counter_of[file][counts->counters[i]];
	*to = (struct export_counts){counts->n, counters, counts->values};
}

double export_real(uint64_t value)
{
	double real;

	memcpy(&real, &value, sizeof(real));
	return isfinite(real) ? real : 0;
}
