/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/sync.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/window/exposure.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/comm/sync-instances.h"
#include "nodeagent/replay/sampling/sampling.h"

/* What finding a rank among the members costs, in looks at a run of a communicator. */
#define SEARCH_COSTS 8u
#define SYNC_CHUNK   16u /* blocks of arrivals for which memory is taken at once */

struct sync *sync_new(void)
{
	struct sync *s = xcalloc(1, sizeof(*s));

	s->generation = 1;
	s->instances.bytes = sizeof(struct instance);
	s->arrivals.bytes = sizeof(struct arrivals);
	s->arrivals.per_chunk = SYNC_CHUNK;
	s->groups.bytes = sizeof(struct instance_group);
	s->causes = causes_new();
	s->longest = longest_new(traffic_count_longest);
	s->window_locks = window_locks_new(s->longest, s->causes);
	s->spawns = spawns_new();
	return s;
}

void sync_begin_elsewhere(struct sync *s, size_t bytes_max)
{
	if (!s->elsewhere)
		s->elsewhere = elsewhere_new(bytes_max);
	s->generation++; /* which communicators are plain is to be looked at again */
	causes_begin_elsewhere(s->causes);
	window_locks_begin_elsewhere(s->window_locks);
}

struct elsewhere *sync_elsewhere(struct sync *s)
{
	return s->elsewhere;
}

void sync_begin_sampling(struct sync *s, struct clocks *clocks)
{
	const char *per_s = getenv("VFTR_TEST_ARRIVALS");

	if (s->sampling)
		return;
	s->sampling = sampling_new(clocks, per_s ? strtod(per_s, NULL) : SAMPLING_PER_S);
	s->counts = sampling_counts(s->sampling);
	s->generation++; /* as above */
}

struct sampling *sync_sampling(struct sync *s)
{
	return s->sampling;
}

void sync_comm_gone(struct sync *s, struct sampled_comm *c)
{
	if (c)
		sampling_let_go(s->sampling, c);
}

struct causes *sync_causes(struct sync *s)
{
	return s->causes;
}

uint64_t sync_dropped(const struct sync *s)
{
	return s->dropped;
}

struct window_locks *sync_window_locks(struct sync *s)
{
	return s->window_locks;
}

struct spawns *sync_spawns(struct sync *s)
{
	return s->spawns;
}

struct far_locks *sync_far_locks(struct sync *s)
{
	return window_locks_far(s->window_locks);
}

struct longest *sync_longest(struct sync *s)
{
	return s->longest;
}

void sync_free(struct sync *s)
{
	if (!s)
		return;
	sync_settle(s);
	while (s->oldest)
		instance_drop(s, s->oldest);
	match_pool_free(&s->instances);
	match_pool_free(&s->arrivals);
	match_pool_free(&s->groups);
	elsewhere_free(s->elsewhere);
	causes_free(s->causes);
	longest_free(s->longest);
	window_locks_free(s->window_locks);
	spawns_free(s->spawns);
	sampling_free(s->sampling);
	free(s->members);
	free(s);
}

/* ---- who is to come ------------------------------------------------------------------ */

static bool is_local(const struct sync_member *m, const struct comm *c, uint64_t job)
{
	return (!m->job_known || m->job == job) && comm_has_world(c, m->rank);
}

/* Of both groups. job: of the own one. */
static uint32_t count_spawned(const struct sync *s, const struct comm *c, uint64_t job)
{
	uint32_t n = 0;

	EACH(const struct sync_member, m, s->members, s->n_members)
		n += m->job_known &&
		     (m->job == job ? comm_has_world(c, m->rank) : spawned_has(c, m->job, m->rank));
	return n;
}

/* The first member of this rank, or where it would be. */
static size_t find_rank(const struct sync *s, uint32_t rank)
{
	return LOWER_BOUND(i, 0, s->n_members, s->members[i].rank < rank);
}

static bool is_here(const struct sync *s, uint32_t rank, uint64_t job)
{
	for (size_t i = find_rank(s, rank); i < s->n_members && s->members[i].rank == rank; i++)
		if (!s->members[i].job_known || s->members[i].job == job)
			return true;
	return false;
}

