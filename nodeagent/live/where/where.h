/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the threads of one node or of many are now. If there are too many places, those with the
 * most threads are kept, and the others counted. Times are ns. For one thread of the agent; owned
 * by the caller.
 */
#ifndef VFTR_NODEAGENT_LIVE_WHERE_WHERE_H
#define VFTR_NODEAGENT_LIVE_WHERE_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHERE_PLACES_MAX   256u
#define WHERE_WAITS_MAX	   256u
#define WHERE_COMMS_MAX	   64u
#define WHERE_LOCKED_MAX   64u
#define WHERE_RUNS_MAX	   32u
#define WHERE_PATH_BYTES   1024u /* of texts, with their NUL */
#define WHERE_NAME_BYTES   64u
#define WHERE_LOCK_BYTES   256u
#define WHERE_PACKED_MOST  65536u
#define WHERE_NO_RANK	   UINT32_MAX
#define WHERE_ANY	   UINT32_MAX /* a peer or a tag: any one */
#define WHERE_FRAME_BEGINS '\n'	      /* between the frames of a path */
/* ns that a thread waits before it is said to hang: others may be about to go on. */
#define WHERE_HANGS_LEAST UINT64_C(1000000000)
/* A cycle of more ranks is not shown as a deadlock. */
#define WHERE_CYCLE_MOST 256

/* Ranks as ascending runs that do not touch. */
struct where_ranks {
	uint32_t n;
	bool cut; /* there are more, beyond the last run */
	struct where_run {
		uint32_t first, last;
	} run[WHERE_RUNS_MAX];
};

void where_add_ranks(struct where_ranks *to, uint32_t first, uint32_t last);
void where_merge_ranks(struct where_ranks *to, const struct where_ranks *from);
/* *to: those of `of` that are not in `without`. */
void where_subtract_ranks(
	struct where_ranks *to, const struct where_ranks *of, const struct where_ranks *without);
bool where_has_rank(const struct where_ranks *r, uint32_t rank);
uint64_t where_count_ranks(const struct where_ranks *r);
/* "rank 3", "ranks 0-3,5"; ",..." at the end if some were cut off. The caller frees. */
char *where_ranks_words(const struct where_ranks *r);
/* The same without the word. */
char *where_ranks_text(const struct where_ranks *r);

enum where_state { WHERE_RUNS, WHERE_STOPPED, WHERE_ENDED, WHERE_STATES };

/* Threads with the same call path, in the same state, in the same collective call. */
struct where_place {
	uint64_t hash; /* of all of that */
	uint32_t threads, processes;
	uint32_t pid;	 /* of one of them */
	uint32_t state;	 /* enum where_state: STOPPED by a signal; ENDED by no call of its own */
	uint32_t alone;	 /* 1: each of the processes has one thread */
	uint32_t in_mpi; /* 1: the innermost frame is a call of MPI */
	uint64_t since_least, since_most; /* since the last event of a thread */
	uint64_t comm;			  /* identity; 0: no collective call that is known */
	uint32_t call;			  /* its number on the communicator */
	uint32_t kind;			  /* enum collective_kind (trace/collective.h) */
	uint32_t root;			  /* of a call from or to one: rank of it; or WHERE_ANY */
	struct where_ranks ranks;	  /* of processes that have one */
	char path[WHERE_PATH_BYTES];	  /* outermost frame first */
	char lock[WHERE_LOCK_BYTES];	  /* "mutex heat:cells", which they wait for; or empty */
	char holder[WHERE_LOCK_BYTES];	  /* "thread 3 in update < step", which has it; or empty */
	uint32_t had;			  /* 1: it is known only that the holder got it last */
};

enum where_awaited { WHERE_SEND, WHERE_RECEIVE, WHERE_AWAITED };

/*
 * A wait of a thread of a rank: for the end of a blocking call, or of requests that are alike (same
 * kind, peer and tag). The thread may wait for all of its open requests or for one of them.
 * Requests without a row, as there are too many or as they are no messages, count in `of`.
 */
