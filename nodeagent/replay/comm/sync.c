/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/sync.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/base/pool.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/comm/exposure.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/comm/starts.h"
#include "nodeagent/trace/collective.h"

#define BUCKETS	 65536u
#define FEW	 2u /* arrivals for which an instance has room */
#define MANY	 8u /* further ones for which there is room in a block */
#define PAIR_IDS 2u /* the ids of pairs, among hashes of windows' ids */

struct arrival {
	struct traffic *traffic;
	struct traffic_track *track; /* NULL: its thread has ended */
	struct calltree *tree;	     /* NULL: it does not block */
	struct node *node;
	uint64_t since;		/* when it came */
	uint64_t enter, until;	/* of the call that waits */
	uint32_t thread, stack; /* for the listener; stack 0: it is not told */
	uint32_t rank;		/* in its group */
	uint32_t root;		/* as its record has it */
	uint32_t group;		/* of an intercommunicator: the world rank of its first member */
	uint32_t path; /* for traffic_wait(), if it does not block or there are members elsewhere */
	struct thread_activity *activity; /* of the thread that came, or NULL */
	struct arrival *next;		  /* of its instance */
};

/* Those of one instance lie side by side: with hundreds of members most are in no cache. */
struct arrivals {
	struct arrivals *next;
	struct arrival at[MANY];
};

struct instance {
	uint64_t id; /* of the communicator, or of a persistent call */
	uint32_t ticket;
	enum collective_kind kind;
	enum wait_kind wait;
	bool of_pair; /* of these two, ranks in comm; else of all members */
	uint32_t awaited, waiting;
	struct traffic *traffic; /* of the first that came ... */
	struct comm *comm;	 /* ... and held there */
	struct arrival *first, *last;
	struct arrivals *blocks; /* of those that are not in few[]; the first one is not full */
	size_t n;
	uint32_t living;       /* arrivals of members that live here now */
	struct instance *next; /* in its bucket */
	struct instance *older, *newer;
	struct arrival few[]; /* the first ones, FEW */
};

struct sync {
	struct sync_member *members;
	size_t n_members;
	uint32_t generation; /* of members[], from 1 */
	struct instance *buckets[BUCKETS];
	struct instance *oldest, *newest;
	struct match_pool instances, arrivals; /* the latter: struct arrivals */
	size_t n_arrivals;
	struct elsewhere *elsewhere; /* or NULL: sync_begin_elsewhere() */
	struct causes *causes;
	struct longest *longest;
	uint64_t dropped; /* sync_dropped() */
};

struct sync *sync_new(void)
{
	struct sync *s = xcalloc(1, sizeof(*s));

	s->generation = 1;
	s->instances.bytes = sizeof(struct instance) + FEW * sizeof(struct arrival);
	s->arrivals.bytes = sizeof(struct arrivals);
	s->causes = causes_new();
	s->longest = longest_new(traffic_count_longest);
	return s;
}

void sync_begin_elsewhere(struct sync *s, size_t bytes_max)
{
	if (!s->elsewhere)
		s->elsewhere = elsewhere_new(bytes_max);
	causes_begin_elsewhere(s->causes);
}

struct elsewhere *sync_elsewhere(struct sync *s)
{
	return s->elsewhere;
}

struct causes *sync_causes(struct sync *s)
{
	return s->causes;
}

uint64_t sync_dropped(const struct sync *s)
{
	return s->dropped;
}

struct longest *sync_longest(struct sync *s)
{
	return s->longest;
}

/* ---- instances ------------------------------------------------------------------ */

/* What members meet for. */
struct purpose {
	enum collective_kind kind; /* COLLECTIVE_UNKNOWN: they do not wait for each other */
	enum wait_kind wait;
};

static enum wait_kind wait_kind_of(enum collective_kind kind, uint32_t function)
{
	static const enum wait_kind kinds[COLLECTIVE_KINDS] = {
		[COLLECTIVE_BETWEEN_ALL] = WAIT_NXN,
		[COLLECTIVE_FROM_ROOT] = WAIT_LATE_ROOT,
		[COLLECTIVE_TO_ROOT] = WAIT_EARLY_ROOT,
		[COLLECTIVE_CHAIN] = WAIT_SCAN,
		[COLLECTIVE_REDUCE_SCATTER] = WAIT_NXN,
		[COLLECTIVE_NEIGHBOURS] = WAIT_NEIGHBOURS,
	};

