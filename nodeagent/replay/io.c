/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations of input and output, for the frame on top. None took longer than from the thread's
 * start to the latest time that is believed.
 */
#include "nodeagent/replay/internal.h"
#include "shm/atomic.h"

void replay_add_io(struct replay *r, enum record_io kind, int64_t bytes, uint64_t ticks)
{
	const uint64_t most = elapsed(r->start, r->not_after);
	struct node_io *io;

	if (ticks > most)
		ticks = most;
	if (!ticks)
		ticks = 1; /* 0 is none */
	io = &calltree_extra(replay_node(r->top))->io[kind];
	io->operations++;
	io->ticks += ticks;
	if (bytes < 0)
		io->failed++;
	else
		io->bytes += (uint64_t)bytes;
	if (!io->least || ticks < io->least)
		io->least = ticks;
	if (ticks > io->most)
		io->most = ticks;
}

bool replay_take_io(struct replay *r, const struct ring_record *rec)
{
	const uint64_t kind = rec->head >> RECORD_TIME_SHIFT;

	if (kind >= RECORD_IO_KINDS || rec->head & RECORD_EXIT) {
		r->error = "input or output of unknown kind";
		return false;
	}
	replay_add_io(r, (enum record_io)kind, (int64_t)load_relaxed(&rec->word[1]),
		rec->last & ~RECORD_IO_MARK);
	return true;
}
