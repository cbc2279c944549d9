/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lanes: the events of one thread on their way into blocks. What the inline
 * functions of vfd-write.h can't do quickly ends up here: the first use of a
 * stack, full blocks, frames that do not hang on the one below them, sampling.
 */
#include <stdlib.h>

#include "nodeagent/util.h"
#include "nodeagent/vfd-internal.h"

#define STACKS_MOST (1u << 28)
#define UNUSED	    VFD_NONE /* callers in links[] */

static struct vfd_block *block_of(struct lane *l)
{
	return (struct vfd_block *)l->buffer;
}

/* Fast events are those of which every one is recorded. */
static void set_high(struct lane *l)
{
	l->fast.high = l->sampler.interval || l->level ? NULL : l->limit;
}

static void put_path(struct lane *l, uint32_t top, uint32_t base)
{
	l->fast.at = varint_put(varint_put(l->fast.at, top), base);
}

static bool open_block(struct lane *l, uint64_t units)
{
	struct vfd_block *b = block_of(l);

	if (l->writer->mute)
		return false;
	if (units < l->fast.units)
		units = l->fast.units;
	l->fast.units = units;
	*b = (struct vfd_block){.kind = VFD_BLOCK_SAMPLES, .lane = l->number, .time = units};
	l->fast.at = l->buffer + sizeof(*b);
	l->limit = l->buffer + l->writer->block_bytes - LANE_SLACK;
	l->fast.at = varint_put(l->fast.at, l->n_suspended + 1);
	for (uint32_t i = 0; i < l->n_suspended; i++)
		put_path(l, l->suspended[i].top, l->suspended[i].base);
	put_path(l, l->fast.current, l->fast.base);
	l->fast.events = 0;
	l->has_stacks = l->has_marks = false;
	set_high(l);
	if (l->thinned) {
		uint64_t n = l->thinned;

		l->thinned = 0;
		lane_put_mark(l, VFD_MARK_THINNED, n, 0, units);
	}
	if (l->level != l->writer->level) {
		thin_level(l, units);
		set_high(l);
	}
	return l->limit;
}

void lane_push(struct lane *l)
{
	struct vfd_block *b = block_of(l);

	if (!l->limit)
		return;
	b->bytes = (uint32_t)(l->fast.at - l->buffer - sizeof(*b));
	b->records = l->fast.events;
	b->flags = (l->has_stacks ? VFD_HAS_STACKS : 0) | (l->recap ? VFD_RECAP : 0) |
		   (l->has_marks ? VFD_HAS_MARKS : 0);
	l->limit = l->fast.at = l->fast.high = NULL;
	l->fast.events = 0;
	if (!b->records)
		return;
	l->blocks++;
	l->writer->events += b->records;
	if (!vfd_write_block(l->writer, b))
		l->writer->dropped_blocks++;
}

/* A block is open and has room for an event. */
static bool room(struct lane *l, uint64_t units)
{
	if (l->limit && l->fast.at < l->limit)
		return true;
	lane_push(l);
	return open_block(l, units);
}

static void put_word(struct lane *l, uint64_t units, bool enter)
{
	uint64_t delta = units > l->fast.units ? units - l->fast.units : 0;

	l->fast.units += delta;
	l->fast.events++;
	l->fast.at = varint_put(l->fast.at, delta << 1 | enter);
}

static void put(struct lane *l, uint64_t number)
{
	l->fast.at = varint_put(l->fast.at, number);
}

bool lane_put_mark(struct lane *l, unsigned mark, uint64_t a, uint64_t b, uint64_t units)
{
	if (!room(l, units))
		return false;
	l->has_marks |= mark >= VFD_MARK_GAP;
	put_word(l, units, true);
	put(l, 0);
	put(l, mark);
	put(l, a);
	if (mark == VFD_MARK_THINNING)
		put(l, b);
	return true;
}

static bool put_stack(struct lane *l, uint32_t stack, uint64_t units)
{
	const struct lane_stack *s = &l->stacks[stack];

	if (!lane_put_mark(l, VFD_MARK_STACK, stack, 0, units))
		return false;
	put(l, s->caller);
	put(l, s->function);
	l->has_stacks = true;
	return true;
}

void lane_use_stack(struct lane *l, uint32_t stack, uint64_t units)
{
	/* callers first; the way up again has no list, so it is walked anew */
	while (l->links[stack].caller == UNUSED) {
		uint32_t first = stack;

		while (l->links[l->stacks[first].caller].caller == UNUSED &&
			l->stacks[first].caller)
			first = l->stacks[first].caller;
		if (!put_stack(l, first, units))
			return;
		l->links[first].caller = l->stacks[first].caller;
		l->stacks_used++;
	}
}