	return function == VFTR_MPI_BARRIER || function == VFTR_MPI_IBARRIER ||
			       function == VFTR_MPI_BARRIER_INIT
		       ? WAIT_BARRIER
		       : kinds[kind];
}

static struct purpose purpose_of(uint32_t function)
{
	const enum collective_kind kind = collective_shape(function)->kind;

	return (struct purpose){kind, wait_kind_of(kind, function)};
}

/* Successive tickets of a communicator are neighbours: they are used one after the other. */
static struct instance **place_of(struct sync *s, uint64_t id, uint32_t ticket)
{
	const uint64_t h = id * 0x9e3779b97f4a7c15u;
	struct instance **at = &s->buckets[((h ^ h >> 32) + ticket) % BUCKETS];

	while (*at && ((*at)->id != id || (*at)->ticket != ticket))
		at = &(*at)->next;
	return at;
}

static void drop_instance(struct sync *s, struct instance *i)
{
	*place_of(s, i->id, i->ticket) = i->next;
	*(i->older ? &i->older->newer : &s->oldest) = i->newer;
	*(i->newer ? &i->newer->older : &s->newest) = i->older;
	comm_drop(i->traffic, i->comm);
	for (struct arrival *a = i->first; a; a = a->next) {
		if (a->track)
			a->track->n_arrived--;
		thread_activity_let_go(a->activity);
	}
	s->n_arrivals -= i->n;
	for (struct arrivals *b = i->blocks, *next; b; b = next) {
		next = b->next;
		match_pool_give(&s->arrivals, b);
	}
	match_pool_give(&s->instances, i);
}

/* Which instance it is that a member comes to. */
struct meeting {
	struct comm *comm;
	uint64_t id;
	uint32_t ticket, function;
	const struct purpose *of; /* NULL: that of the function */
	uint32_t *next; /* the ticket after the greatest that this process has come with, or NULL */
};

/* NULL: of no kind in which members wait for each other. */
static struct instance *add_instance(struct sync *s, struct traffic *t, const struct meeting *m)
{
	const struct purpose of = m->of ? *m->of : purpose_of(m->function);
	struct instance *i;

	if (of.kind == COLLECTIVE_UNKNOWN)
		return NULL;
	while (s->oldest &&
		(s->instances.used >= SYNC_OPEN_MAX || s->n_arrivals >= SYNC_ARRIVALS_MAX)) {
		s->dropped += s->oldest->n;
		drop_instance(s, s->oldest);
	}
	i = match_pool_take_any(&s->instances);
	*i = (struct instance){.id = m->id,
		.ticket = m->ticket,
		.kind = of.kind,
		.wait = of.wait,
		.traffic = t,
		.comm = comm_hold(m->comm),
		.older = s->newest};
	*place_of(s, i->id, i->ticket) = i;
	*(s->newest ? &s->newest->newer : &s->oldest) = i;
	s->newest = i;
	return i;
}

static __attribute__((noinline)) struct arrival *add_further(struct sync *s, struct instance *i)
{
	const size_t at = (i->n - FEW) % MANY;
	struct arrivals *b = i->blocks;

	if (!at) {
		b = match_pool_take_any(&s->arrivals);
		b->next = i->blocks;
		i->blocks = b;
	}
	return &b->at[at];
}

/* An arrival of any content, but for the next one. */
static struct arrival *add_arrival(struct sync *s, struct instance *i)
{
	struct arrival *a = i->n < FEW ? &i->few[i->n] : add_further(s, i);

	a->next = NULL;
	*(i->last ? &i->last->next : &i->first) = a;
	i->last = a;
	i->n++;
	s->n_arrivals++;
	return a;
}

