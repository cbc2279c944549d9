/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/report/delays/delays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/report/report.h"
#include "nodeagent/report/waits.h"

#define STILL 1e-9 /* of all waits: less than that is not passed on */

/* A rank in a call path, while others waited for it. */
struct state {
	uint32_t rank, stack;
	double direct, moving, kept; /* ns of waits */
	double passed;		     /* share that goes on to other ranks */
	size_t edges, n_edges;
};

/* The waits of one kind at one call path for one rank. */
struct target {
	uint32_t stack, late;
	double ns, comes;
	size_t parts, n_parts;
};

struct part {
	uint32_t rank, stack; /* of its state */
	struct state *state;
	double ns;
};

/* A state waits so long for a target. */
struct edge {
	size_t target;
	double ns;
};

struct flow {
	const struct profile *p;
	struct waits w;
	struct target *targets; /* by rising stack */
	size_t n_targets, cap_targets;
	struct part *parts;
	size_t n_parts, cap_parts;
	struct state *states; /* by rising rank, then stack */
	size_t n_states;
	struct edge *edges;
	size_t n_edges, cap_edges;
	size_t looked;			 /* targets, of all states */
	struct profile_wait_pair *pairs; /* by log2, late, rank */
	double *before;			 /* ns of the pairs before each, and of all */
	uint32_t log2s;			 /* bits: which there are */
};

/* ---- what ranks did while others waited for them ------------------------------------------ */

static void add_part(struct flow *f, struct target *t, uint32_t stack, double ns)
{
	*LIST_ADD(f, parts) = (struct part){.rank = t->late, .stack = stack, .ns = ns};
	t->n_parts++;
}

/* k: the first row of a rank at this place. */
static void add_target(struct flow *f, const struct wait_place *at, size_t k)
{
	struct target t = {.stack = at->stack, .late = at->late[k]->late, .parts = f->n_parts};
	double known = 0.0;

	for (size_t i = k; i < at->n_late; i++)
		t.ns += at->late[i]->late == t.late ? (double)at->late[i]->ns : 0.0;
	EACH(const struct wait_activity, a, at->activities, at->n_activities) {
		if (a->late != t.late)
			continue;
		add_part(f, &t, a->stack, a->ns);
		known += a->ns;
	}
	if (known <= 0.0)
		add_part(f, &t, PROFILE_NONE, t.ns);
	*LIST_ADD(f, targets) = t;
}

static bool is_first_of_rank(const struct wait_place *at, size_t k)
{
	return ALL(i, k, at->late[i]->late != at->late[k]->late);
}

ORDER_BY(by_stack, struct target, RISING(stack) ?: RISING(parts))
ORDER_BY(by_state, struct state, RISING(rank) ?: RISING(stack))

static void find_states(struct flow *f)
{
	size_t n = 0;

	f->states = xcalloc(f->n_parts + 1, sizeof(*f->states));
	for (size_t i = 0; i < f->n_parts; i++)
		f->states[i] = (struct state){.rank = f->parts[i].rank, .stack = f->parts[i].stack};
	qsort(f->states, f->n_parts, sizeof(*f->states), by_state);
	for (size_t i = 0; i < f->n_parts; i++)
		if (!n || by_state(&f->states[i], &f->states[n - 1]))
			f->states[n++] = f->states[i];
	f->n_states = n;
	EACH(struct part, part, f->parts, f->n_parts) {
		const struct state key = {.rank = part->rank, .stack = part->stack};

		part->state = bsearch(&key, f->states, n, sizeof(key), by_state);
		part->state->direct += part->ns;
	}
}

static void find_targets(struct flow *f)
{
	for (size_t i = 0; i < f->w.n_places; i++)
		for (size_t k = 0; k < f->w.places[i].n_late; k++)
			if (f->w.places[i].ns && is_first_of_rank(&f->w.places[i], k))
				add_target(f, &f->w.places[i], k);
	if (f->n_targets)
		qsort(f->targets, f->n_targets, sizeof(*f->targets), by_stack);
}

/* ---- for whom a rank waits --------------------------------------------------------------- */

ORDER_BY(by_late, struct profile_wait_pair, RISING(log2) ?: RISING(late) ?: RISING(rank))

