/* SPDX-License-Identifier: BSD-3-Clause */
/* The ended threads of processes: ended_threads[], thread_stacks[], thread_ranges[] of a profile.
 */
#include "nodeagent/gather/internal.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/base/map.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/process/threads-ended.h"
#include "nodeagent/process/threads.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/base/util.h"

static void add_count(
	struct profile *out, uint32_t thread, uint32_t stack, uint32_t counter, uint64_t value)
{
	struct profile_thread_count *to = value ? profile_add(out, PROFILE_THREAD_COUNTS) : NULL;

	if (to)
		*to = (struct profile_thread_count){
			.thread = thread, .stack = stack, .counter = counter, .value = value};
}

/* What hardware counters counted; node: its nodes in the union tree, or NULL. */
static void add_counts(struct profile *out, const struct ended_thread *ended, uint32_t thread,
	const uint32_t *node)
{
	uint32_t n = ended->n_counters;
	size_t nodes = node && ended->node_counts ? ended->n_nodes : 0;

	for (size_t i = 0; i < nodes; i++)
		for (uint32_t k = 0; k < n; k++)
			add_count(out, thread, node[i], k, ended->node_counts[i * n + k]);
	for (uint32_t k = 0; !node && k < n; k++)
		add_count(out, thread, PROFILE_NONE, k, ended->counts[k]);
}

/*
 * Frames of one name below the same caller are one stack. While they are added
 * up, incl_ns are ticks and excl_ns the time of what is below.
 */
static void add_stacks(
	const struct gather_from *from, const struct ended_thread *ended, uint32_t thread)
{
	struct profile *out = from->out;
	struct map64 seen = {0}; /* node of the union tree -> place in thread_stacks */
	uint32_t *node = xmalloc(ended->n_nodes * sizeof(*node) + 1);
	size_t first = out->n_thread_stacks;
	uint32_t *caller = xmalloc(ended->n_nodes * sizeof(*caller) + 1);

	for (size_t i = 0; i < ended->n_nodes; i++) {
		const struct ended_node *at = &ended->nodes[i];
		uint32_t above = at->parent == PROFILE_NONE ? PROFILE_NONE : node[at->parent];
		struct profile_thread_stack *to;
		uint32_t *known;

		node[i] = gather_node(from, above, at->key);
		known = map64_find(&seen, node[i]);
		if (known && node[i] == above) { /* left out: its time is its caller's */
			out->thread_stacks[*known].lost_calls += at->lost;
			continue;
		}
		if (!known) {
			caller[out->n_thread_stacks - first] =
				above == PROFILE_NONE ? PROFILE_NONE : *map64_find(&seen, above);
			map64_add(&seen, node[i], (uint32_t)out->n_thread_stacks);
			to = profile_add(out, PROFILE_THREAD_STACKS);
			*to = (struct profile_thread_stack){.thread = thread, .stack = node[i]};
			known = map64_find(&seen, node[i]);
		}
		to = &out->thread_stacks[*known];
		to->calls += at->calls;
		to->lost_calls += at->lost;
		to->incl_ns += at->ticks;
	}
	for (size_t i = out->n_thread_stacks; i-- > first;) {
		struct profile_thread_stack *s = &out->thread_stacks[i];
		uint64_t below = s->excl_ns;

		s->incl_ns = clocks_ns(&from->host->clocks, s->incl_ns);
		if (s->incl_ns < below)
			s->incl_ns = below; /* rounding */
		s->excl_ns = s->incl_ns - below;
		if (caller[i - first] != PROFILE_NONE)
			out->thread_stacks[caller[i - first]].excl_ns += s->incl_ns;
	}
	add_counts(out, ended, thread, node);
	free(node);
	free(caller);
	map64_free(&seen);
}

