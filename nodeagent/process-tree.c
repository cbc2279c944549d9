/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process-tree.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/map64.h"
#include "nodeagent/util.h"

struct started {
	double s;
	uint32_t index;
};

static int by_start(const void *a, const void *b)
{
	const struct started *x = a, *y = b;

	if (x->s != y->s)
		return x->s < y->s ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static uint32_t *none(size_t n)
{
	uint32_t *all = xmalloc(n * sizeof(*all) + 1);

	memset(all, 0xff, n * sizeof(*all));
	return all;
}

/*
 * In the order of their starts, so that a pid that was used twice means the
 * process that had it then. next_life[i] is what process i became by exec.
 */
static void find_parents(struct process_tree *t, const struct profile *p, uint32_t *next_life)
{
	struct started *order = xmalloc(p->n_processes * sizeof(*order) + 1);
	struct map64 last = {0}; /* by pid */

	for (size_t i = 0; i < p->n_processes; i++)
		order[i] = (struct started){p->processes[i].started_s, (uint32_t)i};
	qsort(order, p->n_processes, sizeof(*order), by_start);
	for (size_t k = 0; k < p->n_processes; k++) {
		uint32_t i = order[k].index;
		const struct profile_process *q = &p->processes[i];
		const uint32_t *before = map64_find(&last, (uint32_t)q->pid);
		const uint32_t *parent = map64_find(&last, (uint32_t)q->parent_pid);

		if (before && p->processes[*before].end == PROCESS_EXECED) {
			next_life[*before] = i;
			t->parent[i] = t->parent[*before];
			t->life[i] = t->life[*before] + 1;
		} else if (parent && q->parent_pid > 0 && q->parent_pid != q->pid) {
			t->parent[i] = *parent;
		}
		map64_add(&last, (uint32_t)q->pid, i);
	}
	map64_free(&last);
	free(order);
}

void process_tree_init(struct process_tree *t, const struct profile *p)
{
	uint32_t *next_life = none(p->n_processes);

	t->first = PROFILE_NONE;
	t->parent = none(p->n_processes);
	t->child = none(p->n_processes);
	t->sibling = none(p->n_processes);
	t->life = xcalloc(p->n_processes + 1, sizeof(*t->life));
	t->level = xcalloc(p->n_processes + 1, sizeof(*t->level));
	find_parents(t, p, next_life);
	/* from the last to the first, so that children are in the order of processes[] */
	for (size_t i = p->n_processes; i-- > 0;) {
		uint32_t above = t->parent[i], last = (uint32_t)i;
		uint32_t *head = above == PROFILE_NONE ? &t->first : &t->child[above];

		if (t->life[i])
			continue;
		for (; next_life[last] != PROFILE_NONE; last = t->sibling[last])
			t->sibling[last] = next_life[last];
		t->sibling[last] = *head;
		*head = (uint32_t)i;
	}
	free(next_life);
}

void process_tree_done(struct process_tree *t)
{
	free(t->parent);
	free(t->child);
	free(t->sibling);
	free(t->life);
	free(t->level);
}

uint32_t process_tree_next(struct process_tree *t, uint32_t i)
{
	if (t->child[i] != PROFILE_NONE) {
		t->level[t->child[i]] = t->level[i] + 1;
		return t->child[i];
	}
	while (i != PROFILE_NONE && t->sibling[i] == PROFILE_NONE)
		i = t->parent[i];
	if (i == PROFILE_NONE)
		return i;
	t->level[t->sibling[i]] = t->level[i];
	return t->sibling[i];
}