void lane_put_enter(struct lane *l, uint32_t stack, uint64_t units)
{
	lane_use_stack(l, stack, units);
	if (l->links[stack].caller != l->fast.current) {
		if (!lane_put_mark(l, VFD_MARK_ENTER_AT, stack, 0, units))
			return;
	} else {
		if (!room(l, units))
			return;
		put_word(l, units, true);
		put(l, stack);
	}
	l->fast.current = stack;
}

/* The frame on top of the present path has ended. */
static void leave(struct lane *l, uint32_t stack)
{
	if (stack == l->fast.base && l->n_suspended) {
		l->n_suspended--;
		l->fast.current = l->suspended[l->n_suspended].top;
		l->fast.base = l->suspended[l->n_suspended].base;
	} else {
		l->fast.current = stack ? l->stacks[stack].caller : 0;
	}
}

void lane_put_exit(struct lane *l, uint32_t stack, uint64_t units)
{
	if (stack == l->fast.current && stack) {
		if (!room(l, units))
			return;
		put_word(l, units, false);
	} else {
		lane_use_stack(l, stack, units);
		if (!lane_put_mark(l, VFD_MARK_EXIT_AT, stack, 0, units))
			return;
	}
	leave(l, stack);
}

static void put_aside(struct lane *l, uint32_t stack, uint64_t units)
{
	if (l->n_suspended == SEGMENTS_MOST) {
		lane_put_enter(l, stack, units);
		return;
	}
	lane_use_stack(l, stack, units);
	if (!lane_put_mark(l, VFD_MARK_ENTER_ASIDE, stack, 0, units))
		return;
	l->suspended[l->n_suspended++] = (struct vfd_path){l->fast.current, l->fast.base};
	l->fast.current = l->fast.base = stack;
}

static bool precise(const struct lane *l, uint32_t stack)
{
	return stack && l->writer->precise[l->stacks[stack].function];
}

static bool wanted(struct lane *l, uint32_t stack, uint64_t units, bool exit)
{
	/* what was suspended must go on */
	if (exit && stack && stack == l->fast.base)
		return true;
	/* else it would be one with the next call of the same path */
	if (exit && l->sampler.interval && l->call_units / 2 > l->sampler.interval)
		return true;
	return vfd_sampled(&l->sampler, units, precise(l, stack) && !l->thin_precise);
}

/* Whether an event comes to nothing, because of the writer or the interval. */
static bool skipped(struct lane *l, uint32_t stack, uint64_t units, bool exit)
{
	const uint32_t n = l->n_sampled;
	bool skip = l->writer->mute || stack >= l->n_stacks || !wanted(l, stack, units, exit);

	for (uint32_t i = 0; i < n && !skip; i++) {
		const struct lane_sampled *s = &l->sampled[i];

		lane_use_stack(l, s->stack, s->units);
		lane_put_mark(l, VFD_MARK_SAMPLED, s->stack, 0, s->units);
	}
	l->n_sampled = 0;
	l->call_units = 0;
	return skip;
}

void vfd_sample(struct vfd_lane *fast, uint32_t stack, uint64_t ticks)
{
	struct lane *l = lane_of(fast);

	if (l->n_sampled < SAMPLED_MOST && stack < l->n_stacks)
		l->sampled[l->n_sampled++] = (struct lane_sampled){stack, ticks >> fast->shift};
}

void vfd_call_took(struct vfd_lane *fast, uint64_t ticks)
{
	lane_of(fast)->call_units = ticks >> fast->shift;
}

/* With an interval, thinning makes that longer, until nothing is left. */
static bool thins(const struct lane *l)
{
	return l->level && (!l->writer->interval_units || l->level == VFD_THINNING_ALL);
}

void vfd_enter_slow(struct vfd_lane *fast, uint32_t stack, uint64_t ticks)
{
	struct lane *l = lane_of(fast);
	const uint64_t units = ticks >> fast->shift;

	if (skipped(l, stack, units, false))
		return;
	if (thins(l))
		thin_enter(l, stack, units);
	else
		lane_put_enter(l, stack, units);
}

void vfd_exit_slow(struct vfd_lane *fast, uint32_t stack, uint64_t ticks)
{
	struct lane *l = lane_of(fast);
	const uint64_t units = ticks >> fast->shift;

	if (skipped(l, stack, units, true))
		return;
	if (thins(l))
		thin_exit(l, stack, units);
	else
		lane_put_exit(l, stack, units);
}

void vfd_enter_aside(struct vfd_lane *fast, uint32_t stack, uint64_t ticks)
{
	struct lane *l = lane_of(fast);
	const uint64_t units = ticks >> fast->shift;

	if (skipped(l, stack, units, false) || !stack)
		return;
	if (l->level)
		thin_release(l, units, true);
	if (l->level && l->stacks[stack].depth > l->thin_depth) {
		thin_count(l, 1);
		return;
	}
	put_aside(l, stack, units);
}

