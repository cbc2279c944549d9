/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/gpu/internal.h"

#include "nodeagent/clock/ticks.h"

#define FAR_TICKS    0x1p62  /* centuries */
#define BASE_NS	     1000000 /* nearer pairs say nothing of how fast a clock goes */
#define RATE_OFF_MAX 0.01    /* more is no clock that drifts, but one that was set */

void gpu_clock_pair(
	struct gpu_clock *g, struct clocks *c, uint64_t ticks, uint64_t width, uint64_t gpu_ns)
{
	double nominal;

	if (!(c->ns_per_tick > 0))
		clocks_calibrate(c);
	nominal = c->ns_per_tick > 0 ? 1 / c->ns_per_tick : 1;
	ticks -= width / 2;
	if (!g->known || gpu_ns < g->ns) {
		g->first_ticks = ticks;
		g->first_ns = gpu_ns;
		g->ticks_per_ns = nominal;
	} else if (gpu_ns - g->ns >= BASE_NS && ticks > g->ticks) {
		double rate = (double)(ticks - g->ticks) / (double)(gpu_ns - g->ns);
		double off = rate / nominal - 1;

		g->ticks_per_ns = off < RATE_OFF_MAX && off > -RATE_OFF_MAX ? rate : nominal;
	}
	g->known = true;
	g->ticks = ticks;
	g->ns = gpu_ns;
	g->pairs++;
	if (width / 2 > g->error)
		g->error = width / 2;
}

uint64_t gpu_clock_ticks(const struct gpu_clock *g, uint64_t gpu_ns)
{
	double d = ((double)(int64_t)(gpu_ns - g->ns)) * g->ticks_per_ns;

	if (d < 0 && -d >= (double)g->ticks)
		return 0;
	if (d >= FAR_TICKS)
		return g->ticks + (uint64_t)FAR_TICKS;
	return d < 0 ? g->ticks - (uint64_t)-d : g->ticks + (uint64_t)d;
}
