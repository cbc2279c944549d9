/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks waited for, and why, out of all that they did: vftr-analysis(7) has the
 * definitions. A line is the thread of a rank that calls MPI; lines are numbered from 0. Times are
 * ns on the clock of all nodes. Calls for one struct causal come from one thread.
 *
 * The caller first tells the events, in the order of time (those of one line with equal times in
 * the order in which they happened, messages behind the call that posted them), then calls
 * causal_finish(), and then reads the results.
 */
#ifndef VFTR_NODEAGENT_CAUSAL_CAUSAL_H
#define VFTR_NODEAGENT_CAUSAL_CAUSAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/base/wait-kinds.h"

#define CAUSAL_NONE UINT32_MAX

/* Why results are estimates. */
enum causal_doubt {
	/* found here */
	CAUSAL_NO_SEND, /* a receive whose send was not recorded, or whose sender is not known */
	CAUSAL_CYCLE,	/* calls that wait for each other, as the clocks or matches are wrong */
	CAUSAL_STRAY,	/* a message completed in no call of its line */
	CAUSAL_MISSING, /* a collective call that not all members came to */
	CAUSAL_ORDER,	/* a time before the one before it in its line */
	CAUSAL_UNTOLD,	/* percent of the windows in calls of MPI without a known message, from 1 on
			 */
	/* found by the caller: causal_add_doubt() */
	CAUSAL_NOT_SURE, /* a receive whose sender is not certain */
	CAUSAL_WINDOW,	/* ranks not seen to leave MPI_Init or enter MPI_Finalize; no killed ones */
	CAUSAL_KILLED,	/* ranks that were killed */
	CAUSAL_RANKS,	/* ranks of which there is no sampling file */
	CAUSAL_JOBS,	/* jobs (MPI_COMM_WORLD) beside the first and those that were spawned */
	CAUSAL_CLOCKS,	/* files without a common clock, if there are several files */
	CAUSAL_SAMPLED, /* files with an interval */
	CAUSAL_LOST,	/* calls that were not recorded */
	CAUSAL_PAUSED,	/* times when nothing was recorded */
	CAUSAL_DAMAGED, /* files that are damaged, or have no end */
	CAUSAL_THREADS, /* messages and collective calls of other threads of a rank */
	CAUSAL_ONE_SIDED,   /* one-sided operations */
	CAUSAL_PARTITIONED, /* messages in partitions */
	CAUSAL_MEMBERS,	    /* collective calls whose members or messages are not known */
	CAUSAL_OTHER_RANKS, /* messages of a session whose ranks are others */
	CAUSAL_DOUBTS
};
/* id: the name in JSON. one, many: sentences without a full stop, for a count of 1, and for others,
 * which stand in place of "%llu". */
extern const struct causal_doubt_words {
	const char *id, *one, *many;
} causal_doubts[CAUSAL_DOUBTS];

/* Times are from -CAUSAL_TIME_MOST to CAUSAL_TIME_MOST; errors of clocks at most an eighth. */
#define CAUSAL_TIME_MOST ((int64_t)1 << 60)

struct causal;

/* What a line does from causal_path() on: outside of MPI, or in functions that MPI has called. */
enum causal_work {
	CAUSAL_IN_MPI,	 /* is in functions of MPI */
	CAUSAL_USEFUL,	 /* is in others */
	CAUSAL_LOCK_WAIT /* waits for other threads of its process: vftr-locks(7) */
};

struct causal_line {
	uint32_t node;	     /* lines of one node share a clock */
	int64_t clock_error; /* bound of the error of that clock; between nodes both count */
};

/*
 * lines: copied. folder: where the temporary file is made (it has no name at once). NULL and
 * *error: it can't be; the caller frees *error.
 */
struct causal *causal_new(
	const struct causal_line *lines, uint32_t n, const char *folder, char **error);
void causal_free(struct causal *c);

/* Messages of at most so many bytes were sent before they were received: no sender waits for
 * the receive of one. Between lines of one node, and of two; -1: no such message. At first -1. */
void causal_set_eager(struct causal *c, int64_t in_node, int64_t between_nodes);

/* Makes a communicator of these lines, by their ranks in it (CAUSAL_NONE: not recorded). Returns
 * its number. */
uint32_t causal_comm(struct causal *c, const uint32_t *lines, uint32_t n);

/* ---- events ------------------------------------------------------------------------------ */

/*
 * In the functions below, line is the line that acts, t the time, path a call path. Ignored are a
 * second begin of a line, an enter of a call inside of a call, a leave outside of one, and paths
 * and calls before the line's begin or after its end.
 */
/* The line leaves MPI_Init, whose call path is init, and is in path now. */
void causal_begin(struct causal *c, uint32_t line, int64_t t, uint32_t init, uint32_t path);
/* The line enters MPI_Finalize, whose call path is path, or its recording ends. */
void causal_end(struct causal *c, uint32_t line, int64_t t, uint32_t path);
/* The line is in path from now on. */
void causal_path(struct causal *c, uint32_t line, int64_t t, uint32_t path, enum causal_work work);
/*
 * causal_enter(): the line enters a call of MPI, with call path path. causal_leave(): it leaves the
 * call, and is in path then.
 */
void causal_enter(struct causal *c, uint32_t line, int64_t t, uint32_t path);
void causal_leave(struct causal *c, uint32_t line, int64_t t, uint32_t path);

