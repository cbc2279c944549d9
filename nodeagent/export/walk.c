/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events for a format: those of the reader's cursor, and each message a second
 * time where it ended. What has begun and not ended waits in a heap.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "nodeagent/export/export.h"
#include "nodeagent/base/util.h"

#define CHECK_EVERY 4096u /* events */
#define DRAW_EVERY  0.1	  /* s */
#define BAR	    40
#define FLOWS_MOST  16384u /* from the calls of one moment */

struct walk {
	struct exporter *x;
	void (*event)(void *ctx, const struct export_event *e);
	void *ctx;
	struct export_message *heap; /* by end */
	size_t n, cap;
	uint64_t time; /* of the last event given */
	uint32_t counters[EXPORT_COUNTS_MOST];
	struct export_counts counts;
	uint64_t messages;
	/* ends of arrows at the calls that come next, at the same time */
	struct flow_end {
		const struct export_thread *thread;
		uint32_t stack;
		struct export_flow flow;
	} * ends;
	size_t n_ends, cap_ends;
	int64_t ends_time;
	struct export_flow *flows; /* of the event given */
	size_t cap_flows;
};

/* ---- the heap of ends --------------------------------------------------------------- */

static void swap(struct export_message *a, struct export_message *b)
{
	struct export_message c = *a;

	*a = *b;
	*b = c;
}

static void push_message(struct walk *w, const struct export_message *m)
{
	size_t i = w->n;

	*APPEND(w->heap, w->n, w->cap) = *m;
	for (; i && w->heap[i].end < w->heap[(i - 1) / 2].end; i = (i - 1) / 2)
		swap(&w->heap[i], &w->heap[(i - 1) / 2]);
}

static struct export_message pop(struct walk *w)
{
	const struct export_message first = w->heap[0];

	w->heap[0] = w->heap[--w->n];
	for (size_t i = 0;;) {
		size_t least = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < w->n; k++)
			if (w->heap[k].end < w->heap[least].end)
				least = k;
		if (least == i)
			return first;
		swap(&w->heap[i], &w->heap[least]);
		i = least;
	}
}

/* ---- giving ------------------------------------------------------------------------- */

static void give_event(struct walk *w, struct export_event *e)
{
	e->time = MAX(e->time, w->time);
	w->time = e->time;
	w->event(w->ctx, e);
}

/* Messages that ended until then; at the same time, before what the thread does next. */
static void give_ends(struct walk *w, uint64_t until)
{
	while (w->n && w->heap[0].end <= until) {
		const struct export_message m = pop(w);
		struct export_event e = {.kind = EXPORT_END, .time = m.end, .message = &m};

		e.thread = &w->x->threads[m.m.track];
		give_event(w, &e);
	}
}

/* What is not followed by its call is dropped: that was left out, or is before --from. */
static void add_flow(struct walk *w, const struct vfd_event *v, bool alone)
{
	const struct export_thread *t = export_thread_of(w->x, v->file, v->track);
	const struct vfd_launch *l = v->launch;
	struct export_flow flow = {.out = v->kind == VFD_LAUNCH,
		.kind = l->kind,
		.flow = vfd_launch_flow(w->x->files[v->file], l),
		.bytes = l->bytes,
		.from = export_thread_of(w->x, v->file, l->track)};

	if (!t || !flow.from)
		return;
	if (alone) {
		give_event(w, &(struct export_event){.kind = EXPORT_FLOW,
				      .time = export_time(w->x, v->time),
				      .thread = t,
				      .flows = &flow,
				      .n_flows = 1});
		return;
	}
	if (v->time != w->ends_time)
		w->n_ends = 0;
	w->ends_time = v->time;
	if (w->n_ends >= FLOWS_MOST)
		return;
	*LIST_ADD(w, ends) = (struct flow_end){t, v->stack, flow};
}

static void take_flows(struct walk *w, const struct vfd_event *v, struct export_event *e)
{
	size_t kept = 0;

	if (v->time != w->ends_time)
		w->n_ends = 0;
	EACH(const struct flow_end, end, w->ends, w->n_ends) {
		if (end->thread == e->thread && end->stack == v->stack) {
			*APPEND(w->flows, e->n_flows, w->cap_flows) = end->flow;
		} else {
			w->ends[kept++] = *end;
		}
	}
	w->n_ends = kept;
	e->flows = w->flows;
}

