/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a run that has several MPI jobs, as logs number them: those of a node's first job are
 * its ranks; behind them come the other processes of each node in the order of their start, and of
 * a spawned job in that of its ranks. Nodes come by their names, as profiles are merged. The first
 * job of a node is the one of which its agent heard first, whenever its processes have started:
 * process/mpi.c. So each file has its own.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"

void vfd_spawned_jobs(struct vfd_file *const *files, size_t n, struct map64 *jobs)
{
	for (size_t i = 0; i < n; i++) {
		size_t n_comms;
		const struct vfd_comm *comms = vfd_comms(files[i], &n_comms);

		EACH(const struct vfd_comm, c, comms, n_comms)
			if (c->number && c->link && !c->is_child)
				map64_at(jobs, c->link_job, 1);
	}
}

/* ---- the jobs ----------------------------------------------------------------------------- */

struct job {
	uint64_t number;
	uint32_t size;
	bool spawned;
};

struct jobs {
	struct job *at;
	size_t n, cap;
};

ORDER_BY(by_job, struct job, RISING(number))

static void add_jobs(struct jobs *all, const struct vfd_file *f)
{
	size_t n;
	const struct vfd_process *p = vfd_processes(f, &n);

	for (size_t i = 0; i < n; i++)
		if (p[i].number != VFD_NONE && p[i].rank >= 0)
			*APPEND(all->at, all->n, all->cap) = (struct job){.number = p[i].job,
				.size = MAX(p[i].size, (uint32_t)p[i].rank + 1)};
}

/* Each once. */
static void find_jobs(struct jobs *all, struct vfd_file *const *files, size_t n_files)
{
	struct map64 spawned = {.n = 0};
	size_t n = 0;

	for (size_t i = 0; i < n_files; i++)
		add_jobs(all, files[i]);
	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), by_job);
	EACH(const struct job, j, all->at, all->n) {
		if (n && all->at[n - 1].number == j->number)
			all->at[n - 1].size = MAX(all->at[n - 1].size, j->size);
		else
			all->at[n++] = *j;
	}
	all->n = n;
	if (n > 1)
		vfd_spawned_jobs(files, n_files, &spawned);
	for (size_t i = 0; i < n; i++)
		all->at[i].spawned = map64_find(&spawned, all->at[i].number);
	map64_free(&spawned);
}

/* Of a rank, which is in one of them. */
static const struct job *job_of(const struct jobs *all, uint64_t number)
{
	const size_t at = LOWER_BOUND(i, 0, all->n, all->at[i].number < number);

	return &all->at[at];
}

static bool is_earlier(const struct vfd_process *a, const struct vfd_process *b)
{
	return a->told != b->told ? a->told < b->told : a->start < b->start;
}

/* The first job of a file, or NULL. Job 0 is of processes that have their rank from a launcher
 * only: ranks of the first one. */
static const struct job *first_job(const struct jobs *all, const struct vfd_file *f)
{
	const struct vfd_process *first = NULL, *p;
	size_t n;

	p = vfd_processes(f, &n);
	for (size_t i = 0; i < n; i++)
		if (p[i].number != VFD_NONE && p[i].rank >= 0 && p[i].job &&
			!job_of(all, p[i].job)->spawned && (!first || is_earlier(&p[i], first)))
			first = &p[i];
	return first ? job_of(all, first->job) : NULL;
}

/* ---- the others --------------------------------------------------------------------------- */

struct other {
	int64_t start;
	uint64_t job;
	int32_t rank;
	uint32_t process;
	bool spawned;
	size_t place;
};

ORDER_BY(by_start, struct other, RISING(start) ?: RISING(process))
ORDER_BY(by_place, struct other, RISING(job) ?: RISING(place))
ORDER_BY(by_rank, struct other, RISING(job) ?: RISING(rank) ?: RISING(place))

