/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wait is written long after its call. A reader makes a stack of its own for it,
 * behind those that the track has, and keeps all waits of each track sorted by time: 24
 * bytes for each. The walk along the track (trace/read/walk.c) puts them between the events.
 */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"
#include "nodeagent/trace/records.h"

/* The stack of its own; 0: it makes no sense. */
static uint32_t stack_of(struct vfd_file *f, struct map64 *known, const struct vfd_wait *wait)
{
	const uint64_t key = (uint64_t)wait->track << 32 | wait->stack;
	const uint32_t *at = map64_find(known, key);
	struct read_track *l;
	uint32_t number;

	if (at)
		return *at;
	l = &f->tracks[wait->track];
	number = (uint32_t)l->n_stacks;
	if (!reader_stack(f, wait->track, number, wait->stack, wait->function))
		return 0;
	map64_add(known, key, number);
	return number;
}

static void add_block(struct vfd_file *f, struct map64 *known, const struct read_block *b,
	const unsigned char *payload)
{
	struct varint_reader r = {payload, payload + b->bytes, false};
	int64_t last = (int64_t)b->time;
	struct vfd_wait wait;

	for (uint32_t i = 0; i < b->records && r.at < r.end && vfd_wait_get(&r, &wait, &last);
		i++) {
		struct read_track *l = wait.track < f->n_threads ? &f->tracks[wait.track] : NULL;
		uint32_t own;

		if (!l || !wait.stack || wait.stack >= l->n_written ||
			wait.function >= f->n_functions)
			continue;
		own = stack_of(f, known, &wait);
		if (!own)
			continue;
		*LIST_ADD(l, waits) = (struct read_wait){
			(uint64_t)wait.start, (uint64_t)wait.end, wait.stack, own};
		f->facts.samples += 2;
	}
}

ORDER_BY(by_start, struct read_wait, RISING(start) ?: RISING(stack))

void reader_waits(struct vfd_file *f)
{
	struct map64 known = {0};
	unsigned char *buf = NULL;
	size_t room = 0;

	for (size_t i = 0; i < f->n_threads; i++)
		f->tracks[i].n_written = f->tracks[i].n_stacks ? f->tracks[i].n_stacks : 1;
	for (size_t i = 0; i < f->n_blocks; i++)
		if (f->blocks[i].kind == VFD_BLOCK_WAITS &&
			reader_load_grown(f, &f->blocks[i], &buf, &room))
			add_block(f, &known, &f->blocks[i], buf);
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->tracks[i].n_waits)
			qsort(f->tracks[i].waits, f->tracks[i].n_waits, sizeof(*f->tracks[i].waits),
				by_start);
	map64_free(&known);
	free(buf);
}
