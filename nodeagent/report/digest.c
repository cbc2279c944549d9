/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a digest: one pass over the stacks for each question. */
#include "nodeagent/report/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/report/report.h"

#define WORTH_RUN  0.01 /* of the run: an imbalance that costs less is not shown */
#define STARVED	   0.1	/* of its time, a rank that waits for a CPU */
#define WORTH_MEAN 1.1	/* nor one below so many times the mean */
#define CERTAIN	   3.0	/* nor one that is less than so many deviations of its samples */

bool digest_is_starved(const struct report *r)
{
	const struct profile_cpu *c = &r->p->cpu;

	return c->queued_wall_ns && (double)c->most_queued_ns > STARVED * (double)c->queued_wall_ns;
}

bool digest_is_start_or_end(const char *name)
{
	static const char *const names[] = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize",
		"MPI_Session_init", "MPI_Session_finalize"};

	return ANY(i, ARRAY_SIZE(names), !strcmp(name, names[i]));
}

/* Those that never ended are in no table of locks. */
bool digest_has_locks(const struct profile *p)
{
	bool has = p->n_locks;

	for (size_t i = 0; i < p->n_rank_times; i++)
		has |= (p->rank_times[i].flags & RANK_HAS_LOCKS) != 0;
	return has;
}

enum digest_part digest_part_of(bool has_locks, const char *name)
{
	static const enum digest_part parts[] = {
		[PRUNED_FUNCTION] = DIGEST_COMPUTING,
		[PRUNED_MPI] = DIGEST_MPI,
		[PRUNED_OPENMP_WAIT] = DIGEST_OPENMP_WAIT,
		[PRUNED_IDLE] = DIGEST_OPENMP_IDLE,
		[PRUNED_LOCK_WAIT] = DIGEST_LOCK_WAIT,
	};
	const enum digest_part part = parts[pruned_kind(name)];

	if (digest_is_start_or_end(name))
		return DIGEST_MPI_ENDS;
	if (!strcmp(name, "vftrace_pause"))
		return DIGEST_PAUSED;
	return part == DIGEST_LOCK_WAIT && !has_locks ? DIGEST_COMPUTING : part;
}

/* Waits for locks in the libraries of MPI and OpenMP are those of their callers. */
enum digest_part digest_part(const struct report *r, uint32_t stack)
{
	const uint32_t parent = r->parent[stack];
	enum digest_part part, caller;

	if (parent == PROFILE_NONE)
		return DIGEST_OUTSIDE;
	part = r->part[r->p->stacks[stack].name];
	if (part != DIGEST_LOCK_WAIT || r->parent[parent] == PROFILE_NONE)
		return part;
	caller = r->part[r->p->stacks[parent].name];
	return caller == DIGEST_COMPUTING ? part : caller;
}

/* Sets what is told of the callers of a group: the one with most of its time, and how many more. */
static void find_callers(struct digest_function *f, const struct report *r, const uint32_t *members,
	const struct report_group *g)
{
	uint64_t *ns = xcalloc(r->n_groups + 1, sizeof(*ns)), most = 0;
	uint32_t callers = 0;

	f->caller = PROFILE_NONE;
	for (size_t i = g->first; i < g->first + g->n; i++) {
		const uint32_t parent = r->parent[members[i]];
		const uint32_t caller =
			parent == PROFILE_NONE ? PROFILE_NONE : r->p->stacks[parent].name;
		uint64_t *of;

		if (caller == PROFILE_NONE || !r->p->stacks[members[i]].excl_ns)
			continue;
		of = &ns[r->group[caller]];
		callers += !*of && r->group[caller] != r->group[g->name];
		*of += r->p->stacks[members[i]].excl_ns;
		if (*of <= most)
			continue;
		most = *of;
		f->caller = caller;
	}
	if (f->caller != PROFILE_NONE)
		f->more_callers = callers - (r->group[f->caller] != r->group[g->name]);
	free(ns);
}

