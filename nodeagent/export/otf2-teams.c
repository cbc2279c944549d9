/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of OpenMP in OTF2. The thread that enters a parallel region forks, and is the first
 * member of the team; threads that enter the region before it leaves are the others. OTF2 wants
 * the team's definition where the first member begins, before the others have come: so all
 * calls are read once before, and the team of each region that a thread enters is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/export/otf2.h"
#include "nodeagent/base/hash.h"
#include "nodeagent/base/util.h"

#define NO_TEAM	  0u
#define NOT_KNOWN UINT32_MAX /* the region is still open */

/* What a thread was part of, region by region: runs of one team, then those that still change. */
struct member {
	struct run {
		uint32_t team, n;
	} * runs;
	size_t n_runs, cap_runs;
	uint32_t *tail;
	size_t n_tail, cap_tail;
	uint64_t before_tail;
	uint32_t depth;
	bool worker, master;
	/* while events are written */
	size_t at_run;
	uint32_t at;
	uint32_t *open;
	size_t n_open, cap_open;
};

struct team {
	uint32_t *threads; /* the first one has forked; the others by number */
	uint32_t n;
};

/* A region that its first thread has not left. */
struct forked {
	uint32_t process, region, master; /* master: EXPORT_NONE, if it is yet to come */
	uint64_t path, since;
	struct seat {
		uint32_t thread;
		uint64_t number; /* of the region, for that thread */
	} * seats;
	size_t n, cap;
};

struct otf2_teams {
	struct otf2 *f;
	struct member *members; /* by thread */
	struct team *teams;	/* [0]: NO_TEAM */
	size_t n, cap;
	struct map64 known; /* by hash of the members */
	struct forked *forked;
	size_t n_forked, cap_forked;
};

static bool makes_team(const struct exporter *x, uint32_t region)
{
	const struct export_region *r = &x->regions[region];

	return r->kind == VFD_FUNCTION_OPENMP &&
	       (r->construct == CONSTRUCT_PARALLEL || r->construct == CONSTRUCT_TEAMS);
}

/* ---- which team it was, in the order of regions ------------------------------------------ */

static uint64_t seat_new(struct member *m)
{
	*LIST_ADD(m, tail) = NOT_KNOWN;
	return m->before_tail + m->n_tail - 1;
}

static void add_run(struct member *m, uint32_t team)
{
	struct run *last = m->n_runs ? &m->runs[m->n_runs - 1] : NULL;

	if (last && last->team == team && last->n < UINT32_MAX) {
		last->n++;
		return;
	}
	*LIST_ADD(m, runs) = (struct run){team, 1};
}

static void seat_known(struct member *m, uint64_t number, uint32_t team)
{
	size_t done = 0;

	m->tail[number - m->before_tail] = team;
	while (done < m->n_tail && m->tail[done] != NOT_KNOWN)
		add_run(m, m->tail[done++]);
	memmove(m->tail, m->tail + done, (m->n_tail - done) * sizeof(*m->tail));
	m->n_tail -= done;
	m->before_tail += done;
}

static uint32_t seat_next(struct member *m)
{
	if (m->at_run < m->n_runs && m->at == m->runs[m->at_run].n) {
		m->at_run++;
		m->at = 0;
	}
	if (m->at_run == m->n_runs)
		return NO_TEAM;
	m->at++;
	return m->runs[m->at_run].team;
}

/* ---- the reading before ------------------------------------------------------------------ */

ORDER_BY(by_thread, struct seat, RISING(thread))

static bool same_team(const struct team *t, const struct forked *r)
{
	if (t->n != r->n)
		return false;
	return ALL(i, r->n, t->threads[i] == r->seats[i].thread);
}

/* Threads that were a team before are the same one. */
static uint32_t team_of(struct otf2_teams *all, const struct forked *r)
{
	uint32_t *threads = xmalloc(r->n * sizeof(*threads)), *known;
	uint64_t hash;

	for (size_t i = 0; i < r->n; i++)
		threads[i] = r->seats[i].thread;
	hash = stack_hash((const char *)threads, r->n * sizeof(*threads));
	for (; (known = map64_find(&all->known, hash)); hash++) {
		if (!same_team(&all->teams[*known], r))
			continue;
		free(threads);
		return *known;
	}
	map64_add(&all->known, hash, (uint32_t)all->n);
	all->teams = grow(all->teams, all->n, &all->cap, sizeof(*all->teams));
	all->teams[all->n] = (struct team){threads, (uint32_t)r->n};
	return (uint32_t)all->n++;
}

/* The master's seat is the first one. */
static void close_forked(struct otf2_teams *all, size_t i)
{
	struct forked *r = &all->forked[i];
	uint32_t team = NO_TEAM;

	if (r->master != EXPORT_NONE) {
		if (r->n > 2)
			qsort(r->seats + 1, r->n - 1, sizeof(*r->seats), by_thread);
		team = team_of(all, r);
	}
	for (size_t k = 0; k < r->n; k++)
		seat_known(&all->members[r->seats[k].thread], r->seats[k].number, team);
	free(r->seats);
	memmove(r, r + 1, (--all->n_forked - i) * sizeof(*r));
}

