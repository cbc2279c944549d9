/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of a profile about GPUs: their order, and adding those of several processes. */
#include <string.h>

#include "nodeagent/compare.h"
#include "nodeagent/profile.h"
#include "nodeagent/profile-mpi.h"
#include "shm/gpu.h"

int profile_gpu_cmp(const void *x, const void *y)
{
	const struct profile_gpu *a = x, *b = y;

	COMPARE(a->stack, b->stack);
	COMPARE(a->kind, b->kind);
	return strcmp(a->name, b->name);
}

int profile_gpu_stream_cmp(const void *x, const void *y)
{
	const struct profile_gpu_stream *a = x, *b = y;

	COMPARE(a->rank, b->rank);
	COMPARE(a->device, b->device);
	COMPARE(a->context, b->context);
	COMPARE(a->stream, b->stream);
	return 0;
}

int profile_gpu_device_cmp(const void *x, const void *y)
{
	const struct profile_gpu_device *a = x, *b = y;

	COMPARE(a->uuid[0], b->uuid[0]);
	COMPARE(a->uuid[1], b->uuid[1]);
	return 0;
}

int profile_gpu_link_cmp(const void *x, const void *y)
{
	const struct profile_gpu_link *a = x, *b = y;

	for (int i = 0; i < 2; i++)
		COMPARE(a->from[i], b->from[i]);
	for (int i = 0; i < 2; i++)
		COMPARE(a->to[i], b->to[i]);
	COMPARE(a->kind, b->kind);
	COMPARE(a->detail, b->detail);
	return 0;
}

int profile_gpu_wait_cmp(const void *x, const void *y)
{
	const struct profile_gpu_wait *a = x, *b = y;

	COMPARE(a->stack, b->stack);
	COMPARE(a->detail, b->detail);
	COMPARE(a->context, b->context);
	COMPARE(a->stream, b->stream);
	return strcmp(a->name, b->name);
}

/* By threads, then by all the rest, so that the order of adding does not matter. */
static int launch_cmp(const struct profile_gpu *a, const struct profile_gpu *b)
{
	double x = 1, y = 1;

	for (int i = 0; i < 3; i++) {
		x *= (double)a->grid[i] * a->block[i];
		y *= (double)b->grid[i] * b->block[i];
	}
	COMPARE(x, y);
	for (int i = 0; i < 3; i++)
		COMPARE(a->grid[i], b->grid[i]);
	for (int i = 0; i < 3; i++)
		COMPARE(a->block[i], b->block[i]);
	COMPARE(a->local_bytes, b->local_bytes);
	COMPARE(a->occupancy, b->occupancy);
	COMPARE(a->occupancy_bound, b->occupancy_bound);
	return 0;
}

static void add_launch(struct profile_gpu *to, const struct profile_gpu *from)
{
	if (launch_cmp(from, to) <= 0)
		return;
	memcpy(to->grid, from->grid, sizeof(to->grid));
	memcpy(to->block, from->block, sizeof(to->block));
	to->local_bytes = from->local_bytes;
	to->occupancy = from->occupancy;
	to->occupancy_bound = from->occupancy_bound;
}

void profile_gpu_add(void *x, const void *y)
{
	struct profile_gpu *to = x;
	const struct profile_gpu *from = y;

	if (from->calls) {
		LEAST(to, from, min_ns);
		LEAST(to, from, threads_min);
		LEAST(to, from, blocks_min);
		LEAST(to, from, calls_min);
	}
	MOST(to, from, calls_max);
	MOST(to, from, max_ns);
	MOST(to, from, threads_max);
	MOST(to, from, blocks_max);
	MOST(to, from, registers);
	MOST(to, from, shared_bytes);
	MOST(to, from, function);
	MOST(to, from, detail);
	to->ranks += from->ranks;
	to->calls += from->calls;
	to->ns += from->ns;
	to->bytes += from->bytes;
	to->started += from->started;
	to->latency_ns += from->latency_ns;
	add_launch(to, from);
}

void profile_gpu_stream_add(void *x, const void *y)
{
	struct profile_gpu_stream *to = x;
	const struct profile_gpu_stream *from = y;

	MOST(to, from, span_ns);
	to->calls += from->calls;
	to->kernels += from->kernels;
	to->bytes += from->bytes;
	to->busy_ns += from->busy_ns;
	to->kernel_ns += from->kernel_ns;
	to->copy_ns += from->copy_ns;
}

/* Of one node the times are those of the union, set later; nodes do not share GPUs. */
void profile_gpu_device_add(void *x, const void *y)
{
	struct profile_gpu_device *to = x;
	const struct profile_gpu_device *from = y;

	if (from->rank < to->rank) {
		to->rank = from->rank;
		to->number = from->number;
	}
	MOST(to, from, multiprocessors);
	MOST(to, from, capability);
	MOST(to, from, memory_bytes);
	to->processes += from->processes;
	to->calls += from->calls;
	to->kernels += from->kernels;
	to->bytes += from->bytes;
	to->busy_ns += from->busy_ns;
	to->kernel_ns += from->kernel_ns;
	to->copy_ns += from->copy_ns;
	to->sum_ns += from->sum_ns;
}

void profile_gpu_link_add(void *x, const void *y)
{
	struct profile_gpu_link *to = x;
	const struct profile_gpu_link *from = y;

	to->calls += from->calls;
	to->bytes += from->bytes;
	to->ns += from->ns;
}

void profile_gpu_wait_add(void *x, const void *y)
{
	struct profile_gpu_wait *to = x;
	const struct profile_gpu_wait *from = y;

	MOST(to, from, max_ns);
	to->ranks += from->ranks;
	to->calls += from->calls;
	to->ns += from->ns;
}

static const uint32_t details[GPU_KINDS] = {[GPU_COPY] = GPU_COPIES, [GPU_MEMORY] = GPU_MEMORIES};

const char *profile_gpu_valid(const struct profile *p)
{
	for (size_t i = 0; i < p->n_gpu; i++)
		if (p->gpu[i].stack >= p->n_stacks || !p->gpu[i].name ||
			p->gpu[i].kind >= GPU_KINDS)
			return "what GPUs did was started at a stack that is not in the profile";
	for (size_t i = 0; i < p->n_gpu_links; i++)
		if (p->gpu_links[i].kind >= GPU_KINDS ||
			p->gpu_links[i].detail >= details[p->gpu_links[i].kind])
			return "GPUs moved something of a kind that is not known";
	for (size_t i = 0; i < p->n_gpu_waits; i++)
		if (p->gpu_waits[i].stack >= p->n_stacks || !p->gpu_waits[i].name ||
			p->gpu_waits[i].detail >= GPU_WAITS)
			return "a wait for a GPU was at a stack that is not in the profile";
	return NULL;
}

void profile_gpu_place(struct profile *p, const uint32_t *place)
{
	for (size_t i = 0; i < p->n_gpu; i++)
		p->gpu[i].stack = place[p->gpu[i].stack];
	for (size_t i = 0; i < p->n_gpu_waits; i++)
		p->gpu_waits[i].stack = place[p->gpu_waits[i].stack];
}