#define ROUNDING_NS 1000u

static bool is_estimated(
	const struct report *r, const uint32_t *members, const struct report_group *g)
{
	for (size_t i = g->first; i < g->first + g->n; i++)
		if (r->own_estimated[members[i]])
			return true;
	return false;
}

ORDER_BY(by_time, struct report_group, FALLING(excl_ns) ?: RISING(name))

static void put_top(struct digest *d, const struct report *r, const uint32_t *members,
	const struct report_group *groups, size_t n)
{
	for (size_t i = 0; i < n && d->n_top < DIGEST_TOP && groups[i].excl_ns; i++) {
		enum digest_part part = digest_part(r, members[groups[i].first]);

		/* of some ns, what it calls has all: they come of rounding */
		if (groups[i].excl_ns < ROUNDING_NS && is_estimated(r, members, &groups[i]))
			continue;
		if (part == DIGEST_OUTSIDE || part == DIGEST_OPENMP_IDLE || part == DIGEST_MPI_ENDS)
			continue;
		d->top[d->n_top] = (struct digest_function){
			.name = groups[i].name,
			.calls = groups[i].calls,
			.excl_ns = groups[i].excl_ns,
			.estimated = is_estimated(r, members, &groups[i]),
		};
		find_callers(&d->top[d->n_top++], r, members, &groups[i]);
	}
}

/* Of the first job, as they share work: without MPI, processes may be programs of any kind. */
static uint32_t ranks_of(const struct profile *p)
{
	return p->world_size && p->ranks > p->unranked ? p->ranks - p->unranked : 1;
}

/* The rank that has the most time of the paths, if one has more than half of all maxima. */
static uint32_t slowest_of(
	const struct report *r, const uint32_t *members, const struct report_group *g)
{
	uint32_t rank = PROFILE_NONE;
	uint64_t votes = 0;

	for (size_t i = g->first; i < g->first + g->n; i++) {
		const struct profile_stack *s = &r->p->stacks[members[i]];

		if (s->rank_max == rank) {
			votes += s->excl_max_ns;
		} else if (s->excl_max_ns > votes) {
			rank = s->rank_max;
			votes = s->excl_max_ns - votes;
		} else {
			votes -= s->excl_max_ns;
		}
	}
	return rank;
}

/* Processes that the time of a function is shared by: ranks of several jobs may have called it. */
static uint32_t members_of(
	const struct report *r, const uint32_t *members, const struct report_group *g)
{
	uint32_t n = ranks_of(r->p);

	for (size_t i = g->first; i < g->first + g->n; i++)
		n = MAX(n, r->p->stacks[members[i]].ranks);
	return n;
}

static struct digest_imbalance imbalance_of(
	const struct report *r, const uint32_t *members, const struct report_group *g)
{
	const uint32_t ranks = members_of(r, members, g);
	const struct profile_stack *only = &r->p->stacks[members[g->first]];
	const uint32_t rank = slowest_of(r, members, g);
	struct digest_imbalance im = {
		.name = g->name,
		.rank = profile_rank_shown(r->p, rank),
		.rank_min = profile_rank_shown(r->p, only->rank_min),
		.members = ranks,
		.ranks = only->ranks,
		.is_bound = g->n > 1,
		.min_ns = only->ranks < ranks ? 0 : only->excl_min_ns,
		.sum_ns = g->excl_ns,
	};

	for (size_t i = g->first; i < g->first + g->n; i++) {
		const struct profile_stack *s = &r->p->stacks[members[i]];

		if (s->rank_max == rank)
			im.max_ns += s->excl_max_ns;
		else if (s->ranks >= ranks)
			im.max_ns += s->excl_min_ns;
	}
	return im;
}

/* Time that the other ranks could have waited for the slowest, in ns. */
static double costs(const struct digest_imbalance *im)
{
	return (double)im->max_ns - (double)im->sum_ns / im->members;
}

