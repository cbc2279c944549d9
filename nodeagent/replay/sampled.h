/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The track of a thread in the sampling file, to which its replay adds frames. Made and
 * freed by the recorder, which also knows the numbers of definitions in that file.
 */
#ifndef VFTR_NODEAGENT_REPLAY_SAMPLED_H
#define VFTR_NODEAGENT_REPLAY_SAMPLED_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/base/map.h"
#include "nodeagent/trace/write/sample.h"
#include "nodeagent/trace/write/writer.h"

struct node;
struct user_counter;

/* Numbers of definitions, which each function makes if need be. ctx is that of the track. */
struct sampled_numbers {
	uint32_t (*function)(void *ctx, uint64_t key); /* of frames with this key */
	bool (*is_precise)(void *ctx, uint64_t key);   /* are they always sampled? */
	/* The numbers of the first n counters of hwprof; NULL: there are fewer. */
	const uint32_t *(*counters)(void *ctx, uint32_t n);
	uint32_t (*user_counter)(void *ctx, const struct user_counter *c);
};

struct sampled_track {
	struct vfd_track *track;
	const struct sampled_numbers *numbers;
	void *ctx;
	struct map64 stacks;	 /* caller and function -> stack, of those defined so far */
	uint64_t interval, next; /* ticks; as in trace/write/sample.h, but never shorter */
	uint64_t wake;		 /* until then only long calls matter: no later than next */
	uint64_t long_call;	 /* the end of a longer one is always recorded */
	struct vfd_window window;
	struct node *picked; /* node of the frame that ran at the window's instant */
	uint32_t openmp_level, openmp_number;
};

#endif