static void sit(struct otf2_teams *all, struct forked *r, uint32_t thread)
{
	*APPEND(r->seats, r->n, r->cap) = (struct seat){thread, seat_new(&all->members[thread])};
}

static uint64_t path_of(const struct exporter *x, const struct export_event *e)
{
	uint32_t stack = e->stack, region;
	uint64_t path = 0;

	while ((stack = export_caller(x, e->thread, stack, &region)) != VFD_NONE)
		path = (path ^ region) * 0x100000001b3u + 1;
	return path;
}

/*
 * A thread that a runtime has just made works for the one who made it; later it may work for
 * anybody, as LLVM's runtime has one pool of threads for all. No events must be missing before.
 */
static bool is_made_for(const struct exporter *x, const struct member *m,
	const struct export_thread *t, const struct forked *r)
{
	const struct vfd_facts *facts = vfd_facts(x->files[t->file]);
	size_t n;

	return !m->worker && !x->options->span.from_set && !facts->interval_ns && !facts->thinned &&
	       !facts->lost_calls && r->master != EXPORT_NONE &&
	       x->threads[r->master].number == vfd_threads(x->files[t->file], &n)[t->track].creator;
}

/* The region that a worker has entered, NULL: it can't be told from another one. */
static struct forked *find_forked(
	struct otf2_teams *all, const struct export_event *e, uint64_t path)
{
	const struct exporter *x = all->f->x;
	const struct member *m = &all->members[e->thread - x->threads];
	struct forked *best = NULL;
	unsigned most = 0;
	bool one = false;

	EACH(struct forked, r, all->forked, all->n_forked) {
		unsigned likely;

		if (r->process != e->thread->process || r->region != e->region ||
			(r->master == EXPORT_NONE && r->since != e->time))
			continue;
		likely = 1 + 2 * (r->path == path) + is_made_for(x, m, e->thread, r);
		one = likely > most || (one && likely < most);
		if (likely > most) {
			most = likely;
			best = r;
		}
	}
	return one ? best : NULL;
}

/* Workers have no frame below the region, and the one who forks mostly has. */
static bool is_worker(
	const struct exporter *x, const struct member *m, const struct export_event *e)
{
	size_t n;
	const struct vfd_thread *t = &vfd_threads(x->files[e->thread->file], &n)[e->thread->track];

	if (m->depth || !e->thread->number)
		return false;
	return !t->openmp || t->openmp_level > 1 || t->openmp_number;
}

static struct forked *fork_new(struct otf2_teams *all, const struct export_event *e, uint64_t path)
{
	struct forked *r;

	r = LIST_ADD(all, forked);
	*r = (struct forked){.process = e->thread->process,
		.region = e->region,
		.master = EXPORT_NONE,
		.path = path,
		.since = e->time};
	return r;
}

/* Where the time that is exported begins, a worker may be seen before its master. */
static void forks(struct otf2_teams *all, const struct export_event *e, uint64_t path)
{
	const uint32_t thread = (uint32_t)(e->thread - all->f->x->threads);
	struct forked *r = NULL;

	for (size_t i = 0; !r && i < all->n_forked; i++)
		if (all->forked[i].master == EXPORT_NONE && all->forked[i].since == e->time &&
			all->forked[i].process == e->thread->process &&
			all->forked[i].region == e->region && all->forked[i].path == path)
			r = &all->forked[i];
	if (!r)
		r = fork_new(all, e, path);
	sit(all, r, thread);
	if (r->n > 1) {
		const struct seat last = r->seats[r->n - 1];

		memmove(r->seats + 1, r->seats, (r->n - 1) * sizeof(*r->seats));
		r->seats[0] = last;
	}
	r->master = thread;
}

static void enters(struct otf2_teams *all, const struct export_event *e)
{
	const struct exporter *x = all->f->x;
	const uint32_t thread = (uint32_t)(e->thread - x->threads);
	struct member *m = &all->members[thread];
	const uint64_t path = path_of(x, e);
	const bool worker = is_worker(x, m, e);
	struct forked *r = worker ? find_forked(all, e, path) : NULL;

	m->worker |= worker;
	m->master |= !worker;
	if (!worker) {
		forks(all, e, path);
		return;
	}
	if (!r)
		r = fork_new(all, e, path);
	sit(all, r, thread);
}

/* The regions whose first thread leaves them; workers without one are in none. */
static void leaves(struct otf2_teams *all, const struct export_event *e)
{
	const uint32_t thread = (uint32_t)(e->thread - all->f->x->threads);

	for (size_t i = all->n_forked; i-- > 0;) {
		const struct forked *r = &all->forked[i];

		if (r->region == e->region &&
			(r->master == thread ||
				(r->master == EXPORT_NONE && r->seats[0].thread == thread))) {
			close_forked(all, i);
			return;
		}
	}
}

