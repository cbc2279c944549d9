/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of one root: agent number r has the place (r - root) modulo the number of agents, and
 * place p is below place (p - 1) / 16.
 */
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/live/exchange/internal.h"
#include "nodeagent/live/sample/sample.h"
#include "nodeagent/live/sample/stacks.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/observer.h"

#define LOOK_SHARE  100 /* a look takes at most this part of the time ... */
#define FIRST_SHARE 10	/* ... the first one, which reads symbols, this */
#define EARLY	    0.9
#define STUCK_MOST  3

#define PAUSE_FIRST_S 1.0
#define PAUSE_MOST_S  60.0

static int n_agents(const struct agent *a)
{
	return a->host.transport ? a->host.transport->size : 1;
}

static int own_number(const struct agent *a)
{
	return a->host.transport ? a->host.transport->rank : 0;
}

static int64_t place_of(const struct agent *a, int root, int agent)
{
	return ((int64_t)agent - root + n_agents(a)) % n_agents(a);
}

/* Agents at a place and below it. */
static uint64_t subtree_of(const struct agent *a, int64_t place)
{
	const int64_t n = n_agents(a);
	uint64_t all = 0;

	for (int64_t first = place, last = place; first < n;
		first = first * LIVE_FAN_OUT + 1, last = (last + 1) * LIVE_FAN_OUT)
		all += (uint64_t)((last < n ? last + 1 : n) - first);
	return all;
}

static bool is_above(const struct agent *a, int root, int high, int low)
{
	const int64_t wanted = place_of(a, root, high);
	int64_t place = place_of(a, root, low);

	while (place > wanted)
		place = (place - 1) / LIVE_FAN_OUT;
	return place == wanted && high != low;
}

struct live_tree *live_tree_of(struct live *l, int root)
{
	return FIND(x, l->trees, l->n_trees, x->root == root);
}

/* ---- those below ------------------------------------------------------------------------ */

static void free_branch(struct live_branch *b)
{
	free(b->parts);
	free(b->view);
	free(b->where);
	live_names_free(b->known);
	free(b);
}

static struct live_branch *branch_of(const struct live_tree *t, int agent)
{
	for (size_t i = 0; i < t->n_branches; i++)
		if (t->branches[i]->agent == agent)
			return t->branches[i];
	return NULL;
}

/* False: the message has not left. */
static bool tell_branch(struct agent *a, const struct live_tree *t, const struct live_branch *b,
	enum live_kind kind)
{
	const struct live_message m = {.magic = LIVE_MAGIC,
		.kind = kind,
		.root = (uint32_t)t->root,
		.period_ms = (uint32_t)(1e3 * t->period),
		.number = t->number,
		.at = kind == LIVE_ASK && !b->known,
		.where = kind == LIVE_ASK && t->where};

	return live_send(a, b->agent, &m, NULL, 0);
}

/* One that takes no messages is left alone for a while: trying takes time. */
static void ask_branch(
	struct agent *a, const struct live_tree *t, struct live_branch *b, double now)
{
	if (now < b->ask_again)
		return;
	if (tell_branch(a, t, b, LIVE_ASK)) {
		b->pause = b->ask_again = 0;
		return;
	}
	b->pause = b->pause ? 2 * b->pause : PAUSE_FIRST_S;
	b->pause = b->pause < PAUSE_MOST_S ? b->pause : PAUSE_MOST_S;
	b->ask_again = now + b->pause;
}

/* The agents below `agent` are asked by this one. Returns how many are not, for want of room. */
static uint32_t add_branches(
	struct agent *a, struct live_tree *t, int agent, int instead_of, double now)
{
	const int64_t first = place_of(a, t->root, agent) * LIVE_FAN_OUT + 1;
	uint32_t left_out = 0;

	for (int64_t p = first; p < first + LIVE_FAN_OUT && p < n_agents(a); p++) {
		const int below = (int)((p + t->root) % n_agents(a));
		struct live_branch *b = branch_of(t, below);

		if (b || below == own_number(a))
			continue;
		if (t->n_branches == LIVE_BRANCHES_MAX) {
			left_out += (uint32_t)subtree_of(a, p);
			continue;
		}
		b = xcalloc(1, sizeof(*b));
		b->agent = below;
		b->instead_of = instead_of;
		b->since = now;
		*LIST_ADD(t, branches) = b;
		ask_branch(a, t, b, now);
	}
	return left_out;
}

