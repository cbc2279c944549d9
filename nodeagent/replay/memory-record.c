/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks that were allocated and freed, for the process and for the frame on top. */
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/memory.h"
#include "shm/atomic.h"

void replay_set_memory(struct replay *r, struct memory *m)
{
	r->memory = m;
}

bool replay_take_memory(struct replay *r, const struct ring_record *rec)
{
	const uint32_t kind = MEMORY_KIND(rec->head);
	const uint64_t a = load_relaxed(&rec->word[1]), b = load_relaxed(&rec->word[2]);
	const uint64_t last = rec->last & ~MEMORY_MARK;
	const struct memory_record m = {.bytes = a,
		.block = MEMORY_BLOCK(b),
		.stretch = MEMORY_STRETCH(b),
		.peak = MEMORY_HAS(rec->head, MEMORY_PEAK),
		.mapped = MEMORY_HAS(rec->head, MEMORY_MAPPED),
		.ticks = last < r->not_after ? last : r->not_after,
		.thread = r->thread};

	if (kind >= MEMORY_KINDS || rec->head & RECORD_EXIT ||
		(kind == MEMORY_ALLOCATED && a >> 48)) {
		r->error = "a block of memory that cannot be";
		return false;
	}
	if (!r->memory || r->is_shadow)
		return true;
	if (kind == MEMORY_ALLOCATED)
		memory_allocated(r->memory, &calltree_extra(replay_node(r->top))->memory, &m);
	else if (kind == MEMORY_FREED)
		memory_freed(r->memory, &m);
	else if (kind == MEMORY_BELONGS)
		memory_belongs(r->memory, &calltree_extra(replay_node(r->top))->memory, m.block);
	else
		memory_counted(r->memory, a, b, last);
	return true;
}
