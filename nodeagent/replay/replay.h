/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the records of one thread to its call tree: a stack of open frames.
 *
 *  - direct recursion is one frame with a depth, every call counted
 *  - the exit of a frame that is not on top closes the frames above it
 *    (longjmp, an exit that never came); an exit of a frame that is not open
 *    is counted and ignored
 *  - records of communication belong to the frame on top and have no time;
 *    they are complete when that frame is left, by whatever way
 *  - a frame of OpenMP may hang elsewhere than on the one below it: a worker's
 *    below the path of the parallel region that it works for, a task's below the
 *    region's own. What lies below it on the stack is suspended meanwhile: its
 *    time does not run. The frames of the other path get the time of what is
 *    below them, and no calls.
 *  - time in which the thread waited for room in its ring is no time of any frame
 *  - time that goes backwards counts as no time
 *  - any sequence of words is accepted; replay_block() says when a block
 *    cannot come from a sane producer
 *
 * Times are ticks. A replay is used by one thread of the agent. What is given to it with
 * replay_set_...() is not owned by it, and must outlive its last frame.
 */
#ifndef VFTR_NODEAGENT_REPLAY_REPLAY_H
#define VFTR_NODEAGENT_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/off-cpu.h"

struct gpu;
struct lock_uses;
struct locks;
struct openmp;
struct replay;
struct sampled_track;
struct traffic_track;
struct files;
struct memory;
struct user_counters;

/*
 * Keys of functions whose low half lies in [low, low + bytes) carry the epoch; those of
 * fixed ids (shm/record.h) never do.
 */
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
 * Called for a user's region whose end came so many times while the region was not open,
 * or (missing) did not come before the function or region around it ended. Not called for
 * frames that a jump has left.
 */
typedef void (*replay_mismatch)(void *ctx, uint64_t key, bool missing, uint64_t times);
void replay_set_mismatch(struct replay *r, replay_mismatch mismatch);
void replay_free(struct replay *r);

/*
 * Calls before the first one of main are not counted. is_main() says whether this is the key
 * of main; ctx is that of replay_new(). Only for the first thread of a process.
 */
void replay_drop_prelude(struct replay *r, int (*is_main)(void *ctx, uint64_t key));

/* Records of communication are given to this track; what it refuses is an error of
 * replay_block(). Without a track such records are only counted. */
void replay_set_track(struct replay *r, struct traffic_track *track);

/*
 * Teams are looked up and counted in o; thread: number of this thread in the process.
 * Without it records of OpenMP are frames like others.
 */
void replay_set_openmp(struct replay *r, struct openmp *o, uint32_t thread);

/*
 * The wait for the others at the end of a team is a frame (KEY_JOIN) of the thread that made
 * it, and the time of a worker between its teams (KEY_IDLE) another. They are no calls of
 * replay_counts. Without it both are time of the frames around.
 */
void replay_show_idle(struct replay *r);

/*
 * The calls of what may be the main loop are told one by one (tree/iterations.h). Only for the
 * first thread of a process, before its first block. Calls shorter than least_ticks are none of it.
 */
void replay_watch_iterations(struct replay *r, uint64_t least_ticks);

/*
 * Until `ticks', which never fall, the thread had no CPU for `off' in all. To be called before the
 * records of that time are read.
 */
void replay_note_off_cpu(struct replay *r, uint64_t ticks, struct off_time off);

/*
 * Is told each call of the main loop that lasted longer than least_ticks and is an outlier: it is
 * call `number' of its path, from 0, and the median of the calls before is `usual' ticks. any_path:
 * calls of all paths that are watched; else of the outermost one that has half of the time by then,
 * or of a loop without a function of its own (tree/anchor.h). To be set after
 * replay_watch_iterations(). NULL: nobody is told.
 */
struct replay_slow {
	uint64_t number, ticks, usual;
	bool between; /* n is a call of MPI, and separates what is slow from the next */
};
typedef void (*replay_slow_call)(void *ctx, const struct node *n, const struct replay_slow *call);
void replay_watch_slow(
	struct replay *r, uint64_t least_ticks, bool any_path, replay_slow_call tell, void *ctx);

/* Waits for locks, and who had them, are given to l. */
void replay_set_locks(struct replay *r, struct locks *l);
/* Waits for locks of the C library are counted in u; NULL: they are not. */
void replay_set_lock_uses(struct replay *r, struct lock_uses *u);

/* Calls that start something on a GPU are given to g. */
void replay_set_gpu(struct replay *r, struct gpu *g);

/* Values of the user's counters are given to *u, which is NULL until one is defined. */
void replay_set_user_counters(struct replay *r, struct user_counters *const *u);
/* The files of the process (files.h), or NULL: records of them are counted and no more. */
void replay_set_files(struct replay *r, struct files *f);
/* The memory of the process (memory.h), or NULL: records of it are counted and no more. */
void replay_set_memory(struct replay *r, struct memory *m);

/* Each COUNTERS record has the values of n hardware counters; 0: such a record is an error. */
void replay_set_counters(struct replay *r, uint32_t n);

