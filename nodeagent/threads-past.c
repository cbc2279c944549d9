/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/threads-past.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/counters.h"
#include "nodeagent/map64.h"
#include "nodeagent/process.h"
#include "nodeagent/threads.h"
#include "shm/atomic.h"

/* Time below the root: that of the functions called there. */
static uint64_t function_ticks(struct calltree *tree)
{
	const struct node *root = calltree_root(tree);
	uint64_t sum = 0;

	for (size_t i = 1; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		if (n->parent == root)
			sum += n->ticks;
	}
	return sum;
}

static const struct node_counters *counters_of(const struct node *n)
{
	return n->extra ? n->extra->counters : NULL;
}

static void add_counts(uint64_t *to, uint32_t n_counters, const struct node *n)
{
	const struct node_counters *from = counters_of(n);

	for (uint32_t i = 0; from && i < from->n && i < n_counters; i++)
		to[i] += from->of[i];
}

/* The tree as an array. KEY_DEEP gets the sum of what is below it: calltree.h. */
static void keep_nodes(struct thread_past *past, struct calltree *tree)
{
	struct map64 place = {0};

	past->nodes = xcalloc(calltree_nodes(tree), sizeof(*past->nodes));
	if (past->n_counters)
		past->node_counts =
			xcalloc(calltree_nodes(tree) * past->n_counters, sizeof(uint64_t));
	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);
		struct past_node *to = &past->nodes[past->n_nodes];

		if (i && (key_is_shell(n->key) || !map64_find(&place, (uintptr_t)n->parent)))
			continue; /* an empty shell */
		*to = (struct past_node){.key = n->key,
			.calls = n->calls,
			.lost = n->extra ? n->extra->lost : 0,
			.ticks = n->key == KEY_DEEP ? 0 : n->ticks,
			.parent = i ? *map64_find(&place, (uintptr_t)n->parent) : PROFILE_NONE};
		if (i && n->parent->key == KEY_DEEP)
			past->nodes[to->parent].ticks += n->ticks;
		if (past->n_counters)
			add_counts(past->node_counts + past->n_nodes * past->n_counters,
				past->n_counters, n);
		map64_add(&place, (uintptr_t)n, (uint32_t)past->n_nodes++);
	}
	map64_free(&place);
}

static struct thread_past *new_entry(struct process *p)
{
	p->each = grow(p->each, p->n_each, &p->cap_each, sizeof(*p->each));
	return memset(&p->each[p->n_each++], 0, sizeof(*p->each));
}

static void add_messages(struct thread_past *past, struct calltree *tree)
{
	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node *n = calltree_at(tree, i);

		if (!n->extra)
			continue;
		past->sends += n->extra->messages.sends;
		past->receives += n->extra->messages.receives;
		past->bytes_sent += n->extra->messages.bytes_sent;
		past->bytes_received += n->extra->messages.bytes_received;
	}
}

/* The entry that all further threads share: the last one. */
static struct thread_past *others(struct process *p)
{
	struct thread_past *last = p->n_each ? &p->each[p->n_each - 1] : NULL;

	if (last && last->number == PROFILE_NONE)
		return last;
	last = new_entry(p);
	last->number = last->parent = PROFILE_NONE;
	strcpy(last->name, "other threads");
	return last;
}

void threads_past_add(struct process *p, const struct thread_ring *t, struct calltree *tree)
{
	const char *wanted = p->agent->conf->profile_table_threads;
	const struct replay_counts *c = replay_counts(t->replay);
	bool all = !strcmp(wanted, "all"), full;
	struct thread_past *past;

	if (!strcmp(wanted, "none") && !strcmp(p->agent->conf->logfile_for_ranks, "none"))
		return;
	full = (p->n_each && p->each[p->n_each - 1].number == PROFILE_NONE) ||
	       p->n_each >= THREADS_KEPT ||
	       (all && p->each_nodes + calltree_nodes(tree) > PAST_NODES_MAX);
	past = full ? others(p) : new_entry(p);
	if (!past->counts && p->agent->counters->wanted.n) {
		past->n_counters = p->agent->counters->wanted.n;
		past->counts = xcalloc(past->n_counters, sizeof(*past->counts));
	}
	if (!full) {
		past->number = t->number;
		past->parent = t->parent;
		past->tid = t->tid;
		past->start_ticks = t->start_ticks;
		memcpy(past->name, t->name, sizeof(past->name));
		if (all) {
			keep_nodes(past, tree);
			p->each_nodes += past->n_nodes;
		}
	}
	past->threads++;
	past->alive_ticks += calltree_root(tree)->ticks + replay_blocked_ticks(t->replay);
	past->function_ticks += function_ticks(tree);
	past->calls += c->calls;
	past->records += c->records;
	past->lost += c->lost;
	past->blocked_ns += t->blocked_ns;
	past->team_ticks += replay_team_times(t->replay)->ticks;
	past->team_parts += replay_team_times(t->replay)->parts;
	add_messages(past, tree);
	for (size_t i = 0; past->n_counters && i < calltree_nodes(tree); i++)
		add_counts(past->counts, past->n_counters, calltree_at(tree, i));
}