struct causal_message {
	uint64_t flow; /* the same for send and receive, not 0 */
	int64_t enter; /* of the call that posted it */
	int64_t leave; /* of the call that completed it, not before enter; INT64_MAX: never seen */
	uint32_t peer; /* the other line, not CAUSAL_NONE */
	uint64_t bytes;
	bool synchronous; /* a send that ends only when it is received */
	bool buffered;	  /* a send that never waits */
	/* of a receive: nodeagent/base/wait-kinds.h; of a probe `takes' only */
	uint32_t queue, takes;
};
void causal_send(struct causal *c, uint32_t line, const struct causal_message *m);
void causal_receive(struct causal *c, uint32_t line, const struct causal_message *m);
/*
 * The call that the line has entered is a probe, which waits until message m is sent. m->leave,
 * m->bytes and m->queue are ignored.
 */
void causal_probe(struct causal *c, uint32_t line, const struct causal_message *m);

/* As causal_collective.leave: the operation ends with the call that the line has entered last. */
#define CAUSAL_WITH_CALL (INT64_MAX - 1)

struct causal_collective {
	uint32_t comm;
	uint64_t ticket;     /* the same in all members */
	enum wait_kind kind; /* a collective one */
	uint32_t root;	     /* a line; for LATE_ROOT and EARLY_ROOT */
	/* Lines that this line waits for, whatever the kind; copied. NULL: kind says which. */
	const uint32_t *needed;
	uint32_t n_needed;
	int64_t enter, leave; /* as of messages; leave: CAUSAL_WITH_CALL, too */
};
void causal_collective(struct causal *c, uint32_t line, const struct causal_collective *m);

/* A thread of the line's process waited for another one, whatever the line did. */
struct causal_thread_wait {
	enum wait_kind kind; /* wait_is_of_threads() */
	uint32_t path;	     /* where it waited */
	uint32_t holder;     /* number of the other thread */
	uint32_t there;	     /* the path in which that one was when the wait for it was over, or
				CAUSAL_NONE: that says nothing, as at its end */
	int64_t ns;
	int64_t so_far; /* ns and the parts of the same wait before it; ns alone: the first part */
};
void causal_thread_wait(struct causal *c, uint32_t line, const struct causal_thread_wait *w);

void causal_add_doubt(struct causal *c, enum causal_doubt why, uint64_t n);

/*
 * To be called after the last event. Lines that have not ended end with their last event. False:
 * the temporary file failed, and there are no results; the caller frees *error.
 */
bool causal_finish(struct causal *c, char **error);

/* ---- results ----------------------------------------------------------------------------- */

struct causal_totals {
	uint32_t lines;	    /* that have begun */
	int64_t begin, end; /* of the window: the first begin, the last end */
	double useful;	    /* outside of MPI and of lock waits, summed over all lines */
	double lock_wait;   /* waits for other threads of their processes, summed */
	int64_t useful_max;
	uint32_t useful_line; /* that has it */
	int64_t ideal;	      /* the longest chain of useful time and lock waits over all lines */
	double mpi;	      /* in MPI, summed */
	double waits;	      /* summed, without unresolved */
	double thread_waits;  /* of causal_thread_wait(), which are in none of the others */
	double untold;	      /* in calls of MPI without a known message, summed: waits unknown */
	uint64_t unresolved;  /* waits not longer than the error of both clocks; */
	double unresolved_ns; /* their sum */
	uint64_t doubts[CAUSAL_DOUBTS];
};
const struct causal_totals *causal_totals(const struct causal *c);

/* Sets *to to the window and the times of a line; false: it has not begun, and *to is zeros. */
struct causal_line_times {
	int64_t begin, end, useful, lock_wait, waits;
};
bool causal_line_times(const struct causal *c, uint32_t line, struct causal_line_times *to);

/* Rows of results: sorted, longest first. Owned by c. */
struct causal_row {
	uint32_t kind;	 /* enum wait_kind; or 0 */
	uint32_t path;	 /* the call path */
	uint32_t line;	 /* whose, or CAUSAL_NONE */
	uint32_t other;	 /* CAUSES, THREAD_CAUSES: path of the late one; THREAD_LATE: the number of
			    that thread; else CAUSAL_NONE */
	uint64_t calls;	 /* of WAITS and LATE, THREAD_WAITS and THREAD_LATE */
	int64_t longest; /* ns of one wait, of the rows that have calls */
	double ns;
	double error;  /* WAITS, LATE: ns, the bound of the clocks' errors in it */
	double direct; /* COSTS: part of ns from waits for this line itself */
};
enum causal_rows {
	CAUSAL_PATH,   /* time on the critical path: path, line */
	CAUSAL_WAITS,  /* waits: kind, path, line that waited */
	CAUSAL_LATE,   /* waits: kind, path, line that was waited for */
	CAUSAL_CAUSES, /* waits: kind, path, late line, what it did meanwhile: other */
	CAUSAL_COSTS,  /* waits of all lines that were caused, directly or not, by what a line did:
			  path, line */
	CAUSAL_TIMES,  /* time in the window, waits excepted: path, line */
	/* of threads, in the whole run: kind, path and line of both, and */
	CAUSAL_THREAD_WAITS,
	CAUSAL_THREAD_LATE,   /* the number of the one that was waited for: other */
	CAUSAL_THREAD_CAUSES, /* where that one was: other */
	CAUSAL_ROWS
};
const struct causal_row *causal_rows(const struct causal *c, enum causal_rows which, size_t *n);
/* The row of PATH, COSTS or TIMES for a path and line; NULL: there is none. */
const struct causal_row *causal_row(
	const struct causal *c, enum causal_rows which, uint32_t path, uint32_t line);

#endif