static void read_event(void *ctx, const struct export_event *e)
{
	struct otf2_teams *all = ctx;
	struct member *m = &all->members[e->thread - all->f->x->threads];

	if ((e->kind != EXPORT_ENTER && e->kind != EXPORT_EXIT) || e->thread->stream)
		return;
	if (e->kind == EXPORT_ENTER) {
		if (makes_team(all->f->x, e->region))
			enters(all, e);
		m->depth++;
	} else {
		m->depth -= m->depth > 0;
		if (makes_team(all->f->x, e->region))
			leaves(all, e);
	}
}

void otf2_teams_find(struct otf2 *f)
{
	struct exporter *x = f->x;
	struct otf2_teams *all;
	bool any = false;

	for (uint32_t i = 0; i < x->n_regions; i++)
		any |= makes_team(x, i);
	if (!any)
		return;
	all = f->teams = xcalloc(1, sizeof(*all));
	all->f = f;
	all->members = xcalloc(x->n_threads, sizeof(*all->members));
	all->teams = grow(all->teams, 0, &all->cap, sizeof(*all->teams));
	all->teams[all->n++] = (struct team){0};
	x->steps++;
	export_walk(x, &(struct export_walk){.no_messages = true}, read_event, all);
	while (all->n_forked)
		close_forked(all, all->n_forked - 1);
	f->n_teams = (uint32_t)all->n - 1;
}

enum otf2_part otf2_part(const struct otf2 *f, uint32_t thread)
{
	const struct member *m = f->teams ? &f->teams->members[thread] : NULL;

	if (m && m->worker)
		return OTF2_WORKER;
	return m && m->master ? OTF2_MASTER : OTF2_NO_TEAM;
}

/* ---- events and definitions -------------------------------------------------------------- */

void otf2_team_begin(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to)
{
	const uint32_t thread = (uint32_t)(e->thread - f->x->threads);
	struct member *m;
	uint32_t team;

	if (!f->teams || e->thread->stream || !makes_team(f->x, e->region))
		return;
	m = &f->teams->members[thread];
	team = seat_next(m);
	*LIST_ADD(m, open) = team;
	if (team == NO_TEAM)
		return;
	if (f->teams->teams[team].threads[0] == thread) {
		OTF2_CALL(
			f, thread_fork, to, NULL, e->time, OUR_BY_OPENMP, f->teams->teams[team].n);
		f->events[thread]++;
	}
	OTF2_CALL(f, team_begin, to, NULL, e->time, f->first_team + team - 1);
	f->events[thread]++;
}

void otf2_team_end(struct otf2 *f, const struct export_event *e, struct OTF2_EvtWriter_struct *to)
{
	const uint32_t thread = (uint32_t)(e->thread - f->x->threads);
	struct member *m;
	uint32_t team;

	if (!f->teams || e->thread->stream || !makes_team(f->x, e->region))
		return;
	m = &f->teams->members[thread];
	team = m->n_open ? m->open[--m->n_open] : NO_TEAM;
	if (team == NO_TEAM)
		return;
	OTF2_CALL(f, team_end, to, NULL, e->time, f->first_team + team - 1);
	f->events[thread]++;
	if (f->teams->teams[team].threads[0] == thread) {
		OTF2_CALL(f, thread_join, to, NULL, e->time, OUR_BY_OPENMP);
		f->events[thread]++;
	}
}

uint32_t otf2_teams_define(struct otf2 *f, struct OTF2_GlobalDefWriter_struct *to, uint32_t group,
	uint32_t (*string)(void *ctx, const char *text), void *ctx)
{
	const struct otf2_teams *all = f->teams;
	uint64_t *list;
	uint32_t *place, name, n = 0;

	if (!f->n_teams)
		return group;
	name = string(ctx, "OpenMP team");
	list = xcalloc(f->x->n_threads, sizeof(*list));
	place = xcalloc(f->x->n_threads, sizeof(*place));
	for (uint32_t i = 0; i < f->x->n_threads; i++) {
		place[i] = n;
		if (all->members[i].worker || all->members[i].master)
			list[n++] = i;
	}
	OTF2_CALL(f, group, to, group++, string(ctx, "OpenMP threads"), OUR_COMM_LOCATIONS,
		OUR_BY_OPENMP, 0, n, list);
	for (uint32_t i = 1; i < all->n && export_goes_on(f->x); i++) {
		const struct team *t = &all->teams[i];

		for (uint32_t k = 0; k < t->n; k++)
			list[k] = place[t->threads[k]];
		OTF2_CALL(f, group, to, group, 0, OUR_COMM_GROUP, OUR_BY_OPENMP, 0, t->n, list);
		OTF2_CALL(f, comm, to, f->first_team + i - 1, name, group++, OUR_NONE, 0);
	}
	free(list);
	free(place);
	return group;
}

void otf2_teams_free(struct otf2 *f)
{
	struct otf2_teams *all = f->teams;

	if (!all)
		return;
	for (size_t i = 0; i < f->x->n_threads; i++) {
		free(all->members[i].runs);
		free(all->members[i].tail);
		free(all->members[i].open);
	}
	for (size_t i = 0; i < all->n; i++)
		free(all->teams[i].threads);
	free(all->members);
	free(all->teams);
	free(all->forked);
	map64_free(&all->known);
	free(all);
}
