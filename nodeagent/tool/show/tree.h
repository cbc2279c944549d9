/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call tree of a run as text: from the outermost function down, or (reverse) from functions
 * up to their callers.
 */
#ifndef VFTR_NODEAGENT_TOOL_SHOW_TREE_H
#define VFTR_NODEAGENT_TOOL_SHOW_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent/tool/show/run.h"

struct tree_request {
	const char *from; /* only this function: its outermost calls are added up; or NULL */
	bool reverse;	  /* callers below the functions that they call */
	double percent;	  /* of the time of the run, or of `from': frames with less are left out */
	uint64_t depth;	  /* most frames below each other; 0: all */
};

/* Prints the tree on standard output. False after a message: there is no function `from'. */
bool tree_show(const struct run *run, const struct tree_request *request);

/*
 * union.c: the tree itself. Frames of one function below the same node are one node; each node
 * comes after the one above it. Node 0 is no frame, but above all. In a tree of callers
 * (union_up()), the numbers of a node are those of the function where its chain begins, for calls
 * by this chain of callers.
 */
struct union_node {
	uint32_t above, group; /* above: a node; group: of struct report, PROFILE_NONE of node 0 */
	uint32_t stack;	       /* a call path that ends in this function */
	uint32_t own;	       /* the one whose own time it has, if paths is 1 */
	uint32_t depth;	       /* from 1; of node 0: 0 */
	uint64_t paths, calls, incl_ns, excl_ns;
	bool estimated;	    /* its times are estimates, in part; if calls is 0, their number is not
			       known */
	bool own_estimated; /* its exclusive time is an estimate, in part: as above, or because it
			       makes calls that were counted */
};

struct union_tree {
	struct union_node *nodes;
	size_t n_nodes, cap_nodes;
};

/* Frames of a chain of callers at most: deep recursion would take memory by its depth squared. */
#define UNION_CALLERS_MOST 256u

/*
 * The tree of what functions call, and of their callers. group: the function to begin with, or
 * PROFILE_NONE: all roots, and all functions. depth: most frames of a chain; 0: UNION_CALLERS_MOST.
 * The caller frees nodes.
 */
struct union_tree union_down(const struct report *r, uint32_t group);
struct union_tree union_up(const struct report *r, uint32_t group, uint64_t depth);

#endif
