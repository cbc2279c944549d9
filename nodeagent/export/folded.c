/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folded stacks: a line "rank 3;main;work 1234" per call path with its exclusive
 * time in ns, as flame graph programs read it. With --sum, without the ranks.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/export/internal.h"
#include "nodeagent/base/util.h"

struct folded {
	struct exporter *x;
	struct tree tree;
};

void *folded_begin(struct exporter *x)
{
	struct folded *f = xcalloc(1, sizeof(*f));

	f->x = x;
	tree_init(&f->tree, x, x->options->sum);
	return f;
}

void folded_event(void *state, const struct export_event *e)
{
	struct folded *f = state;

	tree_event(&f->tree, e);
}

/* The line has two marks of its own: ';' between names, and the last blank. */
static void put_name(FILE *to, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : (unsigned char)*name < ' ' ? ' ' : *name, to);
}

static void put_path(struct folded *f, uint32_t node)
{
	const struct tree_node *n = &f->tree.nodes[node];

	if (tree_is_group(&f->tree, node)) {
		const struct export_process *p = &f->x->processes[n->group];

		if (p->shown >= 0)
			fprintf(f->x->out, "rank %d", p->shown);
		else
			put_name(f->x->out, p->name);
		return;
	}
	if (n->caller) {
		put_path(f, n->caller);
		putc(';', f->x->out);
	}
	put_name(f->x->out, f->x->regions[n->region].name);
}

struct place {
	int64_t shown;
	uint32_t group, node;
};

ORDER_BY(by_rank, struct place, RISING(shown) ?: RISING(group) ?: RISING(node))

/* Processes without a rank are the last. */
static struct place place_of(const struct tree *t, uint32_t node)
{
	const uint32_t group = t->nodes[node].group;
	const int32_t shown = t->sum ? 0 : t->x->processes[group].shown;

	return (struct place){shown < 0 ? INT64_MAX : shown, t->sum ? 0 : group, node};
}

/* The nodes in the order of the ranks, whichever was seen first; the caller frees. */
static struct place *places_of(const struct tree *t)
{
	struct place *all = xcalloc(t->n, sizeof(*all));

	for (uint32_t i = 1; i < t->n; i++)
		all[i] = place_of(t, i);
	qsort(all + 1, t->n - 1, sizeof(*all), by_rank); /* node 0 is the root */
	return all;
}

void folded_end(void *state, bool good)
{
	struct folded *f = state;
	struct place *all = places_of(&f->tree);

	for (uint32_t i = 1; good && i < f->tree.n; i++) {
		const uint32_t node = all[i].node;

		if (!f->tree.nodes[node].exclusive)
			continue;
		put_path(f, node);
		fprintf(f->x->out, " %" PRIu64 "\n", f->tree.nodes[node].exclusive);
	}
	free(all);
	tree_free(&f->tree);
	free(f);
}
