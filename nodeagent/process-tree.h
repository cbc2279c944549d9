/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a node as a tree: each one below its parent, if that was
 * traced, and the lives of one process (before and after exec) one after the
 * other.
 */
#ifndef VFTR_NODEAGENT_PROCESS_TREE_H
#define VFTR_NODEAGENT_PROCESS_TREE_H

#include "nodeagent/forest.h"
#include "nodeagent/profile.h"

/* All by index in processes[]. */
struct process_tree {
	struct forest forest; /* all lives have the same parent */
	uint32_t *life;	      /* 0, or 1 after the first exec ... */
};

void process_tree_init(struct process_tree *t, const struct profile *p);
void process_tree_done(struct process_tree *t);

#endif