/* It answers: those that were asked instead are its own again. */
static void give_back(struct live_tree *t, struct live_branch *of)
{
	size_t k = 0;

	if (!of->adopted)
		return;
	of->adopted = false;
	of->left_out = 0;
	for (size_t i = 0; i < t->n_branches; i++)
		if (t->branches[i]->instead_of == of->agent)
			give_back(t, t->branches[i]);
	for (size_t i = 0; i < t->n_branches; i++) {
		if (t->branches[i]->instead_of == of->agent)
			free_branch(t->branches[i]);
		else
			t->branches[k++] = t->branches[i];
	}
	t->n_branches = k;
}

static void clear_tree(struct live_tree *t)
{
	for (size_t i = 0; i < t->n_branches; i++)
		free_branch(t->branches[i]);
	free(t->branches);
	live_names_free(t->told);
	*t = (struct live_tree){0};
}

/* ---- orders --------------------------------------------------------------------------------- */

static double lease_of(const struct live_tree *t)
{
	const double s = LIVE_LEASES * t->period;

	return s > LIVE_LEASE_LEAST ? s : LIVE_LEASE_LEAST;
}

static void drop_tree(struct live *l, struct live_tree *t)
{
	clear_tree(t);
	*t = l->trees[--l->n_trees];
	if (l->n_trees)
		return;
	sampler_free(l->sampler);
	free(l->own_where);
	l->own_where = NULL;
	l->sampler = NULL; /* look_again stays: orders that come and go make no more looks */
}

void live_tree_stop(struct agent *a, struct live_tree *t)
{
	for (size_t i = 0; i < t->n_branches; i++)
		if (!t->branches[i]->ask_again)
			tell_branch(a, t, t->branches[i], LIVE_STOP);
	drop_tree(a->live, t);
}

void live_trees_end(struct live *l)
{
	while (l->n_trees)
		drop_tree(l, &l->trees[0]);
}

static bool someone_wants_where(const struct live *l)
{
	bool where = false;

	for (size_t i = 0; i < l->n_trees; i++)
		where |= l->trees[i].where;
	return where;
}

/* Where threads are now, after what is published has been read for the view. */
static uint64_t look_where(struct agent *a)
{
	struct live *l = a->live;
	const double began = transport_now();

	if (!someone_wants_where(l)) {
		free(l->own_where);
		l->own_where = NULL;
		return 0;
	}
	if (!l->own_where)
		l->own_where = xmalloc(sizeof(*l->own_where));
	stacks_look(&a->host, l->own_where);
	return (uint64_t)(1e9 * (transport_now() - began));
}

/* Not before it may, by what the last one took. */
static void look_now(struct agent *a, double now)
{
	struct live *l = a->live;

	if (!l->sampler)
		l->sampler = sampler_new(&a->host);
	if (now < l->look_again && (l->own_where || !someone_wants_where(l)))
		return;
	sampler_look(l->sampler, &l->own);
	l->own.nodes[0].look += look_where(a);
	l->looked = now;
	l->look_again = now + 1e-9 * (l->own.interval ? LOOK_SHARE : FIRST_SHARE) *
				      (double)l->own.nodes[0].look;
}

/* Its first view comes a little before the root wants to show one. */
static struct live_tree *begin_tree(
	struct agent *a, const struct live_message *m, int from, double now)
{
	struct live *l = a->live;
	struct live_tree *t = &l->trees[l->n_trees++];

	*t = (struct live_tree){
		.root = (int)m->root, .parent = -1, .number = m->number, .n_agents = n_agents(a)};
	t->period = 1e-3 * m->period_ms;
	t->where = m->where;
	t->next = now + (from < 0 ? t->period : EARLY * t->period);
	t->asked = now;
	add_branches(a, t, own_number(a), -1, now); /* before the look, which takes its time */
	look_now(a, now);
	return t;
}

static size_t trees_of_others(const struct live *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n_trees; i++)
		n += l->trees[i].parent >= 0;
	return n;
}

void live_tree_ask(struct agent *a, const struct live_message *m, int from, double now)
{
	struct live_tree *t = live_tree_of(a->live, (int)m->root);

	if (from >= 0 && !is_above(a, (int)m->root, from, own_number(a))) {
		live_refuse(a, from, "it is not above this one in the tree");
		return;
	}
	if (t && t->number != m->number) {
		drop_tree(a->live, t);
		t = NULL;
	}
	if (!t && from >= 0 && trees_of_others(a->live) == LIVE_TREES_MAX) {
		if (!a->live->full)
			live_refuse(a, from, "too many agents have viewers already");
		a->live->full = true;
		return;
	}
	if (!t)
		t = begin_tree(a, m, from, now);
	if (from >= 0 && (t->parent != from || m->at)) {
		live_names_free(t->told);
		t->told = live_names_new();
		t->parent = from;
	}
	if (!t->where && m->where)
		t->asked = 0; /* those below have not heard of that */
	t->where = m->where;
	t->period = 1e-3 * m->period_ms;
	t->next = t->next < now + t->period ? t->next : now + t->period;
	t->until = now + lease_of(t);
}

