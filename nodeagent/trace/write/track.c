/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracks: the events of one thread on their way into blocks. What the inline
 * functions of writer.h can't do quickly ends up here: the first use of a
 * stack, full blocks, frames that do not hang on the one below them, sampling.
 */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/write/internal.h"

#define STACKS_MOST (1u << 27)
#define UNUSED	    VFD_NONE /* callers in links[] */

/* Open blocks of all threads are less than what is left of max_size at the last row of thinning. */
#define OPEN_PART   128
#define CODED_ALIKE 8u /* blocks */
#define LEAST_ROOM  512u

static struct vfd_block *block_of(struct track *l)
{
	return (struct vfd_block *)l->buffer;
}

/* Fast events are those of which every one is recorded. */
static void set_high(struct track *l)
{
	const ptrdiff_t events = l->fast.full - l->fast.difference;

	l->fast.high = NULL;
	if (vfd_takes_runs(&l->fast))
		l->fast.high = MIN(l->limit, l->fast.at + events);
}

static void put_path(struct track *l, uint32_t top, uint32_t base)
{
	l->fast.at = varint_put(varint_put(l->fast.at, top), base);
}

/* Of each half of the open block of a track: what happens, and the times. */
static uint64_t part_of_size(const struct vfd_writer *w)
{
	const uint64_t part = w->max_size / OPEN_PART / w->n_live_tracks / 2;

	return w->max_size ? MAX(part, LEAST_ROOM) : UINT64_MAX;
}

/* Where events may begin in the open block, whose paths are there. */
static unsigned char *block_limit(const struct track *l)
{
	const struct vfd_writer *w = l->writer;
	unsigned char *most = l->buffer + w->block_bytes - TRACK_SLACK;
	const uint64_t part = part_of_size(w);

	if (l->fast.at >= most)
		return most;
	return part < (uint64_t)(most - l->fast.at) ? l->fast.at + part : most;
}

/* A block of events that are not alike is full of both at the same time, about. */
static size_t most_events(const struct vfd_writer *w)
{
	const size_t most = MIN(w->block_bytes / 2, TIMES_MOST);

	return MIN(most, part_of_size(w));
}

static bool open_block(struct track *l, uint64_t units)
{
	struct vfd_block *b = block_of(l);

	if (l->writer->mute)
		return false;
	if (units < l->fast.units)
		units = l->fast.units;
	l->fast.units = units;
	*b = (struct vfd_block){.kind = VFD_BLOCK_SAMPLES, .track = l->number, .time = units};
	l->fast.at = l->buffer + sizeof(*b);
	l->fast.at = varint_put(l->fast.at, l->n_suspended + 1);
	for (uint32_t i = 0; i < l->n_suspended; i++)
		put_path(l, l->suspended[i].top, l->suspended[i].base);
	put_path(l, l->fast.current, l->fast.base);
	l->fast.at += VARINT_FIXED;
	l->order = l->fast.at;
	l->limit = block_limit(l);
	l->fast.difference = l->differences;
	l->fast.full = l->differences + most_events(l->writer);
	l->fast.run_end = NULL;
	l->has_stacks = l->has_marks = false;
	set_high(l);
	if (l->thinned) {
		uint64_t n = l->thinned;

		l->thinned = 0;
		l->marked = n;
		track_put_mark(l, VFD_MARK_THINNED, n, 0, units);
	}
	if (l->level != l->writer->level || l->thin_units < l->writer->least_units) {
		thin_level(l, units);
		set_high(l);
	}
	return l->limit;
}

static uint32_t events_of(const struct track *l)
{
	return (uint32_t)(l->fast.difference - l->differences);
}

/* What fits the last block fits the next ones, too, unless they become much longer by it. */
static unsigned char *put_times(struct track *l, unsigned char *to)
{
	const uint32_t n = events_of(l);
	unsigned char *end;

	memset(l->fast.difference, 0, 7 * sizeof(*l->fast.difference));
	if (!l->coded--) {
		l->coding = time_coding_choose(l->differences, n);
		l->coded = CODED_ALIKE;
	}
	end = time_column_put(to, l->differences, n, &l->coding);
	if ((uint64_t)(end - to) * 8 > (uint64_t)n * (l->coding.bits + 1))
		l->coded = MIN(l->coded, 1u);
	return end;
}

/* The times go behind what happened. */
static struct vfd_block *put_columns(struct track *l)
{
	struct vfd_block *b = block_of(l);

