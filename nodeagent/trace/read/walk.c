/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Balancing: `frames` are the enters that were given and whose exits were not.
 * Each recorded event has a goal, the path that must be open before it; frames
 * are closed and opened one by one until they are that path. Frames that hang
 * aside (of tasks) begin a level of their own above what is suspended.
 *
 * What a collective call waited (waits.c) is a frame that begins with it, and ends at
 * the latest when the call does something: that is put between the recorded events.
 */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/internal.h"

struct level {
	uint32_t floor; /* frames below belong to what is suspended */
	uint32_t base;	/* 0: the thread's own path */
};

struct walk {
	struct vfd_file *f;
	const struct read_track *track;
	const struct vfd_filter *filter;
	uint32_t file, number;
	size_t next_block;
	unsigned char *payload;
	size_t payload_room;
	struct samples samples;
	bool in_block, have, over, begun;
	struct sample now;   /* the event that is to be given */
	struct sample ahead; /* with has_ahead: the recorded one behind it */
	bool has_ahead;
	size_t next_wait;			/* of the track's */
	const struct read_wait *waiting, *open; /* begins next; has begun */
	/* what a block says is open, when that is not what we have: given as a gap */
	struct read_path restore[READER_SEGMENTS_MOST];
	uint32_t n_restore, restored;
	bool restoring;
	struct read_path paths[READER_SEGMENTS_MOST]; /* after the last event */
	uint32_t n_paths;
	uint64_t last_units;
	/* what was left out until the event in now began there, if the file has an interval */
	uint64_t since;
	bool has_since;
	/* balanced only */
	uint32_t *frames;
	size_t n_frames, cap_frames;
	struct level levels[READER_SEGMENTS_MOST];
	uint32_t n_levels;
	size_t resumed; /* frames given as open at `from` */
	bool silent;	/* before `from` */
	int64_t latest; /* time given */
	bool any;
};

static int64_t time_of(const struct walk *w, uint64_t units)
{
	return reader_time(w->f, units);
}

struct walk *walk_new(
	struct vfd_file *f, uint32_t file, uint32_t track, const struct vfd_filter *filter)
{
	const struct read_track *l = &f->tracks[track];
	struct walk *w;

	if (!l->n_blocks)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->f = f;
	w->track = l;
	w->filter = filter;
	w->file = file;
	w->number = track;
	w->n_levels = w->n_paths = 1;
	w->silent = filter->from_set;
	/* the last block that may begin before `from`: it says what is open */
	while (filter->from_set && w->next_block + 1 < l->n_blocks &&
		time_of(w, f->blocks[l->blocks[w->next_block + 1]].time) < filter->from)
		w->next_block++;
	return w;
}

void walk_free(struct walk *w)
{
	if (!w)
		return;
	free(w->payload);
	free(w->frames);
	free(w);
}

void walk_progress(const struct walk *w, uint64_t *done, uint64_t *all)
{
	*done += w->next_block;
	*all += w->track->n_blocks;
}

/* ---- what was recorded ------------------------------------------------------------ */

static bool same_paths(const struct walk *w)
{
	const struct samples *s = &w->samples;

	if (s->n_paths != w->n_paths)
		return false;
	return ALL(i, s->n_paths,
		s->paths[i].top == w->paths[i].top && s->paths[i].base == w->paths[i].base);
}

static bool load_block(struct walk *w)
{
	const struct read_block *b = &w->f->blocks[w->track->blocks[w->next_block++]];

	return reader_load_grown(w->f, b, &w->payload, &w->payload_room) &&
	       samples_begin(&w->samples, w->track, b, w->payload);
}

static void remember_paths(struct walk *w)
{
	w->n_paths = w->samples.n_paths;
	memcpy(w->paths, w->samples.paths, w->n_paths * sizeof(*w->paths));
	w->last_units = w->samples.units;
}

