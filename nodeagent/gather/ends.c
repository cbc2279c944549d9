/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks that ended badly: ends[] of a profile; and times of ranks, as all nodes know them. */
#include "nodeagent/gather/internal.h"

#include "nodeagent/process/host.h"
#include "nodeagent/clock/sync.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/lists.h"

#define WOKEN_NS 200000 /* the agent sleeps, and is woken by the end */

void gather_ends(const struct gather_from *from)
{
	const struct process *p = from->p;
	const struct clocks *c = &from->host->clocks;
	uint64_t since = p->end_ticks - from->host->first_start_ticks;
	struct profile_bad_end *to;

	if (p->rank < 0 || (uint32_t)p->rank >= PROFILE_UNRANKED || p->exit_status <= 0 ||
		(p->end != PROCESS_EXITED && p->end != PROCESS_KILLED))
		return;
	to = profile_add(from->out, PROFILE_ENDS);
	*to = (struct profile_bad_end){.rank = (uint32_t)p->rank,
		.pid = p->pid,
		.end = p->end,
		.exit_status = p->exit_status,
		.since_ns = (int64_t)since > 0 ? clocks_ns(c, since) : 0,
		.end_ns = clocks_raw_of(c, p->end_ticks),
		.error_ns = p->end_late_ns + WOKEN_NS};
}

/* Local to global time; false, if it is not known. */
static bool make_global(const struct host *host, int64_t *ns, uint64_t *error_ns)
{
	int64_t error, offset;

	if (!host->clock)
		return false;
	offset = clock_sync_offset(host->clock, *ns, &error);
	if (error == INT64_MAX)
		return false;
	*ns += offset;
	*error_ns += (uint64_t)error;
	return true;
}

int64_t gather_global_ns(const struct host *host, uint64_t ticks)
{
	int64_t ns = clocks_raw_of(&host->clocks, ticks);
	uint64_t error = 0;

	make_global(host, &ns, &error);
	return ns;
}

static void make_window_global(const struct host *host, struct profile_rank_time *t)
{
	const int64_t begin = t->begin_ns, end = t->end_ns;
	uint64_t first = 0, last = 0;

	if (make_global(host, &t->begin_ns, &first) && make_global(host, &t->end_ns, &last) &&
		profile_is_window(t->begin_ns, t->end_ns, (uint64_t)(end - begin))) {
		t->error_ns = first > last ? first : last;
		return;
	}
	t->begin_ns = begin;
	t->end_ns = end;
	t->error_ns = UINT64_MAX;
}

void gather_ends_global(const struct host *host, struct profile *out)
{
	int64_t begin = clocks_raw_of(&host->clocks, host->first_start_ticks);
	uint64_t error = 0;

	if (host->n_ever && make_global(host, &begin, &error)) {
		out->begin_known = true;
		out->begin_ns = begin;
	}
	for (size_t i = 0; i < out->n_ends; i++)
		if (!make_global(host, &out->ends[i].end_ns, &out->ends[i].error_ns))
			out->ends[i].error_ns = UINT64_MAX;
	for (size_t i = 0; i < out->n_rank_times; i++)
		make_window_global(host, &out->rank_times[i]);
}
