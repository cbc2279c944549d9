/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pairs sends with receives, from thread to thread, by MPI's rules of order,
 * never by time, length, or similarity. It takes a constant time per message,
 * and memory for messages in flight. The input is untrusted: any sequence of
 * records is survived, and a record beyond a limit counts as lost.
 *
 *  - A process has an id: the same number on all nodes (match_proc_id()). Ranks in
 *    communicators are translated by the caller, so inter- and
 *    subcommunicators are like any other.
 *  - Tickets (shm/message.h) put into order what threads, rings and other nodes
 *    deliver in any order. A missing ticket counts as a lost record when
 *    match_end() is called or too many records wait behind it.
 *  - A receive that is complete takes the oldest send with its actual source
 *    and tag, when no older receive is open that could have taken it.
 *  - The caller gives a send when it can no longer be cancelled.
 *
 * All times are of one clock, with an error up to match_options.clock_bound.
 */
#ifndef VFTR_NODEAGENT_MATCH_MATCH_H
#define VFTR_NODEAGENT_MATCH_MATCH_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/base/rank.h"

struct match;

#define MATCH_ANYWHERE	UINT64_MAX	 /* a receive from MPI_ANY_SOURCE */
#define MATCH_ELSEWHERE (UINT64_MAX - 1) /* a process whose id is not known */
#define MATCH_ANY_TAG	UINT32_MAX

/* The id of a rank of MPI_COMM_WORLD of a job. */
static inline uint64_t match_proc_id(uint64_t job, uint32_t rank)
{
	return rank_id(job, rank);
}

enum match_flag {
	MATCH_VOID = 1 << 0,	    /* failed or cancelled: only its ticket counts */
	MATCH_PARTITIONED = 1 << 1, /* ticket: number of the init */
	MATCH_CONCURRENT = 1 << 2,  /* other threads may be inside of MPI: MPI_THREAD_MULTIPLE */
	MATCH_OVERTAKING = 1 << 3,  /* the communicator has mpi_assert_allow_overtaking */
	MATCH_UNSURE = 1 << 4,	    /* a send; it may have been cancelled */
	MATCH_PROBED = 1 << 5,	    /* a receive by Mprobe or Improbe: source and tag are known */
	MATCH_DONE = 1 << 6,	    /* a receive that is complete: `done` is valid */
	MATCH_OVERLAPS = 1 << 7,    /* a deferred receive: another thread posted at the same time */
	/* a receive or probe, as it was posted; the matcher does not use them */
	MATCH_FROM_ANY = 1 << 8,
	MATCH_TAG_ANY = 1 << 9,
};

/* The kind of a send, for the caller; the matcher does not use it. */
enum match_send_mode {
	MATCH_SEND_OTHER,
	MATCH_SEND_STANDARD,	/* it ends when the message is kept elsewhere, or received */
	MATCH_SEND_SYNCHRONOUS, /* not before the receive is posted */
	MATCH_SEND_IN_PARTS,	/* done_enter: when its last part was ready */
	/*
	 * added to the others, for a sender on another node: the call that completed it has
	 * completed other operations, too
	 */
	MATCH_SEND_AMONG = 4,
};

struct match_send {
	uint64_t comm, source, destination;
	uint64_t enter, leave; /* of the call */
	uint64_t bytes;
	uint32_t tag, ticket, thread, flags;
	uint32_t history; /* what the thread did before, or 0; not looked at */
	uint32_t start; /* PARTITIONED: of its init, from 1; 0: not known, of the others neither */
	/* the call that completes it, as in match_done; of a sender on another node path is what
	 * its agent has said */
	uint64_t done_enter, done_leave;
	uint32_t path;
	uint32_t mode; /* enum match_send_mode */
};

/* The completion of a receive. */
struct match_done {
	uint64_t source; /* actual source and tag */
	uint32_t tag;
	uint32_t thread;       /* that learnt of it */
	uint32_t path;	       /* the caller's number of that call's path, or 0; not looked at */
	uint64_t enter, leave; /* of the call in which it did */
	uint64_t bytes;
	uint32_t probes; /* number of the last of match/probes.h, or 0; not looked at */
	bool cancelled;	 /* it has received nothing */
	bool unknown;	 /* freed by the user, or in error: nothing else here is valid */
};

struct match_receive {
	uint64_t comm, source, destination; /* source: MATCH_ANYWHERE ... */
	uint64_t enter, leave;		    /* of the call that posted it, or of the probe */
	uint32_t tag, ticket, thread, flags;
	uint32_t request; /* for match_done(); of its process, 0: none */
	uint32_t history; /* what the thread did before, or 0; not looked at */
	/* PROBED: of a probe that waits for a message, as match_done.path, or 0: then it is done in
	 * that call, wherever it is received */
	uint32_t probe_path;
	uint32_t start; /* as in match_send */
	struct match_done done;
};

