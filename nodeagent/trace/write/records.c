/* SPDX-License-Identifier: BSD-3-Clause */
/* Records that belong to no track, on their way into a file: a page for each kind. */
#include "nodeagent/trace/records.h"

#include "nodeagent/trace/write/internal.h"

static void write_page(struct vfd_writer *w, enum vfd_kind kind)
{
	struct records *r = &w->records[kind];
	const uint32_t n = r->page.records;

	if (!n)
		return;
	if (vfd_page_write(w, &r->page, kind, r->time))
		r->written += n;
	else
		w->dropped_blocks++;
}

void vfd_write_records(struct vfd_writer *w)
{
	for (enum vfd_kind kind = 0; kind < VFD_BLOCK_KINDS; kind++)
		write_page(w, kind);
	vfd_write_definitions(w);
}

static bool is_silent(const struct vfd_writer *w)
{
	return w->mute || w->level == VFD_THINNING_ALL;
}

/* Room for a record of at most n bytes at this time. */
static unsigned char *record_room(struct vfd_writer *w, enum vfd_kind kind, size_t n, int64_t units)
{
	struct records *r = &w->records[kind];

	if (!r->page.records) {
		r->time = (uint64_t)units;
		r->last = units;
	}
	return vfd_page_room(&r->page, n);
}

static void record_done(struct vfd_writer *w, enum vfd_kind kind, const unsigned char *end)
{
	struct vfd_page *p = &w->records[kind].page;

	vfd_page_done(p, end);
	p->records++;
	if (p->used >= SHARED_BLOCK_BYTES)
		write_page(w, kind);
}

static int64_t units_of(const struct vfd_writer *w, int64_t ticks)
{
	return (int64_t)((uint64_t)ticks);
}

void vfd_launch(struct vfd_writer *w, const struct vfd_launch *l)
{
	struct vfd_launch in_units = *l;
	unsigned char *to;

	in_units.time = units_of(w, l->time);
	in_units.start = units_of(w, l->start);
	if (is_silent(w) || in_units.time < 0 || in_units.start < 0)
		return;
	in_units.id = ++w->launch_id;
	if (!w->records[VFD_BLOCK_LAUNCHES].page.records)
		w->last_launch = (struct vfd_launch){.time = in_units.time};
	to = record_room(w, VFD_BLOCK_LAUNCHES, VFD_LAUNCH_ROOM, in_units.time);
	record_done(w, VFD_BLOCK_LAUNCHES, vfd_launch_put(to, &in_units, &w->last_launch));
}

void vfd_pair(struct vfd_writer *w, const struct vfd_pair *p)
{
	if (!is_silent(w))
		record_done(w, VFD_BLOCK_MATCHES,
			vfd_pair_put(record_room(w, VFD_BLOCK_MATCHES, VFD_PAIR_ROOM, 0), p));
}

void vfd_lengths(struct vfd_writer *w, const struct vfd_lengths *l)
{
	if (!is_silent(w))
		record_done(w, VFD_BLOCK_LENGTHS,
			vfd_lengths_put(record_room(w, VFD_BLOCK_LENGTHS, VFD_LENGTHS_ROOM, 0), l));
}

void vfd_wait(struct vfd_writer *w, const struct vfd_wait *wait)
{
	struct vfd_wait in_units = *wait;
	unsigned char *to;

	if (is_silent(w))
		return;
	in_units.start = units_of(w, wait->start);
	in_units.end = units_of(w, wait->end);
	to = record_room(w, VFD_BLOCK_WAITS, VFD_WAIT_ROOM, in_units.start);
	record_done(
		w, VFD_BLOCK_WAITS, vfd_wait_put(to, &in_units, &w->records[VFD_BLOCK_WAITS].last));
}

void vfd_lock_wait(struct vfd_writer *w, const struct vfd_lock_wait *wait)
{
	struct vfd_lock_wait in_units = *wait;
	unsigned char *to;

	if (is_silent(w))
		return;
	in_units.start = units_of(w, wait->start);
	in_units.end = units_of(w, wait->end);
	to = record_room(w, VFD_BLOCK_LOCKS, VFD_LOCK_ROOM, in_units.start);
	record_done(
		w, VFD_BLOCK_LOCKS, vfd_lock_put(to, &in_units, &w->records[VFD_BLOCK_LOCKS].last));
}

/* In units, so that the time which it leads to is that of the call. */
static uint64_t offset_of(const struct vfd_writer *w, const struct vfd_message *m)
{
	const int64_t start = units_of(w, m->start);

	if (!m->offset)
		return 0;
	if (m->kind == VFD_SEND)
		return (uint64_t)(units_of(w, m->start + (int64_t)m->offset) - start);
	if (m->kind == VFD_RECEIVE)
		return (uint64_t)(start - units_of(w, m->start - (int64_t)m->offset));
	return m->offset;
}

void vfd_message(struct vfd_writer *w, struct vfd_track *l, const struct vfd_message *m)
{
	struct vfd_message in_units = *m;
	unsigned char *to;

	if (is_silent(w))
		return;
	in_units.start = units_of(w, m->start);
	in_units.end = units_of(w, m->end);
	in_units.offset = offset_of(w, m);
	if (l) {
		in_units.track = vfd_track_number(l);
		track_use_stack(
			track_of(l), m->stack, l->units ? l->units : (uint64_t)in_units.start);
	}
	to = record_room(w, VFD_BLOCK_MESSAGES, VFD_MESSAGE_ROOM, in_units.start);
	record_done(w, VFD_BLOCK_MESSAGES,
		vfd_message_put(to, &in_units, &w->records[VFD_BLOCK_MESSAGES].last));
}
