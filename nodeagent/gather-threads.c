/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gather-threads.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/map64.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/threads-past.h"
#include "nodeagent/threads.h"
#include "nodeagent/traffic.h"
#include "nodeagent/util.h"

struct placing {
	struct agent *agent;
	struct profile *out;
	uint32_t (*place)(void *ctx, uint32_t parent, uint64_t key);
	void *ctx;
};

static void add_count(
	struct profile *out, uint32_t thread, uint32_t stack, uint32_t counter, uint64_t value)
{
	if (value)
		out->thread_counts[out->n_thread_counts++] = (struct profile_thread_count){
			.thread = thread, .stack = stack, .counter = counter, .value = value};
}

/* What hardware counters counted; node: its nodes in the union tree, or NULL. */
static void add_counts(
	struct profile *out, const struct thread_past *past, uint32_t thread, const uint32_t *node)
{
	uint32_t n = past->n_counters;
	size_t nodes = node && past->node_counts ? past->n_nodes : 0;

	out->thread_counts = xrealloc(out->thread_counts,
		(out->n_thread_counts + (node ? nodes : 1) * n) * sizeof(*out->thread_counts) + 1);
	for (size_t i = 0; i < nodes; i++)
		for (uint32_t k = 0; k < n; k++)
			add_count(out, thread, node[i], k, past->node_counts[i * n + k]);
	for (uint32_t k = 0; !node && k < n; k++)
		add_count(out, thread, PROFILE_NONE, k, past->counts[k]);
}

/*
 * Frames of one name below the same caller are one stack. While they are added
 * up, incl_ns are ticks and excl_ns the time of what is below.
 */
static void add_stacks(struct placing *g, const struct thread_past *past, uint32_t thread)
{
	struct profile *out = g->out;
	struct map64 seen = {0}; /* node of the union tree -> place in thread_stacks */
	uint32_t *node = xmalloc(past->n_nodes * sizeof(*node) + 1);
	size_t first = out->n_thread_stacks, n = first;
	uint32_t *caller = xmalloc(past->n_nodes * sizeof(*caller) + 1);

	out->thread_stacks = xrealloc(
		out->thread_stacks, (first + past->n_nodes) * sizeof(*out->thread_stacks) + 1);
	for (size_t i = 0; i < past->n_nodes; i++) {
		const struct past_node *from = &past->nodes[i];
		uint32_t above = from->parent == PROFILE_NONE ? PROFILE_NONE : node[from->parent];
		struct profile_thread_stack *to;
		uint32_t *known;

		node[i] = g->place(g->ctx, above, from->key);
		known = map64_find(&seen, node[i]);
		if (!known) {
			caller[n - first] =
				above == PROFILE_NONE ? PROFILE_NONE : *map64_find(&seen, above);
			map64_add(&seen, node[i], (uint32_t)n);
			out->thread_stacks[n] =
				(struct profile_thread_stack){.thread = thread, .stack = node[i]};
			known = map64_find(&seen, node[i]);
			n++;
		}
		to = &out->thread_stacks[*known];
		to->calls += from->calls;
		to->lost_calls += from->lost;
		to->incl_ns += from->ticks;
	}
	for (size_t i = n; i-- > first;) {
		struct profile_thread_stack *s = &out->thread_stacks[i];
		uint64_t below = s->excl_ns;

		s->incl_ns = clocks_ns(&g->agent->clocks, s->incl_ns);
		if (s->incl_ns < below)
			s->incl_ns = below; /* rounding */
		s->excl_ns = s->incl_ns - below;
		if (caller[i - first] != PROFILE_NONE)
			out->thread_stacks[caller[i - first]].excl_ns += s->incl_ns;
	}
	out->n_thread_stacks = n;
	add_counts(out, past, thread, node);
	free(node);
	free(caller);
	map64_free(&seen);
}

/* Where nodes of one name have one caller, a thread counts once for each of them. */
static void add_ranges(struct placing *g, const struct process *p, uint32_t rank)
{
	size_t nodes = p->ranges ? calltree_nodes(p->past) : 0;
	struct profile *out = g->out;
	struct map64 place = {0};

	out->thread_ranges = xrealloc(out->thread_ranges,
		(out->n_thread_ranges + nodes) * sizeof(*out->thread_ranges) + 1);
	for (size_t i = 0; i < nodes; i++) {
		const struct node *n = calltree_at(p->past, i);
		const struct thread_range *r = threads_past_range_of(p, n);
		uint32_t above = i ? *map64_find(&place, (uintptr_t)n->parent) : PROFILE_NONE;
		uint32_t here = g->place(g->ctx, above, n->key);

		map64_add(&place, (uintptr_t)n, here);
		if (!r)
			continue;
		out->thread_ranges[out->n_thread_ranges++] =
			(struct profile_thread_range){.stack = here,
				.threads = r->threads,
				.min_ns = clocks_ns(&g->agent->clocks, r->min),
				.max_ns = clocks_ns(&g->agent->clocks, r->max),
				.rank_min = rank,
				.thread_min = r->thread_min,
				.rank_max = rank,
				.thread_max = r->thread_max};
	}
	map64_free(&place);
}