/* It goes into logs. Empty: the order is about all recording. */
static bool is_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return false;
	return true;
}

void live_tree_switch(struct agent *a, const struct live_message *m, int from,
	const struct function_switch *order)
{
	struct live_tree *t = live_tree_of(a->live, (int)m->root);

	if (!is_name(order->name) || !t || t->parent != from ||
		(from >= 0 && t->number != m->number))
		return; /* the viewer says it again until all nodes have it */
	observers_tell(&a->host, switch_function, &a->host, order);
	for (size_t i = 0; i < t->n_branches; i++) {
		const struct live_message down = {.magic = LIVE_MAGIC,
			.kind = LIVE_SWITCH,
			.root = (uint32_t)t->root,
			.number = t->number};

		if (!t->branches[i]->ask_again)
			live_send(a, t->branches[i]->agent, &down, order, sizeof(*order));
	}
}

/* ---- views from below --------------------------------------------------------------------------
 */

/* It is asked for all of them. */
static void forget_texts(struct live_branch *b)
{
	live_names_free(b->known);
	b->known = NULL;
}

/* True if the view is here, in b->parts. Of one that has a gap the rest is not wanted. */
static bool add_part(
	struct live_branch *b, const struct live_message *m, const void *part, size_t bytes)
{
	if (!m->at) {
		b->parts = xrealloc(b->parts, m->all);
		b->all_parts = m->all;
		b->where_parts = m->where;
		b->n_parts = 0;
	}
	if (m->at != b->n_parts || m->all != b->all_parts) {
		b->all_parts = b->n_parts = 0;
		forget_texts(b);
		return false;
	}
	memcpy(b->parts + b->n_parts, part, bytes);
	b->n_parts += bytes;
	return b->n_parts == b->all_parts;
}

/* NULL, or what is wrong. */
static const char *unpack_where(struct live_branch *b, uint64_t most)
{
	const char *why;

	free(b->where);
	b->where = NULL;
	if (!b->where_parts)
		return NULL;
	b->where = xmalloc(sizeof(*b->where));
	why = where_unpack(b->where, b->parts + b->all_parts - b->where_parts, b->where_parts);
	return why ?: b->where->nodes > most ? "it knows where threads of more agents are" : NULL;
}

/* NULL, or what is wrong. */
static const char *unpack_view(
	const struct agent *a, const struct live_tree *t, struct live_branch *b)
{
	const uint64_t most = subtree_of(a, place_of(a, t->root, b->agent));
	const char *why;

	if (!b->view)
		b->view = xcalloc(1, sizeof(*b->view));
	if (!b->known)
		b->known = live_names_new();
	why = live_unpack(b->view, b->known, b->parts, b->all_parts - b->where_parts);
	if (!why)
		why = unpack_where(b, most);
	b->all_parts = b->n_parts = 0;
	if (!why && b->view->n_all + (uint64_t)b->view->n_absent > most)
		why = "it speaks of more agents than there are";
	if (!why)
		return NULL;
	*b->view = (struct live_view){0};
	forget_texts(b);
	return why;
}

void live_tree_take(struct agent *a, int from, const struct live_message *m, const void *part,
	size_t bytes, double now)
{
	struct live_tree *t = live_tree_of(a->live, (int)m->root);
	struct live_branch *b = t && t->number == m->number ? branch_of(t, from) : NULL;
	const char *why;

	/* else it was asked by us once, or will hear that it is not */
	if (!b || !add_part(b, m, part, bytes))
		return;
	why = unpack_view(a, t, b);
	if (why) {
		live_refuse(a, from, why);
		return;
	}
	for (size_t i = 0; i < b->view->n_nodes; i++)
		if (b->view->nodes[i].agent == (uint32_t)from)
			memcpy(b->host, b->view->nodes[i].host, sizeof(b->host));
	b->since = now;
	b->heard = b->fresh = true;
	b->pause = b->ask_again = 0;
	give_back(t, b);
}

/* ---- views for above
 * ------------------------------------------------------------------------------ */

/* What others say may be anything. */
static void add_age(uint64_t *age, uint64_t ns)
{
	if (__builtin_add_overflow(*age, ns, age))
		*age = UINT64_MAX;
}

static void grow_older(struct live_view *v, double s)
{
	const uint64_t ns = s > 0 ? (uint64_t)(1e9 * s) : 0;

	add_age(&v->age, ns);
	for (size_t i = 0; i < v->n_nodes; i++)
		add_age(&v->nodes[i].age, ns);
}

