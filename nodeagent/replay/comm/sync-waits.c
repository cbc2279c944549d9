/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/sync-instances.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/sampling/sampling.h"
#include "nodeagent/replay/tree/iterations.h"

/* ---- instances ------------------------------------------------------------------ */

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

struct purpose instance_purpose(uint32_t function)
{
	const enum collective_kind kind = collective_shape(function)->kind;

	return (struct purpose){
		kind, wait_kind_of(kind, function), collective_is_meeting(function)};
}

/* No more members come. */
static void instance_unlink(struct sync *s, struct instance *i)
{
	*place_of(s, i->id, i->ticket) = i->next;
	s->expected = s->expected == i ? i->newer : s->expected;
	*(i->older ? &i->older->newer : &s->oldest) = i->newer;
	*(i->newer ? &i->newer->older : &s->newest) = i->older;
	comm_drop(i->traffic, i->comm);
}

static struct instance_group **group_places(struct sync *s, uint64_t id)
{
	return &s->last_groups[(id * 0x9e3779b97f4a7c15u >> 32) % (GROUPS / PLACES) * PLACES];
}

/* Where the group of the id is, or may be. */
static struct instance_group **group_place(struct sync *s, uint64_t id)
{
	struct instance_group **places = group_places(s, id), **vacant = NULL;

	for (unsigned i = 0; i < PLACES; i++) {
		if (places[i] && places[i]->id == id)
			return &places[i];
		if (!places[i])
			vacant = &places[i];
	}
	return vacant ? vacant : &places[id % PLACES];
}

static void group_free(struct sync *s, struct instance_group *g)
{
	struct instance_group **places = group_places(s, g->id);

	for (unsigned i = 0; i < PLACES; i++)
		if (places[i] == g)
			places[i] = NULL;
	for (struct arrivals *b = g->first, *next; b; b = next) {
		next = b->next;
		match_pool_give(&s->arrivals, b);
	}
	match_pool_give(&s->groups, g);
}

static void instance_free(struct sync *s, struct instance *i)
{
	s->n_arrivals -= i->n;
	if (i->n > FEW && !--i->beside->n_open)
		group_free(s, i->beside);
	match_pool_give(&s->instances, i);
}

static void arrival_let_go(const struct arrival *a)
{
	if (a->track)
		a->track->n_arrived--;
	else
		thread_activity_let_go(a->activity);
}

void instance_drop(struct sync *s, struct instance *i)
{
	struct arrival_walk w = {0};
	const struct arrival *a;

	instance_unlink(s, i);
	while ((a = arrival_next(i, &w)))
		arrival_let_go(a);
	instance_free(s, i);
}

/* Without what says nothing yet. */
static void new_instance(struct instance *i, struct traffic *t, struct comm *comm, uint64_t id,
	uint32_t ticket, struct purpose of)
{
	/* both lines, each by a few stores */
	memset(i, 0, offsetof(struct instance, awaited));
	memset(&i->awaited, 0, offsetof(struct instance, few) - offsetof(struct instance, awaited));
	i->id = id;
	i->ticket = ticket;
	i->kind = (uint8_t)of.kind;
	i->wait = (uint8_t)of.wait;
	i->two_groups = comm->remote_size && !of.by_all;
	i->traffic = t;
	i->comm = comm_hold(comm);
}

struct instance *instance_add(struct sync *s, struct traffic *t, struct comm *comm, uint64_t id,
	uint32_t ticket, struct purpose of)
{
	struct instance *i;

	while (s->oldest &&
		(s->instances.used >= SYNC_OPEN_MAX || s->n_arrivals >= SYNC_ARRIVALS_MAX ||
			s->arrivals.used >= SYNC_BLOCKS_MAX)) {
		s->dropped += s->oldest->n;
		instance_drop(s, s->oldest);
	}
	i = match_pool_take_any(&s->instances);
	fetch_instance(s->instances.vacant);
	new_instance(i, t, comm, id, ticket, of);
	i->older = s->newest;
	*place_of(s, i->id, i->ticket) = i;
	*(s->newest ? &s->newest->newer : &s->oldest) = i;
	s->newest = i;
	return i;
}