void threads_past_done(struct thread_past *past)
{
	free(past->nodes);
	free(past->counts);
	free(past->node_counts);
}

/* ---- exclusive times over threads ------------------------------------------------- */

struct thread_ranges {
	struct map64 at; /* node of process.past -> index */
	struct thread_range *of;
	size_t n, cap;
};

static struct thread_range *range_of(struct thread_ranges *r, const struct node *n)
{
	const uint32_t *known = map64_find(&r->at, (uintptr_t)n);

	if (known)
		return &r->of[*known];
	map64_add(&r->at, (uintptr_t)n, (uint32_t)r->n);
	r->of = grow(r->of, r->n, &r->cap, sizeof(*r->of));
	r->of[r->n] = (struct thread_range){0};
	return &r->of[r->n++];
}

static void widen(struct thread_range *r, uint64_t ticks, uint32_t thread)
{
	if (!r->threads || ticks < r->min || (ticks == r->min && thread < r->thread_min)) {
		r->min = ticks;
		r->thread_min = thread;
	}
	if (!r->threads || ticks > r->max || (ticks == r->max && thread < r->thread_max)) {
		r->max = ticks;
		r->thread_max = thread;
	}
	r->threads++;
}

/* Of node i; of what is below KEY_DEEP it is what the node has, and KEY_DEEP has none. */
static uint64_t exclusive(struct calltree *tree, size_t i, const uint64_t *below)
{
	const struct node *n = calltree_at(tree, i);

	if (n->key == KEY_DEEP)
		return 0;
	return n->ticks > below[i] ? n->ticks - below[i] : 0;
}

void threads_past_range(struct process *p, const struct thread_ring *t, struct calltree *tree)
{
	size_t n = calltree_nodes(tree);
	struct map64 place = {0};
	uint64_t *below;

	if (!strcmp(p->agent->conf->profile_table_threads, "none"))
		return;
	if (!p->ranges)
		p->ranges = xcalloc(1, sizeof(*p->ranges));
	below = xcalloc(n, sizeof(*below));
	for (size_t i = 0; i < n; i++)
		map64_add(&place, (uintptr_t)calltree_at(tree, i), (uint32_t)i);
	for (size_t i = n; i-- > 1;) {
		const struct node *at = calltree_at(tree, i);
		uint32_t above = *map64_find(&place, (uintptr_t)at->parent);

		below[above] += at->key == KEY_DEEP ? below[i] : at->ticks;
	}
	for (size_t i = 0; i < n; i++) {
		const struct node *at = calltree_at(tree, i);
		uint64_t ticks = exclusive(tree, i, below);

		/* an empty shell has no place, and above a worker's frames are those of others */
		if (at->next && (at->calls || ticks || !i))
			widen(range_of(p->ranges, at->next), ticks, t->number);
	}
	free(below);
	map64_free(&place);
}

const struct thread_range *threads_past_range_of(const struct process *p, const struct node *n)
{
	const uint32_t *i = p->ranges ? map64_find(&p->ranges->at, (uintptr_t)n) : NULL;

	return i ? &p->ranges->of[*i] : NULL;
}

void threads_past_free(struct process *p)
{
	if (!p->ranges)
		return;
	map64_free(&p->ranges->at);
	free(p->ranges->of);
	free(p->ranges);
	p->ranges = NULL;
}
