/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows of processes and the classes of their time: rank_times[] of a profile. */
#include "nodeagent/gather/internal.h"

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/replay/openmp/teams.h"
#include "shm/atomic.h"

static uint64_t ns_of(const struct gather_from *g, int64_t ticks)
{
	return ticks > 0 ? clocks_ns(&g->host->clocks, (uint64_t)ticks) : 0;
}

/* Its part of what is left of a window, in ns: so all classes add up to the window. */
static uint64_t part_of(const struct gather_from *g, uint64_t *left, int64_t ticks)
{
	const uint64_t wanted = ns_of(g, ticks), ns = wanted < *left ? wanted : *left;

	*left -= ns;
	return ns;
}

/* Of all host threads; most programs wait in their first one. */
static int64_t gpu_wait_ticks(const struct process *p)
{
	size_t n;
	const struct gpu_host_wait *w = gpu_host_waits(p->gpu, &n);
	uint64_t ticks = 0;

	for (size_t i = 0; i < n; i++)
		ticks += node_is_in_mpi(w[i].path) ? 0 : w[i].ticks;
	return (int64_t)ticks;
}

/*
 * Threads of OpenMP that were there at once. A runtime that ends its workers and makes new
 * ones has more of them than the largest team; nested teams are together larger than one.
 */
static uint32_t team_threads(const struct process *p)
{
	const struct time_window *w = &p->window;
	size_t n = 0;
	const struct openmp_region *r = p->openmp ? openmp_regions(p->openmp, &n) : NULL;
	uint32_t most = 1 + at_once_most(&w->at_once);

	for (size_t i = 0; i < n; i++)
		most = MAX(most, r[i].size_max);
	return most < 1 + w->workers ? most : 1 + w->workers;
}

static uint32_t flags_of(const struct process *p, uint64_t lost)
{
	const struct time_window *w = &p->window;
	uint32_t flags = w->begun ? RANK_LEFT_INIT : 0;

	flags |= w->ended ? RANK_ENTERED_FINALIZE : 0;
	flags |= p->end == PROCESS_KILLED || (p->host->was_ended && w->begun && !w->ended)
			 ? RANK_KILLED
			 : 0;
	flags |= w->begun || w->ended || w->first.of[TIME_MPI] > 0 ? RANK_HAS_MPI : 0;
	flags |= w->openmp ? RANK_HAS_OPENMP : 0;
	flags |= gpu_is_used(p->gpu) ? RANK_HAS_GPU : 0;
	flags |= w->first.of[TIME_IO] > 0 || w->others.of[TIME_IO] > 0 ? RANK_HAS_IO : 0;
	flags |= p->lock_uses ? RANK_HAS_LOCKS : 0;
	if (p->rank < (int)PROFILE_UNRANKED && p->job_rank == WIRE_UNKNOWN)
		flags |= RANK_OF_LAUNCHER;
	flags |= flags & RANK_HAS_MPI && p->host->conf->mpi_waits ? RANK_HAS_WAITS : 0;
	flags |= w->cut ? RANK_THREADS_CUT : 0;
	return flags | (lost ? RANK_LOST_CALLS : 0);
}

static void add_first(const struct gather_from *g, struct profile_rank_time *t, uint64_t window)
{
	const int64_t *first = g->p->window.first.of;
	uint64_t left = clocks_ns(&g->host->clocks, window);

	t->mpi_ns = part_of(g, &left, first[TIME_MPI]);
	t->blocked_ns = part_of(g, &left, first[TIME_BLOCKED]);
	t->unknown_ns = part_of(g, &left, first[TIME_UNKNOWN]);
	t->openmp_wait_ns = part_of(g, &left, first[TIME_OPENMP_WAIT]);
	t->openmp_idle_ns = part_of(g, &left, first[TIME_OPENMP_IDLE]);
	t->lock_wait_ns = part_of(g, &left, first[TIME_LOCK_WAIT]);
	t->io_ns = part_of(g, &left, first[TIME_IO]);
	if (t->flags & RANK_HAS_GPU)
		t->gpu_wait_ns = part_of(g, &left, gpu_wait_ticks(g->p));
	t->useful_ns = left;
}

static void add_others(const struct gather_from *g, struct profile_rank_time *t)
{
	const struct time_window *w = &g->p->window;
	const int64_t *o = w->others.of;
	const uint64_t most = ns_of(g, w->worker_most);

	t->all_useful_ns = t->useful_ns + ns_of(g, o[TIME_USEFUL]) + ns_of(g, o[TIME_OUTSIDE]);
	t->all_mpi_ns = t->mpi_ns + ns_of(g, o[TIME_MPI]);
	t->all_openmp_wait_ns = t->openmp_wait_ns + ns_of(g, o[TIME_OPENMP_WAIT]);
	t->all_openmp_idle_ns = t->openmp_idle_ns + ns_of(g, o[TIME_OPENMP_IDLE]);
	t->all_lock_wait_ns = t->lock_wait_ns + ns_of(g, o[TIME_LOCK_WAIT]);
	t->all_io_ns = t->io_ns + ns_of(g, o[TIME_IO]);
	t->all_blocked_ns = t->blocked_ns + ns_of(g, o[TIME_BLOCKED]);
	t->all_unknown_ns = t->unknown_ns + ns_of(g, o[TIME_UNKNOWN]);
	t->mpi_wait_ns = gather_wait_ns(g);
	if (t->mpi_wait_ns > t->all_mpi_ns) /* outside of the window, too */
		t->mpi_wait_ns = t->all_mpi_ns;
	t->team_useful_ns = t->useful_ns + ns_of(g, w->worker_useful);
	t->team_most_ns = most > t->useful_ns ? most : t->useful_ns;
}

void gather_rank_times(const struct gather_from *g)
{
	const struct process *p = g->p;
	const struct time_window *w = &p->window;
	const uint64_t window = w->end > w->begin ? w->end - w->begin : 0;
	const struct cpu_used cpu =
		cpu_used_since(p->ended ? p->cpu : cpu_used(p->pid), p->cpu_before);
	const uint64_t lost = process_counts(p).lost +
			      (p->control_app ? load_relaxed(&p->control_app->lost_nested) : 0);
	struct profile_rank_time *t;

	if (!w->whole)
		return;
	t = profile_add(g->out, PROFILE_RANK_TIMES);
	t->rank = g->rank;
	t->flags = flags_of(p, lost);
	t->threads = 1 + w->threads;
	t->team_threads = team_threads(p);
	t->begin_ns = clocks_raw_of(&g->host->clocks, w->begin);
	t->end_ns = t->begin_ns + (int64_t)clocks_ns(&g->host->clocks, window);
	t->error_ns = 0;
	add_first(g, t, window);
	add_others(g, t);
	if (cpu.cpu) {
		t->flags |= RANK_HAS_OFF_CPU;
		t->off_cpu_ns = cpu.queued;
	}
}