void sync_free(struct sync *s)
{
	if (!s)
		return;
	while (s->oldest)
		drop_instance(s, s->oldest);
	match_pool_free(&s->instances);
	match_pool_free(&s->arrivals);
	elsewhere_free(s->elsewhere);
	causes_free(s->causes);
	longest_free(s->longest);
	free(s->members);
	free(s);
}

/* ---- who is to come ------------------------------------------------------------------ */

static bool is_local(const struct sync_member *m, const struct comm *c, uint64_t job)
{
	return (!m->job_known || m->job == job) && comm_has_world(c, m->rank);
}

static uint32_t count_local(const struct sync *s, const struct comm *c, uint64_t job)
{
	uint32_t n = 0, last = UINT32_MAX;

	for (size_t i = 0; i < s->n_members; i++) {
		const struct sync_member *m = &s->members[i];

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
	size_t low = 0, high = s->n_members;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (s->members[middle].rank < rank)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->n_members && s->members[low].rank == rank; low++)
		if (is_local(&s->members[low], c, job))
			return true;
	return false;
}

static bool lives_here(const struct sync *s, const struct comm *c, const struct traffic *t)
{
	return rank_lives_here(s, c, (uint32_t)t->rank, t->job);
}

static uint32_t count_local_pair(const struct sync *s, const struct instance *i)
{
	const uint64_t job = i->traffic->job;

	return (uint32_t)rank_lives_here(s, i->comm, comm_world(i->comm, i->awaited), job) +
	       rank_lives_here(s, i->comm, comm_world(i->comm, i->waiting), job);
}

/* Looks again who lives here, if that has changed. */
static void refresh(const struct sync *s, struct comm *c, const struct traffic *t)
{
	if (c->local_of == s->generation)
		return;
	c->local = count_local(s, c, t->job);
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
	i->living = 0;
	for (const struct arrival *a = i->first; a; a = a->next)
		i->living += lives_here(s, i->comm, a->traffic);
}

/* ---- whom a member waits for ------------------------------------------------------------- */

/* Those whom members of an instance wait for. NULL: nobody of this node. */
struct awaited {
	bool two_groups;
	const struct arrival *last[2]; /* of the group of the first arrival, and of the other one */
	const struct arrival *root;
	const struct arrival *last_below; /* of the ranks below the one that is looked at */
};

static bool is_root(const struct arrival *a, bool two_groups)
{
	return a->root == (two_groups ? MESSAGE_ROOT_HERE : a->rank);
}

static const struct arrival *later(const struct arrival *a, const struct arrival *b)
{
	return !a || (int64_t)(b->since - a->since) > 0 ? b : a;
}

static unsigned side_of(const struct instance *i, const struct arrival *a)
{
	return a->group != i->first->group;
}

static struct awaited look_at(const struct instance *i)
{
	struct awaited w = {.two_groups = i->comm->remote_size};

	for (const struct arrival *a = i->first; a; a = a->next) {
		const struct arrival **last = &w.last[side_of(i, a)];

		*last = later(*last, a);
		if (is_root(a, w.two_groups))
			w.root = a;
	}
	return w;
}

/* Of an intercommunicator, in the other group, as MPI says of a barrier and of all data. */
static const struct arrival *the_last(
	const struct instance *i, const struct awaited *w, const struct arrival *a)
{
	return w->last[w->two_groups ? !side_of(i, a) : 0];
}

static const struct arrival *the_root(
	const struct instance *i, const struct awaited *w, const struct arrival *a)
{
	(void)i;
	return a->root == MESSAGE_NO_RANK ? NULL : w->root;
}

static const struct arrival *the_last_if_root(
	const struct instance *i, const struct awaited *w, const struct arrival *a)
{
	return is_root(a, w->two_groups) ? the_last(i, w, a) : NULL;
}

static const struct arrival *the_last_below(
	const struct instance *i, const struct awaited *w, const struct arrival *a)
{
	(void)i, (void)a;
	return w->last_below;
}

