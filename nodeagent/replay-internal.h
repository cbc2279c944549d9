/* SPDX-License-Identifier: BSD-3-Clause */
/* What replay.c (words) and replay-frames.c (the stack of frames) share. */
#ifndef VFTR_NODEAGENT_REPLAY_INTERNAL_H
#define VFTR_NODEAGENT_REPLAY_INTERNAL_H

#include "nodeagent/replay.h"
#include "shm/record.h"

#define EPOCH_BITS ((uint64_t)0xfff << KEY_WIDE_EPOCH_SHIFT)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* Why the fast way of replay_block() is not enough. */
enum { SLOW_PAUSED = 1, SLOW_PENDING = 2 /* messages wait for the end of their frame */ };

struct frame {
	struct node *node; /* NULL: entered while recording was paused */
	struct node *last; /* the child that ended last */
	uint64_t since;
	uint64_t depth; /* further direct calls of itself that are open */
};

struct replay {
	struct calltree *tree;
	struct frame *base, *top, *full; /* full: no room above */
	struct frame *deep;		 /* frames above this one lie below KEY_DEEP */
	uint64_t high;			 /* time base of the block, shifted */
	uint64_t start;
	uint64_t now;		   /* latest time seen */
	uint64_t not_after;	   /* no stamp may be later */
	uint64_t vain, vain_sites; /* frames walked over in vain */
	unsigned slow;		   /* SLOW_ bits */
	struct traffic_lane *lane;
	struct replay_counts counts;
	replay_same_function same;
	void *ctx;
	const char *error;
};

static inline uint64_t elapsed(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > 0 ? to - from : 0;
}

/* The node that new frames hang on: that of the nearest frame that has one. */
struct node *replay_node(struct frame *f);

/* A call at t; and that of a frame of its own, whatever is below, not counted. */
void replay_enter(struct replay *r, uint64_t key, uint64_t t);
void replay_open(struct replay *r, uint64_t key, uint64_t t);
/* An exit; the frame on top ends, unless it is the root; the n innermost calls end. */
void replay_leave(struct replay *r, uint32_t id, uint64_t t);
void replay_pop(struct replay *r, uint64_t t);
void replay_close(struct replay *r, uint64_t n, uint64_t t);
/* After a jump the code at site runs: frames above its function are gone. */
void replay_jump(struct replay *r, uint64_t site, uint64_t t);

/* While paused, the time goes to a pseudo-frame on top of the open ones. */
void replay_pause(struct replay *r, uint64_t t);
void replay_go_on(struct replay *r, uint64_t t, uint64_t unrecorded);
void replay_leave_paused(struct replay *r, uint32_t id, uint64_t t);

#endif
