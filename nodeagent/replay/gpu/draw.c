/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Draws GPUs into the sampling file, beside the tracks of threads: streams as tracks, ranges
 * on tracks of their own, and launches, from the call that started something to where it ran.
 */
#include "nodeagent/replay/gpu/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "nodeagent/base/util.h"
#include "nodeagent/trace/write/writer.h"

struct gpu_track {
	struct vfd_track *track;
	struct map64 stacks; /* function -> stack of this track */
	uint64_t last;
};

void gpu_draw_to(struct gpu *g, struct vfd_writer *const *writer, uint32_t process)
{
	g->drawing.writer = writer;
	g->drawing.process = process;
}

static bool is_drawn(const struct gpu *g)
{
	return g->drawing.writer && *g->drawing.writer;
}

static struct gpu_track *track_of(
	struct gpu_drawing *d, uint32_t stream, const char *title, uint64_t from)
{
	const struct vfd_thread told = {.process = d->process,
		.creator = VFD_NONE,
		.number = VFD_THREAD_STREAM + stream,
		.name = title,
		.start = (int64_t)from};

	while (d->n_tracks <= stream) {
		*LIST_ADD(d, tracks) = (struct gpu_track){0};
	}
	if (!d->tracks[stream].track) {
		d->tracks[stream].track = vfd_track_new(*d->writer, &told);
		d->tracks[stream].last = from;
	}
	return &d->tracks[stream];
}

static uint32_t function_of(struct gpu *g, uint64_t what)
{
	struct gpu_drawing *d = &g->drawing;
	const struct vfd_function f = {.process = d->process,
		.kind = VFD_FUNCTION_OTHER,
		.precise = true,
		.name = gpu_what_name(g, what)};
	uint32_t *number = map64_at(&d->functions, what, VFD_NONE);

	if (*number == VFD_NONE)
		*number = vfd_define_function(*d->writer, &f);
	return *number;
}

static uint32_t stack_of(struct gpu_track *t, uint32_t function)
{
	uint32_t *stack = map64_at(&t->stacks, function, VFD_NONE);

	if (*stack == VFD_NONE)
		*stack = vfd_stack_new(t->track, 0, function);
	return *stack;
}

/* w has run in this stream, counted from 0; title: the stream's, used when it is new. */
static struct gpu_drawn draw_run(
	struct gpu *g, uint32_t stream, const char *title, const struct gpu_placed *w)
{
	struct gpu_drawn drawn = {.track = VFD_NONE};
	struct gpu_track *t = track_of(&g->drawing, stream, title, w->from);
	uint64_t from = w->from > t->last ? w->from : t->last;
	uint32_t stack;

	if (w->to <= from) /* delivered late: something else is there already */
		return drawn;
	stack = stack_of(t, function_of(g, gpu_what(&w->activity)));
	if (stack == VFD_NONE)
		return drawn;
	vfd_enter(t->track, stack, from);
	if (vfd_is_entering(t->track, stack, from))
		drawn = (struct gpu_drawn){vfd_track_number(t->track), stack, from};
	vfd_exit(t->track, stack, w->to);
	t->last = w->to;
	return drawn;
}

/* A stream's number there is its place in streams[]. */
void gpu_draw(struct gpu *g, const struct gpu_stream *s, struct gpu_placed *w)
{
	const char *name;
	char title[128];

	if (!s || !is_drawn(g))
		return;
	name = gpu_stream_name(g, s->context, s->stream);
	snprintf(title, sizeof(title), "GPU %" PRIu32 " stream %" PRIu32 ".%" PRIu32 "%s%.60s%s",
		s->device, s->context, s->stream, name ? " (" : "", name ? name : "",
		name ? ")" : "");
	w->drawn = draw_run(g, (uint32_t)(s - g->streams), title, w);
}

void gpu_draw_range(struct gpu *g, const struct gpu_placed *w)
{
	uint64_t *last = g->drawing.range_last;
	char title[64];
	uint32_t i = 0;

	if (!is_drawn(g))
		return;
	while (i + 1 < GPU_RANGE_TRACKS && last[i] > w->from)
		i++;
	last[i] = w->to;
	snprintf(title, sizeof(title), "NVTX ranges %" PRIu32, i);
	draw_run(g, GPU_STREAMS_MAX + i, title, w);
}

void gpu_draw_launch(struct gpu *g, const struct gpu_placed *w, const struct gpu_call *c)
{
	static const enum vfd_launch_kind copies[GPU_COPIES] = {
		VFD_LAUNCH_COPY, [GPU_COPY_TO_DEVICE] = VFD_LAUNCH_TO_DEVICE,
		[GPU_COPY_TO_HOST] = VFD_LAUNCH_TO_HOST, [GPU_COPY_ON_DEVICE] = VFD_LAUNCH_COPY,
		[GPU_COPY_ON_HOST] = VFD_LAUNCH_COPY, [GPU_COPY_PEER] = VFD_LAUNCH_COPY};
	const struct gpu_activity *a = &w->activity;
	const struct vfd_launch l = {.kind = a->kind == GPU_KERNEL ? VFD_LAUNCH_KERNEL
					     : a->kind == GPU_SET  ? VFD_LAUNCH_SET
								   : copies[a->detail],
		.track = c->track,
		.stack = c->stack,
		.time = (int64_t)c->since,
		.to_track = w->drawn.track,
		.to_stack = w->drawn.stack,
		.start = (int64_t)w->drawn.ticks,
		.bytes = a->kind == GPU_KERNEL ? 0 : a->bytes};

	if (is_drawn(g))
		vfd_launch(*g->drawing.writer, &l);
}

void gpu_draw_end(struct gpu *g, uint64_t ticks)
{
	struct gpu_drawing *d = &g->drawing;

	EACH(struct gpu_track, t, d->tracks, d->n_tracks) {
		if (t->track && *d->writer)
			vfd_track_end(t->track, ticks > t->last ? ticks : t->last);
		map64_free(&t->stacks);
	}
	map64_free(&d->functions);
	free(d->tracks);
	*d = (struct gpu_drawing){0};
}