	varint_put_fixed(l->order - VARINT_FIXED, (uint32_t)(l->fast.at - l->order));
	b->bytes = (uint32_t)(put_times(l, l->fast.at) - (unsigned char *)(b + 1));
	b->records = events_of(l);
	b->flags = VFD_COLUMNS | (l->has_stacks ? VFD_HAS_STACKS : 0) | (l->recap ? VFD_RECAP : 0) |
		   (l->has_marks ? VFD_HAS_MARKS : 0);
	return b;
}

/* Nobody could read a block without its runs, or its functions: it is dropped if these cannot be
 * written. */
static bool write_samples(struct track *l, struct vfd_block *b)
{
	track_push_runs(l);
	if (!l->runs.records && !l->has_news)
		return vfd_write_block(l->writer, b);
	l->writer->sequence++; /* readers see that a block is missing */
	return false;
}

void track_push(struct track *l)
{
	struct vfd_block *b;

	if (!l->limit)
		return;
	b = events_of(l) ? put_columns(l) : NULL;
	l->limit = l->fast.at = l->fast.high = NULL;
	l->fast.difference = l->fast.full = l->differences;
	if (!b)
		return;
	l->blocks++;
	l->writer->events += b->records;
	l->writer->track_end = l->fast.units;
	if (!write_samples(l, b)) {
		l->writer->dropped_blocks++;
		l->thinned += l->marked;
	}
	l->marked = 0;
}

void track_end_block(struct track *l)
{
	if (l->limit)
		l->limit = l->fast.at;
	l->fast.high = NULL;
}

static bool is_too_late(const struct track *l, uint64_t units)
{
	return units > l->fast.units && !vfd_difference_fits(units - l->fast.units);
}

/* A block is open and has room for an event. */
static bool make_room(struct track *l, uint64_t units)
{
	if (l->limit && l->fast.at < l->limit && l->fast.difference < l->fast.full &&
		!is_too_late(l, units)) {
		set_high(l);
		return true;
	}
	track_push(l);
	return open_block(l, units);
}

bool vfd_run_room(struct vfd_track *fast, unsigned n, uint64_t ticks)
{
	struct track *l = track_of(fast);

	if (!vfd_takes_runs(fast) || ticks < l->fast.units)
		return false;
	if (!l->limit || l->fast.at >= l->limit || l->fast.full - l->fast.difference < n ||
		is_too_late(l, ticks)) {
		track_push(l);
		if (!open_block(l, ticks))
			return false;
	}
	set_high(l);
	return l->fast.high && l->fast.full - l->fast.difference >= n;
}

static void put_number(struct track *l, uint64_t number)
{
	l->fast.at = varint_put(l->fast.at, number);
}

static void put_event(struct track *l, uint64_t units, uint64_t what)
{
	const uint64_t difference = units > l->fast.units ? units - l->fast.units : 0;

	l->fast.units += difference;
	*l->fast.difference++ = (uint32_t)difference;
	put_number(l, what);
}

bool track_put_mark(struct track *l, unsigned mark, uint64_t a, uint64_t b, uint64_t units)
{
	if (!make_room(l, units))
		return false;
	l->has_marks |= mark >= VFD_MARK_GAP;
	put_event(l, units, VFD_EVENT_MARK);
	put_number(l, mark);
	put_number(l, a);
	if (mark == VFD_MARK_THINNING)
		put_number(l, b);
	return true;
}

static bool put_stack(struct track *l, uint32_t stack, uint64_t units)
{
	const struct track_stack *s = &l->stacks[stack];

	if (!track_put_mark(l, VFD_MARK_STACK, stack, 0, units))
		return false;
	put_number(l, s->caller);
	put_number(l, s->function);
	l->has_stacks = true;
	l->has_news |= l->writer->full && s->function >= l->writer->told.functions;
	return true;
}

void track_use_stack(struct track *l, uint32_t stack, uint64_t units)
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

void track_put_enter(struct track *l, uint32_t stack, uint64_t units)
{
	track_use_stack(l, stack, units);
	if (l->links[stack].caller != l->fast.current) {
		if (!track_put_mark(l, VFD_MARK_ENTER_AT, stack, 0, units))
			return;
	} else {
		if (!make_room(l, units))
			return;
		put_event(l, units, VFD_EVENT_ENTER(stack));
	}
	l->fast.current = stack;
}

/* The frame on top of the present path has ended. */
static void leave_stack(struct track *l, uint32_t stack)
{
	if (stack == l->fast.base && l->n_suspended) {
		l->n_suspended--;
		l->fast.current = l->suspended[l->n_suspended].top;
		l->fast.base = l->suspended[l->n_suspended].base;
	} else {
		l->fast.current = stack ? l->stacks[stack].caller : 0;
	}
}