static bool convert(struct walk *w, const struct vfd_event *v, struct export_event *e)
{
	*e = (struct export_event){.time = export_time(w->x, v->time),
		.thread = export_thread_of(w->x, v->file, v->track)};
	e->count = v->count;
	switch (v->kind) {
	case VFD_ENTER:
	case VFD_EXIT:
		e->kind = v->kind == VFD_ENTER ? EXPORT_ENTER : EXPORT_EXIT;
		e->region = export_region_of(w->x, v->file, v->track, v->stack);
		e->stack = v->stack;
		e->sampled = v->sampled;
		break;
	case VFD_GAP:
		e->kind = EXPORT_GAP;
		break;
	case VFD_THINNED:
		e->kind = EXPORT_THINNED;
		break;
	case VFD_LOST:
		e->kind = EXPORT_LOST;
		break;
	case VFD_COUNTERS:
		e->kind = EXPORT_COUNTERS;
		export_counts_of(w->x, v->file, v->counts, w->counters, &w->counts);
		e->counts = &w->counts;
		break;
	default:
		return false;
	}
	return e->thread != NULL;
}

static void give_message(struct walk *w, const struct vfd_event *v)
{
	const struct export_thread *t = export_thread_of(w->x, v->file, v->track);
	struct export_event e = {.kind = EXPORT_BEGIN, .time = export_time(w->x, v->time)};
	struct export_message m;

	if (!t)
		return;
	export_message_of(w->x, v->file, v->message, &m);
	m.number = w->messages++;
	/* of the whole trace, not of the file */
	m.m.track = (uint32_t)(t - w->x->threads);
	e.thread = t;
	e.message = &m;
	give_event(w, &e);
	push_message(w, &m);
}

/* ---- progress ----------------------------------------------------------------------- */

void export_progress(struct exporter *x, double part)
{
	struct timespec now;
	double seconds;
	char bar[BAR + 1];
	int full;

	if (x->shown < 0)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
	part = (x->steps_done + part) / (x->steps ? x->steps : 1);
	part = part > 1 ? 1 : part;
	if (seconds - x->shown < DRAW_EVERY)
		return;
	x->shown = seconds;
	full = (int)(part * BAR);
	for (int i = 0; i < BAR; i++)
		bar[i] = i < full ? '#' : '.';
	bar[BAR] = '\0';
	fprintf(stderr, "\r%s [%s] %3.0f %%", x->base, bar, part * 100);
}

static volatile sig_atomic_t stopped;

void export_stop(int signal)
{
	stopped = signal;
}

int export_stopped(void)
{
	return stopped;
}

static void check_for_end(struct exporter *x)
{
	if (stopped)
		export_fail(x, "stopped by signal %d", (int)stopped);
	if (x->out && ferror(x->out))
		export_fail(x, "the output can't be written");
	if (x->out && x->options->bytes_most)
		x->full = (size_t)ftello(x->out) > x->options->bytes_most;
}

bool export_goes_on(struct exporter *x)
{
	check_for_end(x);
	return !x->error;
}

void export_walk(struct exporter *x, const struct export_walk *want,
	void (*event)(void *ctx, const struct export_event *e), void *ctx)
{
	const struct export_options *o = x->options;
	struct vfd_filter filter = {.ranks = o->ranks,
		.track = want->thread ? want->thread->track : VFD_NONE,
		.from_set = o->span.from_set,
		.to_set = o->span.to_set,
		.from = o->span.from,
		.to = o->span.to,
		.no_samples = want->no_calls,
		.no_messages = want->no_messages};
	struct walk w = {.x = x, .event = event, .ctx = ctx};
	const uint32_t file = want->thread ? want->thread->file : 0;
	struct vfd_cursor *c =
		vfd_cursor_new(x->files + file, want->thread ? 1 : x->n_files, &filter);
	struct vfd_event v;
	struct export_event e;

	for (size_t n = 1; !x->error && !x->full && vfd_next(c, &v); n++) {
		v.file += file;
		give_ends(&w, export_time(x, v.time));
		if (v.kind == VFD_MESSAGE && v.message->kind == VFD_EPOCH)
			continue; /* nothing is sent */
		if (v.kind == VFD_MESSAGE)
			give_message(&w, &v);
		else if (v.kind == VFD_LAUNCH || v.kind == VFD_STARTED)
			add_flow(&w, &v, want->no_calls);
		else if (convert(&w, &v, &e)) {
			if (w.n_ends && v.kind == VFD_ENTER)
				take_flows(&w, &v, &e);
			give_event(&w, &e);
		}
		if (n % CHECK_EVERY == 0) {
			check_for_end(x);
			export_progress(x, vfd_cursor_progress(c));
		}
	}
	if (!x->error)
		give_ends(&w, UINT64_MAX);
	vfd_cursor_free(c);
	free(w.heap);
	free(w.ends);
	free(w.flows);
	x->steps_done++;
	export_progress(x, 0);
	check_for_end(x);
}