/*
 * Calls that are not to be seen: neither in the call tree nor by anybody who is told of frames.
 * Such a call is open on the stack of frames, without a node, until its exit comes: so the stack
 * stays right, and its time is that of the frame around it. Hidden are
 *
 *  - calls with FILTER_NOT, and functions that these call
 *  - with `only': functions that neither have FILTER_ONLY nor are called, by whatever way, from a
 *    function or region that has
 *  - functions called from `depth' others that are seen
 *
 * Calls of MPI, constructs of OpenMP, and regions without FILTER_NOT are always seen.
 */
#define FILTER_ONLY 1u
#define FILTER_NOT  2u

/* Owned by the caller; it must outlive the replay. */
struct replay_filter {
	/* FILTER_ bits of a function or region; the same for a key each time. ctx is that of
	 * replay_new(). */
	unsigned (*class_of)(void *ctx, uint64_t key);
	bool only;
	uint32_t depth; /* 0: no limit */
};

/* NULL, as at first: all calls are seen. Before the first block. */
void replay_set_filter(struct replay *r, const struct replay_filter *f);

/* From now on the frames go to this track of the sampling file; NULL: to none. */
void replay_set_sampled(struct replay *r, struct sampled_track *l);
struct sampled_track *replay_sampled(const struct replay *r);

/* Counts of orphan subtrees (orphans.c) are moved to the path of their team, where that is
 * known by now. True: no orphan subtree is left. */
bool replay_settle(struct replay *r);
/* The same for a thread that has ended: counts whose path is still not known go below the
 * root. */
void replay_give_up(struct replay *r);
/* After replay_end(): gives back the room for frames. */
void replay_shrink(struct replay *r);

/*
 * The time of the thread in teams of OpenMP. ticks: as a member of a team; parts: how often it was
 * one in a team that another thread had made; wait: of the ticks, those in waits; join: ticks in
 * which it waited for the others of a team that it had made; outer_join: of these, those outside of
 * other teams. join_locks, idle_locks: ticks in waits for locks, of `join' and outside of
 * all functions, that lie in no frame of OpenMP.
 */
struct replay_team_times {
	uint64_t ticks, parts, wait, join, outer_join;
	uint64_t join_locks, idle_locks;
	uint64_t from, to; /* begin of the first one of parts, end of the last one */
};
const struct replay_team_times *replay_team_times(const struct replay *r);

/*
 * Takes words [from, to) of a block. Word 0 must be a SYNC word; if a block is taken in
 * parts, the first part begins at 0. Returns NULL, or a static text that says why the block
 * cannot be right: then no other block may be given. now: present ticks; time stamps well
 * beyond it are refused.
 */
const char *replay_block(struct replay *r, const uint64_t *block, unsigned from, unsigned to,
	const struct replay_epoch *epoch, uint64_t now);

/*
 * Takes the words of a block from `from' on, up to the first that changes more than r and its tree:
 * enters and exits of known paths are taken. May be called from another thread than the one that
 * uses r, while that waits. Sets *to to the index of the first word that is not taken, with which
 * replay_block() goes on: at most BLOCK_WORDS, and 0 if r does not know the time yet. Returns as
 * replay_block() does.
 */
const char *replay_block_own(struct replay *r, const uint64_t *block, unsigned from,
	const struct replay_epoch *epoch, uint64_t now, unsigned *to);

/* Index of the first word of the block, from `from` on, that is later than ticks; BLOCK_WORDS: none
 * is. */
unsigned replay_split(const struct replay *r, const uint64_t *block, unsigned from, uint64_t ticks);

/*
 * Counts calls below the top frame that were not recorded, as a LOST record at ticks does.
 * Returns 0, and counts nothing, if there were more than there was time for.
 */
int replay_lost(struct replay *r, uint64_t calls, uint64_t ticks);

/*
 * Adds calls of counted functions (shm/switches.h) for which no COUNTED record was stored. After
 * the last record, before replay_end(). s, ids: the thread's page and the agent's, read as
 * untrusted; counted: bit i for function number i; now: ticks. A count too great for the time until
 * now is ignored.
 */
struct switched_shm;
struct switches_shm;
void replay_counted_rest(struct replay *r, const struct switched_shm *s,
	const struct switches_shm *ids, uint64_t counted, uint64_t now);

/* Closes all frames at end_ticks (or the last record's time if later). */
void replay_end(struct replay *r, uint64_t end_ticks);

/* Ticks in which the thread waited for room in its ring: no frame has them. */
uint64_t replay_blocked_ticks(const struct replay *r);

const struct replay_counts *replay_counts(const struct replay *r);
struct calltree *replay_tree(struct replay *r);
/* The tree becomes the caller's; only replay_free() may follow. */
struct calltree *replay_take_tree(struct replay *r);
uint64_t replay_last_ticks(const struct replay *r);
/* True if its last calls are kept for those who wait for it (tree/activity.h). */
bool replay_keeps_activity(const struct replay *r);

/*
 * Opens the frames of another replay, as replay_stack() has returned them; their calls are counted
 * there. For the first thread of a child of fork(), before its first block.
 */
void replay_inherit(struct replay *r, const uint64_t *keys, size_t n, uint64_t ticks);

/* Open frames, innermost first: keys[0..n), at most max; returns their number. hidden: with hidden
 * calls (replay_set_filter()), each as its key and KEY_HIDDEN. */
size_t replay_stack(const struct replay *r, bool hidden, uint64_t *keys, size_t max);

#endif
