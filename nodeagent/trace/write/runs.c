/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs of a track. The file has each once, in a block that is written before the first block of
 * samples that refers to it; a reader takes all such blocks first.
 */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/write/internal.h"

#define RUNS_MOST      (1u << 20)
#define RUN_ROOM(n)    ((2 + (n)) * VARINT_MAX)
#define RUNS_PART_SIZE 16u /* of sampling.max_size: more runs are not worth it */

/* Definitions are written whatever the limit, so there are not many. */
static bool has_room(const struct vfd_writer *w)
{
	if (w->max_size && w->run_bytes > w->max_size / RUNS_PART_SIZE)
		return false;
	return !w->keep || keep_has_room(w->keep, w->run_bytes);
}

static unsigned char *put_run(unsigned char *at, uint32_t from, const uint32_t *stacks, unsigned n)
{
	uint32_t before = from;

	at = varint_put(varint_put(at, n), from);
	for (unsigned i = 0; i < n; i++) {
		if (!stacks[i]) {
			at = varint_put(at, 0);
			continue;
		}
		at = varint_put(at, 1 + zigzag((int64_t)stacks[i] - before));
		before = stacks[i];
	}
	return at;
}

bool vfd_run_waits(struct vfd_track *fast)
{
	struct track *l = track_of(fast);

	if (l->runs.used < SHARED_BLOCK_BYTES || l->writer->mute)
		return false;
	/* once per block: it is asked for each sequence that comes */
	if (l->runs_tried != l->blocks + 1) {
		l->runs_tried = l->blocks + 1;
		track_push_runs(l);
	}
	return l->runs.used >= SHARED_BLOCK_BYTES;
}

uint32_t vfd_run_new(struct vfd_track *fast, uint32_t from, const uint32_t *stacks, unsigned n)
{
	struct track *l = track_of(fast);
	struct vfd_page *p = &l->runs;
	size_t used;

	if (l->writer->mute || l->n_runs == RUNS_MOST || n > VFD_RUN_MOST || !has_room(l->writer))
		return VFD_NONE;
	for (unsigned i = 0; i < n; i++)
		if (stacks[i])
			track_use_stack(l, stacks[i], l->fast.units);
	used = p->used;
	if (!p->records)
		vfd_page_done(p, varint_put(vfd_page_room(p, VARINT_MAX), l->n_runs + 1));
	vfd_page_done(p, put_run(vfd_page_room(p, RUN_ROOM(n)), from, stacks, n));
	p->records++;
	l->writer->run_bytes += p->used - used;
	return ++l->n_runs;
}

bool vfd_takes_runs(const struct vfd_track *fast)
{
	const struct track *l = (const struct track *)fast;

	return !l->writer->mute && !l->sampler.interval && !l->level && !l->writer->least_units;
}

/* If they cannot be written now, they are kept for the next time. */
void track_push_runs(struct track *l)
{
	struct vfd_page *p = &l->runs;
	struct vfd_block *b = (struct vfd_block *)p->bytes;

	if (!p->records)
		return;
	*b = (struct vfd_block){.kind = VFD_BLOCK_RUNS,
		.track = l->number,
		.bytes = (uint32_t)p->used,
		.records = p->records};
	if (!vfd_write_block(l->writer, b)) {
		l->writer->sequence--;
		return;
	}
	free(p->bytes); /* most come when a thread begins */
	*p = (struct vfd_page){0};
}