/* The next one of its communicator comes beside it. */
static void join_group(struct sync *s, struct instance *i)
{
	struct instance_group **last = group_place(s, i->id);

	if (!*last || (*last)->id != i->id || (*last)->n == SIDE) {
		*last = match_pool_take(&s->groups);
		(*last)->id = i->id;
	}
	i->beside = *last;
	i->number = i->beside->n++;
	i->beside->n_open++;
}

void instance_add_block(struct sync *s, struct instance *i)
{
	struct arrivals **b;

	if (i->n == FEW)
		join_group(s, i);
	b = i->n == FEW ? &i->beside->first : &i->last_block->next;
	if (!*b) {
		*b = match_pool_take_any(&s->arrivals);
		(*b)->next = NULL;
	}
	i->last_block = *b;
	i->column = &i->last_block->at[0][i->number];
}

/* ---- whom a member waits for ------------------------------------------------------------- */

static const struct arrival *later_arrival(const struct arrival *a, const struct arrival *b)
{
	return !a || (int64_t)(b->since - a->since) > 0 ? b : a;
}

/* Of an intercommunicator, in the other group, as MPI says of a barrier and of all data. */
static const struct arrival *the_last(
	const struct instance *i, const struct awaited *w, const struct arrival *a)
{
	return w->last[i->two_groups ? !a->other_group : 0];
}

static const struct arrival *the_root(
	const struct instance *i, const struct awaited *w, const struct arrival *a)
{
	return a->no_root ? NULL : w->root;
}

static const struct arrival *the_last_if_root(
	const struct instance *i, const struct awaited *w, const struct arrival *a)
{
	return a->is_root ? the_last(i, w, a) : NULL;
}

static const struct arrival *the_last_below(
	const struct instance *i, const struct awaited *w, const struct arrival *a)
{
	(void)w, (void)a;
	return i->last_below;
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

bool is_awaited(enum collective_kind kind, uint32_t root, uint32_t rank)
{
	return rules[kind].whom == the_last || (rules[kind].whom == the_root && root == rank);
}

/* ---- what it has waited ------------------------------------------------------------------ */

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
	struct calltree *tree = a->track ? a->track->tree : a->traffic->past;
	struct node *n = calltree_child(tree, a->node, NULL, KEY_SYNC | a->node->key);

	calltree_called(n, a->since);
	n->calls++;
	n->ticks += waited;
	notify_wait(a, a->since + waited);
}

/* As a rank of the job of the one that waited, or of another one. */
static uint32_t late_rank(const struct arrival *a, const struct arrival *on)
{
	if (on->traffic->job == a->traffic->job)
		return (uint32_t)on->traffic->rank;
	return spawned_is_linked(a->traffic, on->traffic)
		       ? traffic_late_job(a->traffic, on->traffic)
		       : UINT32_MAX;
}

/* Waits at one node that are counted together. */
struct untold {
	struct node *node;
	size_t n;
	struct waited at[SYNC_TOGETHER];
};

static inline void tell_all(struct untold *u)
{
	if (u->n)
		calltree_waits(u->node, u->at, u->n);
	u->n = 0;
}

static void count_now(enum wait_kind kind, const struct arrival *a, uint32_t late, uint64_t waited,
	uint64_t times)
{
	calltree_wait(a->node, &(struct node_wait){.kind = kind,
				       .late = late,
				       .calls = times,
				       .ticks = times * waited,
				       .variance = (double)times * (double)(times - 1) *
						   (double)waited * (double)waited});
	calltree_wait_at(a->node, a->since, waited, times);
}

/* late: the rank for which it waited. times: for so many calls it stands. u: or NULL, then it
 * counts now. */
static inline void count_blocking(struct untold *u, enum wait_kind kind, const struct arrival *a,
	uint32_t late, uint64_t waited, uint64_t times)
{
	if (!u) {
		count_now(kind, a, late, waited, times);
		return;
	}
	if (u->n && (u->node != a->node || u->n == SYNC_TOGETHER))
		tell_all(u);
	u->node = a->node;
	u->at[u->n++] = (struct waited){
		.at = a->since, .ticks = waited, .times = times, .kind = kind, .late = late};
}

static void count_completion(struct sync *s, enum wait_kind kind, const struct arrival *a,
	const struct arrival *on, uint64_t waited)
{
	struct longest_wait w, *kept;

	longest_begin(&w, kind, waited);
	w.enter = a->enter;
	w.path = a->path;
	w.late = late_rank(a, on);
	w.about = (struct longest_about){.from = 0};
	kept = longest_add(s->longest, a->traffic, &w);
	if (kept && a->traffic->conf->mpi_waits)
		causes_add(s->causes, a->traffic, a->path, kind, on->activity, a->enter,
			a->enter + waited, &kept->causes);
}