/* By whether data of one member are needed by another one before that can return. */
static const struct rule {
	const struct arrival *(*whom)(
		const struct instance *, const struct awaited *, const struct arrival *);
	bool by_rank; /* it asks for members in the order of ranks */
} rules[COLLECTIVE_KINDS] = {
	[COLLECTIVE_BETWEEN_ALL] = {the_last, false},
	[COLLECTIVE_FROM_ROOT] = {the_root, false},
	[COLLECTIVE_TO_ROOT] = {the_last_if_root, false},
	[COLLECTIVE_CHAIN] = {the_last_below, true},
	[COLLECTIVE_REDUCE_SCATTER] = {the_last, false},
	[COLLECTIVE_NEIGHBOURS] = {the_last, false}, /* more than it needs */
};

static void notify_wait(const struct arrival *a, uint64_t end)
{
	const struct traffic_listener *listener = &a->traffic->listener;
	const struct vfd_wait wait = {
		.stack = a->stack, .start = (int64_t)a->since, .end = (int64_t)end};

	if (listener->wait && a->stack)
		listener->wait(listener->ctx, a->thread, KEY_SYNC | a->node->key, &wait);
}

/* The waiting time as a function of its own. */
static void count_as_child(const struct arrival *a, uint64_t waited)
{
	struct node *n = calltree_child(a->tree, a->node, NULL, KEY_SYNC | a->node->key);

	calltree_called(n, a->since);
	n->calls++;
	n->ticks += waited;
	notify_wait(a, a->since + waited);
}

/* As a rank of the job of the one that waited; UINT32_MAX: of another one. */
static uint32_t late_rank(const struct arrival *a, const struct arrival *on)
{
	return on->traffic->job == a->traffic->job ? (uint32_t)on->traffic->rank : UINT32_MAX;
}

/* on: for whom it waited. */
static void count_blocking(
	enum wait_kind kind, const struct arrival *a, const struct arrival *on, uint64_t waited)
{
	calltree_wait(a->node,
		&(struct node_wait){
			.kind = kind, .late = late_rank(a, on), .calls = 1, .ticks = waited});
}

static void count_completion(struct sync *s, enum wait_kind kind, const struct arrival *a,
	const struct arrival *on, uint64_t waited)
{
	const struct longest_wait w = {.enter = a->enter,
		.path = a->path,
		.late = late_rank(a, on),
		.kind = kind,
		.ticks = waited};
	struct longest_wait *kept = longest_add(s->longest, a->traffic, &w);

	if (kept && a->traffic->conf->mpi_waits)
		causes_add(s->causes, a->traffic, a->path, kind, on->activity, a->enter,
			a->enter + waited, &kept->causes);
}

/* on: for whom it waited, or NULL. only_child: its wait is counted elsewhere. */
static void count_wait(struct sync *s, enum wait_kind kind, const struct arrival *a,
	const struct arrival *on, bool only_child)
{
	const struct conf *conf = a->traffic->conf;
	const uint64_t most = ticks_between(a->enter, a->until);
	uint64_t waited = on ? ticks_between(a->enter, on->since) : 0;

	waited = waited < most ? waited : most;
	if (!a->tree) {
		if (waited && !only_child)
			count_completion(s, kind, a, on, waited);
		return;
	}
	if (!a->node) /* forgotten */
		return;
	if (key_mpi(a->node->key) == KEY_NO_MPI) /* among too many call paths */
		return;
	if (conf->mpi_waits && waited && !only_child)
		count_blocking(kind, a, on, waited);
	if (conf->mpi_show_sync_time)
		count_as_child(a, waited);
}

/* What `on` did while a waited for it. */
static void find_cause(
	struct sync *s, enum wait_kind kind, const struct arrival *a, const struct arrival *on)
{
	const uint64_t to = (int64_t)(on->since - a->until) > 0 ? a->until : on->since;

	uint32_t path = a->path;

	if (ticks_between(a->since, to) < CAUSE_TICKS_LEAST || !a->node ||
		key_mpi(a->node->key) == KEY_NO_MPI)
		return;
	if (!path)
		path = a->track ? path_number(a->track, a->node)
				: path_number_past(a->traffic, a->node);
	causes_add(s->causes, a->traffic, path, kind, on->activity, a->since, to, NULL);
}

