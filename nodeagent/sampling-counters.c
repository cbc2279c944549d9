/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters are defined in the file when the first value of them comes. */
#include "nodeagent/sampling-counters.h"

#include <string.h>

#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/counters.h"
#include "nodeagent/sampling-internal.h"
#include "nodeagent/user-counters.h"
#include "nodeagent/util.h"
#include "nodeagent/vfd-counters.h"

_Static_assert(COUNTERS_MAX <= VFD_COUNTS_MOST, "all are one record");

/* What is not in the table is a number of events. */
static const struct {
	const char *begin, *unit;
} units[] = {
	{"task-clock", "ns"},
	{"cpu-clock", "ns"},
	{"io:syscr", NULL},
	{"io:syscw", NULL},
	{"io:", "bytes"},
	{"READ_BYTES", "bytes"},
	{"WRITE_BYTES", "bytes"},
};

static const char *unit_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strncmp(name, units[i].begin, strlen(units[i].begin)))
			return units[i].unit;
	return NULL;
}

static void define(struct sampling *s)
{
	const struct conf *c = s->agent->conf;
	const struct counters_shm *wanted = &s->agent->counters->wanted;

	for (uint32_t i = 0; i < wanted->n; i++) {
		const struct conf_counter *k = &c->hwprof_counters.at[i];
		const uint32_t source = wanted->at[i].source;
		const struct vfd_counter told = {.process = VFD_NONE,
			.kind = VFD_COUNTER_SUM,
			.name = k->hwc_name,
			.symbol = k->symbol,
			.unit = unit_of(k->hwc_name),
			.source = source == COUNTER_NONE ? NULL
				  : source == COUNTER_IO ? "io"
							 : c->hwprof_type};

		s->counters[i] = vfd_define_counter(s->writer, &told);
	}
	s->n_counters = wanted->n;
	for (size_t i = 0; i < c->hwprof_observables.n; i++) {
		const struct conf_observable *o = &c->hwprof_observables.at[i];
		const struct vfd_observable told = {
			.name = o->name, .formula = o->formula, .unit = o->unit};

		vfd_define_observable(s->writer, &told);
	}
}

void sampling_counters(struct sampling_lane *l, const uint64_t *values, uint32_t n, uint64_t ticks)
{
	static const bool none_is_real[COUNTERS_MAX];
	struct sampling *s = l ? l->process->sampling : NULL;
	struct vfd_counts counts = {.n = n, .values = values};

	if (!s || !s->writer)
		return;
	if (!s->n_counters)
		define(s);
	if (n > s->n_counters)
		return;
	counts.counters = s->counters;
	vfd_counts(l->lane, &counts, none_is_real, ticks);
}

void sampling_user_counter(
	struct sampling_lane *l, struct user_counter *c, uint64_t ticks, uint64_t bits)
{
	struct sampling *s = l ? l->process->sampling : NULL;
	struct vfd_counter told;

	if (!s || !s->writer)
		return;
	if (!c->sampled) {
		told = (struct vfd_counter){.process = l->process->number,
			.kind = c->real ? VFD_COUNTER_REAL : VFD_COUNTER_INTEGER,
			.name = c->name,
			.unit = c->unit,
			.source = "user"};
		c->sampled = vfd_define_counter(s->writer, &told);
	}
	vfd_counts(l->lane, &(struct vfd_counts){.n = 1, .counters = &c->sampled, .values = &bits},
		&c->real, ticks);
}