static void sort_pairs(struct flow *f)
{
	const size_t n = f->p->n_wait_pairs;

	f->pairs = xmalloc((n + 1) * sizeof(*f->pairs));
	f->before = xcalloc(n + 1, sizeof(*f->before));
	if (n)
		memcpy(f->pairs, f->p->wait_pairs, n * sizeof(*f->pairs));
	qsort(f->pairs, n, sizeof(*f->pairs), by_late);
	for (size_t i = 0; i < n; i++) {
		f->before[i + 1] = f->before[i] + (double)f->pairs[i].ns;
		f->log2s |= 1u << (f->pairs[i].log2 & 31);
	}
}

static uint32_t group_of(uint32_t rank, uint32_t log2)
{
	return rank < PROFILE_UNRANKED ? rank >> log2 << log2 : rank;
}

/* The number of pairs that are before this one. */
static size_t pairs_before(const struct flow *f, const struct profile_wait_pair *key)
{
	return LOWER_BOUND(i, 0, f->p->n_wait_pairs, by_late(&f->pairs[i], key) < 0);
}

/* Waits of all ranks from `first' to before `end' for this one, or its group. */
static double waits_of_ranks(
	const struct flow *f, uint32_t log2, uint32_t late, uint32_t first, uint32_t end)
{
	struct profile_wait_pair key = {.log2 = log2, .late = group_of(late, log2), .rank = first};
	const size_t from = pairs_before(f, &key);

	key.rank = end;
	return f->before[pairs_before(f, &key)] - f->before[from];
}

/* The share of `rank' in the waits of all ranks for this one. */
static double share_of(const struct flow *f, uint32_t rank, uint32_t late)
{
	double all = 0.0, own = 0.0;

	for (uint32_t log2 = 0; log2 < 32; log2++) {
		const uint32_t group = group_of(rank, log2);

		if (!(f->log2s & 1u << log2))
			continue;
		all += waits_of_ranks(f, log2, late, 0, UINT32_MAX);
		own += waits_of_ranks(f, log2, late, group, group + 1) /
		       (rank < PROFILE_UNRANKED ? (double)((uint64_t)1 << log2) : 1.0);
	}
	return all > 0.0 ? own / all : 0.0;
}

/* The first target of this stack or one above. */
static size_t first_target(const struct flow *f, uint64_t stack)
{
	return LOWER_BOUND(i, 0, f->n_targets, f->targets[i].stack < stack);
}

/* What ranks at a stack did there beside waiting. */
static double rest_of_each(const struct profile_stack *s, double waits)
{
	const double all = (double)s->excl_ns;

	return all > waits && s->ranks ? (all - waits) / s->ranks : 0.0;
}

/* How long it waits for a target at its stack. Ranks that are not told apart: as all do there. */
static double own_wait(const struct flow *f, const struct state *s, const struct target *t)
{
	const uint32_t ranks = f->p->stacks[s->stack].ranks;

	if (t->late == s->rank)
		return 0.0;
	if (s->rank == PROFILE_ELSEWHERE)
		return t->ns;
	return t->ns * (t->late != PROFILE_ELSEWHERE ? share_of(f, s->rank, t->late)
						     : 1.0 / (ranks ? ranks : 1));
}

/* If it waits there itself: for whom, and for what share of its time. */
static void find_edges(struct flow *f, struct state *s)
{
	const size_t first = first_target(f, s->stack),
		     end = first_target(f, (uint64_t)s->stack + 1);
	double waits = 0.0, own = 0.0, rest;

	s->edges = f->n_edges;
	if (s->stack == PROFILE_NONE || end - first > DELAYS_EDGES_MAX - f->looked)
		return;
	f->looked += end - first;
	for (size_t i = first; i < end; i++) {
		const struct target *t = &f->targets[i];
		const double ns = own_wait(f, s, t);

		waits += t->ns;
		if (ns <= 0.0)
			continue;
		*LIST_ADD(f, edges) = (struct edge){i, ns};
		own += ns;
	}
	s->n_edges = f->n_edges - s->edges;
	for (size_t i = s->edges; i < f->n_edges; i++)
		f->edges[i].ns /= own;
	rest = rest_of_each(&f->p->stacks[s->stack], waits);
	if (own > 0.0 && s->rank == PROFILE_ELSEWHERE)
		s->passed = waits / (waits + rest * f->p->stacks[s->stack].ranks);
	else if (own > 0.0)
		s->passed = own / (own + rest);
}