/* Rank by rank of a communicator of many runs, as each member here would look at all of these. */
static uint32_t count_by_rank(const struct sync *s, const struct comm *c, uint64_t job)
{
	uint32_t n = 0;

	for (size_t i = 0; i < c->n_runs; i++) {
		const struct run *r = &c->runs[i];
		const uint32_t end = i + 1 < c->n_runs ? r[1].before : c->members;

		for (uint32_t k = 0; r->first >= 0 && k < end - r->before; k++)
			n += is_here(s, (uint32_t)(r->first + (int64_t)k * r->stride), job);
	}
	return n;
}

static uint32_t count_local(const struct sync *s, const struct comm *c, uint64_t job)
{
	uint32_t n = 0, last = UINT32_MAX;

	if ((uint64_t)s->n_members * c->n_runs > (uint64_t)SEARCH_COSTS * c->members)
		return count_by_rank(s, c, job);

	EACH(const struct sync_member, m, s->members, s->n_members) {
		if (m->rank == last || !is_local(m, c, job))
			continue;
		last = m->rank;
		n++;
	}
	return n;
}

/* True if a process of this rank of the job is a member that lives here. */
static bool rank_lives_here(const struct sync *s, const struct comm *c, uint32_t rank, uint64_t job)
{
	return comm_has_world(c, rank) && is_here(s, rank, job);
}

static bool is_member(const struct sync *s, uint64_t job, uint32_t rank)
{
	return ANY(i, s->n_members,
		s->members[i].job_known && s->members[i].job == job && s->members[i].rank == rank);
}

static bool lives_here(const struct sync *s, const struct comm *c, const struct traffic *t)
{
	if (has_spawned_side(c) && spawned_has(c, t->job, (uint32_t)t->rank))
		return is_member(s, t->job, (uint32_t)t->rank);
	return rank_lives_here(s, c, (uint32_t)t->rank, t->job);
}

static uint32_t count_local_pair(const struct sync *s, const struct instance *i)
{
	const uint64_t job = i->traffic->job;

	return (uint32_t)rank_lives_here(s, i->comm, comm_world(i->comm, i->one_awaited), job) +
	       rank_lives_here(s, i->comm, comm_world(i->comm, i->one_waiting), job);
}

/* Looks again who lives here, if that has changed. */
static void refresh(const struct sync *s, struct comm *c, const struct traffic *t)
{
	if (c->local_of == s->generation)
		return;
	c->local = has_spawned_side(c) ? count_spawned(s, c, t->job) : count_local(s, c, t->job);
	if (c->local > c->local_most)
		c->local_most = c->local;
	c->is_local = lives_here(s, c, t);
	c->local_of = s->generation;
}

/* Some that have arrived may live here no more, so that their number is not enough. */
static inline __attribute__((always_inline)) bool is_complete(
	const struct sync *s, struct instance *i)
{
	refresh(s, i->comm, i->traffic);
	return i->living >= (i->of_pair ? count_local_pair(s, i) : i->comm->local);
}

static void count_living(const struct sync *s, struct instance *i)
{
	struct arrival_walk w = {0};
	const struct arrival *a;

	i->living = 0;
	while ((a = arrival_next(i, &w)))
		i->living += lives_here(s, i->comm, a->traffic);
}

/* ---- who comes -------------------------------------------------------------------------- */

/* The groups of an intercommunicator have no member in common. */
static uint32_t group_of(const struct comm *c)
{
	if (!c->remote_size)
		return 0;
	return has_spawned_side(c) ? spawned_side(c) : comm_world(c, c->remote_size);
}

static __attribute__((noinline)) bool has_come(struct instance *i, const struct traffic *t)
{
	struct arrival_walk w = {0};
	const struct arrival *a;

	while ((a = arrival_next(i, &w)))
		if (a->traffic == t)
			return true;
	return false;
}

/* Whether a process comes to an instance for the second time: then it lies. Its tickets rise but
 * among its threads, so that there is rarely something to search. */
static inline __attribute__((always_inline)) bool comes_twice(
	struct instance *i, const struct traffic *t, const struct meeting *m)
{
	if (m->next && (int32_t)(m->ticket - *m->next) >= 0) {
		*m->next = m->ticket + 1;
		return false;
	}
	return has_come(i, t);
}

