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

uint64_t internode_ticks(const struct host *host, uint64_t global)
{
	const struct clocks *c = &host->clocks;
	int64_t raw = (int64_t)global;

	/* offsets change by less than a thousandth of the time: twice is exact to the ns */
	for (int i = 0; host->clock && i < 3; i++)
		raw = (int64_t)global - clock_sync_offset(host->clock, raw, NULL);
	return c->start.ticks +
	       (uint64_t)(int64_t)((double)(raw - (int64_t)c->start.raw_ns) / c->ns_per_tick);
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
