/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters are defined in the file when the first value of them comes. */
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/recorder/internal.h"
#include "nodeagent/replay/user-counters.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/counters.h"

_Static_assert(COUNTERS_MAX <= VFD_COUNTS_MOST, "all are one record");

/* Units of counters; those not in the table count events. */
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

static void define_counters(struct recorder *s)
{
	const struct conf *c = s->host->conf;
	const struct counters_shm *wanted = &s->host->counters->wanted;

	for (uint32_t i = 0; i < wanted->n; i++) {
		const struct conf_counter *k = &c->hwprof_counters.counters[i];
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
	EACH(const struct conf_observable, o, c->hwprof_observables.observables,
		c->hwprof_observables.n) {
		const struct vfd_observable told = {
			.name = o->name, .formula = o->formula, .unit = o->unit};

		vfd_define_observable(s->writer, &told);
	}
}

const uint32_t *recorder_counters(void *process, uint32_t n)
{
	struct recorder *s = ((struct recorder_process *)process)->recorder;

	if (!s->n_counters)
		define_counters(s);
	return n <= s->n_counters ? s->counters : NULL;
}

uint32_t recorder_user_counter(void *process, const struct user_counter *c)
{
	const struct recorder_process *s = process;
	const struct vfd_counter told = {.process = s->number,
		.kind = c->real ? VFD_COUNTER_REAL : VFD_COUNTER_INTEGER,
		.name = c->name,
		.unit = c->unit,
		.source = "user"};

	return vfd_define_counter(s->recorder->writer, &told);
}
