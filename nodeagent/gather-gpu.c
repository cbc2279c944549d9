/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gather-gpu.h"

#include <stdlib.h>
#include "nodeagent/agent.h"
#include "nodeagent/calltree.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/gpu.h"
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

static void add_sums(const struct clocks *c, struct gpu *g, struct profile *out,
	place_function *place, void *ctx)
{
	size_t n;
	const struct gpu_sum *s = gpu_sums(g, &n);

	out->gpu = xrealloc(out->gpu, (out->n_gpu + n) * sizeof(*out->gpu) + 1);
	for (size_t i = 0; i < n; i++, s++)
		out->gpu[out->n_gpu++] =
			(struct profile_gpu){.stack = stack_of(g, s->path, place, ctx),
				.kind = s->kind,
				.detail = s->detail,
				.function = s->function,
				.ranks = 1,
				.registers = s->registers,
				.shared_bytes = s->shared_bytes,
				.threads_min = s->kind == GPU_KERNEL ? cut(s->threads_min) : 0,
				.threads_max = cut(s->threads_max),
				.calls = s->n,
				.ns = clocks_ns(c, s->ticks),
				.min_ns = clocks_ns(c, s->min_ticks),
				.max_ns = clocks_ns(c, s->max_ticks),
				.bytes = s->bytes,
				.started = s->started,
				.latency_ns = clocks_ns(c, s->latency),
				.blocks_min = s->kind == GPU_KERNEL ? s->blocks_min : 0,
				.blocks_max = s->blocks_max,
				.name = xstrdup(gpu_sum_name(g, s))};
}

static void add_streams(const struct clocks *c, struct gpu *g, uint32_t rank, struct profile *out)
{
	size_t n;
	const struct gpu_stream *s = gpu_streams(g, &n);

	out->gpu_streams = xrealloc(
		out->gpu_streams, (out->n_gpu_streams + n) * sizeof(*out->gpu_streams) + 1);
	for (size_t i = 0; i < n; i++, s++) {
		const char *name = gpu_device_name(g, s->device);

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
	add_streams(&a->clocks, p->gpu, rank, out);
}

static void combine(struct profile *p, size_t array)
{
	const struct profile_list *l = profile_lists;

	while (l->array != array)
		l++;
	gather_combine(p, l);
}

void gather_gpu_store(struct profile *p, const uint32_t *id)
{
	for (size_t i = 0; i < p->n_gpu; i++)
		p->gpu[i].stack = id[p->gpu[i].stack];
	combine(p, offsetof(struct profile, gpu));
	combine(p, offsetof(struct profile, gpu_streams));
}
