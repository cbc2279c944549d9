/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/stack/timers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/stack/events.h"
#include "shm/atomic.h"
#include "shm/stack-samples.h"

#define RECORD_BYTES_MOST (sizeof(struct stack_sample_shm) + STACK_SAMPLE_DEEP)

_Static_assert(STACK_SAMPLE_REGS == STACK_REGS, "the kernel's and ours are the same");

struct stack_timers {
	struct ring ring;
	int fd;
	pid_t owner;
	uint64_t tail, period_ns;
	union {
		struct stack_sample_shm head;
		unsigned char bytes[RECORD_BYTES_MOST + STACK_SAMPLE_ALIGN];
	} record; /* a copy: the process may write while we read */
};

struct stack_timers *stack_timers_new(size_t bytes, uint64_t period_ns, int *fd, int *error)
{
	struct stack_timers *t = xcalloc(1, sizeof(*t));

	*error = -vftr_segment_create_ring(bytes, 0, fd, &t->ring);
	if (*error) {
		free(t);
		return NULL;
	}
	t->fd = *fd;
	t->owner = getpid();
	t->period_ns = period_ns;
	return t;
}

void stack_timers_free(struct stack_timers *t)
{
	if (!t)
		return;
	vftr_segment_unmap_ring(&t->ring);
	close(t->fd);
	free(t);
}

size_t stack_timers_bytes(const struct stack_timers *t)
{
	return t->ring.size;
}

void stack_timers_set_period(struct stack_timers *t, uint64_t period_ns)
{
	/* relaxed: a thread may learn of it a sample later */
	store_relaxed(
		&stack_samples_agent(&t->ring)->skip, (uint32_t)(period_ns / t->period_ns - 1));
}

/* The record at the tail, `bytes' of it; false: it is not ready, or none that a process writes. */
static bool copy_record(struct stack_timers *t, uint64_t head)
{
	const struct stack_sample_shm *s = stack_sample_at(&t->ring, t->tail);
	const uint64_t there = head - t->tail,
		       to_end = t->ring.size - (t->tail & (t->ring.size - 1));
	struct stack_sample_shm *copy = &t->record.head;

	/* C, pairs with B */
	if (load_acquire(&s->ready) != (t->tail | 1))
		return false;
	copy->bytes = load_relaxed(&s->bytes);
	copy->tid = load_relaxed(&s->tid);
	if (!copy->bytes || copy->bytes % STACK_SAMPLE_ALIGN || copy->bytes > there ||
		copy->bytes > to_end)
		return false;
	if (!copy->tid)
		return true;
	if (copy->bytes < sizeof(*s) || copy->bytes > sizeof(t->record))
		return false;
	memcpy(&copy->ticks, &s->ticks, copy->bytes - offsetof(struct stack_sample_shm, ticks));
	return copy->stack_bytes <= copy->bytes - sizeof(*s) && copy->periods;
}

static struct stack_raw raw_of(const struct stack_timers *t)
{
	const struct stack_sample_shm *s = &t->record.head;

	return (struct stack_raw){.ticks = s->ticks,
		.period_ns = t->period_ns * s->periods,
		.regs = s->regs,
		.stack = (const unsigned char *)(s + 1),
		.stack_bytes = s->stack_bytes,
		.is_cut = s->is_cut};
}

void stack_timers_read(struct stack_timers *t, size_t most,
	void (*take)(void *ctx, int tid, const struct stack_raw *s), void *ctx)
{
	uint64_t head;

	if (t->owner != getpid())
		return;
	/* stale is safe: what is ready is seen at its record */
	head = load_relaxed(&stack_samples_app(&t->ring)->head);
	while (most && t->tail != head && head - t->tail <= t->ring.size && copy_record(t, head)) {
		struct stack_raw s = raw_of(t);

		t->tail += t->record.head.bytes;
		/* D, pairs with A */
		store_release(&stack_samples_agent(&t->ring)->tail, t->tail);
		if (!t->record.head.tid)
			continue;
		most--;
		take(ctx, (int)t->record.head.tid, &s);
	}
}

struct stack_timers_state stack_timers_state(const struct stack_timers *t)
{
	const struct stack_samples_app_shm *app = stack_samples_app(&t->ring);

	return (struct stack_timers_state){.lost = load_relaxed(&app->lost),
		.late = load_relaxed(&app->late),
		.timerless = load_relaxed(&app->timerless),
		.end = (int)load_relaxed(&app->end)};
}
