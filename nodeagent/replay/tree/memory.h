/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was allocated at one path, and how much of it is live. The path's node may become another
 * one while blocks from there are live, so what is counted belongs to the process, and nodes
 * point to it. Sums over samples: each stands for some allocations.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_MEMORY_H
#define VFTR_NODEAGENT_REPLAY_TREE_MEMORY_H

#include <stdint.h>

struct node_memory {
	uint64_t records;
	double allocations, bytes;
	double variance; /* of bytes: they are an estimate */
	uint64_t largest;
	uint64_t mapped;     /* of the bytes */
	double frees;	     /* of allocations made here */
	double other_thread; /* part of frees: by another thread than the one that allocated */
	double lifetime;     /* ticks, of all that were freed */
	double live_blocks, live, live_variance;
	double age; /* ticks, of all that are live, when memory_note_ages() was last called */
	/* live bytes at the beginning of stretch `stretch` (shm/memory.h), the highest seen */
	double held;
	uint32_t stretch;
	struct node_memory *joined; /* NULL: none; where all of this has gone */
	struct node_memory *next;   /* of the process */
};

/* Where the counts of m are now. */
struct node_memory *node_memory_now(struct node_memory *m);
/* Adds to the live bytes and blocks in that stretch (below 0: takes off); in any order. */
void node_memory_live(struct node_memory *m, double bytes, double blocks, uint32_t stretch);
/* Live bytes at the beginning of the process's last stretch, which m may not have seen. */
double node_memory_held(const struct node_memory *m, uint32_t last);
/* Joins the counts of two paths, and returns them; either may be NULL. */
struct node_memory *node_memory_join(struct node_memory *to, struct node_memory *from);
/* Sets the sums to 0, but for what is live. m may be NULL. */
void node_memory_forget(struct node_memory *m);

#endif