/* The next recorded event into ahead. False: the track has ended. */
static bool fetch_recorded(struct walk *w)
{
	for (;;) {
		if (w->in_block) {
			if (samples_next(&w->samples, &w->ahead) > 0) {
				if (w->ahead.stack_defined)
					continue;
				/* only at blocks are all paths needed */
				w->last_units = w->samples.units;
				return w->has_ahead = true;
			}
			w->in_block = false;
			remember_paths(w);
		}
		if (w->next_block == w->track->n_blocks)
			return false;
		if (!load_block(w))
			continue;
		w->in_block = true;
		if (same_paths(w)) {
			w->begun = true;
			continue;
		}
		/* a block before it is missing, or it is where we begin */
		w->n_restore = w->samples.n_paths;
		memcpy(w->restore, w->samples.paths, w->n_restore * sizeof(*w->restore));
		w->restored = 0;
		w->restoring = true;
		w->ahead = (struct sample){.kind = VFD_GAP,
			.units = w->samples.units,
			.stack = w->samples.paths[w->n_restore - 1].top};
		w->last_units = w->samples.units;
		return w->has_ahead = true;
	}
}

/* The wait of the call that is entered, or, where the track is met in a call, goes on. */
static const struct read_wait *wait_of(struct walk *w, const struct sample *s)
{
	const bool enters = s->kind == VFD_ENTER && !s->aside;

	if (!enters && (s->kind != VFD_GAP || w->filter->raw))
		return NULL;
	while (w->next_wait < w->track->n_waits &&
		w->track->waits[w->next_wait].start <= s->units) {
		const struct read_wait *x = &w->track->waits[w->next_wait++];

		if (x->stack == s->stack && (enters ? x->start == s->units : x->end > s->units))
			return x;
	}
	return NULL;
}

static bool put_wait(struct walk *w, enum vfd_event_kind kind, uint32_t stack, uint64_t units)
{
	w->now = (struct sample){.kind = kind, .stack = stack, .units = units};
	if (units > w->last_units)
		w->last_units = units;
	return w->have = true;
}

/* The next event into now: recorded, or of a wait. False: the track has ended. */
static bool fetch(struct walk *w)
{
	const struct read_wait *open = w->open, *waiting = w->waiting;

	w->waiting = NULL;
	if (waiting) {
		w->open = waiting;
		return put_wait(w, VFD_ENTER, waiting->own, w->now.units);
	}
	if (!w->has_ahead)
		fetch_recorded(w);
	if (open && (!w->has_ahead || w->ahead.units >= open->end || w->ahead.kind <= VFD_EXIT ||
			    w->ahead.kind == VFD_GAP || w->ahead.kind == VFD_SAMPLED)) {
		w->open = NULL;
		return put_wait(w, VFD_EXIT, open->own,
			w->has_ahead && w->ahead.units < open->end ? w->ahead.units : open->end);
	}
	if (!w->has_ahead)
		return false;
	w->has_ahead = false;
	w->now = w->ahead;
	w->waiting = wait_of(w, &w->now);
	return w->have = true;
}

static void give_event(const struct walk *w, struct vfd_event *e, int64_t time)
{
	const struct sample *s = &w->now;

	*e = (struct vfd_event){.kind = s->kind,
		.file = w->file,
		.track = w->number,
		.stack = s->stack,
		.depth = s->depth,
		.count = s->count,
		.time = time};
	if (s->kind == VFD_THINNING)
		e->count = s->count > INT64_MAX / 2
				   ? s->count
				   : (uint64_t)((double)s->count * w->f->facts.ns_per_unit + 0.5);
}

static bool next_raw(struct walk *w, struct vfd_event *e)
{
	const struct vfd_filter *f = w->filter;

	while (fetch(w)) {
		int64_t time = time_of(w, w->now.units);

		if (f->from_set && time < f->from)
			continue;
		if (f->to_set && time >= f->to)
			return false;
		give_event(w, e, time);
		return true;
	}
	return false;
}

/* ---- balanced --------------------------------------------------------------------- */