/* Where nodes of one name have one caller, a thread counts once for each of them. */
static void add_ranges(const struct gather_from *from)
{
	const struct process *p = from->p;
	const struct clocks *c = &from->host->clocks;
	size_t nodes = p->ranges ? calltree_nodes(p->ended_tree) : 0;
	struct map64 stack_at = {0};

	for (size_t i = 0; i < nodes; i++) {
		const struct node *n = calltree_at(p->ended_tree, i);
		const struct thread_range *r = threads_ended_range_of(p, n);
		uint32_t above = i ? *map64_find(&stack_at, (uintptr_t)n->parent) : PROFILE_NONE;
		uint32_t here = gather_node(from, above, n->key);
		struct profile_thread_range *to;

		map64_add(&stack_at, (uintptr_t)n, here);
		if (!r || here == above)
			continue;
		to = profile_add(from->out, PROFILE_THREAD_RANGES);
		*to = (struct profile_thread_range){.stack = here,
			.threads = r->threads,
			.min_ns = clocks_ns(c, r->min),
			.max_ns = clocks_ns(c, r->max),
			.rank_min = from->rank,
			.thread_min = r->thread_min,
			.rank_max = from->rank,
			.thread_max = r->thread_max};
	}
	map64_free(&stack_at);
}

/* What its requests became after its end; the entry of many threads has those of many. */
static void add_late(const struct process *p, const struct ended_thread *ended,
	const struct map64 *listed, struct profile_thread *to)
{
	size_t n;
	const struct traffic_thread *late = traffic_late(p->traffic, &n);

	for (size_t i = 0; i < n; i++) {
		if (ended->number == PROFILE_NONE ? map64_find(listed, late[i].thread) != NULL
						  : late[i].thread != ended->number)
			continue;
		to->sends += late[i].sends;
		to->receives += late[i].receives;
		to->bytes_sent += late[i].bytes_sent;
		to->bytes_received += late[i].bytes_received;
	}
}

ORDER_POINTERS_BY(by_number, struct ended_thread, RISING(number))

void gather_threads(const struct gather_from *from)
{
	const struct process *p = from->p;
	const struct clocks *c = &from->host->clocks;
	struct profile *out = from->out;
	struct map64 listed = {0};
	const struct ended_thread **order;

	if (!from->threads && !strcmp(from->host->conf->profile_table_threads, "none"))
		return;
	order = xmalloc(p->n_ended_threads * sizeof(*order));
	for (size_t i = 0; i < p->n_ended_threads; i++) {
		order[i] = &p->ended_threads[i];
		if (p->ended_threads[i].number != PROFILE_NONE)
			map64_add(&listed, p->ended_threads[i].number, 1);
	}
	qsort(order, p->n_ended_threads, sizeof(*order), by_number);
	for (size_t i = 0; i < p->n_ended_threads; i++) {
		const struct ended_thread *t = order[i];
		uint64_t since =
			t->start_ticks > p->start_ticks ? t->start_ticks - p->start_ticks : 0;
		uint32_t number = (uint32_t)out->n_ended_threads;
		struct profile_thread *to = profile_add(out, PROFILE_EACH);

		*to = (struct profile_thread){.rank = from->rank,
			.number = t->number,
			.parent = t->parent,
			.threads = t->threads,
			.tid = t->tid,
			.name = xstrdup(t->name),
			.start_ns = clocks_ns(c, since),
			.alive_ns = clocks_ns(c, t->alive_ticks),
			.function_ns = clocks_ns(c, t->function_ticks),
			.calls = t->calls,
			.records = t->records,
			.lost_calls = t->lost,
			.team_ns = clocks_ns(c, t->team_ticks),
			.team_parts = t->team_parts,
			.team_wait_ns = clocks_ns(c, t->team_wait),
			.team_join_ns = clocks_ns(c, t->team_join),
			.blocked_ns = t->blocked_ns,
			.sends = t->sends,
			.receives = t->receives,
			.bytes_sent = t->bytes_sent,
			.bytes_received = t->bytes_received};
		add_late(p, t, &listed, to);
		if (t->n_nodes)
			add_stacks(from, t, number);
		add_counts(out, t, number, NULL);
	}
	add_ranges(from);
	map64_free(&listed);
	free(order);
}

ORDER_BY(by_thread, struct profile_thread_count, RISING(thread) ?: RISING(stack) ?: RISING(counter))

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
	store_counts(p, id);
	for (size_t i = 0; i < p->n_thread_stacks; i++)
		p->thread_stacks[i].stack = id[p->thread_stacks[i].stack];
}
