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

void vfd_launch(struct vfd_writer *w, const struct vfd_launch *l)
{
	struct vfd_launch numbered = *l;
	unsigned char *to;

	if (is_silent(w) || l->time < 0 || l->start < 0)
		return;
	numbered.id = ++w->launch_id;
	if (!w->records[VFD_BLOCK_LAUNCHES].page.records)
		w->last_launch = (struct vfd_launch){.time = l->time};
	to = record_room(w, VFD_BLOCK_LAUNCHES, VFD_LAUNCH_ROOM, l->time);
	record_done(w, VFD_BLOCK_LAUNCHES, vfd_launch_put(to, &numbered, &w->last_launch));
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
	unsigned char *to;

	if (is_silent(w))
		return;
	to = record_room(w, VFD_BLOCK_WAITS, VFD_WAIT_ROOM, wait->start);
	record_done(w, VFD_BLOCK_WAITS, vfd_wait_put(to, wait, &w->records[VFD_BLOCK_WAITS].last));
}

void vfd_lock_wait(struct vfd_writer *w, const struct vfd_lock_wait *wait)
{
	unsigned char *to;

	if (is_silent(w))
		return;
	to = record_room(w, VFD_BLOCK_LOCKS, VFD_LOCK_ROOM, wait->start);
	record_done(w, VFD_BLOCK_LOCKS, vfd_lock_put(to, wait, &w->records[VFD_BLOCK_LOCKS].last));
}

void vfd_message(struct vfd_writer *w, struct vfd_track *l, const struct vfd_message *m)
{
	struct vfd_message of_track = *m;
	unsigned char *to;

	if (is_silent(w))
		return;
	if (l) {
		of_track.track = vfd_track_number(l);
		track_use_stack(track_of(l), m->stack, l->units ? l->units : (uint64_t)m->start);
	}
	to = record_room(w, VFD_BLOCK_MESSAGES, VFD_MESSAGE_ROOM, m->start);
	record_done(w, VFD_BLOCK_MESSAGES,
		vfd_message_put(to, &of_track, &w->records[VFD_BLOCK_MESSAGES].last));
}
