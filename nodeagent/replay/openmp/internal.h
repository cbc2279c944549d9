/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations that teams.c (teams) and sums.c (their sums) share. */
#ifndef VFTR_NODEAGENT_REPLAY_OPENMP_INTERNAL_H
#define VFTR_NODEAGENT_REPLAY_OPENMP_INTERNAL_H

#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/base/map.h"
#include "nodeagent/replay/openmp/teams.h"

enum openmp_limit { LIMIT_TEAMS, LIMIT_PARTS, LIMIT_PATHS, LIMIT_NODES, LIMIT_ORPHANS, LIMITS };

/* One thread of a team, by its number in the team. */
struct part {
	uint32_t thread; /* of the system, or OPENMP_NONE: not heard of */
	uint32_t parts;
	uint64_t ticks, busy;
};

struct team {
	uint32_t number, region;
	uint32_t base;			/* relative is below the frame of that team */
	const struct node *path;	/* or NULL: not known yet */
	const struct node *relative;	/* or NULL: there was no FORK, or base is 0 */
	uint32_t parent, parent_number; /* team and number of the thread of FORK */
	uint32_t place;			/* in the tree of threads, of that thread; or OPENMP_NONE */
	bool forked, joined, over, hidden;
	uint32_t level, asked, size;
	uint32_t entered, left; /* TEAM enters and exits */
	uint64_t fork_ticks, join_ticks;
	uint64_t enter_sum, leave_sum; /* of their ticks, modulo 2^64 */
	uint64_t barrier, wait;
	uint64_t tasks, task_ticks, join_tasks;
	struct part *parts;
	size_t n_parts; /* room */
	struct team *before, *next;
};

/* A team that was made before its place was known, which follows from `base` and `parent`. */
struct waiting {
	uint32_t team, base, parent;
};

struct team_list {
	struct team *first, *last;
	size_t n;
};

struct openmp {
	openmp_barrier *is_barrier; /* or NULL */
	const void *ctx;
	struct calltree *tree; /* of paths */
	struct node *root, *relative;
	struct map32 team_at; /* number -> slots[] */
	struct team **slots;
	uint32_t *free_slots; /* behind slots[] */
	size_t n_free;
	struct team_list lists[2]; /* by `over`; the oldest first */
	size_t n_parts;		   /* room in all teams */
	struct waiting *waiting;
	size_t n_waiting, cap_waiting;
	size_t n_orphans;
	bool no_more;
	unsigned limits; /* bits, by enum openmp_limit */

	struct openmp_region *regions;
	size_t n_regions, cap_regions;
	struct map64 region_at; /* address of the path -> regions[] */
	struct openmp_node *nodes;
	size_t n_nodes, cap_nodes;
	struct map64 node_at; /* parent<<32 | level<<24 | number -> nodes[] */
};

/* Place in the tree of threads of the one that made the team, or OPENMP_NONE: not
 * known yet. depth: 0. */
uint32_t openmp_place(struct openmp *o, struct team *t, unsigned depth);
/* An initial thread has made a team. */
void openmp_root_thread(struct openmp *o, uint32_t thread);
/* Adds a team whose path is known to its region and to the tree of threads. */
void openmp_sum_up(struct openmp *o, struct team *t);
void openmp_sums_free(struct openmp *o);
/* Used by openmp_place(): the team that t was made in, or NULL. */
struct team *openmp_parent(const struct openmp *o, const struct team *t);

#endif