static int by_rank_in_group(const void *a, const void *b)
{
	const struct arrival *x = *(struct arrival *const *)a, *y = *(struct arrival *const *)b;

	return RISING(rank);
}

static void sort_by_rank(struct instance *i)
{
	struct arrival **sorted = xmalloc(i->n * sizeof(*sorted)), **end = sorted;

	for (struct arrival *a = i->first; a; a = a->next)
		*end++ = a;
	qsort(sorted, i->n, sizeof(*sorted), by_rank_in_group);
	for (size_t k = 0; k < i->n; k++)
		sorted[k]->next = k + 1 < i->n ? sorted[k + 1] : NULL;
	i->first = sorted[0];
	i->last = sorted[i->n - 1];
	free(sorted);
}

/* Agents compare its instances at the end. Not those of an intercommunicator, of which only the
 * members on this node are compared. Members that have ended lived here, too. */
static bool has_members_elsewhere(const struct sync *s, const struct comm *c)
{
	return s->elsewhere && !c->remote_size && c->local_most < c->size;
}

static bool is_apart(const struct sync *s, const struct instance *i)
{
	return has_members_elsewhere(s, i->comm) && !(i->of_pair && i->n > 1);
}

static void hand_over(struct sync *s, const struct instance *i)
{
	const struct arrival *first = i->first;
	const struct comm *c = i->comm;
	const bool own = !c->job || c->job == i->traffic->job;
	struct elsewhere_call *calls;
	size_t k = 0;

	if (i->n > c->size) /* processes lie */
		return;
	calls = xcalloc(i->n, sizeof(*calls));
	for (const struct arrival *a = first; a; a = a->next, k++) {
		if (!a->traffic->elsewhere)
			a->traffic->elsewhere = elsewhere_process(s->elsewhere, a->traffic);
		calls[k] = (struct elsewhere_call){.start = a->since,
			.enter = a->enter,
			.leave = a->until,
			.rank = a->rank,
			.world = own ? comm_world(c, a->rank) : UINT32_MAX,
			.process = a->traffic->elsewhere,
			.path = a->path};
	}
	elsewhere_add(s->elsewhere,
		&(struct elsewhere_comm){
			.id = i->id, .job = c->job ? c->job : i->traffic->job, .size = c->size},
		&(struct elsewhere_instance){.ticket = i->ticket,
			.root = first->root,
			.n = (uint32_t)i->n,
			.kind = (uint8_t)i->kind,
			.wait = (uint8_t)i->wait,
			.blocks = first->tree},
		calls);
	free(calls);
}

/* Nothing is known of waits for a group that nobody of this node is in. */
static void finish_instance(struct sync *s, struct instance *i)
{
	const struct rule *rule = &rules[i->kind];
	const bool apart = is_apart(s, i);
	struct awaited w;

	if (rule->by_rank || apart)
		sort_by_rank(i);
	w = look_at(i);
	for (const struct arrival *a = i->first; a && (!w.two_groups || w.last[1]); a = a->next) {
		const struct arrival *on = rule->whom(i, &w, a);

		count_wait(s, i->wait, a, on, apart);
		if (on && on != a && a->tree && a->traffic->conf->mpi_waits)
			find_cause(s, i->wait, a, on);
		w.last_below = later(w.last_below, a);
	}
	if (apart)
		hand_over(s, i);
	drop_instance(s, i);
}

/* The groups of an intercommunicator have no member in common. */
static uint32_t group_of(const struct comm *c)
{
	return c->remote_size ? comm_world(c, c->remote_size) : 0;
}

/* Whether a process comes to an instance for the second time: then it lies. Its tickets rise but
 * among its threads, so that there is rarely something to search. */
static bool comes_twice(const struct instance *i, const struct traffic *t, const struct meeting *m)
{
	if (m->next && (int32_t)(m->ticket - *m->next) >= 0) {
		*m->next = m->ticket + 1;
		return false;
	}
	for (const struct arrival *a = i->first; a; a = a->next)
		if (a->traffic == t)
			return true;
	return false;
}