bool digest_is_chance(double excess_ns, double own_ns, uint64_t sampled_ns, uint64_t samples)
{
	return samples &&
	       excess_ns <= CERTAIN * sqrt(own_ns * (double)sampled_ns / (double)samples);
}

/*
 * Not of calls that are counted, whose share of the time of their caller is guessed for each rank;
 * of stack samples only what chance does not explain.
 */
static bool is_certain(const struct report *r, const uint32_t *members,
	const struct report_group *g, const struct digest_imbalance *im)
{
	if (report_any_counted(r, members + g->first, g->n))
		return false;
	return !digest_is_chance(costs(im), (double)im->max_ns, g->estimated_ns, g->samples);
}

static void put_imbalance(struct digest *d, const struct report *r, const uint32_t *members,
	const struct report_group *groups, size_t n)
{
	double most = WORTH_RUN * 1e9 * r->p->runtime_s;

	d->imbalance.name = PROFILE_NONE;
	for (size_t i = 0; ranks_of(r->p) > 1 && i < n; i++) {
		struct digest_imbalance im;

		if (digest_part(r, members[groups[i].first]) != DIGEST_COMPUTING)
			continue;
		im = imbalance_of(r, members, &groups[i]);
		if (costs(&im) <= most ||
			(double)im.max_ns * im.members < WORTH_MEAN * (double)im.sum_ns ||
			!is_certain(r, members, &groups[i], &im))
			continue;
		most = costs(&im);
		d->imbalance = im;
	}
}

struct digest_imbalance digest_imbalance(
	const struct report *r, const uint32_t *members, const struct report_group *g)
{
	if (ranks_of(r->p) < 2 || !g->excl_ns ||
		digest_part(r, members[g->first]) == DIGEST_OUTSIDE)
		return (struct digest_imbalance){.name = PROFILE_NONE};
	return imbalance_of(r, members, g);
}

struct late {
	uint32_t from;
	uint64_t ns;
};

ORDER_BY(by_sender, struct late, RISING(from))

static struct digest_late late_senders(const struct profile *p)
{
	struct late *all = xcalloc(p->n_thread_pairs + 1, sizeof(*all));
	struct digest_late d = {.rank = PROFILE_NONE};
	uint64_t of_rank = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n_thread_pairs; i++)
		if (p->thread_pairs[i].late_ns)
			all[n++] =
				(struct late){p->thread_pairs[i].from, p->thread_pairs[i].late_ns};
	qsort(all, n, sizeof(*all), by_sender);
	for (size_t i = 0; i < n; i++) {
		of_rank = i && all[i].from == all[i - 1].from ? of_rank + all[i].ns : all[i].ns;
		d.ns += all[i].ns;
		if (of_rank <= d.rank_ns || all[i].from == PROFILE_ELSEWHERE)
			continue;
		d.rank_ns = of_rank;
		if (p->pair_ranks <= 1)
			d.rank = profile_rank_shown(p, all[i].from);
	}
	free(all);
	return d;
}

/* True if the library of OpenMP may sleep in it, where no frame tells so (openmp.show_idle_time):
 * waiting for the threads of a team, or for the next team. */
static bool may_be_of_library(const struct report *r, uint32_t stack)
{
	static const char region[] = "omp_parallel@";
	const uint32_t parent = r->parent[stack];

	return digest_part(r, stack) == DIGEST_LOCK_WAIT && parent != PROFILE_NONE &&
	       (r->parent[parent] == PROFILE_NONE ||
		       !strncmp(
			       r->p->names[r->p->stacks[parent].name], region, sizeof(region) - 1));
}

/* What ranks do not have as waits for locks, thread by thread, is idleness as far as they have
 * that, and the rest waits of OpenMP. */