/*
 * Nobody of this node has waited for the only member here, and others may have: what it did since
 * its call before is taken for what it did when it was late.
 */
static void find_phase(
	struct sync *s, const struct instance *i, struct traffic_track *l, const struct pending *p)
{
	const struct comm *c = p->comm;

	if (is_awaited(i->kind, p->m.peer, c->rank) && c->left && s->elsewhere &&
		has_members_elsewhere(c) && l->traffic->conf->mpi_waits)
		causes_add(s->causes, l->traffic, path_number(l, p->node), i->wait, l->activity,
			c->left, p->since, NULL);
}

static inline struct purpose purpose_of(struct sync *s, uint32_t function)
{
	if (s->met_in != function || !function) {
		s->met_in = function;
		s->met_for = instance_purpose(function);
	}
	return s->met_for;
}

/* The instance, with the member in it. call: of its arrival what is not in the meeting. NULL: no
 * member waits for another one, or it lies. */
static inline __attribute__((always_inline)) struct instance *come(
	struct sync *s, struct traffic *t, const struct meeting *m, const struct arrival *call)
{
	struct instance *i = *place_of(s, m->id, m->ticket);
	bool other_group, is_root;
	struct arrival *a;
	uint32_t group;

	if (!i) {
		const struct purpose of = m->of ? *m->of : purpose_of(s, m->function);

		if (of.kind == COLLECTIVE_UNKNOWN)
			return NULL;
		i = instance_add(s, t, m->comm, m->id, m->ticket, of);
		i->log2 = (uint8_t)m->log2;
	}
	fetch_instance(i->newer); /* mostly that of the next call */
	if (comes_twice(i, t, m))
		return NULL;
	refresh(s, m->comm, t);
	i->living += m->comm->is_local && (t->job == i->traffic->job || has_spawned_side(m->comm));
	group = i->two_groups ? group_of(m->comm) : 0;
	a = instance_add_arrival(s, i);
	is_root = m->root == (i->two_groups ? MESSAGE_ROOT_HERE : m->comm->rank);
	other_group = i->two_groups && i->n > 1 && group != i->group;
	*a = (struct arrival){.traffic = t,
		.track = call->track,
		.enter = call->enter,
		.since = m->since,
		.until = m->until,
		.activity = call->track ? m->activity : thread_activity_hold(m->activity),
		.rank = m->comm->rank,
		.path = call->path,
		.stack = call->stack,
		.thread = call->thread,
		.blocks = call->blocks,
		.is_root = is_root,
		.no_root = m->root == MESSAGE_NO_RANK,
		.other_group = other_group};
	if (i->n == 1) {
		i->root = m->root;
		if (i->two_groups)
			i->group = group;
	}
	instance_await(i, a, m->since, other_group, is_root);
	return i;
}

static inline __attribute__((always_inline)) void arrive_at(
	struct sync *s, struct traffic_track *l, const struct pending *p, const struct meeting *m)
{
	struct comm *c = p->comm;
	const struct arrival call = {.track = l,
		.node = p->node,
		.blocks = true,
		.thread = l->number & ARRIVAL_THREADS,
		.stack = p->entered && l->number <= ARRIVAL_THREADS ? p->stack : 0,
		.path = s->elsewhere && has_members_elsewhere(c) ? path_number(l, p->node) : 0};
	struct instance *i = come(s, l->traffic, m, &call);

	if (!i)
		return;
	l->n_arrived++;
	if (c->local == 1)
		find_phase(s, i, l, p);
	c->left = m->until;
	if (is_complete(s, i))
		instance_finish(s, i);
}

static bool may_be_sampled(const struct sync *s, const struct traffic *t, const struct comm *c)
{
	return s->sampling && !c->joins && t->conf->mpi_waits && !t->conf->mpi_show_sync_time;
}

/* Whether others stand for this call. Which ones do follows from a hash, as it does where agents
 * compare calls (elsewhere.h): so each call of those that a program repeats has its fair share. */
static bool is_skipped(
	struct sync *s, const struct traffic *t, const struct pending *p, uint32_t *log2)
{
	struct comm *c = p->comm;
	bool skipped;

