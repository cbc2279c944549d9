/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/export/internal.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"

#define TREE_OUTSIDE_MAX 2048 /* deeper paths are folded when they are recorded */

static uint32_t node_below(struct tree *t, uint32_t caller, uint32_t key, uint32_t group)
{
	const uint64_t both = (uint64_t)caller << 32 | key;
	const uint32_t *found = map64_find(&t->below, both);

	if (found)
		return *found;
	map64_add(&t->below, both, (uint32_t)t->n);
	t->nodes = grow(t->nodes, t->n, &t->cap, sizeof(*t->nodes));
	t->nodes[t->n] = (struct tree_node){.caller = caller, .group = group, .region = key};
	return (uint32_t)t->n++;
}

void tree_init(struct tree *t, const struct exporter *x, bool sum)
{
	*t = (struct tree){.x = x, .sum = sum};
	t->threads = xcalloc(x->n_threads, sizeof(*t->threads));
	t->nodes = grow(t->nodes, 0, &t->cap, sizeof(*t->nodes));
	t->nodes[t->n++] = (struct tree_node){0};
	for (size_t i = 0; !sum && i < x->n_processes; i++)
		node_below(t, 0, (uint32_t)i, (uint32_t)i);
}

void tree_free(struct tree *t)
{
	free(t->nodes);
	free(t->threads);
	map64_free(&t->below);
}

bool tree_is_group(const struct tree *t, uint32_t node)
{
	return !t->sum && node && !t->nodes[node].caller;
}

/* The node of what has called that stack of the thread, maybe on another thread. */
static uint32_t outside(struct tree *t, const struct export_event *e, uint32_t root)
{
	uint32_t path[TREE_OUTSIDE_MAX], n = 0, region, stack = e->stack;

	while (n < TREE_OUTSIDE_MAX &&
		(stack = export_caller(t->x, e->thread, stack, &region)) != VFD_NONE)
		path[n++] = region;
	while (n)
		root = node_below(t, root, path[--n], e->thread->process);
	return root;
}

void tree_event(struct tree *t, const struct export_event *e)
{
	struct tree_thread *h = &t->threads[e->thread - t->x->threads];
	const uint32_t process = e->thread->process;
	const uint32_t root = t->sum ? 0 : process + 1;

	if (e->kind != EXPORT_ENTER && e->kind != EXPORT_EXIT)
		return;
	if (h->open) /* not what is outside all calls */
		t->nodes[h->open].exclusive += e->time - h->since;
	h->since = e->time;
	if (e->kind == EXPORT_ENTER) {
		if (!h->open && e->thread->stream)
			h->open = h->on = node_below(t, root, e->thread->region, process);
		else if (!h->open)
			h->open = h->on = outside(t, e, root);
		h->open = node_below(t, h->open, e->region, process);
		t->nodes[h->open].calls++;
	} else if (h->open) {
		h->open = t->nodes[h->open].caller;
		if (h->open == h->on)
			h->open = 0;
	}
}
