/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of this folder only. */
#ifndef VFTR_NODEAGENT_REPLAY_GPU_INTERNAL_H
#define VFTR_NODEAGENT_REPLAY_GPU_INTERNAL_H

#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/base/map.h"
#include "nodeagent/trace/types.h"

#define GPU_RECENT	 256u /* activities that waits are compared with */
#define GPU_PENDING	 64u  /* waits whose kernel may not have been delivered */
#define GPU_NAMES_MAX	 (1u << 16)
#define GPU_DEVICES_MAX	 1024u
#define GPU_RANGE_TRACKS 16u
#define GPU_STREAMS_MAX	 1024u /* devices among them */

/*
 * clock.c: the GPU's clock (ns, as the vendor's library gives it) against this node's
 * ticks. Both were read together now and then; between two such pairs time is
 * on the line through them, before and after, at the same rate. The error of a
 * pair is at most the time of reading both.
 */
struct gpu_clock {
	bool known;
	uint64_t ticks, ns; /* the latest pair */
	double ticks_per_ns;
	uint64_t first_ticks, first_ns;
	uint64_t error; /* ticks: the greatest bound of a pair */
	uint64_t pairs;
};

void gpu_clock_pair(
	struct gpu_clock *g, struct clocks *c, uint64_t ticks, uint64_t width, uint64_t gpu_ns);
/* Ticks of a time of the GPU; never below 0. */
uint64_t gpu_clock_ticks(const struct gpu_clock *g, uint64_t gpu_ns);

struct gpu_call {
	uint32_t number, function;
	const struct node *path; /* NULL: free */
	uint64_t since;
	uint32_t track, stack; /* in the sampling file; track VFD_NONE: it is not there */
};

/* The position of an activity in the sampling file; track VFD_NONE: it is not there. */
struct gpu_drawn {
	uint32_t track, stack;
	uint64_t ticks; /* of its enter */
};

/* draw.c: all 0, if nothing is to be drawn. */
struct gpu_drawing {
	struct vfd_writer *const *writer;
	uint32_t process;	/* its number in the file */
	struct map64 functions; /* gpu_what() -> function in the file */
	struct gpu_track *tracks;
	size_t n_tracks, cap_tracks;
	uint64_t range_last[GPU_RANGE_TRACKS]; /* end of what is on each */
};

/* An activity on its way to the sums, in ticks. */
struct gpu_placed {
	struct gpu_activity activity;
	uint64_t from, to;
	/* of a wait: what it waited for, as what() of gpu.c; 0: nothing is known */
	uint64_t for_what, for_end;
	struct gpu_drawn drawn;
};

struct gpu_recent {
	uint32_t context, stream;
	uint64_t what, from, to;
};

struct gpu_stream_name {
	uint32_t context, stream;
	char *name;
};

struct gpu {
	struct clocks *clocks;
	uint64_t begin; /* of the process, ticks */
	bool used;
	struct calltree *paths;
	struct gpu_call *calls; /* by number modulo n_calls, which is a power of two */
	size_t n_calls;
	uint64_t calls_added, calls_seen; /* until the last look at those that wait */
	struct gpu_placed *waiting;	  /* for their call */
	size_t n_waiting, cap_waiting;
	struct gpu_sum *sums;
	size_t n_sums, cap_sums;
	struct map64 paths_by_node, sums_by_key;
	struct gpu_stream *streams; /* devices among them */
	size_t n_streams, cap_streams;
	struct gpu_link *links;
	size_t n_links, cap_links;

	/* names.c */
	char **names;
	size_t n_names, cap_names;
	struct gpu_device *devices; /* by number */
	size_t n_devices, cap_devices;
	struct gpu_stream_name *stream_names;
	size_t n_stream_names, cap_stream_names;
	size_t names_bytes; /* of all */

	/* waits.c */
	struct gpu_recent *recent; /* a ring */
	uint64_t n_recent;
	struct gpu_placed *pending; /* GPU_PENDING, the oldest first; NULL: there was none */
	size_t n_pending;
	struct gpu_host_wait *host_waits;
	size_t n_host_waits, cap_host_waits;
	struct map64 host_waits_by_key;

	struct gpu_clock clock;
	struct gpu_drawing drawing;
	uint32_t requested, completed;
	uint64_t dropped, without_call, too_many;
};

/* gpu.c: the wait goes on to the sums. */
void gpu_place(struct gpu *g, const struct gpu_placed *w);
/* A number for all activities of one kind and name: kind << 32 | name or detail, and GPU_WHAT,
 * so that it is not 0. */
#define GPU_WHAT ((uint64_t)1 << 40)
static inline uint64_t gpu_what(const struct gpu_activity *a)
{
	bool named = a->kind == GPU_KERNEL || a->kind == GPU_RANGE;

	return GPU_WHAT | (uint64_t)a->kind << 32 | (named ? a->name : a->detail);
}

/* draw.c: an activity in its stream; w->drawn tells where. */
void gpu_draw(struct gpu *g, const struct gpu_stream *s, struct gpu_placed *w);
/* Ranges that overlap are on tracks of their own, as far as there are any. */
void gpu_draw_range(struct gpu *g, const struct gpu_placed *w);
/* Call and activity both stand in the file: an arrow from one to the other. */
void gpu_draw_launch(struct gpu *g, const struct gpu_placed *w, const struct gpu_call *c);
/* The process ends: no stream goes on. */
void gpu_draw_end(struct gpu *g, uint64_t ticks);

/* names.c */
void gpu_names_free(struct gpu *g);

/* waits.c */
void gpu_waits_free(struct gpu *g);
/* Something ran in a stream: waits may have waited for it, or are older than it. */
void gpu_waits_ran(struct gpu *g, const struct gpu_placed *w);
/* A wait: goes on to gpu_place() when its activity is known, or will never be. */
void gpu_waits_add(struct gpu *g, const struct gpu_placed *w);
/* All that are left. */
void gpu_waits_end(struct gpu *g);
/* A wait whose path is known. */
void gpu_waits_count(
	struct gpu *g, const struct node *path, uint32_t path_number, const struct gpu_placed *w);

#endif
