/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPUs of a node, whoever uses them: ranks that share one see it under numbers of
 * their own, so they are known by their UUID. What overlaps on one GPU counts once.
 */
#include "nodeagent/gather/internal.h"

#include <stdlib.h>
#include "nodeagent/process/host.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/base/util.h"

/* One GPU of all processes. */
struct shared {
	uint64_t uuid[2];
	struct gpu_busy busy, computing, copying;
};

struct shared_list {
	struct shared *at;
	size_t n, cap;
};

/* A device that has not told its own gets one that nobody else on this node has. */
static void uuid_of(const struct gpu *g, uint32_t rank, uint32_t device, uint64_t uuid[2])
{
	const struct gpu_device *d = gpu_device(g, device);

	uuid[0] = uuid[1] = 0;
	if (device == GPU_NO_DEVICE) /* the host */
		return;
	for (int i = 0; d && i < 16; i++)
		uuid[i / 8] = uuid[i / 8] << 8 | d->uuid[i];
	if (uuid[0] || uuid[1])
		return;
	uuid[0] = UINT64_MAX;
	uuid[1] = (uint64_t)rank << 32 | device;
}

static void add_links(
	const struct clocks *c, const struct gpu *g, uint32_t rank, struct profile *out)
{
	size_t n;
	const struct gpu_link *l = gpu_links(g, &n);

	for (size_t i = 0; i < n; i++, l++) {
		struct profile_gpu_link *to = profile_add(out, PROFILE_GPU_LINKS);

		*to = (struct profile_gpu_link){.kind = l->kind,
			.detail = l->detail,
			.calls = l->n,
			.bytes = l->bytes,
			.ns = clocks_ns(c, l->ticks)};
		uuid_of(g, rank, l->from, to->from);
		uuid_of(g, rank, l->to, to->to);
	}
}

static void join_busy(struct gpu_busy *to, const struct gpu_busy *from)
{
	to->most = SIZE_MAX;
	to->folded += from->folded;
	for (size_t i = 0; i < from->n; i++)
		gpu_busy_add(to, from->at[i].from, from->at[i].to);
}

static struct shared *shared_of(struct shared_list *l, const uint64_t uuid[2])
{
	for (size_t i = 0; i < l->n; i++)
		if (l->at[i].uuid[0] == uuid[0] && l->at[i].uuid[1] == uuid[1])
			return &l->at[i];
	l->at = grow(l->at, l->n, &l->cap, sizeof(*l->at));
	l->at[l->n] = (struct shared){.uuid = {uuid[0], uuid[1]}};
	return &l->at[l->n++];
}

static void add_device(const struct clocks *c, const struct gpu *g, uint32_t rank,
	const struct gpu_stream *s, struct profile_gpu_device *to)
{
	const struct gpu_device *d = gpu_device(g, s->device);

	*to = (struct profile_gpu_device){.rank = rank,
		.number = s->device,
		.processes = 1,
		.multiprocessors = d ? d->multiprocessors : 0,
		.capability = d ? d->limits.capability : 0,
		.memory_bytes = d ? d->memory_bytes : 0,
		.calls = s->n,
		.kernels = s->kernels,
		.bytes = s->bytes,
		.sum_ns = clocks_ns(c, gpu_busy_length(&s->busy)),
		.name = d && d->name ? xstrdup(d->name) : NULL};
	uuid_of(g, rank, s->device, to->uuid);
}

static void set_times(const struct clocks *c, struct profile *out, struct shared *s)
{
	struct profile_gpu_device *to = out->gpu_devices;

	while (to->uuid[0] != s->uuid[0] || to->uuid[1] != s->uuid[1])
		to++;
	to->busy_ns = clocks_ns(c, gpu_busy_length(&s->busy));
	to->kernel_ns = clocks_ns(c, gpu_busy_length(&s->computing));
	to->copy_ns = clocks_ns(c, gpu_busy_length(&s->copying));
	gpu_busy_free(&s->busy);
	gpu_busy_free(&s->computing);
	gpu_busy_free(&s->copying);
}

void gather_gpu_devices(
	struct host *host, struct process *const *all, size_t n, struct profile *out)
{
	struct shared_list shared = {0};

	for (size_t i = 0; i < n; i++) {
		const struct gpu *g = all[i]->gpu;
		uint32_t rank = (uint32_t)all[i]->rank;
		size_t n_streams;
		const struct gpu_stream *s;

		if (!gpu_is_used(g))
			continue;
		add_links(&host->clocks, g, rank, out);
		for (s = gpu_streams(g, &n_streams); n_streams; n_streams--, s++) {
			struct profile_gpu_device *to;
			struct shared *h;

			if (s->context != GPU_NO_STREAM || s->stream != GPU_NO_STREAM)
				continue;
			to = profile_add(out, PROFILE_GPU_DEVICES);
			add_device(&host->clocks, g, rank, s, to);
			h = shared_of(&shared, to->uuid);
			join_busy(&h->busy, &s->busy);
			join_busy(&h->computing, &s->computing);
			join_busy(&h->copying, &s->copying);
		}
	}
	profile_combine(out, PROFILE_GPU_DEVICES);
	for (size_t i = 0; i < shared.n; i++)
		set_times(&host->clocks, out, &shared.at[i]);
	free(shared.at);
}
