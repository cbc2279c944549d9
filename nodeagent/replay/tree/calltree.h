/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call tree of one thread, as its records build it. Nodes are found by
 * guessing: each node remembers which sibling was entered after it last time,
 * so repeated call sequences are followed without any search.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_CALLTREE_H
#define VFTR_NODEAGENT_REPLAY_TREE_CALLTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/record.h"

/*
 * A frame's key: the id of its record with the code map's epoch above it, or
 * KEY_WIDE with a whole address, or a region key (bit 63).
 */
#define KEY_WIDE	     ((uint64_t)1 << 62)
#define KEY_EPOCH_SHIFT	     32
#define KEY_WIDE_EPOCH_SHIFT 48
#define KEY_WIDE_EPOCH_LAST  0xfffu /* of a KEY_WIDE: it stands for all that come after it, too */
/* As KEY_WIDE: around the frame of an MPI function, the address in the code that has called it. */
#define KEY_SITE	 (KEY_WIDE | (uint64_t)1 << 60)
#define KEY_ADDRESS_MASK (((uint64_t)1 << 48) - 1)
#define KEY_INIT	 ((uint64_t)1 << 61) /* the root */
#define KEY_DEEP	 (KEY_INIT | 1)	     /* frames below DEPTH_MAX */
#define KEY_PAUSE	 (KEY_INIT | 2)
#define KEY_OVERFLOW	 (KEY_INIT | 3) /* more paths than NODES_MAX */
/* Below omp_parallel: the wait of the thread that made the team for the others. */
#define KEY_JOIN (KEY_INIT | 4)
/* Below the root: a worker of OpenMP between its teams. */
#define KEY_IDLE (KEY_INIT | 5)
/* The callers of what is below it: the part of a stack that was not stored in a stack sample. */
#define KEY_CUT (KEY_INIT | 6)
/* In sampling files: a wait for room in the ring, below the frame that it is taken off. */
#define KEY_BLOCKED (KEY_INIT | 7)
/* In what replay_stack() gives: the key before it is that of a hidden call; | 1: of one of which
 * all that it calls is hidden. No frame has it. */
#define KEY_HIDDEN (KEY_INIT | (uint64_t)1 << 34)
/* Below a collective call: its wait for the others. | id of the call's record */
#define KEY_SYNC (KEY_INIT | (uint64_t)1 << 32)
/* Below the root: an orphan subtree, in place of the frame of a parallel region whose
 * path is not known yet. | index, below RECORD_ID_MPI */
#define KEY_ORPHAN (KEY_INIT | (uint64_t)1 << 33)

/* A whole address in a KEY_WIDE or KEY_SITE of this epoch. */
static inline uint64_t key_wide(uint64_t address, uint32_t epoch)
{
	const uint64_t kept = epoch < KEY_WIDE_EPOCH_LAST ? epoch : KEY_WIDE_EPOCH_LAST;

	return KEY_WIDE | kept << KEY_WIDE_EPOCH_SHIFT | (address & KEY_ADDRESS_MASK);
}

#define KEY_NO_MPI UINT32_MAX
/* Index in mpi/generate/mpi.tab of the function that a key is of, or KEY_NO_MPI. */
static inline uint32_t key_mpi(uint64_t key)
{
	return key >= RECORD_ID_MPI && key < RECORD_ID_REGION ? (uint32_t)key - RECORD_ID_MPI
							      : KEY_NO_MPI;
}

/* Smaller in tests. */
#ifndef NODES_MAX
#define NODES_MAX (2u << 20) /* most paths of a thread; further ones are KEY_OVERFLOW */
#endif
#ifndef NODES_ALL_MAX
#define NODES_ALL_MAX (32u << 20) /* in all trees: then KEY_OVERFLOW from NODES_FAIR on */
#define NODES_FAIR    4096u
#endif
#define DEPTH_MAX  1024u      /* longer paths are folded into one node */
#define FRAMES_MAX (1u << 22) /* most open frames; more are hostile */

struct iterations;
struct node_memory;
struct period;
struct slices;
struct waited;