void vfd_gap(struct vfd_lane *fast, uint32_t stack, uint64_t ticks)
{
	struct lane *l = lane_of(fast);
	const uint64_t units = ticks >> fast->shift;

	if (l->writer->mute || stack >= l->n_stacks)
		return;
	l->n_waiting = 0;
	lane_use_stack(l, stack, units);
	if (!lane_put_mark(l, VFD_MARK_GAP, stack, 0, units))
		return;
	l->n_suspended = 0;
	fast->base = 0;
	fast->current = stack;
}

void vfd_lost(struct vfd_lane *fast, uint64_t calls, uint64_t ticks)
{
	struct lane *l = lane_of(fast);
	const uint64_t units = ticks >> fast->shift;

	if (l->writer->mute)
		return;
	thin_release(l, units, true);
	lane_put_mark(l, VFD_MARK_LOST, calls, 0, units);
}

/* ---- beginning and end ---------------------------------------------------------- */

struct vfd_lane *vfd_lane_new(struct vfd_writer *w, const struct vfd_thread *t)
{
	struct lane *l = xcalloc(1, sizeof(*l));
	struct vfd_thread numbered = *t;

	l->writer = w;
	l->number = numbered.lane = w->n_lanes++;
	l->fast.shift = w->shift;
	l->buffer = xmalloc(w->block_bytes);
	l->sampler.interval = w->interval_units;
	l->next = w->lanes;
	if (l->next)
		l->next->prev = l;
	w->lanes = l;
	vfd_stack_new(&l->fast, VFD_NONE, VFD_NONE);
	l->links[0].caller = VFD_NONE - 1;
	vfd_define_thread(w, &numbered);
	return &l->fast;
}

uint32_t vfd_lane_number(const struct vfd_lane *l)
{
	return ((const struct lane *)l)->number;
}

uint32_t vfd_stack_new(struct vfd_lane *fast, uint32_t caller, uint32_t function)
{
	struct lane *l = lane_of(fast);
	size_t cap = l->cap_stacks;
	uint32_t depth = 0;

	if (l->n_stacks == STACKS_MOST ||
		(l->n_stacks && (caller >= l->n_stacks || function >= l->writer->n_functions)))
		return VFD_NONE;
	if (l->n_stacks)
		depth = l->stacks[caller].depth + 1;
	l->stacks = grow(l->stacks, l->n_stacks, &cap, sizeof(*l->stacks));
	if (cap != l->cap_stacks) {
		l->links = xrealloc(l->links, cap * sizeof(*l->links));
		l->fast.links = l->links;
		l->cap_stacks = cap;
	}
	l->stacks[l->n_stacks] = (struct lane_stack){caller, function, depth};
	l->links[l->n_stacks] = (struct vfd_link){UNUSED, varint_code((uint32_t)l->n_stacks)};
	return (uint32_t)l->n_stacks++;
}

void vfd_lane_name(struct vfd_lane *l, const char *name)
{
	vfd_define_thread_name(lane_of(l)->writer, lane_of(l)->number, name);
}

void vfd_lane_openmp(struct vfd_lane *l, uint32_t level, uint32_t number)
{
	vfd_define_openmp(lane_of(l)->writer, lane_of(l)->number, level, number);
}

/* The stacks once more in one place, for readers of a file whose blocks are damaged. */
static void recapitulate(struct lane *l)
{
	uint32_t left = l->stacks_used;

	if (l->writer->mute || l->blocks < 2 || l->writer->level == VFD_THINNING_ALL)
		return;
	l->n_suspended = 0;
	l->fast.current = l->fast.base = 0;
	l->recap = true;
	for (uint32_t i = 1; left && i < l->n_stacks; i++) {
		if (l->links[i].caller == UNUSED)
			continue;
		if (!put_stack(l, i, l->fast.units))
			return;
		left--;
	}
	lane_push(l);
}

void vfd_lane_end(struct vfd_lane *fast, uint64_t ticks)
{
	struct lane *l = lane_of(fast);

	thin_release(l, ticks >> fast->shift, false);
	if (l->thinned) {
		uint64_t n = l->thinned;

		l->thinned = 0;
		lane_put_mark(l, VFD_MARK_THINNED, n, 0, ticks >> fast->shift);
	}
	lane_push(l);
	lane_push_counters(l);
	recapitulate(l);
	vfd_define_thread_end(l->writer, l->number, ticks);
	if (l->next)
		l->next->prev = l->prev;
	*(l->prev ? &l->prev->next : &l->writer->lanes) = l->next;
	lane_free_counters(l);
	free(l->buffer);
	free(l->stacks);
	free(l->links);
	free(l);
}
