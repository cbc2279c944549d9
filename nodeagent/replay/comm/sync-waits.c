/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/sync-instances.h"

#include <stdlib.h>
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/comm/sync.h"

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

static struct purpose purpose_of(uint32_t function)
{
	const enum collective_kind kind = collective_shape(function)->kind;

	return (struct purpose){kind, wait_kind_of(kind, function)};
}

void instance_drop(struct sync *s, struct instance *i)
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

struct instance *instance_add(struct sync *s, struct traffic *t, const struct meeting *m)
{
	const struct purpose of = m->of ? *m->of : purpose_of(m->function);
	struct instance *i;

	if (of.kind == COLLECTIVE_UNKNOWN)
		return NULL;
	while (s->oldest &&
		(s->instances.used >= SYNC_OPEN_MAX || s->n_arrivals >= SYNC_ARRIVALS_MAX)) {
		s->dropped += s->oldest->n;
		instance_drop(s, s->oldest);
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

struct arrival *instance_add_further(struct sync *s, struct instance *i)
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
	struct node *n = calltree_child(a->tree, a->node, NULL, KEY_SYNC | a->node->key);

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

/* on: for whom it waited. */
static void count_blocking(
	enum wait_kind kind, const struct arrival *a, const struct arrival *on, uint64_t waited)
{
	calltree_wait(a->node,
		&(struct node_wait){
			.kind = kind, .late = late_rank(a, on), .calls = 1, .ticks = waited});
	calltree_wait_at(a->node, a->enter, waited);
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

static bool is_apart(const struct sync *s, const struct instance *i)
{
	return s->elsewhere && has_members_elsewhere(i->comm) && !(i->of_pair && i->n > 1);
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

void instance_finish(struct sync *s, struct instance *i)
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
	instance_drop(s, i);
}