/* It is none, where it was made among too many call paths, or has been forgotten. */
static inline bool has_path(const struct arrival *a)
{
	return a->node && key_mpi(a->node->key) != KEY_NO_MPI;
}

/* on: for whom it waited, or NULL. only_child: its wait is counted elsewhere. */
static inline void count_wait(struct sync *s, const struct instance *i, const struct arrival *a,
	const struct arrival *on, bool only_child, struct untold *untold)
{
	const enum wait_kind kind = i->wait;
	const struct conf *conf = a->traffic->conf;
	const uint64_t enter = a->blocks ? a->since : a->enter,
		       most = ticks_between(enter, a->until),
		       waited = on ? MIN(ticks_between(enter, on->since), most) : 0;

	if (!a->blocks) {
		if (waited && !only_child)
			count_completion(s, kind, a, on, waited);
		return;
	}
	if (!has_path(a))
		return;
	if (conf->mpi_waits && waited && !only_child)
		count_blocking(untold, kind, a, late_rank(a, on), waited, (uint64_t)1 << i->log2);
	if (conf->mpi_show_sync_time)
		count_as_child(a, waited);
}

/* What `on` did while a waited for it. */
static void find_cause(
	struct sync *s, enum wait_kind kind, const struct arrival *a, const struct arrival *on)
{
	const uint64_t to = (int64_t)(on->since - a->until) > 0 ? a->until : on->since;

	uint32_t path = a->path;

	if (ticks_between(a->since, to) < CAUSE_TICKS_LEAST || !has_path(a))
		return;
	if (!path)
		path = a->track ? path_number(a->track, a->node)
				: path_number_past(a->traffic, a->node);
	causes_add(s->causes, a->traffic, path, kind, on->activity, a->since, to, NULL);
}

static bool is_to_look_at(const struct arrival *a, const struct arrival *on)
{
	return on && on != a && a->blocks && a->traffic->conf->mpi_waits;
}

ORDER_POINTERS_BY(by_rank_in_group, struct arrival, RISING(rank))

/* Whom they wait for, too: of several that came last, the one with the lowest rank. */
static struct arrival **sort_by_rank(struct instance *i)
{
	struct arrival **sorted = xmalloc(i->n * sizeof(*sorted)), **end = sorted;
	struct arrival_walk w = {0};

	for (uint32_t k = 0; k < i->n; k++)
		*end++ = arrival_next(i, &w);
	qsort(sorted, i->n, sizeof(*sorted), by_rank_in_group);
	i->awaited = (struct awaited){.root = NULL};
	i->last_below = NULL;
	for (uint32_t k = 0; k < i->n; k++) {
		const struct arrival **last = &i->awaited.last[sorted[k]->other_group];

		*last = later_arrival(*last, sorted[k]);
		if (sorted[k]->is_root)
			i->awaited.root = sorted[k];
	}
	return sorted;
}

static bool is_apart(const struct sync *s, const struct instance *i)
{
	return s->elsewhere && has_members_elsewhere(i->comm) && !(i->of_pair && i->n > 1);
}

/* ---- members on other nodes ----------------------------------------------------------------- */

static struct elsewhere_call *add_call(
	struct sync *s, struct elsewhere_call *to, const struct arrival *a, uint32_t world)
{
	if (!a->traffic->elsewhere)
		a->traffic->elsewhere = elsewhere_process(s->elsewhere, a->traffic);
	*to = (struct elsewhere_call){.start = a->since,
		.enter = a->blocks ? a->since : a->enter,
		.leave = a->until,
		.rank = a->rank,
		.world = world,
		.process = a->traffic->elsewhere,
		.path = a->path};
	return to;
}

static struct elsewhere_instance instance_elsewhere(
	const struct instance *i, const struct arrival *first, uint32_t n)
{
	return (struct elsewhere_instance){.ticket = i->ticket,
		.root = i->root,
		.n = n,
		.kind = i->kind,
		.wait = i->wait,
		.blocks = first->blocks};
}

