/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/sampling-gpu.h"

#include <stdlib.h>

#include "nodeagent/process.h"
#include "nodeagent/profile.h"
#include "nodeagent/sampling-internal.h"
#include "nodeagent/util.h"

struct track {
	struct vfd_lane *lane;
	struct map64 stacks; /* function -> stack of this lane */
	uint64_t last;
};

struct sampling_gpu {
	struct sampling_process *process;
	struct map64 functions; /* what -> function in the file */
	struct track *tracks;
	size_t n_tracks, cap_tracks;
};

struct sampling_gpu *sampling_gpu_new(struct process *p)
{
	struct sampling_gpu *g;

	if (!p->sampled || !p->sampled->sampling->writer)
		return NULL;
	g = xcalloc(1, sizeof(*g));
	g->process = p->sampled;
	return g;
}

static struct track *track_of(
	struct sampling_gpu *g, uint32_t stream, const char *title, uint64_t from)
{
	struct vfd_thread told = {.process = g->process->number,
		.creator = PROFILE_NONE,
		.name = title,
		.start = (int64_t)from};

	while (g->n_tracks <= stream) {
		g->tracks = grow(g->tracks, g->n_tracks, &g->cap_tracks, sizeof(*g->tracks));
		g->tracks[g->n_tracks++] = (struct track){0};
	}
	if (!g->tracks[stream].lane) {
		told.number = VFD_THREAD_STREAM + stream;
		g->tracks[stream].lane = vfd_lane_new(g->process->sampling->writer, &told);
		g->tracks[stream].last = from;
	}
	return &g->tracks[stream];
}

static uint32_t function_of(struct sampling_gpu *g, uint64_t what, const char *name)
{
	struct vfd_function f = {.process = g->process->number,
		.kind = VFD_FUNCTION_OTHER,
		.precise = true,
		.name = name};
	const uint32_t *known = map64_find(&g->functions, what);
	uint32_t number;

	if (known)
		return *known;
	number = vfd_define_function(g->process->sampling->writer, &f);
	map64_add(&g->functions, what, number);
	return number;
}

static uint32_t stack_of(struct track *t, uint32_t function)
{
	const uint32_t *known = map64_find(&t->stacks, function);
	uint32_t stack;

	if (known)
		return *known;
	stack = vfd_stack_new(t->lane, 0, function);
	map64_add(&t->stacks, function, stack);
	return stack;
}

struct sampling_gpu_place sampling_gpu_ran(struct sampling_gpu *g, uint32_t stream,
	const char *title, uint64_t what, const char *name, uint64_t from, uint64_t to)
{
	struct sampling_gpu_place place = {.lane = VFD_NONE};
	struct track *t;
	uint32_t stack;

	if (!g || !g->process->sampling->writer)
		return place;
	t = track_of(g, stream, title, from);
	if (from < t->last)
		from = t->last;
	if (to <= from) /* delivered late: something else is there already */
		return place;
	stack = stack_of(t, function_of(g, what, name));
	if (stack == VFD_NONE)
		return place;
	vfd_enter(t->lane, stack, from);
	if (vfd_is_entering(t->lane, stack, from))
		place = (struct sampling_gpu_place){vfd_lane_number(t->lane), stack, from};
	vfd_exit(t->lane, stack, to);
	t->last = to;
	return place;
}

void sampling_gpu_launched(struct sampling_gpu *g, const struct vfd_launch *l)
{
	if (g && g->process->sampling->writer)
		vfd_launch(g->process->sampling->writer, l);
}

void sampling_gpu_end(struct sampling_gpu *g, uint64_t ticks)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->n_tracks; i++) {
		if (g->tracks[i].lane && g->process->sampling->writer)
			vfd_lane_end(g->tracks[i].lane,
				ticks > g->tracks[i].last ? ticks : g->tracks[i].last);
		map64_free(&g->tracks[i].stacks);
	}
	map64_free(&g->functions);
	free(g->tracks);
	free(g);
}
