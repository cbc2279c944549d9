/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of this agent and of all. */
#include "nodeagent/clock/sync.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/host.h"
#include "nodeagent/profile/profile.h"

uint64_t internode_global(const struct host *host, uint64_t ticks)
{
	int64_t raw = clocks_raw_of(&host->clocks, ticks);

	return (uint64_t)(host->clock ? clock_sync_global(host->clock, raw) : raw);
}

/* Other agents may say any time: beyond 73 years it is that far away, on the same side. */
#define FAR_AWAY (INT64_C(1) << 61)

static int64_t near_enough(int64_t ns)
{
	return ns > FAR_AWAY ? FAR_AWAY : ns < -FAR_AWAY ? -FAR_AWAY : ns;
}

static int64_t ns_between(int64_t a, int64_t b)
{
	return near_enough(near_enough(a) - near_enough(b));
}

/* Differences of two such times fit, too. */
static uint64_t as_ticks(const struct clocks *c, int64_t ns)
{
	const double ticks = (double)ns / c->ns_per_tick, most = 0x1p61;

	return (uint64_t)(int64_t)(ticks > most ? most : ticks < -most ? -most : ticks);
}

uint64_t internode_ticks(const struct host *host, uint64_t global)
{
	const struct clocks *c = &host->clocks;
	const int64_t wanted = near_enough((int64_t)global);
	int64_t raw = wanted;

	/* offsets change by less than a thousandth of the time: twice is exact to the ns */
	for (int i = 0; host->clock && i < 3; i++)
		raw = ns_between(wanted, clock_sync_offset(host->clock, raw, NULL));
	return c->start.ticks + as_ticks(c, ns_between(raw, (int64_t)c->start.raw_ns));
}

uint64_t internode_error_ticks(const struct host *host, uint64_t mine, uint64_t others)
{
	if (mine > (uint64_t)FAR_AWAY || others > (uint64_t)FAR_AWAY)
		return UINT64_MAX;
	return as_ticks(&host->clocks, (int64_t)(mine + others)) + 1;
}

uint64_t internode_clock_error(const struct host *host)
{
	struct profile_clock sum;

	if (!host->clock)
		return UINT64_MAX;
	clock_sync_sum(host->clock, &sum);
	if (sum.state == PROFILE_CLOCK_REFERENCE)
		return 0;
	return sum.state == PROFILE_CLOCK_COMPARED ? sum.error_ns : UINT64_MAX;
}