/* Ranks of a spawned job come in their order, in the places that these have. */
static void order_spawned(struct other *at, size_t n)
{
	struct other *places = xcalloc(n + 1, sizeof(*places)), *ranks;
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		at[i].place = i;
		if (at[i].spawned)
			places[m++] = at[i];
	}
	ranks = xmalloc((m + 1) * sizeof(*ranks));
	memcpy(ranks, places, m * sizeof(*ranks));
	if (m) {
		qsort(places, m, sizeof(*places), by_place);
		qsort(ranks, m, sizeof(*ranks), by_rank);
	}
	for (size_t i = 0; i < m; i++)
		at[places[i].place] = ranks[i];
	free(places);
	free(ranks);
}

static bool is_first(const struct vfd_process *p, const struct job *first)
{
	return p->rank >= 0 && (!p->job || (first && p->job == first->number));
}

/* Numbers the processes of a file from `next' on; returns the next one. */
static uint64_t number_others(
	struct vfd_file *f, const struct jobs *all, const struct job *first, uint64_t next)
{
	size_t n, n_others = 0;
	const struct vfd_process *p = vfd_processes(f, &n);
	struct other *others = xcalloc(n + 1, sizeof(*others));

	for (size_t i = 0; i < n; i++) {
		f->numbers[i] = -1;
		if (p[i].number == VFD_NONE)
			continue;
		if (is_first(&p[i], first)) {
			f->numbers[i] = p[i].rank;
			continue;
		}
		others[n_others++] = (struct other){.start = p[i].start,
			.job = p[i].job,
			.rank = p[i].rank,
			.process = (uint32_t)i,
			.spawned = p[i].rank >= 0 && job_of(all, p[i].job)->spawned};
	}
	if (n_others)
		qsort(others, n_others, sizeof(*others), by_start);
	order_spawned(others, n_others);
	for (size_t i = 0; i < n_others; i++)
		if (others[i].rank >= 0 && next + i <= INT32_MAX)
			f->numbers[others[i].process] = (int32_t)(next + i);
	free(others);
	return next + n_others;
}

/* ---- all ---------------------------------------------------------------------------------- */

struct place {
	const char *host;
	size_t file;
	const struct job *first; /* or NULL */
};

ORDER_BY(by_host, struct place, ALPHABETIC(host) ?: RISING(file))

/* The files by their hosts; the caller frees. */
static struct place *places_of(struct vfd_file *const *files, size_t n)
{
	struct place *places = xcalloc(n + 1, sizeof(*places));

	for (size_t i = 0; i < n; i++)
		places[i] = (struct place){vfd_facts(files[i])->host ?: "", i, NULL};
	if (n)
		qsort(places, n, sizeof(*places), by_host);
	return places;
}

/* Sets `first' of the places. Returns the number behind the ranks of all first jobs. */
static uint64_t first_jobs(
	struct place *places, struct vfd_file *const *files, size_t n, const struct jobs *all)
{
	uint32_t size = all->n && !all->at->number ? all->at->size : 0;

	EACH(struct place, p, places, n) {
		p->first = first_job(all, files[p->file]);
		if (p->first)
			size = MAX(size, p->first->size);
	}
	return size;
}

void vfd_number_ranks(struct vfd_file *const *files, size_t n)
{
	struct place *places = places_of(files, n);
	struct jobs jobs = {.n = 0};
	uint64_t next;

	find_jobs(&jobs, files, n);
	next = first_jobs(places, files, n, &jobs);
	for (size_t i = 0; i < n; i++) {
		struct vfd_file *f = files[places[i].file];

		free(f->numbers);
		f->numbers = xcalloc(f->n_processes + 1, sizeof(*f->numbers));
		next = number_others(f, &jobs, places[i].first, next);
	}
	free(jobs.at);
	free(places);
}

int32_t vfd_rank_number(const struct vfd_file *f, uint32_t process)
{
	if (process >= f->n_processes)
		return -1;
	return f->numbers ? f->numbers[process] : f->processes[process].rank;
}
