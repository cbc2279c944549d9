/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which messages MPI sends at once, and which it keeps until they are received. A send that was
 * over before its receive was posted, by more than the error of the clocks, was sent at once; so
 * were all that are not longer.
 */

#include "nodeagent/causal/read.h"
#include "nodeagent/trace/collective.h"

struct half_slot {
	uint64_t key;
	int64_t time; /* a send's end, a receive's begin */
	uint64_t bytes;
	uint32_t file;
	bool is_send, used;
};

struct half {
	struct half_slot *slots;
	size_t mask, n;
	uint64_t seed;
};

static size_t half_home(const struct half *m, uint64_t key)
{
	const uint64_t h = (key + m->seed) * 0x9e3779b97f4a7c15u;

	return (size_t)(h ^ h >> 32);
}

static bool half_same(uint64_t a, uint64_t b)
{
	return a == b;
}

MAP_FUNCTIONS(half, uint64_t, used)

struct eager {
	struct reader *r;
	struct half halves;
	int64_t most[2];
};

static void compare_halves(
	struct eager *x, const struct half_slot *send, const struct half_slot *receive)
{
	const bool far = send->file != receive->file;
	int64_t error = 0;

	if (far)
		error = reader_clock_error(x->r->files[send->file]) +
			reader_clock_error(x->r->files[receive->file]);
	if (send->time + error < receive->time && send->bytes <= INT64_MAX &&
		(int64_t)send->bytes > x->most[far])
		x->most[far] = (int64_t)send->bytes;
}

static bool is_compared(const struct eager *x, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;

	if (m->flags & (VFD_MESSAGE_CANCELLED | VFD_MESSAGE_UNKNOWN | VFD_MESSAGE_PARTITIONED))
		return false;
	if (m->start < -CAUSAL_TIME_MOST || m->start > CAUSAL_TIME_MOST || m->end < m->start ||
		m->end > CAUSAL_TIME_MOST)
		return false;
	if (m->kind == VFD_RECEIVE)
		return m->match == VFD_MATCH_EXACT;
	return m->kind == VFD_SEND &&
	       reader_send_mode(x->r, e->file, e->track, e->stack) == SEND_STANDARD;
}

static void add_half(struct eager *x, const struct vfd_event *e)
{
	const struct vfd_message *m = e->message;
	const bool is_send = m->kind == VFD_SEND;
	const struct half_slot one = {.key = vfd_message_flow(x->r->files[e->file], m),
		.time = is_send ? m->end : m->start,
		.bytes = m->bytes,
		.file = e->file,
		.is_send = is_send,
		.used = true};
	struct half_slot *other = x->halves.n ? half_slot(&x->halves, one.key) : NULL;

	if (!other || !other->used) {
		half_put(&x->halves, one);
		return;
	}
	if (other->is_send == is_send)
		return;
	compare_halves(x, is_send ? &one : other, is_send ? other : &one);
	half_take_out(&x->halves, one.key);
}

static bool has_start(const struct vfd_message *m)
{
	return m->kind == VFD_COLLECTIVE && m->ticket >> 32 &&
	       collective_is_persistent(m->function);
}

void reader_look_ahead(struct reader *r)
{
	struct eager x = {.r = r, .most = {-1, -1}};
	const struct vfd_filter filter = {.track = VFD_NONE, .no_samples = !reader_has_probes(r)};
	struct vfd_cursor *cursor = vfd_cursor_new(r->files, r->n_files, &filter);
	struct vfd_event e;

	while (vfd_next(cursor, &e)) {
		reader_tell(r, cursor, 0.0, LOOKED_AHEAD);
		reader_probe_entered(r, &e);
		if (e.kind != VFD_MESSAGE)
			continue;
		reader_probe_received(r, &e);
		r->has_starts |= has_start(e.message);
		if (e.message->kind == VFD_EPOCH)
			reader_lock(r, &e);
		else if (is_compared(&x, &e))
			add_half(&x, &e);
	}
	reader_locks_end(r->locks);
	vfd_cursor_free(cursor);
	half_free(&x.halves);
	causal_set_eager(r->run->c, x.most[0], x.most[1]);
}
