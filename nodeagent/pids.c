/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/pids.h"

#include "nodeagent/agent.h"
#include "nodeagent/forks.h"
#include "nodeagent/map64.h"
#include "nodeagent/process.h"
#include "nodeagent/sampling.h"
#include "nodeagent/util.h"

struct pid_row {
	struct process *newest;
	struct fork_frames *forks;
	uint32_t sampled;
};

struct pids {
	struct map64 at; /* pid -> index into ... */
	struct pid_row *rows;
	size_t n, cap;
};

static struct pid_row *row_of(const struct agent *a, int pid)
{
	const uint32_t *i = a->pids ? map64_find(&a->pids->at, (uint32_t)pid) : NULL;

	return i ? &a->pids->rows[*i] : NULL;
}

void pids_add(struct process *p)
{
	struct agent *a = p->agent;
	struct pid_row *row = row_of(a, p->pid);
	struct pids *all = a->pids;

	if (!all)
		all = a->pids = xcalloc(1, sizeof(*all));
	if (!row) {
		all->rows = grow(all->rows, all->n, &all->cap, sizeof(*all->rows));
		row = &all->rows[all->n];
		*row = (struct pid_row){.sampled = PIDS_NOT_SAMPLED};
		map64_add(&all->at, (uint32_t)p->pid, (uint32_t)all->n++);
	}
	p->namesake = row->newest;
	row->newest = p;
}

void pids_let_go(struct process *p)
{
	struct pid_row *row = row_of(p->agent, p->pid);
	struct process **at;
	uint32_t sampled = sampling_number(p);

	if (!row)
		return;
	for (at = &row->newest; *at && *at != p;)
		at = &(*at)->namesake;
	if (*at)
		*at = p->namesake;
	if (sampled != PIDS_NOT_SAMPLED)
		row->sampled = sampled;
	forks_leave(p, &row->forks);
}

bool pids_known(const struct agent *a, int pid)
{
	return row_of(a, pid) != NULL;
}

struct process *pids_newest(const struct agent *a, int pid)
{
	const struct pid_row *row = row_of(a, pid);

	return row ? row->newest : NULL;
}

const struct fork_frames *pids_forks(const struct agent *a, int pid)
{
	const struct pid_row *row = row_of(a, pid);

	return row ? row->forks : NULL;
}

uint32_t pids_sampled(const struct process *p, int pid)
{
	const struct pid_row *row = row_of(p->agent, pid);

	for (const struct process *q = row ? row->newest : NULL; q; q = q->namesake)
		if (q != p && sampling_number(q) != PIDS_NOT_SAMPLED)
			return sampling_number(q);
	return row ? row->sampled : PIDS_NOT_SAMPLED;
}
