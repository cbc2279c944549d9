/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread does now, for those who look while it runs: how long its calls have been open,
 * and what it has stored and not published yet. Nothing here changes the replay. Times are ticks.
 */
#ifndef VFTR_NODEAGENT_REPLAY_SHADOW_H
#define VFTR_NODEAGENT_REPLAY_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node;
struct replay;

/*
 * Is told each open frame, the root first. ticks: how long n, with what it calls, has run in this
 * frame; no count has them yet. below: NULL, or the node of the frame below this one, to whose time
 * they do not belong.
 */
typedef void replay_open_frame(
	void *ctx, const struct node *n, const struct node *below, uint64_t ticks);
void replay_open_frames(const struct replay *r, uint64_t t, replay_open_frame *tell, void *ctx);

/*
 * A replay with an empty tree, in which the frames of r are open since the last word that r has
 * taken. So it can take words that are not published: r will get them again, in their block, and
 * the counts of r and of its shadow together are those of the thread. The caller frees it by
 * replay_free(), before r ends. NULL: r is in a state that cannot be copied, as in a construct of
 * OpenMP, paused, or too deep.
 */
struct replay *replay_shadow(const struct replay *r);

/* True if a frame with this id is open, or that cannot be told: paused, or frames not recorded. */
bool replay_may_be_open(const struct replay *r, uint32_t id);

/*
 * The nodes of r's open frames, the root first. Returns the number of all; if that is more than
 * max, nodes[] has the max / 2 outermost, then the innermost ones. In the shadow the same frames
 * have the first nodes of its tree, in this order.
 */
size_t replay_open_nodes(const struct replay *r, const struct node **nodes, size_t max);

/*
 * The lock (OPENMP_LOCK()) that the thread waits for in its innermost frame; 0: none is known. Else
 * *region is that of the wait (openmp_region_key()).
 */
uint32_t replay_lock_wanted(const struct replay *r, uint32_t *region);
/*
 * True if a critical or ordered region is open that holds the lock. left: so many of the innermost
 * frames have ended since.
 */
bool replay_holds_lock(const struct replay *r, uint32_t number, size_t left);
/*
 * The locks that the thread got last without a region, and when, in ticks, each number once; but
 * for those that it gave back while another thread waited for them.
 */
typedef void replay_taken_lock(void *ctx, uint32_t number, uint64_t since);
void replay_locks_got(const struct replay *r, replay_taken_lock *tell, void *ctx);

#endif
