/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/process-tree.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

#define AT_ONCE_S 0.1 /* an end is noticed so much late */

struct started {
	double s;
	uint32_t index;
};

ORDER_BY(by_start, struct started, RISING(s) ?: RISING(index))

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
			t->forest.parent[i] = t->forest.parent[*before];
			t->life[i] = t->life[*before] + 1;
		} else if (parent && q->parent_pid > 0 && q->parent_pid != q->pid) {
			t->forest.parent[i] = *parent;
		}
		map64_add(&last, (uint32_t)q->pid, i);
	}
	map64_free(&last);
	free(order);
}

void process_tree_init(struct process_tree *t, const struct profile *p)
{
	const size_t bytes = p->n_processes * sizeof(uint32_t);
	uint32_t *next_life = memset(xmalloc(bytes + 1), 0xff, bytes);

	forest_init(&t->forest, p->n_processes);
	t->life = xcalloc(p->n_processes + 1, sizeof(*t->life));
	find_parents(t, p, next_life);
	/* from the last to the first, so that children are in the order of processes[] */
	for (size_t i = p->n_processes; i-- > 0;) {
		uint32_t last = (uint32_t)i;

		if (t->life[i])
			continue;
		for (; next_life[last] != FOREST_NONE; last = next_life[last])
			t->forest.sibling[last] = next_life[last];
		forest_put_first(&t->forest, (uint32_t)i, last);
	}
	free(next_life);
}

void process_tree_done(struct process_tree *t)
{
	forest_done(&t->forest);
	free(t->life);
}

/* The last life of a process. */
static const struct profile_process *last_life(
	const struct process_tree *t, const struct profile *p, uint32_t i)
{
	uint32_t next = t->forest.sibling[i];

	for (; next != FOREST_NONE && t->life[next]; next = t->forest.sibling[i])
		i = next;
	return &p->processes[i];
}

static bool ended_well_after(const struct profile_process *q, double s)
{
	if (q->end == PROCESS_RUNNING)
		return true;
	return q->end == PROCESS_EXITED && q->exit_status <= 0 &&
	       q->started_s + q->runtime_s + AT_ONCE_S >= s;
}

static bool is_outlived(const struct process_tree *t, const struct profile *p, uint32_t i)
{
	const double end_s = p->processes[i].started_s + p->processes[i].runtime_s;

	if (p->processes[i].end != PROCESS_KILLED)
		return false;
	while ((i = t->forest.parent[i]) != FOREST_NONE)
		if (ended_well_after(last_life(t, p, i), end_s))
			return true;
	return false;
}

void process_tree_mark_outlived(struct profile *p)
{
	struct process_tree t;
	struct map64 outlived = {0}; /* by rank */

	if (!p->n_dead)
		return;
	process_tree_init(&t, p);
	for (uint32_t i = 0; i < p->n_processes; i++) {
		p->processes[i].outlived = is_outlived(&t, p, i);
		if (p->processes[i].outlived)
			map64_add(&outlived, p->processes[i].rank, i);
	}
	for (size_t i = 0; i < p->n_dead; i++)
		p->dead[i].outlived = map64_find(&outlived, p->dead[i].rank);
	map64_free(&outlived);
	process_tree_done(&t);
}
