/* SPDX-License-Identifier: BSD-3-Clause */
/* What GPUs did on its way into a profile. */
#include "nodeagent/gather/internal.h"

#include <string.h>
#include "nodeagent/process/host.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/profile/gpu-occupancy.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"

static uint32_t cut_to_32_bits(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static void add_kernel(struct profile_gpu *to, const struct gpu *g, const struct gpu_sum *s)
{
	const struct gpu_activity *a = &s->largest;
	const struct gpu_device *d = gpu_device(g, a->device);
	struct gpu_occupancy o;

	to->threads_min = cut_to_32_bits(s->threads_min);
	to->blocks_min = s->blocks_min;
	memcpy(to->grid, a->grid, sizeof(to->grid));
	memcpy(to->block, a->block, sizeof(to->block));
	to->local_bytes = a->local_bytes;
	if (!d)
		return;
	o = gpu_occupancy(&d->limits, gpu_product(a->block), a->registers, a->shared_bytes);
	to->occupancy = o.permille;
	to->occupancy_bound = o.bound;
}

static void add_sums(const struct gather_from *from, struct gpu *g)
{
	const struct clocks *c = &from->host->clocks;
	size_t n;
	const struct gpu_sum *s = gpu_sums(g, &n);

	for (size_t i = 0; i < n; i++, s++) {
		struct profile_gpu *to = profile_add(from->out, PROFILE_GPU);

		*to = (struct profile_gpu){.stack = gather_path(from, gpu_root(g), s->path),
			.kind = s->kind,
			.detail = s->kind == GPU_API ? 0 : s->detail,
			.function = s->function,
			.ranks = 1,
			.registers = s->registers,
			.shared_bytes = s->shared_bytes,
			.threads_max = cut_to_32_bits(s->threads_max),
			.calls = s->n,
			.calls_min = s->n,
			.calls_max = s->n,
			.ns = clocks_ns(c, s->ticks),
			.min_ns = clocks_ns(c, s->min_ticks),
			.max_ns = clocks_ns(c, s->max_ticks),
			.bytes = s->bytes,
			.started = s->started,
			.latency_ns = clocks_ns(c, s->latency),
			.blocks_max = s->blocks_max,
			.name = xstrdup(gpu_sum_name(g, s))};
		if (s->kind == GPU_KERNEL)
			add_kernel(to, g, s);
	}
}

static void add_waits(const struct gather_from *from, struct gpu *g)
{
	const struct clocks *c = &from->host->clocks;
	size_t n;
	const struct gpu_host_wait *w = gpu_host_waits(g, &n);

	for (size_t i = 0; i < n; i++, w++) {
		struct profile_gpu_wait *to = profile_add(from->out, PROFILE_GPU_WAITS);

		*to = (struct profile_gpu_wait){.stack = gather_path(from, gpu_root(g), w->path),
			.detail = w->detail,
			.context = w->context,
			.stream = w->stream,
			.ranks = 1,
			.calls = w->n,
			.ns = clocks_ns(c, w->ticks),
			.max_ns = clocks_ns(c, w->max_ticks),
			.name = xstrdup(gpu_what_name(g, w->what))};
	}
}

static bool is_device(const struct gpu_stream *s)
{
	return s->context == GPU_NO_STREAM && s->stream == GPU_NO_STREAM;
}

static void add_streams(const struct gather_from *from, struct gpu *g)
{
	const struct clocks *c = &from->host->clocks;
	size_t n;
	const struct gpu_stream *s = gpu_streams(g, &n);

	for (size_t i = 0; i < n; i++, s++) {
		const char *name = is_device(s) ? gpu_device_name(g, s->device)
						: gpu_stream_name(g, s->context, s->stream);
		struct profile_gpu_stream *to = profile_add(from->out, PROFILE_GPU_STREAMS);

		*to = (struct profile_gpu_stream){.rank = from->rank,
			.device = s->device,
			.context = s->context,
			.stream = s->stream,
			.calls = s->n,
			.kernels = s->kernels,
			.bytes = s->bytes,
			.busy_ns = clocks_ns(c, gpu_busy_length(&s->busy)),
			.kernel_ns = clocks_ns(c, gpu_busy_length(&s->computing)),
			.copy_ns = clocks_ns(c, gpu_busy_length(&s->copying)),
			.span_ns = clocks_ns(c, s->last - s->first),
			.name = name ? xstrdup(name) : NULL};
	}
}

void gather_gpu(const struct gather_from *from)
{
	if (!gpu_is_used(from->p->gpu))
		return;
	add_sums(from, from->p->gpu);
	add_waits(from, from->p->gpu);
	add_streams(from, from->p->gpu);
}