/* of: by rank. */
static void hand_over_job(struct sync *s, const struct instance *i, struct arrival *const *of)
{
	const struct comm *c = i->comm;
	const bool own = !c->job || c->job == i->traffic->job;
	const struct elsewhere_instance all = instance_elsewhere(i, of[0], i->n);
	struct elsewhere_call *calls;

	if (i->n > c->size) /* processes lie */
		return;
	calls = xcalloc(i->n, sizeof(*calls));
	for (uint32_t k = 0; k < i->n; k++)
		add_call(s, &calls[k], of[k], own ? comm_world(c, of[k]->rank) : UINT32_MAX);
	elsewhere_add(s->elsewhere,
		&(struct elsewhere_comm){.id = i->id,
			.job = c->job ? c->job : i->traffic->job,
			.size = c->size,
			.log2 = c->sampled ? c->sampled->most : 0,
			.ever = c->sampled ? c->sampled->skipped : 0},
		&all, calls);
	free(calls);
	if (c->sampled)
		c->sampled->skipped = 0;
}

/* A communicator between two jobs. */
struct both_jobs {
	struct elsewhere_comm comm;
	uint32_t size[2]; /* of the groups of parents and children */
};

static bool is_of_child(const struct both_jobs *b, const struct arrival *a)
{
	return a->traffic->job != b->comm.job;
}

/* Adds the calls for which there is a place in `calls`: those of one side, or of both. */
static void add_calls(struct sync *s, const struct both_jobs *b, struct elsewhere_comm comm,
	struct elsewhere_instance part, const struct elsewhere_call *calls)
{
	comm.child_job = b->comm.child_job;
	if (part.n && part.n <= comm.size)
		elsewhere_add(s->elsewhere, &comm, &part, calls);
}

/* Whether others wait for a member of an intercommunicator, or it for them. */
static bool does_tell(const struct instance *i, const struct arrival *a)
{
	return i->kind == COLLECTIVE_FROM_ROOT ? a->is_root
	       : i->kind == COLLECTIVE_TO_ROOT ? !a->is_root && !a->no_root
					       : true;
}

static bool does_ask(const struct instance *i, const struct arrival *a)
{
	return i->kind == COLLECTIVE_FROM_ROOT ? !a->is_root && !a->no_root
	       : i->kind == COLLECTIVE_TO_ROOT ? a->is_root
					       : true;
}

/* The members of one side, whose group others wait for, and which wait for that of the others. */
static void hand_over_side(struct sync *s, const struct instance *i, struct arrival *const *of,
	const struct both_jobs *b, bool child)
{
	struct elsewhere_call *calls = xcalloc(i->n, sizeof(*calls));

	for (int asks = 0; asks < 2; asks++) {
		const bool group = asks ? !child : child;
		struct elsewhere_comm comm = b->comm;
		struct elsewhere_instance part = instance_elsewhere(i, of[0], 0);

		part.asks = asks;
		part.tells = !asks;
		for (uint32_t k = 0; k < i->n; k++) {
			if (is_of_child(b, of[k]) != child ||
				!(asks ? does_ask : does_tell)(i, of[k]))
				continue;
			if (part.tells)
				part.root = of[k]->rank;
			add_call(s, &calls[part.n++], of[k],
				(uint32_t)of[k]->traffic->rank | (child ? ELSEWHERE_CHILD : 0));
		}
		comm.id = elsewhere_hash(i->id, SIDE_IDS, group);
		comm.size = b->size[group];
		add_calls(s, b, comm, part, calls);
	}
	free(calls);
}

/* All members wait for each other, whichever job they are of. */
static void hand_over_both(struct sync *s, const struct instance *i, struct arrival *const *of,
	const struct both_jobs *b)
{
	const struct elsewhere_instance all = instance_elsewhere(i, of[0], i->n);
	struct elsewhere_comm comm = b->comm;
	struct elsewhere_call *calls = xcalloc(i->n, sizeof(*calls));

	comm.id = i->id;
	comm.size = comm_all(i->comm);
	for (uint32_t k = 0; k < i->n; k++) {
		const bool child = is_of_child(b, of[k]);
		struct elsewhere_call *to = add_call(s, &calls[k], of[k],
			(uint32_t)of[k]->traffic->rank | (child ? ELSEWHERE_CHILD : 0));

		if (i->comm->remote_size && child)
			to->rank += b->size[0];
	}
	add_calls(s, b, comm, all, calls);
	free(calls);
}

