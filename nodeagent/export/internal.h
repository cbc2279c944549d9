/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of export/ only. */
#ifndef VFTR_NODEAGENT_EXPORT_INTERNAL_H
#define VFTR_NODEAGENT_EXPORT_INTERNAL_H

#include "nodeagent/export/export.h"

/* ---- the functions of each format, for the table in export.c */

#define EXPORT_FORMAT(name)                                                                        \
	void *name##_begin(struct exporter *x);                                                    \
	void name##_event(void *state, const struct export_event *e);                              \
	void name##_end(void *state, bool good)

EXPORT_FORMAT(perfetto);
EXPORT_FORMAT(chrome);
EXPORT_FORMAT(otf2);
EXPORT_FORMAT(paraver);
EXPORT_FORMAT(folded);
EXPORT_FORMAT(speedscope);
void *classic_begin(struct exporter *x);
void classic_end(void *state, bool good);
/* sqlite.c; see export_format.convert */
char *sqlite_convert(FILE *json, const char *from, const char *to);

/* ---- Paraver's numbers, and the two files that explain them */

#define PARAVER_RUNNING 1

/* Types of events; the first four are those that Paraver's own views look for. */
#define PARAVER_FUNCTION       60000019
#define PARAVER_MPI_MESSAGE    50000001
#define PARAVER_MPI_COLLECTIVE 50000002
#define PARAVER_MPI_OTHER      50000003
#define PARAVER_LOST	       90000001
#define PARAVER_LEFT_OUT       90000002
#define PARAVER_GAP	       90000003
#define PARAVER_COUNTER	       42100000 /* + number of the counter */

/* PARAVER_MPI_MESSAGE, PARAVER_MPI_COLLECTIVE or PARAVER_MPI_OTHER of a function of MPI. */
int paraver_mpi_type(const struct export_region *r);
/* Writes STEM.pcf and STEM.row; calls export_fail() if it can't. */
void paraver_names(struct exporter *x, const char *stem);

/*
 * ---- tree.c: the call tree of a sampling file with exclusive times, for flame graphs. Node 0
 * is the root, which is no call. A node comes after its caller.
 */

struct tree_node {
	/* caller: a node; group: index of its process, without meaning if sum */
	uint32_t caller, group;
	uint32_t region;	   /* of a call */
	uint64_t calls, exclusive; /* ns */
};

struct tree {
	struct tree_node *nodes;
	size_t n, cap;
	struct map64 below; /* by caller and group or region */
	struct tree_thread {
		uint32_t open;	/* innermost node; 0: none is open */
		uint32_t on;	/* the node that its first frame is below */
		uint64_t since; /* ns: time of its last enter or exit */
	} * threads;
	bool sum;
	const struct exporter *x;
};

/* One tree for all processes (sum), or one below the root for each. x must outlive t. */
void tree_init(struct tree *t, const struct exporter *x, bool sum);
void tree_free(struct tree *t);
/* Adds a call or its time; other events do nothing. */
void tree_event(struct tree *t, const struct export_event *e);
/* True if the node is a process, not a call. */
bool tree_is_group(const struct tree *t, uint32_t node);

#endif