static void leave_to_library(struct digest *d, const struct report *r)
{
	const struct profile *p = r->p;
	uint64_t *part = d->part_ns, locks = 0, idle = 0, all = 0, move;
	bool has_openmp = false;

	for (size_t i = 0; i < p->n_rank_times; i++) {
		locks += p->rank_times[i].all_lock_wait_ns;
		idle += p->rank_times[i].all_openmp_idle_ns;
		has_openmp |= (p->rank_times[i].flags & RANK_HAS_OPENMP) != 0;
	}
	if (!has_openmp || profile_timed_ranks(p) < p->ranks || locks >= part[DIGEST_LOCK_WAIT])
		return;
	for (uint32_t i = 0; i < p->n_stacks; i++)
		all += may_be_of_library(r, i) ? p->stacks[i].excl_ns : 0;
	move = MIN(part[DIGEST_LOCK_WAIT] - locks, all);
	idle = idle > part[DIGEST_OPENMP_IDLE] ? idle - part[DIGEST_OPENMP_IDLE] : 0;
	idle = MIN(idle, move);
	part[DIGEST_LOCK_WAIT] -= move;
	part[DIGEST_OPENMP_IDLE] += idle;
	part[DIGEST_OPENMP_WAIT] += move - idle;
}

/* The waits of those that made the teams at their ends: frames show all of them, or none. */
static uint64_t joins_of_makers(const struct digest *d, const struct report *r)
{
	const struct profile *p = r->p;
	uint64_t waits = 0, shown = 0;

	for (size_t i = 0; i < p->n_rank_times; i++)
		waits += p->rank_times[i].all_openmp_wait_ns;
	for (uint32_t i = 0; i < p->n_stacks; i++)
		if (!strcmp(p->names[p->stacks[i].name], "omp_join"))
			shown += p->stacks[i].incl_ns;
	if (shown)
		return shown;
	return waits > d->part_ns[DIGEST_OPENMP_WAIT] ? waits - d->part_ns[DIGEST_OPENMP_WAIT] : 0;
}

/* A worker that waits for the others of its team is between regions, and not without work. makers:
 * joins_of_makers() of what frames show. */
static void leave_to_teams(struct digest *d, const struct report *r, uint64_t makers)
{
	const struct profile *p = r->p;
	uint64_t *part = d->part_ns, joins = 0, idle = 0;

	for (size_t i = 0; i < p->n_openmp; i++)
		joins += p->openmp[i].join_ns;
	for (size_t i = 0; i < p->n_rank_times; i++)
		idle += p->rank_times[i].all_openmp_idle_ns;
	joins = joins > makers ? joins - makers : 0;
	d->frames_show_idle = part[DIGEST_OPENMP_IDLE];
	if (d->frames_show_idle)
		idle = part[DIGEST_OPENMP_IDLE];
	joins = MIN(joins, idle);
	d->openmp_idle_ns = idle - joins;
	if (!d->frames_show_idle)
		return;
	part[DIGEST_OPENMP_IDLE] -= joins;
	part[DIGEST_OPENMP_WAIT] += joins;
}

static struct digest make_digest(const struct report *r)
{
	struct digest d = {.n_top = 0};
	struct report_group *groups;
	const uint32_t *members;
	uint64_t makers;
	size_t n = report_groups(r, &groups, &members);

	for (uint32_t i = 0; i < r->p->n_stacks; i++)
		d.part_ns[digest_part(r, i)] += r->p->stacks[i].excl_ns;
	makers = joins_of_makers(&d, r);
	leave_to_library(&d, r);
	leave_to_teams(&d, r, makers);
	qsort(groups, n, sizeof(*groups), by_time);
	put_top(&d, r, members, groups, n);
	put_imbalance(&d, r, members, groups, n);
	d.late = late_senders(r->p);
	report_cost(r, r->p->runtime_s, &d.hooks_s, &d.blocked_s);
	free(groups);
	return d;
}

struct digest digest_of(const struct report *r)
{
	struct digest_once *once = r->digest;

	if (!once->is_made)
		*once = (struct digest_once){true, make_digest(r)};
	return once->d;
}