/* Messages of the calls at one node. Times in ticks. */
struct node_messages {
	uint64_t sends, receives;
	uint64_t bytes_sent, bytes_received;
	uint64_t send_ticks, receive_ticks;
	/* sums over messages, in bytes per tick times 2^32 */
	unsigned __int128 send_bandwidth, receive_bandwidth;
};

/* Hardware counters, exclusive, by their place in hwprof.counters. */
struct node_counters {
	uint32_t n;
	uint64_t of[];
};

/* The purpose of a request. */
enum node_open { OPEN_SEND, OPEN_RECEIVE, OPEN_OTHER, OPEN_KINDS };

/* Operations of input or output of one kind at one node; least is 0 if there were none. */
struct node_io {
	uint64_t operations, failed, bytes;
	uint64_t ticks, least, most; /* of all, and of one of them */
};

/* The waits of one kind (enum wait_kind) at one node for one rank, or for one thread of the
 * process. */
struct node_wait {
	uint32_t kind;
	uint32_t late;	/* the rank, in the process's own job; UINT32_MAX: all others */
	uint64_t calls; /* that have waited */
	uint64_t ticks;
	uint64_t error;	 /* ticks: that of the clocks in these, at most */
	double variance; /* of ticks, squared: as these stand for others, too */
	/* a wait for a thread: 1 + its number in the process, 0: several; and its call path
	 * then, a number of traffic_path() or 0. A wait in the wrong order: path of a call that
	 * received a message which lay there, one of all */
	uint32_t thread, path;
};

struct node_waits {
	size_t n, cap;
	struct node_wait *at;
	struct wait_index *index; /* or NULL */
};

#ifndef NODE_LATE_MAX
#define NODE_LATE_MAX 16 /* ranks or threads that are told apart, of one kind at one node */
#endif

/* Stack samples (replay/stack-samples.h) of which a node is in the path. */
struct node_stacks {
	uint64_t all; /* ... or what it calls is */
	uint64_t own;
	uint64_t ticks; /* of a CPU, that the own ones stand for */
};

/* Who looks at the exits of a node, one by one. */
#define WATCH_ITERATIONS 1u /* replay/iterations.c: of this one, or those around it */
#define WATCH_PROBE	 2u /* MPI_Probe: replay/comm/comm.h */

/* Members that few nodes need; what is counted has a row below. */
struct node_extra {
	uint64_t lost;	    /* calls below it that were not recorded */
	uint64_t counted;   /* of its calls, those that were counted and not timed ... */
	uint64_t estimated; /* ... and their estimated ticks (estimate.h) */
	uint64_t priced_calls, priced_ticks; /* of the counted ones, those that have a mean */
	uint64_t seen_calls, seen_ticks;     /* timed, when they got it */
	uint64_t last_calls, last_ticks;     /* timed, of the last mean */
	struct node_stacks stacks;
	/* no other tree gets these: its stack in the sampling file (samples.c), its path number
	 * of traffic_path() */
	uint32_t stack, path;
	struct node_messages messages;
	uint64_t openacc_bytes;	   /* of events of OpenACC */
	uint64_t open[OPEN_KINDS]; /* open requests that were given up */
	struct node_io io[RECORD_IO_KINDS];
	struct node_counters *counters; /* or NULL */
	struct node_memory *memory;	/* or NULL; the process's (memory.h) */
	struct node_waits waits;
	struct iterations *iterations; /* or NULL; of the first thread of a process */
	struct period *period;	       /* the same, of what it calls */
	struct slices *slices;	       /* the same, of the root */
	uint8_t watched;	       /* WATCH_ bits: what its exits are looked at for */
	bool no_period;		       /* it is no path of its caller's period that is kept */
};

/*
 * The members that are counts, and how those of two nodes become one: SUM, the sum; LEAST, the
 * least that is not 0; MOST, the greatest. A node whose sums are all 0 has counted nothing.
 */
