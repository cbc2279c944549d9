/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the sampling file has of GPUs: streams as tracks, ranges on tracks of their
 * own, and launches, from the call that started something to where it ran.
 */
#include <inttypes.h>
#include <stdio.h>

#include "nodeagent/agent.h"
#include "nodeagent/gpu-internal.h"
#include "nodeagent/process.h"

/* A stream's number there is its place in streams[]. */
void gpu_draw(struct gpu *g, const struct gpu_stream *s, struct gpu_placed *w)
{
	const struct gpu_activity *a = &w->activity;
	const char *name;
	char title[128];

	if (!s || !g->process->sampled)
		return;
	if (!g->sampled)
		g->sampled = sampling_gpu_new(g->process);
	name = gpu_stream_name(g, s->context, s->stream);
	snprintf(title, sizeof(title), "GPU %" PRIu32 " stream %" PRIu32 ".%" PRIu32 "%s%.60s%s",
		s->device, s->context, s->stream, name ? " (" : "", name ? name : "",
		name ? ")" : "");
	w->drawn = sampling_gpu_ran(g->sampled, (uint32_t)(s - g->streams), title, gpu_what(a),
		gpu_what_name(g, gpu_what(a)), w->from, w->to);
}

void gpu_draw_range(struct gpu *g, const struct gpu_placed *w)
{
	uint64_t what = gpu_what(&w->activity);
	char title[64];
	uint32_t i = 0;

	if (!g->process->sampled)
		return;
	if (!g->sampled)
		g->sampled = sampling_gpu_new(g->process);
	while (i + 1 < GPU_RANGE_TRACKS && g->range_last[i] > w->from)
		i++;
	g->range_last[i] = w->to;
	snprintf(title, sizeof(title), "NVTX ranges %" PRIu32, i);
	sampling_gpu_ran(g->sampled, GPU_STREAMS_MAX + i, title, what, gpu_what_name(g, what),
		w->from, w->to);
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
		.lane = c->lane,
		.stack = c->stack,
		.time = (int64_t)c->since,
		.to_lane = w->drawn.lane,
		.to_stack = w->drawn.stack,
		.start = (int64_t)w->drawn.ticks,
		.bytes = a->kind == GPU_KERNEL ? 0 : a->bytes};

	sampling_gpu_launched(g->sampled, &l);
}