void track_put_exit(struct track *l, uint32_t stack, uint64_t units)
{
	if (stack == l->fast.current && stack) {
		if (!make_room(l, units))
			return;
		put_event(l, units, VFD_EVENT_EXIT);
	} else {
		track_use_stack(l, stack, units);
		if (!track_put_mark(l, VFD_MARK_EXIT_AT, stack, 0, units))
			return;
	}
	leave_stack(l, stack);
}

static void put_aside(struct track *l, uint32_t stack, uint64_t units)
{
	if (l->n_suspended == SEGMENTS_MOST) {
		track_put_enter(l, stack, units);
		return;
	}
	track_use_stack(l, stack, units);
	if (!track_put_mark(l, VFD_MARK_ENTER_ASIDE, stack, 0, units))
		return;
	l->suspended[l->n_suspended++] = (struct vfd_path){l->fast.current, l->fast.base};
	l->fast.current = l->fast.base = stack;
}

static bool precise(const struct track *l, uint32_t stack)
{
	return stack && l->writer->precise[l->stacks[stack].function];
}

static bool is_wanted(struct track *l, uint32_t stack, uint64_t units, bool exit)
{
	/* what was suspended must go on */
	if (exit && stack && stack == l->fast.base)
		return true;
	/* else it would be one with the next call of the same path */
	if (exit && l->sampler.interval && l->call_units / 2 > l->sampler.interval)
		return true;
	return vfd_sampled(&l->sampler, units, precise(l, stack) && !l->thin_precise);
}

/* True if an event is not written, because of the writer or the interval. */
static bool skipped(struct track *l, uint32_t stack, uint64_t units, bool exit)
{
	const uint32_t n = l->n_sampled;
	bool skip = l->writer->mute || stack >= l->n_stacks || !is_wanted(l, stack, units, exit);

	for (uint32_t i = 0; i < n && !skip; i++) {
		const struct track_sampled *s = &l->sampled[i];

		track_use_stack(l, s->stack, s->units);
		track_put_mark(l, VFD_MARK_SAMPLED, s->stack, 0, s->units);
	}
	l->n_sampled = 0;
	l->call_units = 0;
	return skip;
}

void vfd_sample(struct vfd_track *fast, uint32_t stack, uint64_t ticks)
{
	struct track *l = track_of(fast);

	if (l->n_sampled < SAMPLED_MOST && stack < l->n_stacks)
		l->sampled[l->n_sampled++] = (struct track_sampled){stack, ticks};
}

void vfd_call_took(struct vfd_track *fast, uint64_t ticks)
{
	track_of(fast)->call_units = ticks;
}

/* True if calls are thinned; with an interval, thinning makes that longer instead. */
static bool thins(const struct track *l)
{
	const struct vfd_writer *w = l->writer;

	return w->interval_units ? l->level == VFD_THINNING_ALL : l->level || w->least_units;
}

void vfd_enter_slow(struct vfd_track *fast, uint32_t stack, uint64_t ticks)
{
	struct track *l = track_of(fast);

	if (skipped(l, stack, ticks, false))
		return;
	if (thins(l))
		thin_enter(l, stack, ticks);
	else
		track_put_enter(l, stack, ticks);
}

void vfd_exit_slow(struct vfd_track *fast, uint32_t stack, uint64_t ticks)
{
	struct track *l = track_of(fast);

	if (skipped(l, stack, ticks, true))
		return;
	if (thins(l))
		thin_exit(l, stack, ticks);
	else
		track_put_exit(l, stack, ticks);
}

void vfd_enter_aside(struct vfd_track *fast, uint32_t stack, uint64_t ticks)
{
	struct track *l = track_of(fast);

	if (skipped(l, stack, ticks, false) || !stack)
		return;
	thin_release(l, ticks, true);
	if (l->level && l->stacks[stack].depth > l->thin_depth) {
		thin_count(l, 1);
		return;
	}
	put_aside(l, stack, ticks);
}

void vfd_lost(struct vfd_track *fast, uint64_t calls, uint64_t ticks)
{
	struct track *l = track_of(fast);

	if (l->writer->mute)
		return;
	thin_release(l, ticks, true);
	track_put_mark(l, VFD_MARK_LOST, calls, 0, ticks);
}

/* ---- beginning and end ---------------------------------------------------------- */

