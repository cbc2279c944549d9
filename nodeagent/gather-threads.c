/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gather-threads.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/map64.h"
#include "nodeagent/process.h"
#include "nodeagent/profile.h"
#include "nodeagent/threads.h"
#include "nodeagent/util.h"

struct placing {
	struct agent *agent;
	struct profile *out;
	uint32_t (*place)(void *ctx, uint32_t parent, uint64_t key);
	void *ctx;
};

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
	free(node);
	free(caller);
	map64_free(&seen);
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
	const struct thread_past **order = xmalloc(p->n_each * sizeof(*order) + 1);

	for (size_t i = 0; i < p->n_each; i++)
		order[i] = &p->each[i];
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
			.blocked_ns = t->blocked_ns};
		if (t->n_nodes)
			add_stacks(&g, t, (uint32_t)out->n_each);
		out->n_each++;
	}
	free(order);
}

void gather_threads_store(struct profile *p, const uint32_t *id)
{
	for (size_t i = 0; i < p->n_thread_stacks; i++)
		p->thread_stacks[i].stack = id[p->thread_stacks[i].stack];
}
