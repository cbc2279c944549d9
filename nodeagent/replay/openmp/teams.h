/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The teams of OpenMP of one process: where in the call tree and in the tree of
 * threads each belongs, and what its threads did, summed up by parallel region.
 *
 * A team is made by FORK on one thread, and its threads record TEAM. Rings are read
 * one after the other, so either may be read first: until FORK was read (and
 * that of the team it was made in), the place of a team is not known. A team is
 * forgotten soon after its FORK and all its TEAMs have ended. All records are
 * untrusted: memory is bounded, and teams beyond the limits count less exactly.
 */
#ifndef VFTR_NODEAGENT_REPLAY_OPENMP_TEAMS_H
#define VFTR_NODEAGENT_REPLAY_OPENMP_TEAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct node;
struct openmp;

#define OPENMP_NONE UINT32_MAX

/* Smaller in tests. */
#ifndef OPENMP_TEAMS_MAX
#define OPENMP_TEAMS_MAX 65536u	    /* at a time */
#define OPENMP_PARTS_MAX (1u << 20) /* threads in them */
#define OPENMP_PATHS_MAX 65536u	    /* nodes of the tree of paths */
#define OPENMP_NODES_MAX 65536u	    /* of the tree of threads */
#define OPENMP_GRACE	 256u	    /* teams that are over and not yet forgotten */
#endif
#define OPENMP_THREADS_LISTED 256u  /* numbers of threads kept per region and node */
#define OPENMP_PATH_MAX	      1024u /* frames in a path; of longer ones some are left out */

/* True if the construct of this region is a barrier. */
typedef bool openmp_barrier(const void *ctx, uint32_t region);

/* is_barrier is called with ctx, which must outlive the result; NULL: no region is a barrier. */
struct openmp *openmp_new(openmp_barrier *is_barrier, const void *ctx);
void openmp_free(struct openmp *o);

/*
 * Paths of parallel regions: a tree of keys (calltree.h) whose nodes count
 * nothing. Below openmp_root() they begin at the thread's first frame, below
 * openmp_relative() at another team's frame.
 */
struct node *openmp_root(struct openmp *o);
struct node *openmp_relative(struct openmp *o);
const struct node *openmp_below(struct openmp *o, const struct node *path, uint64_t key);

/* The path with the n nodes of up[] behind it, the last one first. If it gets too long, some
 * before the last one are left out. */
const struct node *openmp_append(
	struct openmp *o, const struct node *path, const struct node *const *up, unsigned n);

/* The path of the team's region, or NULL as long as it is not known. region: of the team,
 * if the caller knows it, or OPENMP_NONE. */
const struct node *openmp_path(struct openmp *o, uint32_t team, uint32_t region);
/* True if the team's path is known, and hidden. */
bool openmp_is_hidden(const struct openmp *o, uint32_t team);
/* After the last record: teams whose path is not known get one, of their region below the
 * root. */
void openmp_no_more(struct openmp *o);

/* A FORK. path is below the frame of team `base`, or base is 0. */
struct openmp_fork {
	uint32_t team, region, size;
	uint32_t base;
	const struct node *path;
	uint32_t parent, parent_number; /* team and number of the calling thread; 0: none */
	uint32_t thread;		/* its number in the process */
	uint64_t ticks;
	bool hidden; /* functions in the region are hidden (replay_set_filter()); also if those
			around `base' are */
};
void openmp_fork(struct openmp *o, const struct openmp_fork *f);
/* The exit of FORK. size: of the team, or 0: not known. */
void openmp_join(struct openmp *o, uint32_t team, uint32_t size, uint64_t ticks);

/* A TEAM by the system thread with this number (as in profile_thread). */
struct openmp_part {
	uint32_t team, region, level, size, number, thread;
	uint64_t ticks; /* of the enter, then of the exit */
	/* at the exit: time since the enter; of that not waiting; in barriers, in all waits */
	uint64_t duration, busy, barrier, wait;
};
void openmp_enter(struct openmp *o, const struct openmp_part *p);
void openmp_leave(struct openmp *o, const struct openmp_part *p);

/* A task of the team has run on its thread `number`, for ticks, of which busy. */
struct openmp_task {
	uint32_t team, number, thread;
	uint64_t ticks, busy;
	bool in_join; /* after that thread's TEAM exit */
	bool resumed; /* it is the rest of a task that was counted before */
};
void openmp_task(struct openmp *o, const struct openmp_task *t);

bool openmp_is_barrier(const struct openmp *o, uint32_t region);
/* Key of a region's frames. */
uint64_t openmp_region_key(uint32_t region);

/* Orphan subtrees in all threads of the process (replay/orphans.c), and warnings about them. */
size_t *openmp_orphans(struct openmp *o);
void openmp_orphans_full(struct openmp *o);

/* All threads have ended: every team is summed up. */
void openmp_end(struct openmp *o);
/* One sentence per limit that was reached, or NULL; i = 0, 1 ... */
const char *openmp_limit_reached(const struct openmp *o, unsigned i);

/* Numbers of system threads, ascending, each once; the first of them if there are more. */
struct openmp_threads {
	uint32_t *numbers;
	uint32_t n, cap;
	bool more;
};

/* All teams of the parallel region with one path. Times in ticks. */
struct openmp_region {
	const struct node *path;
	uint64_t calls;
	uint32_t size_min, size_max;
	struct openmp_threads threads;
	uint64_t wall; /* from FORK to its exit */
	uint64_t busy, barrier, wait, join, start;
	uint64_t busy_average, busy_most; /* per team: of its threads; sums over teams */
	uint64_t tasks, task_ticks;
};
const struct openmp_region *openmp_regions(const struct openmp *o, size_t *n);

/* A place in the tree of threads; the parent comes before. 0 is the root. */
struct openmp_node {
	uint32_t parent; /* OPENMP_NONE: the root */
	uint32_t level, number;
	struct openmp_threads threads;
	uint64_t parts, ticks; /* implicit tasks; none at the root */
};
const struct openmp_node *openmp_nodes(const struct openmp *o, size_t *n);

#endif