#define NODE_COUNTS(SUM, LEAST, MOST)                                                              \
	SUM(lost)                                                                                  \
	SUM(counted)                                                                               \
	SUM(estimated)                                                                             \
	SUM(priced_calls)                                                                          \
	SUM(priced_ticks)                                                                          \
	SUM(seen_calls)                                                                            \
	SUM(seen_ticks)                                                                            \
	SUM(last_calls)                                                                            \
	SUM(last_ticks)                                                                            \
	SUM(stacks.all)                                                                            \
	SUM(stacks.own)                                                                            \
	SUM(stacks.ticks)                                                                          \
	NODE_COUNTS_OF_MESSAGES(SUM)                                                               \
	SUM(openacc_bytes)                                                                         \
	SUM(open[OPEN_SEND])                                                                       \
	SUM(open[OPEN_RECEIVE])                                                                    \
	SUM(open[OPEN_OTHER])                                                                      \
	NODE_COUNTS_OF_IO(io[RECORD_IO_READ], SUM, LEAST, MOST)                                    \
	NODE_COUNTS_OF_IO(io[RECORD_IO_WRITE], SUM, LEAST, MOST)

#define NODE_COUNTS_OF_MESSAGES(SUM)                                                               \
	SUM(messages.sends)                                                                        \
	SUM(messages.receives)                                                                     \
	SUM(messages.bytes_sent)                                                                   \
	SUM(messages.bytes_received)                                                               \
	SUM(messages.send_ticks)                                                                   \
	SUM(messages.receive_ticks)                                                                \
	SUM(messages.send_bandwidth)                                                               \
	SUM(messages.receive_bandwidth)

#define NODE_COUNTS_OF_IO(kind, SUM, LEAST, MOST)                                                  \
	SUM(kind.operations)                                                                       \
	SUM(kind.failed)                                                                           \
	SUM(kind.bytes)                                                                            \
	SUM(kind.ticks)                                                                            \
	LEAST(kind.least)                                                                          \
	MOST(kind.most)

struct node {
	uint64_t key;
	uint64_t calls;
	uint64_t ticks;	    /* inclusive; below KEY_DEEP: exclusive */
	struct node *child; /* the one expected next; a ring through sibling */
	struct node *sibling;
	struct node *parent;
	union {
		struct node *expected;	  /* replay: the sibling entered after this one last time */
		struct node *counterpart; /* after calltree_add() and calltree_move(); see there */
		struct node *mpi_frame;	  /* gatherer: the nearest frame of MPI, itself or above */
	};
	struct node_extra *extra; /* or NULL; calltree_extra() */
};

_Static_assert(sizeof(struct node) == 64, "one cache line");

static inline int key_is_region(uint64_t key)
{
	return RECORD_IS_REGION(key) || (key >= RECORD_ID_REGION && key < RECORD_ID_FUNCTION);
}

static inline int key_is_site(uint64_t key)
{
	return !RECORD_IS_REGION(key) && (key & KEY_SITE) == KEY_SITE;
}

/* True for the key of a function of the program. */
static inline bool key_is_function(uint64_t key)
{
	if (RECORD_IS_REGION(key) || (key & KEY_INIT) || key_is_site(key))
		return false;
	return (key & KEY_WIDE) || (uint32_t)key >= RECORD_ID_FUNCTION;
}

static inline int key_is_orphan(uint64_t key)
{
	return !RECORD_IS_REGION(key) && (key & KEY_ORPHAN) == KEY_ORPHAN && !(key & KEY_WIDE);
}

/* True for a path that is known from stack samples alone. */
static inline bool node_is_from_stacks(const struct node *n)
{
	return n->extra && n->extra->stacks.all && !n->calls;
}

/* True below a call of MPI, or at one. n: or NULL. */
static inline bool node_is_in_mpi(const struct node *n)
{
	while (n && key_mpi(n->key) == KEY_NO_MPI)
		n = n->parent;
	return n != NULL;
}

struct calltree;

struct calltree *calltree_new(void);
void calltree_free(struct calltree *t);
struct node *calltree_root(struct calltree *t);
size_t calltree_nodes(const struct calltree *t);

