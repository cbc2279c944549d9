/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the sampling file's writer share. */
#ifndef VFTR_NODEAGENT_VFD_INTERNAL_H
#define VFTR_NODEAGENT_VFD_INTERNAL_H

#include "nodeagent/map64.h"
#include "nodeagent/vfd-block.h"
#include "nodeagent/vfd-index.h"
#include "nodeagent/vfd-page.h"
#include "nodeagent/vfd-sample.h"
#include "nodeagent/vfd-write.h"

#define LANE_BLOCK_BYTES (16u << 10)

struct vfd_writer {
	struct outfile *out;
	unsigned shift;
	double units_per_ns;
	uint64_t max_size, interval_units, sequence;
	uint32_t block_bytes;
	unsigned level; /* of thinning */
	bool mute;	/* no event is written any more */
	struct vfd_page definitions, messages, matches, launches, waits, lengths;
	struct vfd_launch last_launch;	 /* of this block */
	uint64_t launch_time, wait_time; /* of these blocks */
	int64_t last_wait;
	int64_t last_message; /* start of the one before in this block */
	uint64_t message_time;
	struct lane *lanes;
	uint32_t n_processes, n_functions, n_comms, n_objects[2], n_lanes;
	uint32_t n_counters, n_observables;
	bool *precise; /* by function */
	size_t cap_precise;
	struct map64 text_numbers; /* by hash */
	char **texts;
	size_t n_texts, cap_texts;
	struct vfd_index index;
	uint64_t events, n_messages, n_matches, n_counts, n_launches, launch_id;
	uint64_t thinned, dropped_blocks;
	char *trouble;
};

/* What is not written: the block goes nowhere. b->bytes, kind, flags, lane,
 * records and time are set, and its payload stands behind it. */
bool vfd_write_block(struct vfd_writer *w, struct vfd_block *b);

void vfd_write_definitions(struct vfd_writer *w);
void vfd_write_waits(struct vfd_writer *w);
void vfd_write_lengths(struct vfd_writer *w);

/* ---- definitions of threads */
void vfd_define_thread(struct vfd_writer *w, const struct vfd_thread *t);
void vfd_define_thread_name(struct vfd_writer *w, uint32_t lane, const char *name);
void vfd_define_thread_end(struct vfd_writer *w, uint32_t lane, uint64_t ticks);
void vfd_define_openmp(struct vfd_writer *w, uint32_t lane, uint32_t level, uint32_t number);

/* ---- lanes */

#define LANE_SLACK    96u /* an event, and what a varint writes too far */
#define PENDING_MOST  64u
#define SAMPLED_MOST  2u
#define SEGMENTS_MOST 255u

struct vfd_path {
	uint32_t top, base;
};

struct lane_stack {
	uint32_t caller, function, depth;
};

struct lane {
	struct vfd_lane fast; /* the first: see lane_of() */
	struct vfd_writer *writer;
	struct lane *next, *prev;
	unsigned char *buffer, *limit; /* limit: an event may begin below it; NULL: no block */
	uint32_t number;
	struct lane_stack *stacks;
	struct vfd_link *links;
	size_t n_stacks, cap_stacks;
	uint32_t stacks_used, blocks;
	bool has_stacks, has_marks, recap;
	struct vfd_path suspended[SEGMENTS_MOST];
	uint32_t n_suspended;
	struct vfd_sampler sampler;
	struct lane_sampled {
		uint32_t stack;
		uint64_t units;
	} sampled[SAMPLED_MOST]; /* before the next event, if that is recorded */
	uint32_t n_sampled;
	uint64_t call_units; /* the next event ends a call that was so long */
	unsigned level;
	uint64_t thin_units;
	uint32_t thin_depth;
	bool thin_precise;
	uint64_t thinned;
	struct lane_pending {
		uint32_t stack;
		uint64_t units;
	} waiting[PENDING_MOST];
	uint32_t n_waiting;
	struct lane_counters *counters; /* or NULL: vfd-counters.c */
};

static inline void thin_count(struct lane *l, uint64_t calls)
{
	l->thinned += calls;
	l->writer->thinned += calls;
}

static inline struct lane *lane_of(struct vfd_lane *l)
{
	return (struct lane *)l;
}

/* Its open block goes to the file. */
void lane_push(struct lane *l);
/* The stack is defined in the file, if it was not; at the time of the last event. */
void lane_use_stack(struct lane *l, uint32_t stack, uint64_t units);

/* vfd-lane.c, encoding without any question whether. */
void lane_put_enter(struct lane *l, uint32_t stack, uint64_t units);
void lane_put_exit(struct lane *l, uint32_t stack, uint64_t units);
/* An event of this kind with up to two numbers, at this time or the last event's
 * if that is later. False: nothing is written any more. */
bool lane_put_mark(struct lane *l, unsigned mark, uint64_t a, uint64_t b, uint64_t units);

/* vfd-counters.c: the open block of counters goes to the file; its memory. */
void lane_push_counters(struct lane *l);
void lane_free_counters(struct lane *l);

/* vfd-thin.c: while the file is thinned. */
void thin_level(struct lane *l, uint64_t units);
void thin_enter(struct lane *l, uint32_t stack, uint64_t units);
void thin_exit(struct lane *l, uint32_t stack, uint64_t units);
/* The calls that are open and waited to be long enough: all are put. */
void thin_release(struct lane *l, uint64_t units, bool all);

#endif