/*
 * Nobody of this node has waited for the only member here, and others may have: what it did since
 * its call before is taken for what it did when it was late.
 */
static void find_phase(
	struct sync *s, const struct instance *i, struct traffic_track *l, const struct pending *p)
{
	const struct comm *c = p->comm;
	const bool awaited = rules[i->kind].whom == the_last ||
			     (rules[i->kind].whom == the_root && p->m.peer == c->rank);

	if (awaited && c->left && has_members_elsewhere(s, c) && l->traffic->conf->mpi_waits)
		causes_add(s->causes, l->traffic, path_number(l, p->node), i->wait, l->activity,
			c->left, p->since, NULL);
}

/* The instance, and last in it an arrival of which only the member is set. NULL: no member waits
 * for another one, or it lies. */
static inline __attribute__((always_inline)) struct instance *come(
	struct sync *s, struct traffic *t, const struct meeting *m)
{
	struct instance *i = *place_of(s, m->id, m->ticket);
	struct arrival *a;

	if (!i)
		i = add_instance(s, t, m);
	if (!i || comes_twice(i, t, m))
		return NULL;
	refresh(s, m->comm, t);
	i->living += m->comm->is_local && t->job == i->traffic->job;
	a = add_arrival(s, i);
	a->traffic = t;
	a->rank = m->comm->rank;
	a->group = group_of(m->comm);
	return i;
}

static inline __attribute__((always_inline)) void arrive_at(struct sync *s, struct traffic_track *l,
	const struct pending *p, uint64_t until, const struct meeting *m)
{
	struct comm *c = p->comm;
	struct instance *i = come(s, l->traffic, m);
	struct arrival *a;

	if (!i)
		return;
	a = i->last;
	l->n_arrived++;
	a->track = l;
	a->tree = l->tree;
	a->node = p->node;
	a->since = a->enter = p->since;
	a->until = until;
	a->thread = l->number;
	a->stack = p->entered ? p->stack : 0;
	a->root = p->m.peer;
	a->activity = thread_activity_hold(l->activity);
	a->path = has_members_elsewhere(s, c) ? path_number(l, p->node) : 0;
	if (c->local == 1)
		find_phase(s, i, l, p);
	c->left = until;
	if (is_complete(s, i))
		finish_instance(s, i);
}

void sync_arrive(struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	arrive_at(s, l, p, until,
		&(struct meeting){.comm = p->comm,
			.id = p->comm->id,
			.ticket = p->m.ticket,
			.function = key_mpi(p->node->key),
			.next = &p->comm->arrives_next});
}

/* Calls by which all ranks of a window meet. */
static const struct window_call {
	uint32_t function;
	struct purpose of;
} window_calls[] = {
	{VFTR_MPI_WIN_ALLOCATE, {COLLECTIVE_BETWEEN_ALL, WAIT_NXN}},
	{VFTR_MPI_WIN_ALLOCATE_SHARED, {COLLECTIVE_BETWEEN_ALL, WAIT_NXN}},
	{VFTR_MPI_WIN_CREATE, {COLLECTIVE_BETWEEN_ALL, WAIT_NXN}},
	{VFTR_MPI_WIN_CREATE_DYNAMIC, {COLLECTIVE_BETWEEN_ALL, WAIT_NXN}},
	{VFTR_MPI_WIN_FENCE, {COLLECTIVE_BETWEEN_ALL, WAIT_RMA_FENCE}},
	{VFTR_MPI_WIN_FREE, {COLLECTIVE_BETWEEN_ALL, WAIT_BARRIER}},
};

void sync_arrive_at_window(
	struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	for (size_t i = 0; i < ARRAY_SIZE(window_calls); i++)
		if (window_calls[i].function == (p->m.field & ~LARGE_COUNT))
			arrive_at(s, l, p, until,
				&(struct meeting){.comm = p->comm,
					.id = p->m.bytes,
					.ticket = p->m.ticket,
					.of = &window_calls[i].of,
					.next = map32_find(&l->traffic->windows_next, p->m.comm)});
}