static uint32_t ancestor(const struct walk *w, uint32_t stack, uint32_t depth)
{
	while (w->track->stacks[stack].depth > depth)
		stack = w->track->stacks[stack].caller;
	return stack;
}

static void push_frame(struct walk *w, uint32_t stack)
{
	*LIST_ADD(w, frames) = stack;
}

static bool implied(const struct walk *w, struct vfd_event *e, enum vfd_event_kind kind,
	uint32_t stack, int64_t time)
{
	*e = (struct vfd_event){.kind = kind,
		.implied = true,
		.file = w->file,
		.track = w->number,
		.stack = stack,
		.time = time};
	return true;
}

/* Makes one step towards goal in the level on top; false: it is reached. */
static bool step(struct walk *w, uint32_t goal, int64_t time, struct vfd_event *e)
{
	const struct level *l = &w->levels[w->n_levels - 1];
	const uint32_t depth = w->track->stacks[goal].depth;
	uint32_t next;

	if (w->n_frames > l->floor) {
		const uint32_t top = w->frames[w->n_frames - 1];
		const uint32_t top_depth = w->track->stacks[top].depth;

		if (top == goal)
			return false;
		if (top_depth > depth || ancestor(w, goal, top_depth) != top) {
			w->n_frames--;
			return implied(w, e, VFD_EXIT, top, time);
		}
		next = ancestor(w, goal, top_depth + 1);
	} else {
		const uint32_t from = l->base ? w->track->stacks[l->base].depth : 1;

		if (!goal || depth < from)
			return false;
		next = ancestor(w, goal, from);
	}
	push_frame(w, next);
	return implied(w, e, VFD_ENTER, next, time);
}

/* Closes one frame, or one level; false: none is open. */
static bool close_one(struct walk *w, int64_t time, struct vfd_event *e)
{
	while (w->n_levels > 1 && w->n_frames == w->levels[w->n_levels - 1].floor)
		w->n_levels--;
	if (!w->n_frames)
		return false;
	return implied(w, e, VFD_EXIT, w->frames[--w->n_frames], time);
}

static void leave_level(struct walk *w, uint32_t stack)
{
	if (w->n_levels > 1 && stack == w->levels[w->n_levels - 1].base &&
		w->n_frames == w->levels[w->n_levels - 1].floor)
		w->n_levels--;
}

/* A gap: everything is closed, the gap is told, then what is open now is opened. */
static bool gap(struct walk *w, int64_t time, struct vfd_event *e, bool *given)
{
	*given = true;
	if (!w->restored) {
		if (close_one(w, time, e))
			return true;
		if (!w->restoring) {
			w->restore[0] = (struct read_path){w->now.stack, 0};
			w->n_restore = 1;
		}
		w->restored = 1;
		w->n_levels = 1;
		/* a track that begins in the middle, as all do with `from`, has no gap */
		*given = w->begun;
		w->begun = true;
		if (*given)
			give_event(w, e, time);
		return true;
	}
	for (;;) {
		const uint32_t i = w->restored - 1;

		if (step(w, w->restore[i].top, time, e))
			return true;
		if (w->restored == w->n_restore)
			break;
		w->levels[w->n_levels++] =
			(struct level){(uint32_t)w->n_frames, w->restore[w->restored].base};
		w->restored++;
	}
	w->restored = 0;
	w->restoring = w->have = false;
	*given = false;
	return true;
}

static uint32_t caller_of(const struct walk *w, uint32_t stack)
{
	return stack ? w->track->stacks[stack].caller : 0;
}

/*
 * Makes one step towards the stack that ran until the event in now. In a file with an interval
 * it ran since the event before, or since the last event that was left out, which a
 * VFD_SAMPLED stands for. False: it is reached, or not known.
 */
