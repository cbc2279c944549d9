/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wait is written long after its call. A reader makes a stack of its own for it,
 * behind those that the lane has, and keeps all waits of each lane sorted by time: 24
 * bytes for each. The walk along the lane (vfd-walk.c) puts them between the events.
 */
#include <stdlib.h>

#include "nodeagent/util.h"
#include "nodeagent/vfd-internal.h"
#include "nodeagent/vfd-reader.h"

#define RECORD_ROOM 56u /* bytes; no record is longer */

/*
 * Times in units; *last: start of the record before, at first the block's time. Returns
 * the place behind it.
 */
static unsigned char *put(unsigned char *to, const struct vfd_wait *wait, int64_t *last)
{
	to = varint_put(to, wait->lane);
	to = varint_put(to, wait->stack);
	to = varint_put(to, wait->function);
	to = varint_put(to, zigzag(wait->start - *last));
	to = varint_put(to, wait->end > wait->start ? (uint64_t)(wait->end - wait->start) : 0);
	*last = wait->start;
	return to;
}

/* False: there is none that makes sense. */
static bool get(struct varint_reader *r, struct vfd_wait *wait, int64_t *last)
{
	uint64_t length;

	wait->lane = varint_get32(r);
	wait->stack = varint_get32(r);
	wait->function = varint_get32(r);
	wait->start = (int64_t)((uint64_t)*last + (uint64_t)unzigzag(varint_get(r)));
	length = varint_get(r);
	if (r->bad || wait->start < 0 || length > (uint64_t)(INT64_MAX - wait->start))
		return false;
	wait->end = wait->start + (int64_t)length;
	*last = wait->start;
	return true;
}

/* ---- writing ------------------------------------------------------------------------ */

void vfd_write_waits(struct vfd_writer *w)
{
	if (w->waits.records && !vfd_page_write(w, &w->waits, VFD_BLOCK_WAITS, w->wait_time))
		w->dropped_blocks++;
}

void vfd_wait(struct vfd_writer *w, const struct vfd_wait *wait)
{
	struct vfd_wait in_units = *wait;

	in_units.start = (int64_t)((uint64_t)wait->start >> w->shift);
	in_units.end = (int64_t)((uint64_t)wait->end >> w->shift);
	if (w->mute || w->level == VFD_THINNING_ALL)
		return;
	if (!w->waits.records) {
		w->wait_time = (uint64_t)in_units.start;
		w->last_wait = in_units.start;
	}
	vfd_page_done(
		&w->waits, put(vfd_page_room(&w->waits, RECORD_ROOM), &in_units, &w->last_wait));
	w->waits.records++;
	if (w->waits.used >= SHARED_BLOCK_BYTES)
		vfd_write_waits(w);
}

/* ---- reading ------------------------------------------------------------------------ */

/* The stack of its own; 0: it makes no sense. */
static uint32_t stack_of(struct vfd_file *f, struct map64 *known, const struct vfd_wait *wait)
{
	const uint64_t key = (uint64_t)wait->lane << 32 | wait->stack;
	const uint32_t *at = map64_find(known, key);
	struct read_lane *l;
	uint32_t number;

	if (at)
		return *at;
	l = &f->lanes[wait->lane];
	number = (uint32_t)l->n_stacks;
	if (!reader_stack(f, wait->lane, number, wait->stack, wait->function))
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

	for (uint32_t i = 0; i < b->records && r.at < r.end && get(&r, &wait, &last); i++) {
		struct read_lane *l = wait.lane < f->n_threads ? &f->lanes[wait.lane] : NULL;
		uint32_t own;

		if (!l || !wait.stack || wait.stack >= l->n_written ||
			wait.function >= f->n_functions)
			continue;
		own = stack_of(f, known, &wait);
		if (!own)
			continue;
		l->waits = grow(l->waits, l->n_waits, &l->cap_waits, sizeof(*l->waits));
		l->waits[l->n_waits++] = (struct read_wait){
			(uint64_t)wait.start, (uint64_t)wait.end, wait.stack, own};
		f->facts.samples += 2;
	}
}

static int by_start(const void *a, const void *b)
{
	const struct read_wait *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

void reader_waits(struct vfd_file *f)
{
	struct map64 known = {0};
	unsigned char *buf = NULL;
	size_t room = 0;

	for (size_t i = 0; i < f->n_threads; i++)
		f->lanes[i].n_written = f->lanes[i].n_stacks ? f->lanes[i].n_stacks : 1;
	for (size_t i = 0; i < f->n_blocks; i++)
		if (f->blocks[i].kind == VFD_BLOCK_WAITS &&
			reader_load_grown(f, &f->blocks[i], &buf, &room))
			add_block(f, &known, &f->blocks[i], buf);
	for (size_t i = 0; i < f->n_threads; i++)
		if (f->lanes[i].n_waits)
			qsort(f->lanes[i].waits, f->lanes[i].n_waits, sizeof(*f->lanes[i].waits),
				by_start);
	map64_free(&known);
	free(buf);
}