	if (!c->sampled)
		c->sampled = sampling_hold(s->sampling, c->id, c->job ? c->job : t->job);
	refresh(s, c, t);
	*log2 = sampling_log2(s->sampling, c->sampled, p->m.ticket, p->since, c->local);
	skipped = *log2 && elsewhere_hash(c->id, c->sampled->job, p->m.ticket) &
				   (((uint64_t)1 << *log2) - 1);
	if (s->elsewhere && has_members_elsewhere(c)) {
		c->sampled->skipped += skipped;
	} else {
		s->counts[*log2].all++;
		s->counts[*log2].compared += !skipped;
	}
	return skipped;
}

/* Whether sync-plain.c may take the next ones. */
static void find_plain(const struct sync *s, struct comm *c, const struct conf *conf)
{
	if (c->local_of == s->generation && c->is_local && c->local > 1 && !c->joins &&
		!c->remote_size && conf->mpi_waits && !conf->mpi_show_sync_time &&
		!(s->elsewhere && has_members_elsewhere(c)) && (!s->sampling || c->sampled))
		c->plain_of = s->generation;
}

void sync_arrive_any(
	struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	struct comm *c = p->comm;
	uint32_t log2 = 0;

	if (may_be_sampled(s, l->traffic, c) &&
		purpose_of(s, key_mpi(p->node->key)).kind != COLLECTIVE_UNKNOWN &&
		is_skipped(s, l->traffic, p, &log2)) {
		c->left = until;
		return;
	}
	arrive_at(s, l, p,
		&(struct meeting){.comm = c,
			.id = c->joins ? spawned_meeting(l->traffic, c, until) : c->id,
			.ticket = p->m.ticket,
			.function = key_mpi(p->node->key),
			.since = p->since,
			.until = until,
			.root = p->m.peer,
			.activity = l->activity,
			.log2 = log2,
			.next = &c->arrives_next});
	find_plain(s, c, l->traffic->conf);
}

/* Calls by which all ranks of a window meet. */
static const struct window_call {
	uint32_t function;
	struct purpose of;
} window_calls[] = {
	{VFTR_MPI_WIN_ALLOCATE, {.kind = COLLECTIVE_BETWEEN_ALL, .wait = WAIT_NXN}},
	{VFTR_MPI_WIN_ALLOCATE_SHARED, {.kind = COLLECTIVE_BETWEEN_ALL, .wait = WAIT_NXN}},
	{VFTR_MPI_WIN_CREATE, {.kind = COLLECTIVE_BETWEEN_ALL, .wait = WAIT_NXN}},
	{VFTR_MPI_WIN_CREATE_DYNAMIC, {.kind = COLLECTIVE_BETWEEN_ALL, .wait = WAIT_NXN}},
	{VFTR_MPI_WIN_FENCE, {.kind = COLLECTIVE_BETWEEN_ALL, .wait = WAIT_RMA_FENCE}},
	{VFTR_MPI_WIN_FREE, {.kind = COLLECTIVE_BETWEEN_ALL, .wait = WAIT_BARRIER}},
};

void sync_arrive_at_window(
	struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	for (size_t i = 0; i < ARRAY_SIZE(window_calls); i++)
		if (window_calls[i].function == (p->m.field & ~LARGE_COUNT))
			arrive_at(s, l, p,
				&(struct meeting){.comm = p->comm,
					.id = p->m.bytes,
					.ticket = p->m.ticket,
					.of = &window_calls[i].of,
					.since = p->since,
					.until = until,
					.root = p->m.peer,
					.activity = l->activity,
					.next = map32_find(&l->traffic->windows_next, p->m.comm)});
}

/* Each start of a persistent call is one of its own: the ticket stands for the communicator. False:
 * its number is not known. */
static bool find_start(const struct pending *p, struct meeting *m)
{
	if (!collective_is_persistent(p->m.field))
		return true;
	m->id = elsewhere_hash(m->id, 0, p->m.ticket);
	m->next = NULL;
	m->ticket = p->m.start;
	return p->m.start != 0;
}

