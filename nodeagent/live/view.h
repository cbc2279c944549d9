/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A view: the numbers of a running job, of one node or of many. A view of many nodes is no larger
 * than that of one: sums over all nodes are exact, lists have the largest rows, and rows that were
 * left out are counted.
 *
 * "Now" is the interval between the last two looks at a node's processes: about the period that the
 * viewer wished, at other times on each node. Counts without that word are since the start of the
 * job. Times are ns. For one thread; a view belongs to whoever made it.
 */
#ifndef VFTR_NODEAGENT_LIVE_VIEW_H
#define VFTR_NODEAGENT_LIVE_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/wait-kinds.h"

/*
 * X(KIND, name in JSON): what threads spend their time for. The first ones do not overlap, and
 * are all of the time of all threads. MPI_WAIT is part of MPI; OFF_CPU is of first threads, which
 * were ready to run and had no CPU, whatever they did.
 */
#define LIVE_CLASSES(X)                                                                            \
	X(USEFUL, "useful_s")                                                                      \
	X(MPI, "mpi_s")                                                                            \
	X(OPENMP_WAIT, "openmp_wait_s")                                                            \
	X(OPENMP_IDLE, "openmp_idle_s")                                                            \
	X(LOCK_WAIT, "lock_wait_s")                                                                \
	X(IO, "io_s")                                                                              \
	X(GPU_WAIT, "gpu_wait_s")                                                                  \
	X(BLOCKED, "blocked_s")                                                                    \
	X(UNKNOWN, "unknown_s")                                                                    \
	X(MPI_WAIT, "mpi_wait_s")                                                                  \
	X(OFF_CPU, "off_cpu_s")

enum live_class {
#define LIVE_CLASS(kind, name) LIVE_##kind,
	LIVE_CLASSES(LIVE_CLASS)
#undef LIVE_CLASS
		LIVE_CLASSES_END
};

/* Static text; kind < LIVE_CLASSES_END. */
const char *live_class_name(unsigned kind);

#define LIVE_NODES_MAX	 64 /* rows of a list */
#define LIVE_RANKS_MAX	 16
#define LIVE_PATHS_MAX	 64
#define LIVE_MISSING_MAX 32
#define LIVE_STEPS_MAX	 60  /* iterations of the main loop, the last ones */
#define LIVE_HOST_BYTES	 64  /* of a text, with its NUL; longer ones are cut */
#define LIVE_PATH_BYTES	 256 /* of the innermost frames of a path */
#define LIVE_NO_RANK	 UINT32_MAX
#define LIVE_OFF_MAX	 17

struct live_node {
	uint32_t agent; /* its number */
	char host[LIVE_HOST_BYTES];
	uint32_t processes, threads;	    /* that run */
	uint64_t interval;		    /* 0: this was the first look, and there is no "now" */
	uint64_t age;			    /* since the look */
	uint64_t records, calls;	    /* now */
	uint64_t lost_calls;		    /* since the start */
	uint64_t classes[LIVE_CLASSES_END]; /* now, of all threads */
	uint64_t look;			    /* what a look takes */
	uint64_t sent, sent_bytes;	    /* to other agents for views, since the start */
};

/* A process that runs. */
struct live_rank {
	uint32_t rank;	/* of MPI or of the launcher, or LIVE_NO_RANK */
	uint32_t agent; /* where */
	uint32_t pid, threads;
	uint64_t interval;
	uint64_t first_useful;		    /* now, of the first thread */
	uint64_t classes[LIVE_CLASSES_END]; /* now, of all its threads */
};

/* A call path; times are exclusive, and those of the calls that are open up to the look. */
struct live_path {
	uint64_t hash; /* of the whole text: base/hash.h */
	uint64_t calls, calls_now;
	uint64_t ns, ns_now;
	uint32_t processes; /* that have it */
	uint32_t most_rank; /* with the most time now */
	uint64_t most_now, least_now;
	uint32_t without;	    /* nodes that left out some paths, maybe this one */
	char text[LIVE_PATH_BYTES]; /* empty: not told yet */
};

struct live_wait {
	uint64_t calls, ns; /* of calls that are over */
	uint64_t calls_now, ns_now;
};

enum live_absence { LIVE_SILENT, LIVE_GONE }; /* it does not answer; it is known to have ended */

struct live_missing {
	uint32_t agent;
	uint32_t why;		    /* enum live_absence */
	char host[LIVE_HOST_BYTES]; /* empty: not known */
};

/*
 * The main loop of one process: of the one with the lowest rank that has one. Nothing is known of
 * the others, which mostly run the same.
 */
