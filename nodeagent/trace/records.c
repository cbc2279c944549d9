/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/records.h"

#define PARTITIONED 1u

_Static_assert((6 + LENGTHS_MOST) * VARINT_MAX <= VFD_LENGTHS_ROOM, "a record fits");

/* Modulo 2^64: the numbers may be anything. */
static int64_t time_after(int64_t time, uint64_t difference)
{
	return (int64_t)((uint64_t)time + (uint64_t)unzigzag(difference));
}

unsigned char *vfd_pair_put(unsigned char *to, const struct vfd_pair *p)
{
	to = varint_put(to, p->process);
	to = varint_put(to, p->comm);
	to = varint_put(to, p->ticket);
	to = varint_put(to, (uint64_t)p->match << 1 | p->partitioned);
	to = varint_put(to, p->sender_ticket);
	return varint_put(to, (uint64_t)(p->sender_thread + 1));
}

bool vfd_pair_get(struct varint_reader *r, struct vfd_pair *p)
{
	uint64_t what;

	*p = (struct vfd_pair){.process = varint_get32(r)};
	p->comm = varint_get32(r);
	p->ticket = varint_get(r);
	what = varint_get(r);
	p->partitioned = what & PARTITIONED;
	p->sender_ticket = varint_get(r);
	p->sender_thread = varint_get32(r) - 1;
	if (r->bad || what >> 1 >= VFD_MATCHES)
		return false;
	p->match = (enum vfd_match)(what >> 1);
	return true;
}

unsigned char *vfd_launch_put(
	unsigned char *to, const struct vfd_launch *l, struct vfd_launch *last)
{
	to = varint_put(to, l->id - last->id);
	to = varint_put(to, l->kind);
	to = varint_put(to, l->track);
	to = varint_put(to, l->stack);
	to = varint_put(to, zigzag(l->time - last->time));
	to = varint_put(to, l->to_track);
	to = varint_put(to, l->to_stack);
	to = varint_put(to, zigzag(l->start - l->time));
	to = varint_put(to, l->bytes);
	*last = *l;
	return to;
}

bool vfd_launch_get(struct varint_reader *r, struct vfd_launch *l, struct vfd_launch *last)
{
	uint64_t kind;

	l->id = last->id + varint_get(r);
	kind = varint_get(r);
	l->track = varint_get32(r);
	l->stack = varint_get32(r);
	l->time = time_after(last->time, varint_get(r));
	l->to_track = varint_get32(r);
	l->to_stack = varint_get32(r);
	l->start = time_after(l->time, varint_get(r));
	l->bytes = varint_get(r);
	if (r->bad || kind >= VFD_LAUNCH_KINDS || l->time < 0 || l->start < 0)
		return false;
	l->kind = (enum vfd_launch_kind)kind;
	*last = *l;
	return true;
}

/* A time since *last, and how long. */
static unsigned char *span_put(unsigned char *to, int64_t start, int64_t end, int64_t *last)
{
	to = varint_put(to, zigzag(start - *last));
	to = varint_put(to, end > start ? (uint64_t)(end - start) : 0);
	*last = start;
	return to;
}

static bool span_get(struct varint_reader *r, int64_t *start, int64_t *end, int64_t *last)
{
	uint64_t length;

	*start = time_after(*last, varint_get(r));
	length = varint_get(r);
	if (r->bad || *start < 0 || length > (uint64_t)(INT64_MAX - *start))
		return false;
	*end = *start + (int64_t)length;
	*last = *start;
	return true;
}

unsigned char *vfd_wait_put(unsigned char *to, const struct vfd_wait *wait, int64_t *last)
{
	to = varint_put(to, wait->track);
	to = varint_put(to, wait->stack);
	to = varint_put(to, wait->function);
	return span_put(to, wait->start, wait->end, last);
}

bool vfd_wait_get(struct varint_reader *r, struct vfd_wait *wait, int64_t *last)
{
	wait->track = varint_get32(r);
	wait->stack = varint_get32(r);
	wait->function = varint_get32(r);
	return span_get(r, &wait->start, &wait->end, last);
}

unsigned char *vfd_lock_put(unsigned char *to, const struct vfd_lock_wait *wait, int64_t *last)
{
	to = varint_put(to, wait->track);
	to = varint_put(to, wait->holder);
	to = varint_put(to, (uint64_t)wait->kind << 1 | wait->goes_on);
	return span_put(to, wait->start, wait->end, last);
}

bool vfd_lock_get(struct varint_reader *r, struct vfd_lock_wait *wait, int64_t *last)
{
	uint64_t what;

	wait->track = varint_get32(r);
	wait->holder = varint_get32(r);
	what = varint_get(r);
	wait->goes_on = what & 1;
	wait->kind = (uint32_t)(what >> 1);
	return span_get(r, &wait->start, &wait->end, last) && what >> 1 <= UINT32_MAX;
}

unsigned char *vfd_lengths_put(unsigned char *to, const struct vfd_lengths *l)
{
	to = varint_put(to, l->process);
	to = varint_put(to, l->comm);
	to = varint_put(to, l->ticket);
	to = varint_put(to, (uint64_t)l->first << 1 | l->received);
	to = varint_put(to, (uint64_t)l->n << 1 | l->same);
	for (uint32_t i = 0; i < (l->same ? 1 : l->n); i++)
		to = varint_put(to, l->bytes[i]);
	return to;
}

bool vfd_lengths_get(struct varint_reader *r, struct vfd_lengths *l, uint64_t bytes[LENGTHS_MOST])
{
	uint64_t first, n;

	*l = (struct vfd_lengths){.bytes = bytes};
	l->process = varint_get32(r);
	l->comm = varint_get32(r);
	l->ticket = varint_get(r);
	first = varint_get(r);
	n = varint_get(r);
	l->received = first & 1;
	l->same = n & 1;
	if (r->bad || first >> 1 > UINT32_MAX || !(n >> 1) ||
		n >> 1 > (l->same ? UINT32_MAX : LENGTHS_MOST))
		return false;
	l->first = (uint32_t)(first >> 1);
	l->n = (uint32_t)(n >> 1);
	for (uint32_t i = 0; i < (l->same ? 1 : l->n); i++)
		bytes[i] = varint_get(r);
	return !r->bad;
}