static bool approach(struct walk *w, int64_t time, struct vfd_event *e)
{
	const struct vfd_filter *f = w->filter;
	uint32_t goal = w->now.stack;
	int64_t since;

	if (w->now.kind > VFD_EXIT && w->now.kind != VFD_SAMPLED)
		return false;
	if (w->now.kind == VFD_ENTER) {
		if (w->now.aside)
			return false;
		goal = caller_of(w, goal);
	}
	if (!w->f->facts.interval_ns || !w->has_since)
		return step(w, goal, time, e);
	since = time_of(w, w->since);
	if (f->from_set && since < f->from && time >= f->from)
		since = f->from;
	if (!step(w, goal, since < time ? since : time, e))
		return false;
	return e->sampled = true;
}

static void note_since(struct walk *w)
{
	if (w->now.kind > VFD_GAP && w->now.kind != VFD_SAMPLED)
		return;
	w->since = w->now.units;
	w->has_since = true;
}

/* Makes a step for the event in now: true, and an event if *given. */
static bool advance(struct walk *w, int64_t time, struct vfd_event *e, bool *given)
{
	const uint32_t stack = w->now.stack;

	w->begun |= w->now.kind != VFD_GAP;
	*given = true;
	if (approach(w, time, e))
		return true;
	note_since(w);
	switch (w->now.kind) {
	case VFD_GAP:
		return gap(w, time, e, given);
	case VFD_SAMPLED:
		w->have = *given = false;
		return true;
	case VFD_ENTER:
		if (w->now.aside && w->n_levels < READER_SEGMENTS_MOST)
			w->levels[w->n_levels++] = (struct level){(uint32_t)w->n_frames, stack};
		push_frame(w, stack);
		break;
	case VFD_EXIT:
		if (w->n_frames && w->frames[w->n_frames - 1] == stack &&
			w->n_frames > w->levels[w->n_levels - 1].floor)
			w->n_frames--;
		else
			*given = false; /* the root: it has no enter */
		break;
	default:
		break;
	}
	w->have = false;
	give_event(w, e, time);
	if (w->now.kind == VFD_EXIT)
		leave_level(w, stack);
	return true;
}

/* The end of a track, after its last event. */
static int64_t end_of(const struct walk *w)
{
	const int64_t last = time_of(w, w->last_units);
	int64_t end = w->f->threads[w->number].end;

	if (end < last)
		end = last;
	if (w->filter->to_set && end > w->filter->to)
		end = w->filter->to;
	return end;
}

static bool resume(struct walk *w, struct vfd_event *e)
{
	if (w->resumed == w->n_frames)
		return false;
	return implied(w, e, VFD_ENTER, w->frames[w->resumed++], w->filter->from);
}

/* What ran until an event behind `to' has begun before that: it may also have filled the time since
 * `from'. */
static bool ran_before_to(const struct walk *w)
{
	return w->f->facts.interval_ns && w->has_since && time_of(w, w->since) < w->filter->to;
}

static bool next_balanced(struct walk *w, struct vfd_event *e)
{
	const struct vfd_filter *f = w->filter;
	bool given;

	for (;;) {
		int64_t time;

		if (!w->over && !w->have && !fetch(w))
			w->over = true;
		time = w->over ? end_of(w) : time_of(w, w->now.units);
		if (!w->over && f->to_set && time >= f->to) {
			if (ran_before_to(w) && approach(w, time, e)) {
				if (!w->silent)
					return true;
				continue;
			}
			w->over = true;
			time = f->to;
		}
		if (w->silent) {
			if (!w->over && time < f->from) {
				advance(w, time, e, &given);
				w->resumed = 0;
				continue;
			}
			if (w->over && time <= f->from)
				return false;
			if (w->n_frames && resume(w, e))
				return true;
			w->silent = false;
		}
		if (w->over)
			return close_one(w, time, e);
		advance(w, time, e, &given);
		if (given)
			return true;
	}
}

bool walk_next(struct walk *w, struct vfd_event *e)
{
	if (!(w->filter->raw ? next_raw(w, e) : next_balanced(w, e)))
		return false;
	/* only a hostile file goes back */
	if (w->any && e->time < w->latest)
		e->time = w->latest;
	w->latest = e->time;
	w->any = true;
	return true;
}