static void add_own(struct agent *a, struct live_view *v, double now)
{
	struct live *l = a->live;
	struct live_node *n = &v->nodes[0];

	*v = l->own;
	n->agent = (uint32_t)own_number(a);
	n->sent = l->sent;
	n->sent_bytes = l->sent_bytes;
	for (size_t i = 0; i < v->n_ranks; i++)
		v->ranks[i].agent = n->agent;
	grow_older(v, now - l->looked);
}

/* Left out: named, and those below it are asked. */
static void leave_out(struct agent *a, struct live_tree *t, struct live_branch *b,
	struct live_view *v, double now)
{
	struct transport *p = a->host.transport;
	struct live_missing m = {.agent = (uint32_t)b->agent};
	const char *host = b->host[0] ? b->host : collate_host_of(p, b->agent);

	m.why = p->gone && p->gone(p, b->agent) ? LIVE_GONE : LIVE_SILENT;
	snprintf(m.host, sizeof(m.host), "%s", host ? host : "");
	live_add_missing(v, &m);
	if (!b->adopted || b->left_out)
		b->left_out = add_branches(a, t, b->agent, b->agent, now);
	b->adopted = true;
	v->n_absent += b->left_out;
}

/* The view of this agent and those below it; where: filled in if the tree wants that. */
static void make_view(
	struct agent *a, struct live_tree *t, struct live_view *v, struct where *where, double now)
{
	const double grace = live_grace(t->period), first = live_first_grace(a, t->period);

	look_now(a, now);
	add_own(a, v, now);
	if (where)
		*where = *a->live->own_where;
	for (size_t i = 0; i < t->n_branches; i++) {
		struct live_branch *b = t->branches[i];

		b->fresh = false;
		if (now - b->since > (b->heard ? grace : first)) {
			leave_out(a, t, b, v, now);
		} else if (b->heard) {
			struct live_view *theirs = xmalloc(sizeof(*theirs));

			*theirs = *b->view;
			grow_older(theirs, now - b->since);
			live_merge(v, theirs);
			if (where && b->where)
				where_merge(where, b->where);
			free(theirs);
		}
	}
}

/* False: the parent takes nothing for a while, and has to ask again. */
static bool send_up(
	struct agent *a, struct live_tree *t, const struct live_view *v, const struct where *where)
{
	struct live_message m = {.magic = LIVE_MAGIC,
		.kind = LIVE_VIEW,
		.root = (uint32_t)t->root,
		.number = t->number};
	unsigned char *packed = xmalloc(LIVE_PACKED_MOST + WHERE_PACKED_MOST);
	size_t all = live_pack(v, t->told, packed);
	bool sent = true;

	if (where)
		m.where = (uint32_t)where_pack(where, packed + all);
	all += m.where;
	m.all = (uint32_t)all;
	for (size_t at = 0; at < all && sent; at += LIVE_PART_MOST) {
		m.at = (uint32_t)at;
		sent = live_send(a, t->parent, &m, packed + at,
			all - at < LIVE_PART_MOST ? all - at : LIVE_PART_MOST);
	}
	free(packed);
	t->stuck = sent ? 0 : t->stuck + 1;
	if (!sent) { /* it may not have these texts */
		live_names_free(t->told);
		t->told = live_names_new();
	}
	return t->stuck < STUCK_MOST;
}

static bool all_fresh(const struct live_tree *t)
{
	return t->n_branches && ALL(i, t->n_branches, t->branches[i]->fresh);
}

double live_tree_tick(struct agent *a, struct live_tree *t, double now)
{
	const bool is_due = now >= t->next || (now >= t->next - t->period / 2 && all_fresh(t));
	double again = t->until - now, ask_again;

	if (now >= t->until) {
		live_tree_stop(a, t);
		return 0;
	}
	if (now >= t->asked + lease_of(t) / 3) {
		t->asked = now;
		for (size_t i = 0; i < t->n_branches; i++)
			ask_branch(a, t, t->branches[i], now);
	}
	if (is_due) {
		struct live_view *v = xmalloc(sizeof(*v));
		struct where *where = t->where ? xmalloc(sizeof(*where)) : NULL;
		bool taken = true;

		make_view(a, t, v, where, now);
		t->next = now + t->period;
		if (t->parent < 0)
			live_viewers_show(a, v, where);
		else
			taken = send_up(a, t, v, where);
		free(where);
		free(v);
		if (!taken) {
			drop_tree(a->live, t);
			return 0;
		}
	}
	ask_again = t->asked + lease_of(t) / 3 - now;
	again = again < ask_again ? again : ask_again;
	return again < t->next - now ? again : t->next - now;
}
