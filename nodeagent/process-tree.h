/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a node as a tree: each one below its parent, if that was
 * traced, and the lives of one process (before and after exec) one after the
 * other. It may be as deep as there are processes, so it is walked without
 * recursion.
 */
#ifndef VFTR_NODEAGENT_PROCESS_TREE_H
#define VFTR_NODEAGENT_PROCESS_TREE_H

#include "nodeagent/profile.h"

/* All by index in processes[]; PROFILE_NONE: none. */
struct process_tree {
	uint32_t first;
	uint32_t *parent; /* of all lives the same */
	uint32_t *life;	  /* 0, or 1 after the first exec ... */
	uint32_t *level;  /* valid once process_tree_next() has come there */
	uint32_t *child, *sibling;
};

void process_tree_init(struct process_tree *t, const struct profile *p);
void process_tree_done(struct process_tree *t);
/* The one that is printed after i. */
uint32_t process_tree_next(struct process_tree *t, uint32_t i);

#endif
