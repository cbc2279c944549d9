/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters, of hardware and of the user's, on their way into a profile. */
#include "nodeagent/gather/internal.h"

#include <math.h>
#include <stdlib.h>
#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/user-counters.h"

void gather_counters(const struct host *host, struct profile *out)
{
	const struct counter_watch *w = host->counters;

	if (!w)
		return;
	for (uint32_t i = 0; i < out->n_counters; i++)
		free(out->counters[i].name);
	free(out->counters);
	out->n_counters = w->wanted.n;
	out->counters = xcalloc(w->wanted.n, sizeof(*out->counters));
	for (uint32_t i = 0; i < w->wanted.n; i++) {
		const struct conf_counter *c = &host->conf->hwprof_counters.counters[i];

		out->counters[i] = (struct profile_counter){.number = i,
			.source = w->wanted.at[i].source,
			.enabled_ns = w->of[i].enabled_ns,
			.running_ns = w->of[i].running_ns,
			.name = xasprintf("%s %s", c->symbol, c->hwc_name)};
	}
}

void gather_user_counters(const struct gather_from *from)
{
	size_t n = 0;
	const struct user_counter *c =
		from->p->user_counters ? user_counters_all(from->p->user_counters, &n) : NULL;

	for (size_t i = 0; i < n; i++, c++) {
		union user_value sum = {.real = isfinite(c->sum) ? c->sum : 0};
		struct profile_user_counter *to;

		if (!c->values)
			continue;
		to = profile_add(from->out, PROFILE_USER_COUNTERS);
		*to = (struct profile_user_counter){.rank = from->rank,
			.real = c->real,
			.values = c->values,
			.min = c->min.bits,
			.max = c->max.bits,
			.last = c->last.bits,
			.last_ns = gather_ns(from, c->last_at),
			.sum = sum.bits,
			.name = xasprintf("%s\n%s", c->name, c->unit)};
	}
}
