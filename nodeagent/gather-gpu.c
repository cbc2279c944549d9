/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gather-gpu.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/calltree.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/gpu.h"
#include "nodeagent/gpu-occupancy.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"

typedef uint32_t place_function(void *ctx, uint32_t parent, uint64_t key);

static uint32_t stack_of(struct gpu *g, const struct node *path, place_function *place, void *ctx)
{
	const struct node *up[DEPTH_MAX + 2];
	uint32_t stack = place(ctx, PROFILE_NONE, KEY_INIT);
	unsigned n = 0;

	for (; path != gpu_root(g) && n < ARRAY_SIZE(up); path = path->parent)
		up[n++] = path;
	while (n--)
		stack = place(ctx, stack, up[n]->key);
	return stack;
}

static uint32_t cut(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static void add_kernel(struct profile_gpu *to, const struct gpu *g, const struct gpu_sum *s)
{
	const struct gpu_activity *a = &s->largest;
	const struct gpu_device *d = gpu_device(g, a->device);
	struct gpu_occupancy o;

	to->threads_min = cut(s->threads_min);
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

static void add_sums(const struct clocks *c, struct gpu *g, struct profile *out,
	place_function *place, void *ctx)
{
	size_t n;
	const struct gpu_sum *s = gpu_sums(g, &n);

	out->gpu = xrealloc(out->gpu, (out->n_gpu + n) * sizeof(*out->gpu) + 1);
	for (size_t i = 0; i < n; i++, s++) {
		struct profile_gpu *to = &out->gpu[out->n_gpu++];

		*to = (struct profile_gpu){.stack = stack_of(g, s->path, place, ctx),
			.kind = s->kind,
			.detail = s->kind == GPU_API ? 0 : s->detail,
			.function = s->function,
			.ranks = 1,
			.registers = s->registers,
			.shared_bytes = s->shared_bytes,
			.threads_max = cut(s->threads_max),
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

static void add_waits(const struct clocks *c, struct gpu *g, struct profile *out,
	place_function *place, void *ctx)
{
	size_t n;
	const struct gpu_host_wait *w = gpu_host_waits(g, &n);

	out->gpu_waits =
		xrealloc(out->gpu_waits, (out->n_gpu_waits + n) * sizeof(*out->gpu_waits) + 1);
	for (size_t i = 0; i < n; i++, w++)
		out->gpu_waits[out->n_gpu_waits++] =
			(struct profile_gpu_wait){.stack = stack_of(g, w->path, place, ctx),
				.detail = w->detail,
				.context = w->context,
				.stream = w->stream,
				.ranks = 1,
				.calls = w->n,
				.ns = clocks_ns(c, w->ticks),
				.max_ns = clocks_ns(c, w->max_ticks),
				.name = xstrdup(gpu_what_name(g, w->what))};
}

static bool is_device(const struct gpu_stream *s)
{
	return s->context == GPU_NO_STREAM && s->stream == GPU_NO_STREAM;
}

static void add_streams(const struct clocks *c, struct gpu *g, uint32_t rank, struct profile *out)
{
	size_t n;
	const struct gpu_stream *s = gpu_streams(g, &n);

	out->gpu_streams = xrealloc(
		out->gpu_streams, (out->n_gpu_streams + n) * sizeof(*out->gpu_streams) + 1);
	for (size_t i = 0; i < n; i++, s++) {
		const char *name = is_device(s) ? gpu_device_name(g, s->device)
						: gpu_stream_name(g, s->context, s->stream);

		out->gpu_streams[out->n_gpu_streams++] = (struct profile_gpu_stream){.rank = rank,
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

void gather_gpu_add(struct agent *a, const struct process *p, uint32_t rank, struct profile *out,
	place_function *place, void *ctx)
{
	if (!gpu_is_used(p->gpu))
		return;
	add_sums(&a->clocks, p->gpu, out, place, ctx);
	add_waits(&a->clocks, p->gpu, out, place, ctx);
	add_streams(&a->clocks, p->gpu, rank, out);
}

void gather_gpu_combine(struct profile *p, size_t array)
{
	const struct profile_list *l = profile_lists;

	while (l->array != array)
		l++;
	gather_combine(p, l);
}

void gather_gpu_store(struct profile *p, const uint32_t *id)
{
	profile_gpu_place(p, id);
	gather_gpu_combine(p, offsetof(struct profile, gpu));
	gather_gpu_combine(p, offsetof(struct profile, gpu_streams));
	gather_gpu_combine(p, offsetof(struct profile, gpu_waits));
}
