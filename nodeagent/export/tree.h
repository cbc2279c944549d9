/* SPDX-License-Identifier: BSD-3-Clause */
/* The call tree of a sampling file with exclusive times, for flame graphs. Node 0 is the
 * root, which is no call. A node comes after its caller. */
#ifndef VFTR_NODEAGENT_EXPORT_TREE_H
#define VFTR_NODEAGENT_EXPORT_TREE_H

#include "nodeagent/export/export.h"

struct tree_node {
	uint32_t caller, group; /* group: rank or other owner of the tree it is in */
	uint32_t region;
	uint64_t calls, exclusive; /* ns */
};

struct tree {
	struct tree_node *nodes;
	size_t n, cap;
	struct map64 below; /* by caller and group or region */
	struct tree_thread {
		uint32_t open; /* innermost node */
		uint32_t on;   /* parent of its first frame; 0: none is open */
		uint64_t since;
	} * threads;
	bool sum;
	const struct exporter *x;
};

/* One tree for all processes (sum), or one below the root for each. */
void tree_init(struct tree *t, const struct exporter *x, bool sum);
void tree_free(struct tree *t);
void tree_event(struct tree *t, const struct export_event *e);
/* True if the node is a process, not a call. */
bool tree_is_group(const struct tree *t, uint32_t node);

#endif
