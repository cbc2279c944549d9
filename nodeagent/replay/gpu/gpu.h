/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activities of the GPUs of one process. They (shm/gpu.h) come on the
 * socket, the calls that started them in the rings, in any order: an activity
 * waits for its call, by the number that both have, and belongs to the call's
 * path. Times are ticks of this node.
 *
 * Bounds: at most CALLS_MAX calls are remembered, and ACTIVITIES_MAX activities wait (gpu.c). An
 * activity that finds no call belongs to the root, and is counted.
 */
#ifndef VFTR_NODEAGENT_REPLAY_GPU_GPU_H
#define VFTR_NODEAGENT_REPLAY_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/gpu.h"

struct clocks;
struct node;
struct vfd_writer;

/*
 * Activities of one kind and name, started at one path; or (GPU_API) the calls of one
 * function there, which have no ticks.
 */
struct gpu_sum {
	const struct node *path; /* below gpu_root() */
	uint32_t kind, detail, name, function;
	uint64_t n, bytes, ticks, min_ticks, max_ticks;
	uint64_t started, latency; /* activities with a known call; ticks from their calls to their
				      starts, summed */
	uint32_t registers, shared_bytes;
	uint64_t blocks_min, blocks_max, threads_min, threads_max; /* of kernels; per block */
	struct gpu_activity largest; /* of kernels, the one with the most threads */
};

struct gpu_device {
	uint8_t uuid[16]; /* all 0: not known */
	uint64_t memory_bytes;
	uint32_t multiprocessors;
	struct gpu_limits limits;
	char *name; /* or NULL */
};

/* Transfers by copies or unified memory from one device (GPU_NO_DEVICE: the host) to another. */
struct gpu_link {
	uint32_t kind, detail, from, to;
	uint64_t n, bytes, ticks;
};

/* Waits of the host at one path for one activity. */
struct gpu_host_wait {
	const struct node *path;
	uint32_t detail, context, stream;
	uint64_t what; /* for gpu_what_name(), 0: nothing ran */
	uint64_t n, ticks, max_ticks;
};

/*
 * busy.c: the length of the union of intervals, which come in nearly any order.
 * Old intervals are folded into a sum; an interval that comes later for such an old
 * time counts in full, also where it overlaps.
 */
struct gpu_busy {
	struct gpu_interval {
		uint64_t from, to;
	} * at; /* sorted, and they do not touch */
	size_t n, cap;
	size_t most;	 /* with so many, the older half is folded; 0: 4096 */
	uint64_t folded; /* length of intervals that are not in at[] any more */
};

void gpu_busy_add(struct gpu_busy *b, uint64_t from, uint64_t to);
uint64_t gpu_busy_length(const struct gpu_busy *b);
void gpu_busy_free(struct gpu_busy *b);

/* One stream, or (context and stream GPU_NO_STREAM) one device. */
struct gpu_stream {
	uint32_t device, context, stream;
	uint64_t n, kernels, bytes;
	struct gpu_busy busy, computing, copying;
	uint64_t first, last;
};

/* clocks: of this node; they must outlive it. */
struct gpu *gpu_new(struct clocks *clocks);
void gpu_free(struct gpu *g);

/*
 * From now on activities go to the sampling file of *writer (NULL: it is closed), where the
 * process has this number. writer must outlive gpu_end().
 */
void gpu_draw_to(struct gpu *g, struct vfd_writer *const *writer, uint32_t process);

/* From the socket; begin: ticks, when the process began. False: it makes no sense. */
bool gpu_packet(struct gpu *g, uint64_t begin, const struct wire_gpu *m, const void *data);
bool gpu_name(struct gpu *g, const struct wire_about *m, const char *text);
void gpu_device_told(struct gpu *g, const struct wire_gpu_device *m, const char *text);
void gpu_stream_told(struct gpu *g, const struct wire_gpu_stream *m, const char *text);

/* A GPU_CALL in the frame of `frame`, a node of a thread's tree, begun at `since`. */
void gpu_call(struct gpu *g, const struct node *frame, uint32_t function, uint32_t number,
	uint64_t since);

/* The enter of the call with this number was recorded in the sampling file: with this stack, in
 * this track. */
void gpu_call_sampled(struct gpu *g, uint32_t number, uint32_t track, uint32_t stack);

/* The process has ended at ticks: activities that still wait go to their call's path, or the root.
 */
void gpu_end(struct gpu *g, uint64_t ticks);
/* After gpu_end(): sentence i = 0, 1 ... on what is missing, or NULL. The caller frees it. */
char *gpu_loss(const struct gpu *g, unsigned i);

/* True if any message about GPUs has come; g may be NULL. */
bool gpu_is_used(const struct gpu *g);
struct node *gpu_root(struct gpu *g);
const struct gpu_sum *gpu_sums(const struct gpu *g, size_t *n);
const struct gpu_stream *gpu_streams(const struct gpu *g, size_t *n);
/* Blocks of a grid, threads of a block. */
uint64_t gpu_product(const uint32_t n[3]);
const struct gpu_link *gpu_links(const struct gpu *g, size_t *n);
const struct gpu_host_wait *gpu_host_waits(const struct gpu *g, size_t *n);
/* "saxpy(float*)" as it came, "memcpy HtoD" ... */
const char *gpu_sum_name(const struct gpu *g, const struct gpu_sum *s);
const char *gpu_what_name(const struct gpu *g, uint64_t what);
/* Each is NULL if the process has sent nothing about it. */
const struct gpu_device *gpu_device(const struct gpu *g, uint32_t device);
const char *gpu_device_name(const struct gpu *g, uint32_t device);
const char *gpu_stream_name(const struct gpu *g, uint32_t context, uint32_t stream);

#endif