static void hand_over(struct sync *s, const struct instance *i, struct arrival *const *of)
{
	struct comm *c = i->comm;
	const struct spawn_link *link = has_spawned_side(c) ? spawned_link(i->traffic, c, 0) : NULL;
	struct both_jobs b;
	bool is_child;

	if (!link) {
		hand_over_job(s, i, of);
		return;
	}
	is_child = link->parent_job != i->traffic->job;
	b = (struct both_jobs){.comm = {.job = link->parent_job, .child_job = link->child_job},
		.size = {is_child ? c->remote_size : c->size, is_child ? c->size : c->remote_size}};
	if (!i->two_groups) {
		hand_over_both(s, i, of, &b);
		return;
	}
	if (i->kind == COLLECTIVE_CHAIN) /* processes lie: MPI has no scan between groups */
		return;
	hand_over_side(s, i, of, &b, false);
	hand_over_side(s, i, of, &b, true);
}

/* ---- all of an instance ------------------------------------------------------------------- */

/* Nothing is known of waits for a group that nobody of this node is in. */
static bool is_known(const struct instance *i)
{
	return !i->two_groups || i->awaited.last[1];
}

static void finish_by_rank(struct sync *s, struct instance *i, bool apart)
{
	const struct rule *rule = &rules[i->kind];
	struct arrival **sorted = sort_by_rank(i);

	for (uint32_t k = 0; k < i->n && is_known(i); k++) {
		const struct arrival *a = sorted[k], *on = rule->whom(i, &i->awaited, a);

		count_wait(s, i, a, on, apart, NULL);
		if (is_to_look_at(a, on))
			find_cause(s, i->wait, a, on);
		i->last_below = later_arrival(i->last_below, a);
	}
	if (apart)
		hand_over(s, i, sorted);
	free(sorted);
	instance_drop(s, i);
}

static void finish_at_once(struct sync *s, struct instance *i)
{
	const struct rule *rule = &rules[i->kind];
	struct arrival_walk w = {0};
	const struct arrival *a;

	while (is_known(i) && (a = arrival_next(i, &w))) {
		const struct arrival *on = rule->whom(i, &i->awaited, a);

		count_wait(s, i, a, on, false, NULL);
		if (is_to_look_at(a, on))
			find_cause(s, i->wait, a, on);
	}
	instance_drop(s, i);
}

/* ---- many members: rank by rank ----------------------------------------------------------- */

/* What a late one did is to be looked at while that is still known. */
static void find_causes(struct sync *s, struct instance *i)
{
	const struct rule *rule = &rules[i->kind];
	const uint64_t last = i->since[i->two_groups && (int64_t)(i->since[1] - i->since[0]) > 0];
	struct arrival_walk w = {0};
	const struct arrival *a;

	if (ticks_between(i->first_since, last) < CAUSE_TICKS_LEAST)
		return;
	while (causes_may_look(s->causes, i->first_since) && (a = arrival_next(i, &w))) {
		const struct arrival *on = rule->whom(i, &i->awaited, a);

		if (is_to_look_at(a, on))
			find_cause(s, i->wait, a, on);
	}
}

static void count_later(struct sync *s, struct instance *i)
{
	find_causes(s, i);
	instance_unlink(s, i);
	s->complete[s->n_complete++] = i;
	if (s->n_complete == SYNC_TOGETHER)
		sync_settle(s);
}

/* What each member needs of its instance, and of the one that all wait for: one cache line, as 64
 * instances are looked at in turn. */
struct closing {
	struct instance *i;
	const struct arrival *on; /* NULL: as its rule says */
	uint64_t since, job;	  /* of `on', as rank */
	struct arrivals *block;	  /* of `next'; NULL: that is among the first FEW */
	const struct arrival *next;
	uint32_t rank, here, more; /* here, more: members from `next' on, and in blocks behind */
	uint8_t wait, log2;
};

_Static_assert(sizeof(struct closing) <= 64, "one cache line");

static struct closing closing_of(struct instance *i)
{
	const bool is_one = !i->two_groups && rules[i->kind].whom == the_last;
	const struct arrival *on = is_one ? i->awaited.last[0] : NULL;
	const uint32_t here = MIN(i->n, FEW);

