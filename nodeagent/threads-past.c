/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/threads-past.h"

#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
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

/* The tree as an array. KEY_DEEP gets the sum of what is below it: calltree.h. */
static void keep_nodes(struct thread_past *past, struct calltree *tree)
{
	struct map64 place = {0};

	past->n_nodes = calltree_nodes(tree);
	past->nodes = xcalloc(past->n_nodes, sizeof(*past->nodes));
	for (size_t i = 0; i < past->n_nodes; i++) {
		const struct node *n = calltree_at(tree, i);
		struct past_node *to = &past->nodes[i];

		*to = (struct past_node){.key = n->key,
			.calls = n->calls,
			.lost = n->extra ? n->extra->lost : 0,
			.ticks = n->key == KEY_DEEP ? 0 : n->ticks,
			.parent = i ? *map64_find(&place, (uintptr_t)n->parent) : PROFILE_NONE};
		if (i && n->parent->key == KEY_DEEP)
			past->nodes[to->parent].ticks += n->ticks;
		map64_add(&place, (uintptr_t)n, (uint32_t)i);
	}
	map64_free(&place);
}

static struct thread_past *new_entry(struct process *p)
{
	p->each = grow(p->each, p->n_each, &p->cap_each, sizeof(*p->each));
	return memset(&p->each[p->n_each++], 0, sizeof(*p->each));
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

	if (!strcmp(wanted, "none"))
		return;
	full = (p->n_each && p->each[p->n_each - 1].number == PROFILE_NONE) ||
	       p->n_each >= THREADS_KEPT ||
	       (all && p->each_nodes + calltree_nodes(tree) > PAST_NODES_MAX);
	past = full ? others(p) : new_entry(p);
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
	past->alive_ticks += calltree_root(tree)->ticks;
	past->function_ticks += function_ticks(tree);
	past->calls += c->calls;
	past->records += c->records;
	past->lost += c->lost;
	past->blocked_ns += load_relaxed(&t->ring.producer->blocked_ns);
}
