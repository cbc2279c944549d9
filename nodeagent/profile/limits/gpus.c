/* SPDX-License-Identifier: BSD-3-Clause */
/* GPUs of many ranks and nodes, and the streams of their processes: internal.h. */
#include <stddef.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/limits/internal.h"
#include "nodeagent/profile/profile.h"

static uint64_t stream_measure(const void *record, unsigned measure)
{
	const struct profile_gpu_stream *s = record;
	const uint64_t idle_ns = s->span_ns > s->busy_ns ? s->span_ns - s->busy_ns : 0;
	const uint64_t of[] = {s->busy_ns, s->kernel_ns, s->copy_ns, s->bytes, s->calls, idle_ns};

	return of[measure];
}

/* Streams, and what a process has used of a device. */
static unsigned stream_class(const void *record)
{
	const struct profile_gpu_stream *s = record;
	const bool is_device = s->stream == PROFILE_NONE && s->context == PROFILE_NONE;

	return 2 * is_device + (s->rank >= PROFILE_UNRANKED);
}

static const struct row_limit of_streams = {.list = PROFILE_GPU_STREAMS,
	.rank = offsetof(struct profile_gpu_stream, rank),
	.others = offsetof(struct profile_gpu_stream, others),
	.measures = 6,
	.measure = stream_measure,
	.class = stream_class};

void profile_gpu_streams_limit(struct profile *p, uint64_t most, size_t extremes)
{
	profile_rows_limit(p, &of_streams, most, extremes);
}

static uint64_t device_measure(const void *record, unsigned measure)
{
	const struct profile_gpu_device *g = record;
	const uint64_t of[] = {g->busy_ns, g->kernel_ns, g->copy_ns, g->bytes, g->calls, g->sum_ns};

	return of[measure];
}

static unsigned device_class(const void *record)
{
	const struct profile_gpu_device *g = record;

	return g->rank >= PROFILE_UNRANKED;
}

static const struct row_limit of_devices = {.list = PROFILE_GPU_DEVICES,
	.rank = offsetof(struct profile_gpu_device, rank),
	.others = offsetof(struct profile_gpu_device, others),
	.measures = 6,
	.measure = device_measure,
	.class = device_class};

void profile_gpu_devices_limit(struct profile *p, uint64_t most, size_t extremes)
{
	profile_rows_limit(p, &of_devices, most, extremes);
}