/* ---- along the chains -------------------------------------------------------------------- */

/* Once from each state to those for which it waits. Returns what is still on its way. */
static double pass_on(struct flow *f)
{
	double moving = 0.0;

	for (size_t i = 0; i < f->n_targets; i++)
		f->targets[i].comes = 0.0;
	EACH(struct state, s, f->states, f->n_states) {
		s->kept += s->moving * (1.0 - s->passed);
		for (size_t k = 0; k < s->n_edges; k++)
			f->targets[f->edges[s->edges + k].target].comes +=
				s->moving * s->passed * f->edges[s->edges + k].ns;
		s->moving = 0.0;
	}
	EACH(const struct target, t, f->targets, f->n_targets) {
		for (size_t k = 0; k < t->n_parts && t->comes > 0.0; k++)
			f->parts[t->parts + k].state->moving +=
				t->comes * f->parts[t->parts + k].ns / t->ns;
		moving += t->comes;
	}
	return moving;
}

static void pass_all(struct flow *f)
{
	double moving = (double)f->w.ns;

	for (size_t i = 0; i < f->n_states; i++)
		f->states[i].moving = f->states[i].direct;
	for (unsigned i = 0; i < DELAYS_ROUNDS_MAX && moving > STILL * (double)f->w.ns; i++)
		moving = pass_on(f);
	for (size_t i = 0; i < f->n_states; i++)
		f->states[i].kept += f->states[i].moving;
}

/* ---- results ----------------------------------------------------------------------------- */

static double own_excess(const struct profile *p, const struct state *at)
{
	const struct profile_stack *s = at->stack == PROFILE_NONE ? NULL : &p->stacks[at->stack];
	const uint32_t ranks = s ? MAX(report_ranks(p), s->ranks) : 0;

	if (!ranks || s->rank_max != at->rank)
		return NAN;
	return (double)s->excl_max_ns - (double)s->excl_ns / ranks;
}

ORDER_BY(by_rank, struct delay, RISING(rank) ?: FALLING(cost_ns) ?: RISING(stack))

static void find_delays(const struct flow *f, struct delays *d)
{
	d->at = xmalloc((f->n_states + 1) * sizeof(*d->at));
	d->n = f->n_states;
	for (size_t i = 0; i < f->n_states; i++) {
		const struct state *s = &f->states[i];

		d->at[i] = (struct delay){s->rank, s->stack, s->kept, s->direct * (1.0 - s->passed),
			own_excess(f->p, s)};
	}
	qsort(d->at, d->n, sizeof(*d->at), by_rank);
}

void delays_of(const struct profile *p, struct delays *d)
{
	struct flow f = {.p = p};

	waits_of(p, WAITS_FOR_RANKS, WAITS_ALL, &f.w);
	find_targets(&f);
	find_states(&f);
	sort_pairs(&f);
	for (size_t i = 0; i < f.n_states; i++)
		find_edges(&f, &f.states[i]);
	pass_all(&f);
	find_delays(&f, d);
	waits_done(&f.w);
	free(f.targets);
	free(f.parts);
	free(f.states);
	free(f.edges);
	free(f.pairs);
	free(f.before);
}

const struct delay *delays_of_rank(const struct delays *d, uint32_t rank, size_t *n)
{
	const size_t low = LOWER_BOUND(i, 0, d->n, d->at[i].rank < rank);

	for (*n = 0; low + *n < d->n && d->at[low + *n].rank == rank;)
		++*n;
	return &d->at[low];
}

ORDER_BY(by_cost, struct wait_cause,
	FALLING(cost_ns) ?: FALLING(ns) ?: RISING(rank) ?: RISING(is_thread) ?: RISING(thread))

void delays_join(const struct delays *d, struct waits *w)
{
	EACH(struct wait_cause, c, w->causes, w->n_causes) {
		double cost_ns = 0.0;

		c->cost_ns = c->ns;
		if (c->is_thread)
			continue;
		c->delays = delays_of_rank(d, c->rank, &c->n_delays);
		for (size_t k = 0; k < c->n_delays; k++)
			cost_ns += c->delays[k].cost_ns;
		c->cost_ns = (uint64_t)llround(cost_ns);
	}
	qsort(w->causes, w->n_causes, sizeof(*w->causes), by_cost);
}

void delays_done(struct delays *d)
{
	free(d->at);
	*d = (struct delays){0};
}