void sync_complete(
	struct sync *s, struct traffic *t, const struct request *q, const struct completion *c)
{
	const struct pending *p = &q->of;
	struct meeting m = {.comm = p->comm,
		.id = comm_identity(p->comm),
		.ticket = p->m.ticket,
		.function = p->m.field,
		.since = p->since,
		.until = c->ticks,
		.root = p->m.peer,
		.activity = q->track ? q->track->activity : NULL,
		.next = &p->comm->arrives_next};
	const struct arrival call = {.enter = c->since, .path = c->path};
	struct instance *i = find_start(p, &m) ? come(s, t, &m, &call) : NULL;

	if (!i)
		return;
	if (is_complete(s, i))
		instance_finish(s, i);
}

/* The call may wait for others, too: so it is like one that completes an operation. */
void sync_meet(struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until,
	const struct exposure_pair *pair)
{
	const struct arrival call = {.enter = p->since, .path = path_number(l, p->node)};
	struct instance *i = come(s, l->traffic,
		&(struct meeting){.comm = p->comm,
			.id = elsewhere_hash(
				p->m.bytes, message_pair(pair->origin, pair->target), PAIR_IDS),
			.ticket = pair->ticket,
			.of = &(struct purpose){.kind = COLLECTIVE_FROM_ROOT, .wait = pair->wait},
			.since = p->since,
			.until = until,
			.root = pair->awaited,
			.activity = l->activity},
		&call);

	if (!i)
		return;
	i->of_pair = true;
	i->one_awaited = pair->awaited;
	i->one_waiting = pair->waiting;
	if (is_complete(s, i))
		instance_finish(s, i);
}

static void move_arrivals(struct instance *i, struct traffic_track *l)
{
	struct arrival_walk w = {0};
	struct arrival *a;

	while ((a = arrival_next(i, &w))) {
		if (a->track != l)
			continue;
		a->track = NULL;
		thread_activity_hold(a->activity);
		l->n_arrived--;
		a->node = a->node->counterpart;
	}
}

void sync_move(struct sync *s, struct traffic_track *l, struct calltree *past)
{
	l->traffic->past = past;
	for (struct instance *i = s->oldest; i && l->n_arrived; i = i->newer)
		move_arrivals(i, l);
	for (uint32_t k = 0; k < s->n_complete; k++)
		move_arrivals(s->complete[k], l);
	sync_settle(s);
}

static void arrivals_moved(
	struct instance *i, const struct traffic_track *l, const struct node *from)
{
	struct arrival_walk w = {0};
	struct arrival *a;

	while ((a = arrival_next(i, &w)))
		if (a->track == l && calltree_is_below(a->node, from))
			a->node = a->node->counterpart;
}

void sync_moved(struct sync *s, const struct traffic_track *l, const struct node *from)
{
	for (struct instance *i = s->oldest; i && l->n_arrived; i = i->newer)
		arrivals_moved(i, l, from);
	for (uint32_t k = 0; k < s->n_complete; k++)
		arrivals_moved(s->complete[k], l, from);
}

void sync_forget(struct sync *s, struct traffic *t)
{
	sync_settle(s);
	if (t->elsewhere)
		elsewhere_forget(s->elsewhere, t->elsewhere);
	window_locks_forget(s->window_locks, t);
	causes_forget(s->causes, t);
	for (struct instance *i = s->oldest, *newer; i; i = newer) {
		newer = i->newer;
		if (has_come(i, t))
			instance_drop(s, i);
	}
}

ORDER_BY(by_rank, struct sync_member, RISING(rank))

static bool same_members(const struct sync *s, const struct sync_member *m, size_t n)
{
	if (n != s->n_members)
		return false;
	return ALL(i, n,
		m[i].rank == s->members[i].rank && m[i].job == s->members[i].job &&
			m[i].job_known == s->members[i].job_known);
}

void sync_set_members(struct sync *s, const struct sync_member *m, size_t n)
{
	struct sync_member *sorted = xmalloc((n + 1) * sizeof(*sorted));
	size_t before = s->n_members;

	if (n)
		memcpy(sorted, m, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_rank);
	if (same_members(s, sorted, n)) {
		free(sorted);
		return;
	}
	free(s->members);
	s->members = sorted;
	s->n_members = n;
	s->generation++;
	for (struct instance *i = s->oldest, *newer; i; i = newer) {
		newer = i->newer;
		count_living(s, i);
		if (n < before && is_complete(s, i)) /* who has left will not come */
			instance_finish(s, i);
	}
	sync_settle(s);
}
