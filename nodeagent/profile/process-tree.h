/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The processes of a node as a tree: each one below its parent, if that was
 * traced. A process that called exec is one element for each program that it ran, called
 * a life; its lives come one after the other.
 */
#ifndef VFTR_NODEAGENT_PROFILE_PROCESS_TREE_H
#define VFTR_NODEAGENT_PROFILE_PROCESS_TREE_H

#include "nodeagent/base/forest.h"
#include "nodeagent/profile/profile.h"

/* Indices are those of processes[]. */
struct process_tree {
	struct forest forest; /* all lives have the same parent */
	uint32_t *life;	      /* 0, or 1 after the first exec ... */
};

void process_tree_init(struct process_tree *t, const struct profile *p);
void process_tree_done(struct process_tree *t);

/*
 * Sets outlived, in processes[] and dead[], of those that a signal ended while a process above them
 * was there, which ended by itself with status 0, or still runs. A parent that was not traced is
 * not known.
 */
void process_tree_mark_outlived(struct profile *p);

#endif
