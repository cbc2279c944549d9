/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of OpenACC on their way into a profile. */
#include "nodeagent/gather/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/process/host.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/base/map.h"
#include "nodeagent/replay/openacc.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/base/util.h"

static bool has_any(const struct process *p)
{
	return ANY(i, p->n_regions, regions_openacc(p, RECORD_REGION_KEY(i)));
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
	const char *stack_at = regions_address_location(p, key), *colon;

	if (r->file[0] && r->last > r->line)
		return xasprintf("%s\n%" PRIu32 "-%" PRIu32, r->file, r->line, r->last);
	if (r->file[0] && r->line)
		return xasprintf("%s\n%" PRIu32, r->file, r->line);
	if (r->file[0] || !stack_at)
		return xasprintf("%s\n", r->file);
	colon = strrchr(stack_at, ':');
	if (!colon || !colon[1] || colon[1 + strspn(colon + 1, "0123456789")])
		return xasprintf("%s\n", stack_at);
	return xasprintf("%.*s\n%s", (int)(colon - stack_at), stack_at, colon + 1);
}

static char *text_of(const struct process *p, uint64_t key, const struct openacc_region *r)
{
	char *at = position(p, key, r), *text = xasprintf("%s\n%s\n%s", at, r->function, r->name);

	free(at);
	return text;
}

/* Those of one process, from `first` on: regions that differ by no more than their number. */
static void combine_events(struct profile *out, size_t first)
{
	profile_combine_from(out, PROFILE_OPENACC, first);
	for (size_t i = first; i < out->n_openacc; i++) {
		struct profile_openacc *o = &out->openacc[i];

		o->ranks = 1;
		o->calls_min = o->calls_max = o->calls;
	}
}

void gather_openacc(const struct gather_from *from)
{
	const struct process *p = from->p;
	const struct clocks *c = &from->host->clocks;
	struct profile *out = from->out;
	size_t n = calltree_nodes(p->ended_tree), first = out->n_openacc;
	uint64_t *own;

	if (!has_any(p))
		return;
	own = own_ticks(p, p->ended_tree);
	for (size_t i = 0; i < n; i++) {
		struct node *node = calltree_at(p->ended_tree, i);
		const struct openacc_region *r = regions_openacc(p, node->key);
		struct profile_openacc *to;

		if (!r || (!node->calls && !node->ticks))
			continue;
		to = profile_add(out, PROFILE_OPENACC);
		*to = (struct profile_openacc){.stack = from->node[i],
			.event = r->event,
			.parent = r->parent,
			.calls = node->calls,
			.ns = clocks_ns(c, node->ticks),
			.own_ns = clocks_ns(c, own[i]),
			.bytes = node->extra ? node->extra->openacc_bytes : 0,
			.text = text_of(p, node->key, r)};
	}
	free(own);
	if (out->n_openacc > first)
		combine_events(out, first);
}
