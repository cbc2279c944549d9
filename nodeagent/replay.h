/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the records of one thread to its call tree: a stack of open frames.
 *
 *  - direct recursion is one frame with a depth, every call counted
 *  - the exit of a frame that is not on top closes the frames above it
 *    (longjmp, an exit that never came); an exit of a frame that is not open
 *    is counted and ignored
 *  - records of communication belong to the frame on top and have no time;
 *    what they tell is complete when that frame is left, by whatever way
 *  - a frame of OpenMP may hang elsewhere than on the one below it: a worker's
 *    below the path of the parallel region that it works for, a task's below the
 *    region's own. What lies below it on the stack is suspended meanwhile: its
 *    time does not run. The frames of the other path get the time of what is
 *    below them, and no calls.
 *  - what the thread has waited for room in its ring is no time of any frame
 *  - time that goes backwards counts as no time
 *  - any sequence of words is accepted; replay_block() says when a block
 *    cannot come from a sane producer
 */
#ifndef VFTR_NODEAGENT_REPLAY_H
#define VFTR_NODEAGENT_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/calltree.h"

struct gpu;
struct openmp;
struct replay;
struct sampling_lane;
struct traffic_lane;
struct user_counters;

/* Keys of frames whose low half lies in [low, low + bytes) carry the epoch. */
struct replay_epoch {
	uint32_t epoch, low, bytes;
};

struct replay_counts {
	uint64_t records; /* enters, exits and other records */
	uint64_t calls;
	uint64_t lost;	 /* calls that LOST records speak of */
	uint64_t closed; /* frames closed by another frame's exit or a jump */
	uint64_t stray;	 /* exits of frames that were not open */
	uint64_t open;	 /* frames still open when the thread ended */
};

/*
 * Asks whether the code at `site` belongs to the function of a frame's key:
 * used after jumps. ctx is what was given to replay_new().
 */
typedef int (*replay_same_function)(void *ctx, uint64_t key, uint64_t site);

struct replay *replay_new(uint64_t start_ticks, replay_same_function same, void *ctx);

/*
 * Told of a region of the user's whose end came while it was not open, or
 * (missing) did not come before the end of what is around it; never of jumps.
 */
typedef void (*replay_mismatch)(void *ctx, uint64_t key, bool missing, uint64_t times);
void replay_set_mismatch(struct replay *r, replay_mismatch mismatch);
void replay_free(struct replay *r);

/*
 * What ran before the function that is_main() knows by its key is not counted; to be
 * asked for the first thread of a process. ctx is that of replay_new().
 */
void replay_drop_prelude(struct replay *r, int (*is_main)(void *ctx, uint64_t key));

/* Records of communication go there, and must make sense to it; without a lane
 * they are counted and no more. It must outlive the last frame. */
void replay_set_lane(struct replay *r, struct traffic_lane *lane);

/*
 * Teams are looked up and counted there, for this thread's number; without it
 * OpenMP's records are frames like others. It must outlive the last frame.
 */
void replay_set_openmp(struct replay *r, struct openmp *o, uint32_t thread);

/* Calls that start something on a GPU are told there; it must outlive the last frame. */
void replay_set_gpu(struct replay *r, struct gpu *g);

/* Values of the user's counters go to *u, if it is not NULL; u must outlive the replay. */
void replay_set_user_counters(struct replay *r, struct user_counters *const *u);

/* So many hardware counters come with its records; 0: none are believed. */
void replay_set_counters(struct replay *r, uint32_t n);

/* Its frames go to the sampling file from now on; NULL: no longer. */
void replay_set_sampled(struct replay *r, struct sampling_lane *l);
struct sampling_lane *replay_sampled(const struct replay *r);

/* What the thread did for teams whose place was not known goes there, if it is
 * known now. Returns whether nothing is left. */
bool replay_settle(struct replay *r);
/* What has no place goes below the root: of a thread that has ended. */
void replay_give_up(struct replay *r);
/* After replay_end(): gives back the room for frames. */
void replay_shrink(struct replay *r);

/* Ticks in which the thread had a part in a team, and parts other than that of
 * the thread which made the team. */
struct replay_team_times {
	uint64_t ticks, parts;
};
const struct replay_team_times *replay_team_times(const struct replay *r);

/*
 * Takes words [from, to) of a block; word 0 must be a SYNC word, and replaying
 * a block in parts must start with 0. NULL, or why
 * the block cannot be right; nothing more should be fed then.
 * now: present ticks; time stamps well beyond it are refused.
 */
const char *replay_block(struct replay *r, const uint64_t *block, unsigned from, unsigned to,
	const struct replay_epoch *epoch, uint64_t now);

/* First word of the block at or after `from` that is later than ticks. */
unsigned replay_split(const struct replay *r, const uint64_t *block, unsigned from, uint64_t ticks);

/*
 * Calls below the present frame that no record speaks of: as a LOST record at
 * ticks. More than there was time for are not believed; returns whether.
 */
int replay_lost(struct replay *r, uint64_t calls, uint64_t ticks);

/* Closes all frames at end_ticks (or the last record's time if later). */
void replay_end(struct replay *r, uint64_t end_ticks);

/* Ticks in which the thread waited for room in its ring: no frame has them. */
uint64_t replay_blocked_ticks(const struct replay *r);

const struct replay_counts *replay_counts(const struct replay *r);
struct calltree *replay_tree(struct replay *r);
/* The tree becomes the caller's; only replay_free() may follow. */
struct calltree *replay_take_tree(struct replay *r);
uint64_t replay_last_ticks(const struct replay *r);

/* Starts inside the frames of another replay (as from replay_stack()), whose
 * calls were counted there. */
void replay_inherit(struct replay *r, const uint64_t *keys, size_t n, uint64_t ticks);

/* Open frames, innermost first: keys[0..n), at most max; returns their number. */
size_t replay_stack(const struct replay *r, uint64_t *keys, size_t max);

#endif
