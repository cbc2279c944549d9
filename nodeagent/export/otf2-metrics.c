/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters in OTF2: those that come together are a class of metrics. Sums of a thread
 * are accumulated from its start, and stand right before the enter or leave at which
 * they were read; levels are absolute, at the point.
 */
#include <string.h>

#include "nodeagent/export/otf2.h"
#include "nodeagent/base/util.h"

struct otf2_class {
	uint32_t n, counters[EXPORT_COUNTS_MOST];
};

static const struct {
	uint8_t value, mode, occurs;
} kinds[VFD_COUNTER_KINDS] = {
	[VFD_COUNTER_SUM] = {OUR_UINT64, OUR_METRIC_SUM, OUR_METRIC_AT_CALLS},
	[VFD_COUNTER_INTEGER] = {OUR_INT64, OUR_METRIC_LEVEL, OUR_METRIC_ANY_TIME},
	[VFD_COUNTER_REAL] = {OUR_DOUBLE, OUR_METRIC_LEVEL, OUR_METRIC_ANY_TIME},
};

static uint32_t class_of(struct otf2 *f, const struct export_counts *c)
{
	for (size_t i = 0; i < f->n_classes; i++)
		if (f->classes[i].n == c->n &&
			!memcmp(f->classes[i].counters, c->counters, c->n * sizeof(*c->counters)))
			return (uint32_t)i;
	f->classes = grow(f->classes, f->n_classes, &f->cap_classes, sizeof(*f->classes));
	f->classes[f->n_classes].n = c->n;
	memcpy(f->classes[f->n_classes].counters, c->counters, c->n * sizeof(*c->counters));
	return (uint32_t)f->n_classes++;
}

void otf2_counts(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to)
{
	const struct export_counts *c = e->counts;
	uint8_t types[EXPORT_COUNTS_MOST];

	for (uint32_t i = 0; i < c->n; i++)
		types[i] = kinds[f->x->counters[c->counters[i]].kind].value;
	OTF2_CALL(f, metric, to, NULL, e->time, class_of(f, c), (uint8_t)c->n, types,
		(const union OTF2_MetricValue_union *)c->values);
}

static uint8_t type_of(const struct export_counter *c)
{
	if (c->kind != VFD_COUNTER_SUM)
		return OUR_METRIC_USER;
	return strncmp(c->name, "PAPI_", 5) ? OUR_METRIC_OTHER : OUR_METRIC_PAPI;
}

void otf2_metrics(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to,
	uint32_t (*string)(void *ctx, const char *text), void *ctx)
{
	for (size_t i = 0; i < f->x->n_counters; i++) {
		const struct export_counter *c = &f->x->counters[i];
		const uint32_t name = string(ctx, c->name);
		const uint32_t unit = string(ctx, *c->unit ? c->unit : "#");

		OTF2_CALL(f, metric_member, to, (uint32_t)i, name, name, type_of(c),
			kinds[c->kind].mode, kinds[c->kind].value, OUR_DECIMAL, 0, unit);
	}
	for (size_t i = 0; i < f->n_classes; i++) {
		const struct otf2_class *c = &f->classes[i];

		OTF2_CALL(f, metric_class, to, (uint32_t)i, (uint8_t)c->n, c->counters,
			kinds[f->x->counters[c->counters[0]].kind].occurs, OUR_RECORDER_CPU);
	}
}
