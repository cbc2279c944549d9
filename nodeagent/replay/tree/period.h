/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of MPI that one function, as main, makes itself: where a loop has no function of its
 * own, its iterations are from the end of one call of the same path to the end of the next. Which
 * of these paths has one call in each iteration is looked at after PERIOD_JUDGED calls: by then it
 * is known whether other calls of the function are as many, and which of them is the first one.
 * Times are ticks, where a name does not say ns. For one thread.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_PERIOD_H
#define VFTR_NODEAGENT_REPLAY_TREE_PERIOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/replay/tree/off-cpu.h"

struct iterations;
struct node;
struct waited;
struct path;
struct period;

#define PERIOD_PATHS  32u /* the first ones */
#define PERIOD_JUDGED 16u /* calls */

/*
 * judges: false for a part of a thread's time: all paths are kept, with their iterations as they
 * come.
 */
struct period *period_new(bool judges);
void period_free(struct period *p);

/* In the function, or what it has called, ticks were spent in MPI, of them `off' without a CPU. */
void period_add_mpi(struct period *p, uint64_t ticks, struct off_time off);

/* A call that the function itself has made. */
struct period_call {
	const struct node *node; /* its calls are counted, this one too */
	uint64_t since, until;
	const struct off_cpu *off; /* of the thread, or NULL */
	uint64_t least;		   /* an iteration is not shorter */
	size_t unsettled;	   /* for iterations_compare() */
};
/* The path with this key; NULL: it is new, or one too many. */
struct path *period_path(struct period *p, uint64_t key);
/*
 * Adds a path, whose first call has ended. Returns NULL, or the path for which period_call() is to
 * be called from then on.
 */
struct path *period_add(struct period *p, const struct period_call *c, bool collective);
/* True if period_call() will read calls and times of what the function calls. */
bool period_reads_tree(const struct path *at, const struct period_call *c);
/* Returns the ticks since the call before. */
uint64_t period_call(struct period *p, struct path *at, const struct period_call *c);
/* True if period_call() is to be called for this path; else only period_left() is. */
bool period_is_kept(const struct path *at);
/* A call of any path of the function, n, has ended: to be told if period_has_first(). */
bool period_has_first(const struct period *p);
void period_left(struct period *p, const struct node *n, uint64_t until);

/* The calls of a path, as iterations. */
struct period_loop {
	uint64_t key;
	struct iterations *iterations; /* of it; owned by p */
	bool collective;
	bool is_first;	/* the path is the first one of each iteration */
	uint64_t first; /* when its first call began */
};
/* The iterations of a path that is kept. */
struct iterations *period_iterations(const struct path *at);
/* Loop i, from 0; false: there are no more. */
bool period_loop(const struct period *p, size_t i, struct period_loop *l);
/*
 * To be called after the last call: what follows the last call of a path that is_first becomes an
 * iteration.
 */
void period_end(struct period *p);

/* As iterations_add_wait(), of all. */
void period_add_wait(struct period *p, uint64_t at, uint64_t ticks);
void period_add_waits(struct period *p, const struct waited *w, size_t n);

#endif
