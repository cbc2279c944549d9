/* SPDX-License-Identifier: BSD-3-Clause */
/* Decoding the events of one block of samples. */
#include "nodeagent/trace/read/internal.h"

/* A number that stands in the track's table; what is not defined is its last one. */
static uint32_t known(const struct samples *s, uint64_t stack)
{
	if (!s->track)
		return stack < VFD_NONE ? (uint32_t)stack : 0;
	if (stack < s->track->n_written)
		return (uint32_t)stack;
	return (uint32_t)s->track->n_stacks;
}

static uint32_t caller_of(const struct samples *s, uint32_t stack)
{
	return s->track && stack ? s->track->stacks[stack].caller : 0;
}

/* s->r becomes the column of events. */
static bool begin_columns(struct samples *s)
{
	const uint64_t bytes = varint_get(&s->r);
	struct varint_reader times = s->r;

	if (s->r.bad || bytes > (size_t)(s->r.end - s->r.at))
		return false;
	s->r.end = times.at = s->r.at + bytes;
	return time_column_begin(&s->times, &times, s->left);
}

bool samples_begin(struct samples *s, const struct read_track *l, const struct read_block *b,
	const unsigned char *payload)
{
	uint64_t n;

	s->r = (struct varint_reader){payload, payload + b->bytes, false};
	s->track = l;
	s->units = b->time;
	s->left = b->records;
	n = varint_get(&s->r);
	if (!n || n > READER_SEGMENTS_MOST)
		return false;
	s->n_paths = (uint32_t)n;
	for (uint32_t i = 0; i < n; i++) {
		s->paths[i].top = known(s, varint_get(&s->r));
		s->paths[i].base = known(s, varint_get(&s->r));
	}
	s->paths[0].base = 0;
	s->run_left = 0;
	s->columns = b->flags & VFD_COLUMNS;
	return s->columns ? begin_columns(s) : !s->r.bad;
}

static struct read_path *path_of(struct samples *s)
{
	return &s->paths[s->n_paths - 1];
}

static void leave_stack(struct samples *s, uint32_t stack)
{
	if (s->n_paths > 1 && stack == path_of(s)->base)
		s->n_paths--;
	else
		path_of(s)->top = caller_of(s, stack);
}

static int mark(struct samples *s, struct sample *e)
{
	const uint64_t what = varint_get(&s->r), number = varint_get(&s->r);

	e->stack = path_of(s)->top;
	switch (what) {
	case VFD_MARK_STACK:
		e->stack_defined = true;
		e->caller = varint_get32(&s->r);
		e->function = varint_get32(&s->r);
		e->stack = number < VFD_NONE ? (uint32_t)number : VFD_NONE;
		break;
	case VFD_MARK_ENTER_AT:
		e->at = true;
		e->stack = path_of(s)->top = known(s, number);
		break;
	case VFD_MARK_EXIT_AT:
		e->kind = VFD_EXIT;
		e->at = true;
		e->stack = known(s, number);
		leave_stack(s, e->stack);
		break;
	case VFD_MARK_ENTER_ASIDE:
		e->aside = true;
		e->stack = known(s, number);
		if (!s->track) /* it is not known when a path ends */
			break;
		if (s->n_paths == READER_SEGMENTS_MOST)
			return -1;
		s->paths[s->n_paths++] = (struct read_path){e->stack, e->stack};
		break;
	case VFD_MARK_GAP:
		e->kind = VFD_GAP;
		s->n_paths = 1;
		e->stack = s->paths[0].top = known(s, number);
		break;
	case VFD_MARK_THINNED:
		e->kind = VFD_THINNED;
		e->count = number;
		break;
	case VFD_MARK_THINNING:
		e->kind = VFD_THINNING;
		e->count = number;
		e->depth = varint_get32(&s->r);
		break;
	case VFD_MARK_LOST:
		e->kind = VFD_LOST;
		e->count = number;
		break;
	case VFD_MARK_SAMPLED:
		e->kind = VFD_SAMPLED;
		e->stack = known(s, number);
		break;
	default:
		return -1;
	}
	return 1;
}

static void enter_stack(struct samples *s, struct sample *e, uint64_t stack)
{
	e->stack = known(s, stack);
	/* its caller was lost with a block */
	e->at = e->stack && caller_of(s, e->stack) != path_of(s)->top;
	path_of(s)->top = e->stack;
}

static void leave_top(struct samples *s, struct sample *e)
{
	e->kind = VFD_EXIT;
	e->stack = path_of(s)->top;
	leave_stack(s, e->stack);
}

static bool pass_time(struct samples *s, uint64_t difference)
{
	if (difference > INT64_MAX - s->units)
		return false;
	s->units += difference;
	return true;
}

/* Without a track nobody wants to know more than how many there are. */
static bool begin_run(struct samples *s, uint64_t run)
{
	const uint64_t n = varint_get(&s->r);

	if (!run || !n || n - 1 > s->left)
		return false;
	if (s->track && (run > s->track->n_runs || n > s->track->runs[run - 1].n))
		return false;
	s->run = s->track ? s->track->run_events + s->track->runs[run - 1].first : NULL;
	s->run_left = (uint32_t)n;
	return true;
}

static void run_event(struct samples *s, struct sample *e)
{
	const uint32_t stack = s->run ? *s->run++ : 0;

	s->run_left--;
	if (stack)
		enter_stack(s, e, stack);
	else
		leave_top(s, e);
}

/* What happens at the next time. Returns as samples_next(). */
static int column_event(struct samples *s, struct sample *e)
{
	uint64_t what;

	if (s->run_left) {
		run_event(s, e);
		return 1;
	}
	if (s->r.at == s->r.end)
		return -1;
	what = varint_get(&s->r);
	if (what == VFD_EVENT_MARK)
		return mark(s, e);
	if (what & 1) {
		if (!begin_run(s, what >> 1))
			return -1;
		run_event(s, e);
	} else if (what == VFD_EVENT_EXIT) {
		leave_top(s, e);
	} else {
		enter_stack(s, e, what >> 1);
	}
	return 1;
}

static int next_of_columns(struct samples *s, struct sample *e)
{
	int rc;

	if (!pass_time(s, time_column_next(&s->times)))
		return -1;
	*e = (struct sample){.kind = VFD_ENTER, .units = s->units};
	rc = column_event(s, e);
	return s->r.bad || s->times.others.bad ? -1 : rc;
}

/* The next one where each has its time before it. */
static int next_row(struct samples *s, struct sample *e)
{
	uint64_t word, stack;
	int rc = 1;

	if (s->r.at == s->r.end)
		return -1;
	word = varint_get(&s->r);
	if (!pass_time(s, word >> 1))
		return -1;
	*e = (struct sample){.kind = VFD_ENTER, .units = s->units};
	if (!(word & 1))
		leave_top(s, e);
	else if ((stack = varint_get(&s->r)))
		enter_stack(s, e, stack);
	else
		rc = mark(s, e);
	return s->r.bad ? -1 : rc;
}

int samples_next(struct samples *s, struct sample *e)
{
	if (!s->left)
		return 0;
	s->left--;
	return s->columns ? next_of_columns(s, e) : next_row(s, e);
}
