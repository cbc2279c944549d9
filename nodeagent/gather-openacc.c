/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gather-openacc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/calltree.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/map64.h"
#include "nodeagent/openacc.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/regions.h"
#include "nodeagent/util.h"

static bool has_any(const struct process *p)
{
	for (size_t i = 0; i < p->n_regions; i++)
		if (regions_openacc(p, RECORD_REGION_KEY(i)))
			return true;
	return false;
}

/* The ticks of each node in which no event of OpenACC below it ran. */
static uint64_t *own_ticks(const struct process *p, struct calltree *t)
{
	size_t n = calltree_nodes(t);
	uint64_t *own = xcalloc(n, sizeof(*own));
	struct map64 index = {0};

	for (size_t i = 0; i < n; i++) {
		struct node *node = calltree_at(t, i), *up = node->parent;
		uint64_t *above;

		if (!regions_openacc(p, node->key))
			continue;
		map64_add(&index, (uintptr_t)node, (uint32_t)i);
		own[i] = node->ticks;
		while (up && !regions_openacc(p, up->key))
			up = up->parent;
		if (!up)
			continue;
		above = &own[*map64_find(&index, (uintptr_t)up)];
		*above -= node->ticks < *above ? node->ticks : *above;
	}
	map64_free(&index);
	return own;
}

/* "heat.c", "42-50": as the runtime tells, else from the address of the call. */
static char *position(const struct process *p, uint64_t key, const struct openacc_region *r)
{
	const char *place = regions_address_place(p, key), *colon;

	if (r->file[0] && r->last > r->line)
		return xasprintf("%s\n%" PRIu32 "-%" PRIu32, r->file, r->line, r->last);
	if (r->file[0] && r->line)
		return xasprintf("%s\n%" PRIu32, r->file, r->line);
	if (r->file[0] || !place)
		return xasprintf("%s\n", r->file);
	colon = strrchr(place, ':');
	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return xasprintf("%s\n", place);
	return xasprintf("%.*s\n%s", (int)(colon - place), place, colon + 1);
}

static char *text_of(const struct process *p, uint64_t key, const struct openacc_region *r)
{
	char *at = position(p, key, r), *text = xasprintf("%s\n%s\n%s", at, r->function, r->name);

	free(at);
	return text;
}

/* Those of one process, from `first` on: regions that differ by no more than their number. */
static void join(struct profile *out, size_t first)
{
	size_t kept = first;

	qsort(out->openacc + first, out->n_openacc - first, sizeof(*out->openacc),
		profile_openacc_cmp);
	for (size_t i = first; i < out->n_openacc; i++) {
		struct profile_openacc *o = &out->openacc[i];

		if (kept > first && !profile_openacc_cmp(&out->openacc[kept - 1], o)) {
			profile_openacc_add(&out->openacc[kept - 1], o);
			free(o->text);
			continue;
		}
		out->openacc[kept++] = *o;
	}
	out->n_openacc = kept;
	for (size_t i = first; i < kept; i++) {
		struct profile_openacc *o = &out->openacc[i];

		o->ranks = 1;
		o->calls_min = o->calls_max = o->calls;
	}
}

void gather_openacc_tree(struct agent *a, const struct process *p, struct calltree *tree,
	const uint32_t *place, struct profile *out)
{
	size_t n = calltree_nodes(tree), first = out->n_openacc, cap = first;
	uint64_t *own;

	if (!has_any(p))
		return;
	own = own_ticks(p, tree);
	for (size_t i = 0; i < n; i++) {
		struct node *node = calltree_at(tree, i);
		const struct openacc_region *r = regions_openacc(p, node->key);

		if (!r || (!node->calls && !node->ticks))
			continue;
		out->openacc = grow(out->openacc, out->n_openacc, &cap, sizeof(*out->openacc));
		out->openacc[out->n_openacc++] = (struct profile_openacc){.stack = place[i],
			.event = r->event,
			.parent = r->parent,
			.calls = node->calls,
			.ns = clocks_ns(&a->clocks, node->ticks),
			.own_ns = clocks_ns(&a->clocks, own[i]),
			.bytes = node->extra ? node->extra->openacc_bytes : 0,
			.text = text_of(p, node->key, r)};
	}
	free(own);
	if (out->n_openacc > first)
		join(out, first);
}

void gather_openacc_store(struct profile *p, const uint32_t *id)
{
	const struct profile_list *l = profile_lists;

	profile_openacc_place(p, id);
	while (l->array != offsetof(struct profile, openacc))
		l++;
	gather_combine(p, l);
}