/* fn is called for each new node but the root, before anything is counted there. */
typedef void calltree_new_node(void *ctx, struct node *n);
void calltree_watch(struct calltree *t, calltree_new_node *fn, void *ctx);

/*
 * The child of parent with this key, made if need be; `last` is the child
 * that ended before, or NULL. Never NULL: with NODES_MAX nodes it is the
 * parent's KEY_OVERFLOW child, which is its own child.
 */
struct node *calltree_child(
	struct calltree *t, struct node *parent, struct node *last, uint64_t key);

/* The child of parent with this key, if there is one, or NULL. */
struct node *calltree_known(struct calltree *t, struct node *parent, uint64_t key);
/* The same without the tree; slower, as it looks at each child. */
const struct node *calltree_find_child(const struct node *n, uint64_t key);
/* Frames above n; 0: it is the root. */
unsigned calltree_depth(const struct node *n);

/* The ticks of the first call of a node that calltree_called() has told; 0: it was never called. */
uint64_t calltree_first(const struct node *n);
/* Notes that a call of n began at `ticks`. */
void calltree_called(struct node *n, uint64_t ticks);

/*
 * Adds all counts of `from` to `to`; of first calls the earlier one counts. Then the `counterpart`
 * of each node of `from` is its node in `to`, or NULL for empty orphan subtrees (KEY_ORPHAN) and
 * for what was forgotten; `from` can only be read and freed.
 */
void calltree_add(struct calltree *to, struct calltree *from);

/*
 * Moves the counts of `from`, a child of the root, and of all below it to `to` and below it;
 * `to` may be the root. The nodes stay, with counts of 0. The `counterpart` of each node that
 * had counts is valid until calltree_moved() is called for `from`. leaves_out: or NULL; told with
 * ctx of nodes below `from' and of where the caller of each has gone: of those for which it is true
 * the calls go nowhere, and all else to that place.
 */
typedef bool calltree_leaves_out(void *ctx, const struct node *n, const struct node *to);
void calltree_move(struct calltree *t, struct node *from, struct node *to,
	calltree_leaves_out *leaves_out, void *ctx);
void calltree_moved(struct node *from);
/*
 * Moves the counts of `from` and of all below it to the child of `to` with the same key; `to` is
 * below the parent of `from`. The times of `to` and of those around it stay: the caller sees to
 * them. Counterparts are as after calltree_move(). Nodes that count nothing afterwards have none
 * in calltree_add().
 */
void calltree_move_down(struct calltree *t, struct node *from, struct node *to);
/* True if n is `from`, or below it. */
int calltree_is_below(const struct node *n, const struct node *from);

/*
 * Sets the counts of all nodes but the root to 0, not their first calls; no frame may be open.
 * Nodes that count nothing afterwards have no counterpart in calltree_add(). Returns the number of
 * calls that were forgotten.
 */
uint64_t calltree_forget(struct calltree *t);

/* The extra of a node that has none. */
struct node_extra *calltree_new_extra(struct node *n);
/* The extra of a node, made if need be. */
static inline struct node_extra *calltree_extra(struct node *n)
{
	return n->extra ? n->extra : calltree_new_extra(n);
}

/* The n_counters counters of a node, made if need be; fewer if it was made with fewer. */
struct node_counters *calltree_counters(struct node *n, uint32_t n_counters);

/* Counts waits at n; calls and ticks may be negative, modulo 2^64, to take some back. */
void calltree_wait(struct node *n, const struct node_wait *more);
/*
 * A call of MPI at n, or below it, has waited for other ranks from `at` on: adds that to the
 * iterations and slices in which it was. ticks may be negative, modulo 2^64, to take some back.
 * times: number of calls for which this one stands.
 */
void calltree_wait_at(struct node *n, uint64_t at, uint64_t ticks, uint64_t times);
/* Both, of several waits in calls at n. */
void calltree_waits(struct node *n, const struct waited *w, size_t n_waits);

/* Node i, in the order they were made: parents first; 0 is the root. */
struct node *calltree_at(struct calltree *t, size_t i);

/* A childless node that matches no key; a parent without children points here. */
extern struct node calltree_none;

#endif
