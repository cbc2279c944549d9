/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of BASE_all.json about hardware counters, where there are any. */
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/hwprof.h"
#include "nodeagent/json.h"
#include "nodeagent/report.h"
#include "nodeagent/util.h"

void json_hwprof_stack(struct json *j, const struct report *r, uint32_t stack)
{
	const struct hwprof *h = r->hwprof;

	if (!h)
		return;
	if (h->p->n_counters) {
		json_object(j, "counters");
		for (size_t i = 0; i < h->p->n_counters; i++)
			json_uint(j, h->symbol[i], hwprof_count(h, i, stack));
		json_close(j);
	}
	if (r->c->hwprof_observables.n) {
		json_array(j, "observables");
		for (size_t i = 0; i < r->c->hwprof_observables.n; i++)
			json_real(j, NULL, hwprof_observable(h, i, stack));
		json_close(j);
	}
}

void json_hwprof_thread(struct json *j, const struct report *r, uint32_t thread, uint32_t stack)
{
	const struct hwprof *h = r->hwprof;
	uint64_t *values;

	if (!h || !h->p->n_counters || !h->p->n_thread_counts)
		return;
	values = xcalloc(h->p->n_counters, sizeof(*values));
	hwprof_thread(h, thread, stack, values);
	json_object(j, "counters");
	for (size_t i = 0; i < h->p->n_counters; i++)
		json_uint(j, h->symbol[i], values[i]);
	json_close(j);
	free(values);
}

void json_hwprof(struct json *j, const struct report *r)
{
	const struct hwprof *h = r->hwprof;
	const struct conf_observables *o = &r->c->hwprof_observables;

	if (!h)
		return;
	json_string(j, "counter_type", r->c->hwprof_type);
	json_array(j, "counters");
	for (size_t i = 0; i < h->p->n_counters; i++) {
		const struct profile_counter *c = &h->p->counters[i];

		json_object(j, NULL);
		json_string(j, "symbol", h->symbol[i]);
		json_string(j, "name", hwprof_name(h, i));
		json_bool(j, "counted", c->source != 0);
		json_seconds(j, "enabled_s", c->enabled_ns);
		json_seconds(j, "running_s", c->running_ns);
		json_uint(j, "total", hwprof_count(h, i, PROFILE_NONE));
		json_close(j);
	}
	json_close(j);
	json_array(j, "observables");
	for (size_t i = 0; i < o->n; i++) {
		json_object(j, NULL);
		json_string(j, "name", o->at[i].name);
		json_string(j, "formula", o->at[i].formula);
		json_string(j, "unit", o->at[i].unit);
		json_real(j, "total", hwprof_observable(h, i, PROFILE_NONE));
		json_close(j);
	}
	json_close(j);
}