	return (struct closing){.i = i,
		.on = on,
		.since = i->since[0],
		.job = on ? on->traffic->job : 0,
		.next = i->few,
		.rank = on ? (uint32_t)on->traffic->rank : 0,
		.here = here,
		.more = i->n - here,
		.wait = i->wait,
		.log2 = i->log2};
}

/* As arrival_next(). */
static inline const struct arrival *closing_next(struct closing *c)
{
	const struct arrival *a;

	if (!c->here) {
		if (!c->more)
			return NULL;
		c->block = c->block ? c->block->next : c->i->beside->first;
		c->next = &c->block->at[0][c->i->number];
		c->here = MIN(c->more, MANY);
		c->more -= c->here;
	}
	c->here--;
	a = c->next;
	c->next += c->block ? SIDE : 1;
	return a;
}

/* Arrivals of one thread at one node, which are mostly looked at one after the other: only of the
 * first one is all looked at. */
struct alike {
	struct traffic_track *track; /* NULL: of none it is known that they are */
	struct node *node;
	uint64_t job, n; /* n: those that are not let go */
};

static inline void alike_let_go(struct alike *same)
{
	if (same->track)
		same->track->n_arrived -= same->n;
	same->n = 0;
}

/* Its wait counts as it is in the next ones, if those are alike. */
static __attribute__((noinline)) void settle_first(struct sync *s, const struct closing *c,
	const struct arrival *a, struct alike *same, struct untold *u)
{
	const struct conf *conf = a->traffic->conf;

	alike_let_go(same);
	if (is_known(c->i))
		count_wait(s, c->i, a, rules[c->i->kind].whom(c->i, &c->i->awaited, a), false, u);
	same->track = NULL;
	if (a->track && has_path(a) && conf->mpi_waits && !conf->mpi_show_sync_time) {
		*same = (struct alike){.track = a->track, .node = a->node, .job = a->traffic->job};
		if (u->node != a->node)
			tell_all(u);
		u->node = a->node;
	}
	arrival_let_go(a);
}

/* count_wait() of one like those before, for c->on, of the same job. */
static inline void settle_alike(const struct closing *c, const struct arrival *a, struct untold *u)
{
	const uint64_t on = c->since - a->since, most = a->until - a->since,
		       waited = (int64_t)on < (int64_t)most ? on : most;

	if ((int64_t)waited <= 0)
		return;
	if (u->n == SYNC_TOGETHER)
		tell_all(u);
	u->at[u->n++] = (struct waited){.at = a->since,
		.ticks = waited,
		.times = (uint64_t)1 << c->log2,
		.kind = c->wait,
		.late = c->rank};
}

static inline void settle_arrival(
	struct sync *s, struct closing *c, struct alike *same, struct untold *u)
{
	const struct arrival *a = closing_next(c);

	if (!a)
		return;
	__builtin_prefetch(c->next);
	if (!same->track || a->track != same->track || a->node != same->node || !c->on ||
		c->job != same->job) {
		settle_first(s, c, a, same, u);
		return;
	}
	same->n++;
	settle_alike(c, a, u);
}

/* Ranks are mostly read one after the other, so the same one is at the same place in each. */
static void settle(struct sync *s)
{
	_Alignas(64) struct closing all[SYNC_TOGETHER];
	struct alike same = {.track = NULL};
	struct untold untold;
	uint32_t most = 0;

	untold.node = NULL;
	untold.n = 0;
	for (uint32_t f = 0; f < s->n_complete; f++) {
		all[f] = closing_of(s->complete[f]);
		most = MAX(most, s->complete[f]->n);
	}
	for (uint32_t k = 0; k < most; k++)
		for (uint32_t f = 0; f < s->n_complete; f++)
			settle_arrival(s, &all[f], &same, &untold);
	alike_let_go(&same);
	tell_all(&untold);
	for (uint32_t f = 0; f < s->n_complete; f++)
		instance_free(s, s->complete[f]);
	s->n_complete = 0;
}

void sync_settle(struct sync *s)
{
	if (s && s->n_complete)
		settle(s);
}

void instance_finish(struct sync *s, struct instance *i)
{
	const bool apart = is_apart(s, i);

	if (rules[i->kind].by_rank || apart) {
		sync_settle(s); /* what a rank has waited counts in the order of its calls */
		finish_by_rank(s, i, apart);
	} else if (i->n > SYNC_AT_ONCE) {
		count_later(s, i);
	} else {
		sync_settle(s);
		finish_at_once(s, i);
	}
}