struct where_wait {
	uint32_t rank;
	uint32_t kind; /* enum where_awaited */
	uint32_t peer; /* a rank, or WHERE_ANY */
	uint32_t tag;  /* or WHERE_ANY */
	uint32_t n;    /* requests; 0: a blocking call */
	uint32_t of;   /* number of requests that the thread may wait for, with or without a row; 1:
			  it waits for this one */
	uint32_t alone; /* 1: the process has one thread, and no signal has stopped it */
	uint64_t since;
	uint64_t comm_id; /* identity */
	char comm[WHERE_NAME_BYTES];
};

/* Ranks whose last collective call on a communicator is this one: they are in it, or have left.
 * Before the first one it is UINT32_MAX. */
struct where_comm {
	uint64_t id;
	uint32_t call;
	uint32_t size;
	struct where_ranks members, ranks;
	char name[WHERE_NAME_BYTES]; /* or empty */
};

/*
 * A thread of a cycle in one process: it waits without an end for a lock that the next thread of
 * the cycle has, the last one for a lock of the first. The rows of a cycle follow each other.
 */
struct where_locked {
	uint32_t rank; /* of the process, or WHERE_NO_RANK */
	uint32_t pid;
	uint32_t thread; /* its number in the process */
	uint32_t of;	 /* number of threads in the cycle, the same in all of its rows; 1: the
			    thread has the lock itself */
	uint64_t since;
	char lock[WHERE_LOCK_BYTES]; /* as in struct where_place */
};

struct where {
	uint32_t nodes, threads, processes;
	uint32_t places_cut, threads_cut; /* left out */
	uint32_t waits_cut, comms_cut, locked_cut;
	struct where_ranks ranks; /* all that were seen, also those that have ended */
	size_t n_places, n_waits, n_comms, n_locked;
	struct where_place places[WHERE_PLACES_MAX];
	struct where_wait waits[WHERE_WAITS_MAX];
	struct where_comm comms[WHERE_COMMS_MAX];
	struct where_locked locked[WHERE_LOCKED_MAX];
};

void where_add_place(struct where *w, const struct where_place *p);
void where_add_wait(struct where *w, const struct where_wait *s);
void where_add_comm(struct where *w, const struct where_comm *c);
/* The rows of one cycle, n = l->of of them: all, or none if there is no room. */
void where_add_locked(struct where *w, const struct where_locked *l);
/* Adds the nodes of `from`, none of which are in `to`. */
void where_merge(struct where *to, const struct where *from);
/* Those with the most threads first. */
void where_sort(struct where *w);

/* True if call a comes after call b. */
static inline bool where_is_later(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/*
 * The members of the communicator of p's collective call that have not come to it. False: it
 * cannot be told, as p is in no such call, or something of it was left out.
 */
bool where_missing(const struct where *w, const struct where_place *p, struct where_ranks *missing);
/* The communicator of p's collective call; NULL: it is in none, or it was left out. */
const struct where_comm *where_comm_of(const struct where *w, const struct where_place *p);

/*
 * A cycle of ranks each of which waits for the next one, for at least `least`, the lowest one
 * first: their number, at most max, in ranks[]; 0: there is none. Of a rank that waits for one of
 * several, all are in a cycle, or wait for one.
 */
size_t where_cycle(const struct where *w, uint64_t least, uint32_t *ranks, size_t max);
/* "rank 0 waits for rank 1, which waits for rank 0": such a cycle of WHERE_HANGS_LEAST; NULL: there
 * is none. The caller frees. */
char *where_cycle_text(const struct where *w);
/* True if each thread of the cycle that begins with l has waited for at least that long. */
bool where_is_locked(const struct where_locked *l, uint64_t least);
/* True if each thread is in a call of MPI for at least that long. */
bool where_all_wait(const struct where *w, uint64_t least);

/* Returns the bytes, at most WHERE_PACKED_MOST; places that do not fit are left out and counted. */
size_t where_pack(const struct where *w, unsigned char *to);
/* NULL, or a static text that says what is wrong; then w is empty. */
const char *where_unpack(struct where *w, const void *packed, size_t bytes);

#endif
