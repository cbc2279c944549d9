/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/pids.h"

#include "nodeagent/process/host.h"
#include "nodeagent/process/forks.h"
#include "nodeagent/base/map.h"
#include "nodeagent/process/process.h"
#include "nodeagent/base/util.h"

struct pid_row {
	struct process *newest;
	struct forks *forks;
};

struct pids {
	struct map64 at; /* pid -> index into ... */
	struct pid_row *rows;
	size_t n, cap;
};

static struct pid_row *row_of(const struct host *host, int pid)
{
	const uint32_t *i = host->pids ? map64_find(&host->pids->at, (uint32_t)pid) : NULL;

	return i ? &host->pids->rows[*i] : NULL;
}

void pids_add(struct process *p)
{
	struct host *host = p->host;
	struct pid_row *row = row_of(host, p->pid);
	struct pids *all = host->pids;

	if (!all)
		all = host->pids = xcalloc(1, sizeof(*all));
	if (!row) {
		all->rows = grow(all->rows, all->n, &all->cap, sizeof(*all->rows));
		row = &all->rows[all->n];
		*row = (struct pid_row){0};
		map64_add(&all->at, (uint32_t)p->pid, (uint32_t)all->n++);
	}
	p->namesake = row->newest;
	row->newest = p;
}

void pids_let_go(struct process *p)
{
	struct pid_row *row = row_of(p->host, p->pid);
	struct process **at;

	if (!row)
		return;
	for (at = &row->newest; *at && *at != p;)
		at = &(*at)->namesake;
	if (*at)
		*at = p->namesake;
	forks_leave(p, &row->forks);
}

bool pids_known(const struct host *host, int pid)
{
	return row_of(host, pid) != NULL;
}

struct process *pids_newest(const struct host *host, int pid)
{
	const struct pid_row *row = row_of(host, pid);

	return row ? row->newest : NULL;
}

const struct forks *pids_forks(const struct host *host, int pid)
{
	const struct pid_row *row = row_of(host, pid);

	return row ? row->forks : NULL;
}