enum match_label {
	MATCH_EXACT,	 /* no other receive can have got it */
	MATCH_AMBIGUOUS, /* threads sent, or posted, at the same time: another order is possible */
	MATCH_ASSUMED,	 /* right if unknown messages went the usual way: vftr-internals(7) */
	MATCH_BROKEN,	 /* records were lost: the pair may well be wrong */
	MATCH_GUESS,	 /* messages may overtake each other here */
	MATCH_LABELS
};
extern const char *const match_label_names[MATCH_LABELS];

enum match_reason {
	MATCH_NOT_RECEIVED,  /* send: no receive is known */
	MATCH_NOT_COMPLETED, /* receive: it is open at the end */
	MATCH_NO_SEND,	     /* receive: no send is known */
	MATCH_PARTNER_LOST,  /* the record of the other side was lost */
	MATCH_OF_ELSEWHERE,  /* send, receive: the other process is not known */
	MATCH_REASONS
};
extern const char *const match_reason_names[MATCH_REASONS];

struct match_options {
	uint64_t latency;     /* least time of a message */
	uint64_t clock_bound; /* greatest difference of two clocks */
	/* The structures are valid during the call only. Either may be NULL. */
	void (*pair)(void *arg, const struct match_send *s, const struct match_receive *r,
		enum match_label label);
	/* One of s and r is NULL. */
	void (*unmatched)(void *arg, const struct match_send *s, const struct match_receive *r,
		enum match_reason reason);
	/*
	 * Receives from far processes (other nodes), whose sends come at the end only, are given
	 * to defer() as soon as they are complete, so that they take no memory here.
	 * match_deferred() gives them back, those of one process from one other in the same order.
	 * defer: false if it cannot take this one. Both or neither may be NULL.
	 */
	bool (*is_far)(void *arg, uint64_t proc_id);
	bool (*defer)(void *arg, const struct match_receive *r);
	void *arg;
};

struct match_counts {
	uint64_t pairs[MATCH_LABELS];
	uint64_t unmatched_sends[MATCH_REASONS], unmatched_receives[MATCH_REASONS];
	uint64_t lost_sends, lost_receives; /* by their tickets */
	uint64_t late;	     /* records that came after they had counted as lost, or twice */
	uint64_t overflow;   /* records beyond a limit: lost, too */
	uint64_t too_long;   /* exact pairs that received more than was sent */
	uint64_t violations; /* exact pairs received before they were sent */
	uint64_t worst;	     /* by how much at most */
	uint64_t worst_source, worst_destination; /* ids of processes */
};

/* Limits of things that exist at once. Smaller in tests. */
#ifndef MATCH_SENDS_MAX
#define MATCH_SENDS_MAX	   (1u << 20) /* not received */
#define MATCH_CHANNEL_MAX  (1u << 18) /* the same from one process to one other */
#define MATCH_RECEIVES_MAX (1u << 20) /* open, or without a send */
#define MATCH_WAITING_MAX  (1u << 16) /* behind one gap in the tickets */
#define MATCH_CHANNELS_MAX (1u << 21) /* communicator, source, destination */
#define MATCH_INITS_MAX	   (1u << 16) /* of partitioned messages */
#define MATCH_EARLY_MAX	   (1u << 16) /* completions read before their receives */
#endif

/* Never NULL. The options are copied. */
struct match *match_new(const struct match_options *o);
void match_free(struct match *m);

/* Records, in any order. */
void match_send(struct match *m, const struct match_send *s);
void match_receive(struct match *m, const struct match_receive *r);
/* The receive with this request of the process is over; may be called before match_receive(). */
void match_done(struct match *m, uint64_t proc_id, uint32_t request, const struct match_done *d);

/* Records of this process were lost about here: completions may be among them. */
void match_lost(struct match *m, uint64_t proc_id);
/* All calls of this process that ended before `until` have been given. */
void match_progress(struct match *m, uint64_t proc_id, uint64_t until);
/* A deferred receive comes back. `source` and `tag` in done are the actual ones. */
void match_deferred(struct match *m, const struct match_receive *r);
/* All receives have come; none is deferred from here on. */
void match_defer_no_more(struct match *m);
/* Some deferred receives are lost: pairs of those deferred before are never sure. */
void match_deferred_lost(struct match *m);
/* Replaces the option clock_bound from here on. */
void match_set_clock_bound(struct match *m, uint64_t bound);
/* No record on this communicator will come any more. */
void match_gone(struct match *m, uint64_t comm);
/*
 * The same for one member, which has freed a communicator of so many; after the last one of these
 * it is match_gone().
 */
void match_member_gone(struct match *m, uint64_t comm, uint64_t proc_id, uint64_t members);
/* No more records will come: settles the rest. Only counts and free may follow. */
void match_end(struct match *m);

const struct match_counts *match_counts(const struct match *m);
/* Number of sends and receives in memory. */
uint64_t match_in_flight(const struct match *m);

#endif
