/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gather-ends.h"

#include "nodeagent/agent.h"
#include "nodeagent/clock-sync.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/util.h"

#define WOKEN_NS 200000 /* the agent sleeps, and is woken by the end */

void gather_ends_add(const struct agent *a, const struct process *p, struct profile *out)
{
	uint64_t since = p->end_ticks - a->first_start_ticks;

	if (p->rank < 0 || (uint32_t)p->rank >= PROFILE_UNRANKED || p->exit_status <= 0 ||
		(p->end != PROCESS_EXITED && p->end != PROCESS_KILLED))
		return;
	out->ends = xrealloc(out->ends, (out->n_ends + 1) * sizeof(*out->ends));
	out->ends[out->n_ends++] = (struct profile_bad_end){.rank = (uint32_t)p->rank,
		.pid = p->pid,
		.end = p->end,
		.exit_status = p->exit_status,
		.since_ns = (int64_t)since > 0 ? clocks_ns(&a->clocks, since) : 0,
		.end_ns = clocks_raw_of(&a->clocks, p->end_ticks),
		.error_ns = p->end_late_ns + WOKEN_NS};
}

/* Local to global time; false, if it is not known. */
static bool make_global(const struct agent *a, int64_t *ns, uint64_t *error_ns)
{
	int64_t error, offset;

	if (!a->clock)
		return false;
	offset = clock_sync_offset(a->clock, *ns, &error);
	if (error == INT64_MAX)
		return false;
	*ns += offset;
	*error_ns += (uint64_t)error;
	return true;
}

void gather_ends_store(const struct agent *a, struct profile *out)
{
	const struct profile_list *l = profile_lists;
	int64_t begin = clocks_raw_of(&a->clocks, a->first_start_ticks);
	uint64_t error = 0;

	if (a->n_ever && make_global(a, &begin, &error)) {
		out->begin_known = true;
		out->begin_ns = begin;
	}
	for (size_t i = 0; i < out->n_ends; i++)
		if (!make_global(a, &out->ends[i].end_ns, &out->ends[i].error_ns))
			out->ends[i].error_ns = UINT64_MAX;
	while (l->array != offsetof(struct profile, ends))
		l++;
	gather_combine(out, l);
}
