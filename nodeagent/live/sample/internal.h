/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a sampler: its paths (paths.c), and the trees of threads (trees.c). */
#ifndef VFTR_NODEAGENT_LIVE_SAMPLE_INTERNAL_H
#define VFTR_NODEAGENT_LIVE_SAMPLE_INTERNAL_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/base/map.h"
#include "nodeagent/live/view.h"
#include "nodeagent/replay/window.h"

struct calltree;
struct host;
struct node;
struct process;
struct replay;
struct thread_ring;

#define NO_PATH UINT32_MAX

#ifndef SAMPLED_PATHS_MAX
#define SAMPLED_PATHS_MAX 16384u /* of a node; what is beyond counts for the path above */
#endif

/* ---- paths ------------------------------------------------------------------------------- */

/* A call path of this node; what processes have at it is added in each look. */
struct sampled_path {
	uint32_t parent, name;
	uint64_t hash;
	bool deep;			/* of KEY_DEEP: times below it are exclusive */
	struct live_path sum;		/* without hash and text */
	uint64_t ended_calls, ended_ns; /* of processes that are not looked at any more */
	uint32_t ended;			/* their number */
	/* of the process at hand, if stamp is that of the sampler */
	uint32_t stamp;
	int64_t calls, ticks;
};

struct sampled_paths {
	struct sampled_path *at;
	size_t n, cap;
	char **names;
	size_t n_names, cap_names;
	struct map64 children, texts; /* (parent, name) -> path; hash of a name -> name */
	uint32_t *touched;	      /* of the process at hand */
	size_t n_touched, cap_touched;
	uint32_t stamp;
	bool full;
};

/* The child of a path by the frame's key; `parent` itself if there are too many. NO_PATH: the
 * root. keys: the process's, key -> name. */
uint32_t sampled_child(struct sampled_paths *s, struct host *host, const struct process *p,
	struct map64 *keys, uint32_t parent, uint64_t key);
/* Adds to a path what the process at hand has there. */
void sampled_count(struct sampled_paths *s, uint32_t path, int64_t calls, int64_t ticks);
/* The innermost frames of a path, as people read them. */
void sampled_text(
	const struct sampled_paths *s, const struct host *host, uint32_t path, char *text);
void sampled_paths_free(struct sampled_paths *s);

/* ---- trees ------------------------------------------------------------------------------- */

/* What is known of a tree since earlier looks. */
struct seen_tree {
	uint32_t *path; /* by node */
	size_t n, cap;
	struct map64 place; /* address of a node -> its path */
	/* that may be the main loop: they know how long their calls took */
	struct seen_loop {
		const struct node *node;
		uint32_t path;
	} * loops;
	size_t n_loops, cap_loops;
	/* functions that may have a loop between their calls of MPI: the same */
	struct seen_loop *periods;
	size_t n_periods, cap_periods;
};
/* The path of a node that is known, or NO_PATH. */
uint32_t seen_path(const struct seen_tree *t, const struct node *n);
void seen_tree_free(struct seen_tree *t);

/* Where a walk adds what it finds. */
struct tree_walk {
	struct sampled_paths *paths;
	struct host *host;
	const struct process *p;
	struct map64 *keys;
	const regex_t *loops;	  /* whose calls are iterations; NULL: they are found */
	struct live_wait *waits;  /* by kind, in ticks */
	uint64_t messages, bytes; /* that were sent */
};

/* Adds the counts of a tree. */
void walk_tree(struct tree_walk *w, struct seen_tree *t, struct calltree *tree);

/* A main loop; times in ticks. */
struct sampled_loop {
	uint32_t path;
	uint64_t n;   /* calls that have ended; 0: there is no main loop */
	bool between; /* these calls, which are of MPI, separate the iterations */
	uint64_t took[LIVE_STEPS_MAX];
	size_t n_took;
};

/* What a thread has done by now. */
struct thread_look {
	struct time_sums sums;
	uint64_t records, calls; /* that are not in the counts of its replay yet */
	struct sampled_loop loop;
};
/* Adds all that a thread has counted until `now`, in ticks, and what is open then. */
void walk_thread(struct tree_walk *w, struct seen_tree *t, const struct thread_ring *thread,
	uint64_t now, struct thread_look *look);

/* Which of the loops of a thread is its main loop. `more`: what its shadow has seen of them. */
struct sampled_loop sampled_loop(const struct tree_walk *w, const struct seen_tree *t,
	const struct seen_tree *more, const struct replay *r, uint64_t now);

#endif
