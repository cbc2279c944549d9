/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/window/lock-epoch.h"
#include "nodeagent/base/util.h"

#include "mpi_id.h"
#include "shm/message.h"

/* 0 if the second one is not later. */
static uint64_t span_of(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > 0 ? to - from : 0;
}

enum lock_part lock_part_of(uint32_t function)
{
	switch (function) {
	case VFTR_MPI_WIN_LOCK:
	case VFTR_MPI_WIN_LOCK_ALL:
		return LOCK_ASKS;
	case VFTR_MPI_WIN_FLUSH_LOCAL:
	case VFTR_MPI_WIN_FLUSH_LOCAL_ALL:
		return LOCK_GOES_ON;
	case VFTR_MPI_WIN_FLUSH:
	case VFTR_MPI_WIN_FLUSH_ALL:
		return LOCK_HAS;
	case VFTR_MPI_WIN_UNLOCK:
	case VFTR_MPI_WIN_UNLOCK_ALL:
		return LOCK_ENDS;
	default:
		return LOCK_PARTS;
	}
}

static uint64_t length_of(const struct lock_call *c)
{
	return span_of(c->enter, c->leave);
}

static void keep_call(struct lock_epoch *e, const struct lock_call *call)
{
	uint32_t shortest = 0;

	if (e->n < LOCK_CALLS) {
		e->calls[e->n++] = *call;
		return;
	}
	for (uint32_t i = 1; i < LOCK_CALLS; i++)
		if (length_of(&e->calls[i]) < length_of(&e->calls[shortest]))
			shortest = i;
	if (length_of(call) > length_of(&e->calls[shortest]))
		e->calls[shortest] = *call;
}

void lock_epoch_add(
	struct lock_epoch *e, enum lock_part part, const struct lock_call *call, uint64_t least)
{
	if (!e->has && length_of(call) >= least)
		keep_call(e, call);
	if (!e->has)
		e->had_at = call->leave;
	e->has |= part == LOCK_HAS;
	if (part == LOCK_ENDS)
		e->last = *call;
}

static bool in_conflict(const struct lock_epoch *a, const struct lock_epoch *b)
{
	return a->window == b->window && a->process != b->process &&
	       (a->exclusive || b->exclusive) &&
	       (a->target == b->target || a->target == MESSAGE_NO_RANK ||
		       b->target == MESSAGE_NO_RANK) &&
	       span_of(a->began, b->last.leave) && span_of(b->began, a->last.leave);
}

void lock_epoch_compare(const struct lock_epoch *a, const struct lock_epoch *b,
	void (*waited)(void *arg, const struct lock_epoch *a, const struct lock_call *call,
		const struct lock_epoch *b),
	void *arg)
{
	const bool is_second = span_of(b->had_at, a->had_at);

	if (!in_conflict(a, b))
		return;
	EACH(const struct lock_call, call, a->calls, a->n)
		if (span_of(call->enter, b->last.enter) && span_of(b->last.enter, call->leave) &&
			(call->asks || is_second))
			waited(arg, a, call, b);
}