/* What its requests became after its end; the entry of many threads has those of many. */
static void add_late(const struct process *p, const struct thread_past *past,
	const struct map64 *listed, struct profile_thread *to)
{
	size_t n;
	const struct traffic_thread *late = traffic_late(p->traffic, &n);

	for (size_t i = 0; i < n; i++) {
		if (past->number == PROFILE_NONE ? map64_find(listed, late[i].thread) != NULL
						 : late[i].thread != past->number)
			continue;
		to->sends += late[i].sends;
		to->receives += late[i].receives;
		to->bytes_sent += late[i].bytes_sent;
		to->bytes_received += late[i].bytes_received;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = (*(const struct thread_past *const *)a)->number;
	uint32_t y = (*(const struct thread_past *const *)b)->number;

	return x < y ? -1 : x > y;
}

void gather_threads_add(struct agent *a, const struct process *p, uint32_t rank,
	struct profile *out, uint32_t (*place)(void *ctx, uint32_t parent, uint64_t key), void *ctx)
{
	struct placing g = {a, out, place, ctx};
	struct map64 listed = {0};
	const struct thread_past **order = xmalloc(p->n_each * sizeof(*order) + 1);

	for (size_t i = 0; i < p->n_each; i++) {
		order[i] = &p->each[i];
		if (p->each[i].number != PROFILE_NONE)
			map64_add(&listed, p->each[i].number, 1);
	}
	qsort(order, p->n_each, sizeof(*order), by_number);
	out->each = xrealloc(out->each, (out->n_each + p->n_each) * sizeof(*out->each) + 1);
	for (size_t i = 0; i < p->n_each; i++) {
		const struct thread_past *t = order[i];
		uint64_t since =
			t->start_ticks > p->start_ticks ? t->start_ticks - p->start_ticks : 0;

		out->each[out->n_each] = (struct profile_thread){.rank = rank,
			.number = t->number,
			.parent = t->parent,
			.threads = t->threads,
			.tid = t->tid,
			.name = xstrdup(t->name),
			.start_ns = clocks_ns(&a->clocks, since),
			.alive_ns = clocks_ns(&a->clocks, t->alive_ticks),
			.function_ns = clocks_ns(&a->clocks, t->function_ticks),
			.calls = t->calls,
			.records = t->records,
			.lost_calls = t->lost,
			.team_ns = clocks_ns(&a->clocks, t->team_ticks),
			.team_parts = t->team_parts,
			.blocked_ns = t->blocked_ns,
			.sends = t->sends,
			.receives = t->receives,
			.bytes_sent = t->bytes_sent,
			.bytes_received = t->bytes_received};
		add_late(p, t, &listed, &out->each[out->n_each]);
		if (t->n_nodes)
			add_stacks(&g, t, (uint32_t)out->n_each);
		add_counts(out, t, (uint32_t)out->n_each, NULL);
		out->n_each++;
	}
	add_ranges(&g, p, rank);
	map64_free(&listed);
	free(order);
}

static int by_thread(const void *a, const void *b)
{
	const struct profile_thread_count *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return x->counter < y->counter ? -1 : x->counter > y->counter;
}

static void store_counts(struct profile *p, const uint32_t *id)
{
	struct profile_thread_count *c = p->thread_counts;
	size_t kept = 0;

	for (size_t i = 0; i < p->n_thread_counts; i++)
		if (c[i].stack != PROFILE_NONE)
			c[i].stack = id[c[i].stack];
	if (p->n_thread_counts)
		qsort(c, p->n_thread_counts, sizeof(*c), by_thread);
	for (size_t i = 0; i < p->n_thread_counts; i++)
		if (kept && !by_thread(&c[kept - 1], &c[i]))
			c[kept - 1].value += c[i].value;
		else
			c[kept++] = c[i];
	p->n_thread_counts = kept;
}

void gather_threads_store(struct profile *p, const uint32_t *id)
{
	const struct profile_list *l = profile_lists;

	store_counts(p, id);
	for (size_t i = 0; i < p->n_thread_stacks; i++)
		p->thread_stacks[i].stack = id[p->thread_stacks[i].stack];
	for (size_t i = 0; i < p->n_thread_ranges; i++)
		p->thread_ranges[i].stack = id[p->thread_ranges[i].stack];
	while (l->array != offsetof(struct profile, thread_ranges))
		l++;
	gather_combine(p, l);
}