struct live_loop {
	uint32_t rank, agent;	       /* whose it is */
	uint64_t n;		       /* iterations that have ended; 0: no main loop is known */
	size_t n_took;		       /* of the last ones is known ... */
	uint64_t took[LIVE_STEPS_MAX]; /* ... how long they took, the latest one last */
	char text[LIVE_PATH_BYTES];    /* its call path ... */
	uint32_t between;	       /* ... or, if not 0, that of the calls between iterations */
};

/* The functions of a name, which the user has switched off; or, with no name, all recording. */
struct live_off {
	char name[LIVE_PATH_BYTES];
	uint32_t nodes;	    /* that know of it */
	uint32_t functions; /* of that name that are off, on all nodes; none is called yet: 0.
			       Without a name: processes that have paused */
	uint64_t stamp;	    /* UNIX time in ns of the order */
};

/* The last request that what flight recorders keep is written. */
struct live_request {
	uint64_t stamp;			    /* 0: there was none */
	uint32_t nodes[REQUEST_STATES_END]; /* that know of it, by what becomes of it there */
	char file[LIVE_PATH_BYTES];	    /* that a node writes or has written; or empty */
};

struct live_view {
	char program[LIVE_HOST_BYTES]; /* of one of the processes; empty: not known */
	char job[LIVE_HOST_BYTES];     /* as the batch system calls it; empty: there is none */
	struct live_loop loop;

	/* sums over all nodes in it */
	uint32_t n_all; /* nodes */
	uint32_t processes, threads;
	uint32_t ranked;   /* of the processes that run: with a rank */
	uint32_t ended;	   /* processes that have ended */
	uint64_t elapsed;  /* since the first process began; greatest of a node */
	uint64_t interval; /* longest of a node; 0: some node has none yet */
	uint64_t age;	   /* greatest */
	uint64_t records, calls_now, calls, lost_calls;
	uint64_t hooks; /* now: time that hooks and wrappers took, an estimate */
	/* that were sent, in collective calls, too; up to what threads have published */
	uint64_t messages, messages_now, bytes, bytes_now;
	/* useful time of first threads, in millionths of the interval: of all processes, the most
	 */
	uint64_t share, share_most;
	uint64_t classes[LIVE_CLASSES_END];
	struct live_wait waits[WAIT_KINDS_END];
	uint32_t n_absent; /* nodes that should be in it and are not */

	struct live_request request;
	size_t n_off;
	struct live_off off[LIVE_OFF_MAX];

	/* the largest rows */
	size_t n_nodes, n_ranks, n_paths, n_missing;
	struct live_node nodes[LIVE_NODES_MAX];	       /* most useful time per process */
	struct live_rank ranks[LIVE_RANKS_MAX];	       /* most useful time */
	struct live_path paths[LIVE_PATHS_MAX];	       /* most time now */
	struct live_missing missing[LIVE_MISSING_MAX]; /* silent ones first, lowest numbers */

	/* nodes that left out paths, and the most time that such a path has: all of them, summed */
	uint32_t n_cut;
	uint64_t cut_ns, cut_now;
};

/* Adds the nodes of `from`, none of which are in `to`. */
void live_merge(struct live_view *to, const struct live_view *from);

/* Adds a row; where there is no room, the least one gives way. */
void live_add_node(struct live_view *v, const struct live_node *n);
void live_add_rank(struct live_view *v, const struct live_rank *r);
void live_add_missing(struct live_view *v, const struct live_missing *m);

/* Adds a row, or its numbers to the row of the same name; left out if there is no more room. */
void live_add_off(struct live_view *v, const struct live_off *o);

/* The order of paths in a view, for qsort(). */
int live_path_order(const void *x, const void *y);

/* ---- on the wire: wire.c ---------------------------------------------------------------- */

#define LIVE_VERSION	 5u
#define LIVE_PACKED_MOST 65536u

/* Texts of paths that a receiver knows, by hash. Begins as zeros. */
struct live_names;
struct live_names *live_names_new(void);
void live_names_free(struct live_names *n);

/*
 * Packs a view; `told`: the texts that the receiver has, to which those in the packet are
 * added; NULL: all texts. Returns the bytes, at most LIVE_PACKED_MOST.
 */
size_t live_pack(const struct live_view *v, struct live_names *told, unsigned char *to);

/*
 * The reverse. `known`: texts that came before, to which those that come are added; NULL: none.
 * NULL, or a static text that says what is wrong; then v is empty.
 */
const char *live_unpack(
	struct live_view *v, struct live_names *known, const void *packed, size_t bytes);

#endif
