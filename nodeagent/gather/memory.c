/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process allocated, on its way into a profile. */
#include "nodeagent/gather/internal.h"

#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/memory.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/memory.h"

/* Sums of what came and went may end a little below 0. */
static uint64_t to_count(double x)
{
	return x > 0 ? x < 1e18 ? (uint64_t)(x + 0.5) : (uint64_t)1e18 : 0;
}

static unsigned __int128 to_wide_count(double x)
{
	return x > 0 ? x < 1e36 ? (unsigned __int128)(x + 0.5) : (unsigned __int128)1e36 : 0;
}

static void add_path(
	const struct gather_from *from, const struct node_memory *m, uint32_t stack, uint32_t last)
{
	struct profile_memory *to = profile_add(from->out, PROFILE_MEMORY);
	const double ns_per_tick = from->host->clocks.ns_per_tick;

	*to = (struct profile_memory){.stack = stack,
		.ranks = 1,
		.records = m->records,
		.allocations = to_count(m->allocations),
		.bytes = to_count(m->bytes),
		.bytes_variance = to_wide_count(m->variance),
		.largest = m->largest,
		.mapped_bytes = m->mapped,
		.frees = to_count(m->frees),
		.other_thread = to_count(m->other_thread),
		.lifetime_ns = to_wide_count(m->lifetime * ns_per_tick),
		.live_blocks = to_count(m->live_blocks),
		.live_bytes = to_count(m->live),
		.live_variance = to_wide_count(m->live_variance),
		.live_age_ns = to_wide_count(m->age * ns_per_tick),
		.peak_bytes = to_count(node_memory_held(m, last))};
}

static void add_rank(const struct gather_from *from, const struct memory_totals *t, size_t first)
{
	struct profile_memory_rank *to = profile_add(from->out, PROFILE_MEMORY_RANKS);

	*to = (struct profile_memory_rank){.rank = from->rank,
		.processes = 1,
		.allocations = t->allocations,
		.bytes = t->bytes,
		.frees = t->frees,
		.not_followed = t->not_followed,
		.peak_ns = t->peak_ticks > from->p->start_ticks
				   ? clocks_ns(&from->host->clocks,
					     t->peak_ticks - from->p->start_ticks)
				   : 0};
	for (size_t i = first; i < from->out->n_memory; i++) {
		to->peak_bytes += from->out->memory[i].peak_bytes;
		to->live_bytes += from->out->memory[i].live_bytes;
		to->live_blocks += from->out->memory[i].live_blocks;
	}
}

void gather_memory(const struct gather_from *from)
{
	const struct memory_totals totals = memory_totals(from->p->memory);
	struct calltree *tree = from->p->ended_tree;
	const size_t first = from->out->n_memory;

	if (!from->p->memory)
		return;
	memory_note_ages(from->p->memory, from->p->end_ticks);
	for (size_t i = 0; i < calltree_nodes(tree); i++) {
		const struct node_extra *extra = calltree_at(tree, i)->extra;
		const struct node_memory *m =
			extra && extra->memory ? node_memory_now(extra->memory) : NULL;

		if (m && (m->records || m->live > 0.5))
			add_path(from, m, from->node[i], totals.stretch);
	}
	/* one rank at each stack, however many nodes it has */
	if (from->out->n_memory > first)
		profile_combine_from(from->out, PROFILE_MEMORY, first);
	for (size_t i = first; i < from->out->n_memory; i++)
		from->out->memory[i].ranks = 1;
	add_rank(from, &totals, first);
}