/* Each start of a persistent call is one of its own: the ticket stands for the communicator. */
static bool find_start(
	struct traffic *t, const struct pending *p, uint64_t until, struct meeting *m)
{
	if (!collective_is_persistent(p->m.field))
		return true;
	m->id = elsewhere_hash(m->id, 0, p->m.ticket);
	m->next = NULL;
	return !t->lost && starts_count(&m->comm->starts, &t->n_starts, p->m.ticket, p->since,
				   until, &m->ticket);
}

void sync_complete(
	struct sync *s, struct traffic *t, const struct request *q, const struct completion *c)
{
	const struct pending *p = &q->of;
	struct meeting m = {.comm = p->comm,
		.id = p->comm->id,
		.ticket = p->m.ticket,
		.function = p->m.field,
		.next = &p->comm->arrives_next};
	struct instance *i = find_start(t, p, c->ticks, &m) ? come(s, t, &m) : NULL;
	struct arrival *a;

	if (!i)
		return;
	a = i->last;
	a->track = NULL;
	a->tree = NULL;
	a->node = NULL;
	a->since = p->since;
	a->enter = c->since;
	a->until = c->ticks;
	a->root = p->m.peer;
	a->activity = thread_activity_hold(q->track ? q->track->activity : NULL);
	a->path = c->path;
	if (is_complete(s, i))
		finish_instance(s, i);
}

/* The call may wait for others, too: so it is like one that completes an operation. */
void sync_meet(struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until,
	const struct exposure_pair *pair)
{
	struct instance *i = come(s, l->traffic,
		&(struct meeting){.comm = p->comm,
			.id = elsewhere_hash(
				p->m.bytes, message_pair(pair->origin, pair->target), PAIR_IDS),
			.ticket = pair->ticket,
			.of = &(struct purpose){COLLECTIVE_FROM_ROOT, pair->wait}});
	struct arrival *a;

	if (!i)
		return;
	i->of_pair = true;
	i->awaited = pair->awaited;
	i->waiting = pair->waiting;
	a = i->last;
	a->track = NULL;
	a->tree = NULL;
	a->node = NULL;
	a->since = a->enter = p->since;
	a->until = until;
	a->root = pair->awaited;
	a->activity = thread_activity_hold(l->activity);
	a->path = path_number(l, p->node);
	if (is_complete(s, i))
		finish_instance(s, i);
}

void sync_move(struct sync *s, struct traffic_track *l, struct calltree *past)
{
	for (struct instance *i = s->oldest; i && l->n_arrived; i = i->newer)
		for (struct arrival *a = i->first; a; a = a->next) {
			if (a->track != l)
				continue;
			a->track = NULL;
			l->n_arrived--;
			a->tree = past;
			a->node = a->node->counterpart;
		}
}

void sync_moved(struct sync *s, const struct traffic_track *l, const struct node *from)
{
	for (struct instance *i = s->oldest; i && l->n_arrived; i = i->newer)
		for (struct arrival *a = i->first; a; a = a->next) {
			if (a->track == l && calltree_is_below(a->node, from))
				a->node = a->node->counterpart;
		}
}

void sync_forget(struct sync *s, struct traffic *t)
{
	if (t->elsewhere)
		elsewhere_forget(s->elsewhere, t->elsewhere);
	causes_forget(s->causes, t);
	for (struct instance *i = s->oldest, *newer; i; i = newer) {
		bool here = i->traffic == t;

		newer = i->newer;
		for (const struct arrival *a = i->first; a; a = a->next)
			here |= a->traffic == t;
		if (here)
			drop_instance(s, i);
	}
}

ORDER_BY(by_rank, struct sync_member, RISING(rank))

static bool same_members(const struct sync *s, const struct sync_member *m, size_t n)
{
	if (n != s->n_members)
		return false;
	for (size_t i = 0; i < n; i++)
		if (m[i].rank != s->members[i].rank || m[i].job != s->members[i].job ||
			m[i].job_known != s->members[i].job_known)
			return false;
	return true;
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
			finish_instance(s, i);
	}
}