struct vfd_track *vfd_track_new(struct vfd_writer *w, const struct vfd_thread *t)
{
	struct track *l = xcalloc(1, sizeof(*l));
	struct vfd_thread numbered = *t;

	l->writer = w;
	l->number = numbered.track = w->n_tracks++;
	w->n_live_tracks++;
	l->buffer = xmalloc(w->block_bytes + TIME_COLUMN_ROOM(TIMES_MOST));
	/* pages that nothing is written to take no memory */
	l->differences = xmalloc((TIMES_MOST + 7) * sizeof(*l->differences));
	l->fast.difference = l->fast.full = l->differences;
	l->sampler.interval = w->interval_units;
	l->thin_depth = UINT32_MAX;
	l->next = w->tracks;
	if (l->next)
		l->next->prev = l;
	w->tracks = l;
	vfd_stack_new(&l->fast, VFD_NONE, VFD_NONE);
	l->links[0].caller = VFD_NONE - 1;
	vfd_define_thread(w, &numbered);
	return &l->fast;
}

uint32_t vfd_track_number(const struct vfd_track *l)
{
	return ((const struct track *)l)->number;
}

uint32_t vfd_stack_new(struct vfd_track *fast, uint32_t caller, uint32_t function)
{
	struct track *l = track_of(fast);
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
	l->stacks[l->n_stacks] = (struct track_stack){caller, function, depth};
	l->links[l->n_stacks] =
		(struct vfd_link){UNUSED, varint_code((uint32_t)VFD_EVENT_ENTER(l->n_stacks))};
	return (uint32_t)l->n_stacks++;
}

/* The stacks once more in one place, for readers of a file whose blocks are damaged; and, of what
 * is kept, the calls that were left out since the last block. */
static void recapitulate(struct track *l)
{
	uint32_t left = l->stacks_used;

	if (l->writer->mute || (l->blocks < 2 && !l->writer->keep) ||
		l->writer->level == VFD_THINNING_ALL)
		return;
	l->n_suspended = 0;
	l->fast.current = l->fast.base = 0;
	l->recap = true;
	if (l->thinned && !open_block(l, l->fast.units))
		return;
	for (uint32_t i = 1; left && i < l->n_stacks; i++) {
		if (l->links[i].caller == UNUSED)
			continue;
		if (!put_stack(l, i, l->fast.units))
			return;
		left--;
	}
	track_push(l);
}

/* What was written is for one file; the next block tells of it once more. */
static void restore_track(struct track *l, const struct track *before)
{
	l->fast = before->fast;
	l->n_suspended = before->n_suspended;
	l->blocks = before->blocks;
	l->coding = before->coding;
	l->coded = before->coded;
	l->recap = before->recap;
	l->thinned = before->thinned;
	l->marked = before->marked;
	l->level = before->level;
	l->thin_units = before->thin_units;
	l->thin_depth = before->thin_depth;
	l->thin_precise = before->thin_precise;
	l->sampler = before->sampler;
	l->limit = NULL;
}

void track_recapitulate(struct track *l)
{
	const struct track before = *l;
	const uint64_t events = l->writer->events;

	recapitulate(l);
	l->writer->events = events;
	restore_track(l, &before);
}

void track_write_open(struct track *l, uint64_t units)
{
	const struct track before = *l;
	struct vfd_block *b = block_of(l);

	if (l->limit || (!l->fast.current && !l->n_suspended))
		return;
	if (open_block(l, units)) {
		b->bytes = (uint32_t)(l->order - VARINT_FIXED - l->buffer - sizeof(*b));
		vfd_write_block(l->writer, b);
	}
	restore_track(l, &before);
}

void vfd_track_end(struct vfd_track *fast, uint64_t ticks)
{
	struct track *l = track_of(fast);

	thin_release(l, ticks, false);
	if (l->writer->level == VFD_THINNING_ALL)
		track_push(l); /* it may be left out, and the last mark with it */
	if (l->thinned) {
		uint64_t n = l->thinned;

		l->thinned = 0;
		track_put_mark(l, VFD_MARK_THINNED, n, 0, ticks);
	}
	track_push(l);
	track_push_runs(l);
	track_push_counters(l);
	recapitulate(l);
	vfd_define_thread_end(l->writer, l->number, ticks);
	l->writer->n_live_tracks--;
	if (l->next)
		l->next->prev = l->prev;
	*(l->prev ? &l->prev->next : &l->writer->tracks) = l->next;
	track_free_counters(l);
	free(l->runs.bytes);
	free(l->buffer);
	free(l->differences);
	free(l->stacks);
	free(l->links);
	free(l);
}
