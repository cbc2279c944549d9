/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/off-cpu.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define INSTANTS 256u /* a power of 2 */

struct instant {
	uint64_t at;
	struct off_time off;
};

struct off_cpu {
	unsigned n;
	struct instant of[INSTANTS];
};

struct off_cpu *off_cpu_new(void)
{
	return xcalloc(1, sizeof(struct off_cpu));
}

void off_cpu_free(struct off_cpu *o)
{
	free(o);
}

/* Of the older half every second one is left out. */
static void make_room(struct off_cpu *o)
{
	const unsigned old = INSTANTS / 2;

	for (unsigned i = 0; i < old / 2; i++)
		o->of[i] = o->of[2 * i];
	memmove(o->of + old / 2, o->of + old, (INSTANTS - old) * sizeof(*o->of));
	o->n -= old / 2;
}

void off_cpu_note(struct off_cpu *o, uint64_t at, struct off_time off)
{
	if (o->n == INSTANTS)
		make_room(o);
	o->of[o->n++] = (struct instant){at, off};
}

static struct off_time off_until(const struct off_cpu *o, uint64_t t)
{
	const struct instant *a;
	double part;

	if ((int64_t)(t - o->of[0].at) <= 0)
		return o->of[0].off;
	if ((int64_t)(t - o->of[o->n - 1].at) >= 0)
		return o->of[o->n - 1].off;
	a = &o->of[LOWER_BOUND(i, 1, o->n, (int64_t)(t - o->of[i].at) >= 0) - 1];
	part = (double)(t - a->at) / (double)(a[1].at - a->at);
	return (struct off_time){a->off.ns + (uint64_t)(part * (double)(a[1].off.ns - a->off.ns)),
		a->off.queued_ns +
			(uint64_t)(part * (double)(a[1].off.queued_ns - a->off.queued_ns))};
}

struct off_time off_cpu_between(const struct off_cpu *o, uint64_t from, uint64_t to)
{
	if (!o->n || o->of[0].off.ns == o->of[o->n - 1].off.ns || (int64_t)(to - from) <= 0)
		return (struct off_time){0, 0};
	return off_time_less(off_until(o, to), off_until(o, from));
}
