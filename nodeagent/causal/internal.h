/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of causal/. */
#ifndef VFTR_NODEAGENT_CAUSAL_INTERNAL_H
#define VFTR_NODEAGENT_CAUSAL_INTERNAL_H

#include "nodeagent/base/map.h"
#include "nodeagent/causal/causal.h"
#include "nodeagent/causal/spool.h"
#include "nodeagent/causal/results.h"

/* ---- what is kept in the temporary file --------------------------------------------------- */

#define CALL_USEFUL 0u /* outside of MPI */
#define CALL_MPI    1u /* without a wait */
#define CALL_WAITED 2u /* + index of the wait, which begins with the stretch */

/* A stretch of a line in one path, until the start of the next one. */
struct stretch {
	int64_t start; /* of the first one: INT64_MIN */
	uint32_t path, call;
};

/* A call waited from enter until `until` for what `cause` did then. */
struct wait {
	int64_t enter, until;
	int64_t since; /* the last time that both had in common; INT64_MIN: the window's begin */
	double debt;   /* ns of later waits that come of this one */
	uint32_t line, cause, path;
	uint32_t kind;	      /* WAIT_UNRESOLVED | enum wait_kind */
	uint64_t own, theirs; /* stretches of line before enter, of cause before `until` */
};
#define WAIT_UNRESOLVED 0x100u

/* ---- while events are read ----------------------------------------------------------------- */

/* How far an event is processed. REACHED: its line has come to its time. */
enum progress { NOT_READ, READ, REACHED };

/* The state of a line when it did something that others may wait for. */
struct moment {
	enum progress progress;
	uint32_t line;
	int64_t t;	    /* when */
	int64_t k;	    /* line.k at that time */
	uint64_t stretches; /* of the line before it */
	int64_t common; /* flights: last time in common with the other line, as this one knows */
};

struct flight {
	uint64_t flow;
	struct moment send, post; /* post: of the receive */
	bool send_open;		  /* its sender may wait for the post, and has not ended */
	bool received;
	bool probed;	 /* by a call that has waited for it in place of its receive */
	uint32_t probes; /* such calls that were read and are not over */
	uint32_t queue, takes,
		probe_takes; /* nodeagent/base/wait-kinds.h; of its receive, of a probe */
};

struct arrival {
	struct moment moment;
	uint32_t rank;	  /* in the communicator */
	uint32_t *needed; /* lines, or NULL */
	uint32_t n_needed;
};

struct instance {
	uint64_t comm, ticket; /* its key */
	enum wait_kind kind;
	struct arrival *arrivals;
	size_t n, cap;
	uint32_t expected, left, reached;
	uint32_t root;		/* line */
	uint32_t last, at_root; /* arrivals that were reached; CAUSAL_NONE: none */
	int64_t k_most;
	struct map32 arrival_of; /* line + 1 -> arrival, if one of them has told whom it needs */
};

/*
 * An operation that a call completes: a message (flight), a collective call (instance), or neither:
 * a send that never waits.
 */
struct operation {
	int64_t end;
	struct flight *flight;
	struct instance *instance;
	uint32_t arrival;
	bool is_send, is_probe;
};

enum item_kind {
	ITEM_BEGIN,
	ITEM_END,
	ITEM_PATH,
	ITEM_ENTER,
	ITEM_LEAVE,
	ITEM_SEND,
	ITEM_POST,
	ITEM_PROBE,
	ITEM_ARRIVE
};

struct item {
	int64_t t;
	uint32_t kind : 29, with_call : 1, work : 2; /* work: enum causal_work */
	uint32_t path, other;			     /* ARRIVE: arrival */
	union {
		struct flight *flight;
		struct instance *instance;
	};
};

/* A wait for a message, as long as another one may lie there that was sent before. */
struct ordered {
	int64_t leave, until;
	uint32_t cause, wait; /* wait: its number */
	uint32_t takes;	      /* nodeagent/base/wait-kinds.h */
};

struct comm_time {
	uint32_t group;
	int64_t common;
};

struct line {
	struct causal_line is;
	bool begun, ended, in_call;
	enum causal_work work; /* now */
	uint32_t path;	       /* now, since */
	int64_t since;
	int64_t begin, end, sum_useful, sum_lock_wait, waits;
	int64_t k; /* ns of the longest chain of useful time and lock waits that ends now */
	struct spool_list stretches;
	/* the call that is open, with the stretches in it */
	struct stretch *held;
	size_t n_held, cap_held;
	uint32_t call_path;
	bool told; /* it has posted or completed something */
	int64_t call_enter;
	/* events that were read and not reached, from first_item on */
	struct item *items;
	size_t first_item, n_items, cap_items;
	int64_t last_read;
	bool in_heap, overdue;
	/* a heap: what ends later; and what ends with the call that is left next */
	struct operation *open, *done;
	size_t n_open, cap_open, n_done, cap_done;
	struct ordered *ordered; /* by time */
	size_t n_ordered, cap_ordered;
	uint64_t in_flight; /* messages to it that were sent and not received */
	/* groups with a call that has synchronised all, the latest first */
	struct comm_time *groups;
	size_t n_groups, cap_groups;
};

/* The lines of communicators that have the same in the same order. */
struct group {
	uint32_t recorded;
	struct map32 rank_of; /* line + 1 -> rank */
};

struct due {
	int64_t t;
	uint32_t line;
};

/* Of a line and a peer: t: what the peer did last of which the line knew; heard: since when. The
 * first of two is the last time, the second that before. */
struct in_common {
	int64_t t[2], heard[2];
};

struct causal {
	struct line *lines;
	uint32_t n;
	int64_t tolerance; /* times of two nodes may be wrong by so much */
	int64_t eager[2];  /* in a node, between nodes */
	int64_t now;
	struct spool *spool;
	struct spool_list waits;
	struct spool_list wrong_order; /* numbers of such waits */
	uint32_t *comms;	       /* by number: the group */
	size_t n_comms, cap_comms;
	struct group *groups;
	size_t n_groups, cap_groups;
	struct map64 group_at; /* by hash; the next one if two have the same */
	struct match_table flights, instances;
	struct map64 pair_at;
	struct in_common *pairs;
	size_t n_pairs, cap_pairs;
	struct due *heap; /* lines that stand before a leave, by time */
	size_t n_heap, cap_heap;
	uint32_t *overdue;
	size_t n_overdue, cap_overdue;
	size_t n_items; /* of all lines, that were not reached */
	struct causal_totals totals;
	struct results rows[CAUSAL_ROWS];
};

static inline const struct group *group_of(const struct causal *c, uint64_t comm)
{
	return &c->groups[c->comms[comm]];
}

/* Whom a call waited for: the latest one. */
struct found {
	int64_t t; /* at first: the call's enter */
	int64_t k; /* the greatest of all that it needed */
	uint32_t line;
	enum wait_kind kind;
	uint64_t stretches;
	int64_t common;
	const struct flight *flight; /* of kind LATE_SENDER */
};

static inline int64_t error_between(const struct causal *c, uint32_t a, uint32_t b)
{
	const struct causal_line *x = &c->lines[a].is, *y = &c->lines[b].is;

	return x->node == y->node ? 0 : x->clock_error + y->clock_error;
}

/* ---- line.c */
void line_read(struct causal *c, uint32_t line, const struct item *item);
void line_open(struct causal *c, uint32_t line, const struct operation *o);
/*
 * lines_advance(): now is the time of what is read next: processes the events of all lines that
 * this may not change any more. lines_finish(): processes all events.
 */
void lines_advance(struct causal *c, int64_t now);
void lines_finish(struct causal *c);
void line_free(struct line *l);

/* ---- flights.c */
/* The line of this side of f has come to its time. May free f. */
void flight_reached(struct causal *c, struct flight *f, bool is_send);
/*
 * True if the other side of f was reached, or cannot have been before `until', so that nothing is
 * waited for any more.
 */
bool flight_is_known(const struct flight *f, bool is_send, int64_t until);
/* Looks at the other side of f, if it was reached by `until': raises best->k, and makes it *best if
 * it is later. */
void flight_look(
	struct causal *c, const struct flight *f, bool is_send, int64_t until, struct found *best);
/* The call that has completed this side of f is over at `at`. May free f. */
void flight_over(struct causal *c, struct flight *f, bool is_send, int64_t at);
/* A probe that has waited for f in place of its receive is over. May free f. */
void probe_over(struct causal *c, struct flight *f);
void flights_free(struct causal *c);

/* ---- order.c */
/*
 * Adds wait w, number `index` of the waits, of a call that was left at `leave`. takes: as in
 * struct flight.
 */
void ordered_add(
	struct causal *c, const struct wait *w, int64_t leave, uint32_t index, uint32_t takes);
/* The open call of line has received f: waits before it may turn out to be in the wrong order. */
void ordered_received(struct causal *c, uint32_t line, const struct flight *f);
/* To be called when all messages that a call has received were given to ordered_received(). */
void ordered_settle(struct line *l);
/* Counts the waits by kind, path and line; to be called when all events were processed. */
void count_waits(struct causal *c);

/* ---- instances.c */
/* The same for an arrival at a collective call. instance_reached() and instance_over() may free i.
 */
void instance_reached(struct causal *c, struct instance *i, uint32_t arrival);
bool instance_is_known(const struct instance *i, int64_t until);
void instance_look(struct causal *c, const struct instance *i, uint32_t arrival, int64_t until,
	struct found *best);
void instance_over(
	struct causal *c, struct instance *i, uint32_t arrival, int64_t until, int64_t at);
void instances_free(struct causal *c);

/* ---- common.c: the last time that two lines had in common */
/* At time `heard`, line has received something that peer did at time t. */
void common_add(struct causal *c, uint32_t line, uint32_t peer, int64_t t, int64_t heard);
/* The last time in common that line knew of before `before`; INT64_MIN: none. */
int64_t common_of(const struct causal *c, uint32_t line, uint32_t peer, int64_t before);
/*
 * common_add_all(): all lines of a group have time t in common. common_in_groups(): the last such
 * time of a line and a peer.
 */
void common_add_all(struct causal *c, uint32_t line, uint32_t group, int64_t t);
int64_t common_in_groups(const struct causal *c, uint32_t line, uint32_t peer);

/* ---- walk.c, delays.c: make rows of results, backward from the end, after spool_map() */
void walk_critical_path(struct causal *c);
void count_delays(struct causal *c);

/* The line has come to m. */
static inline void moment_set(struct causal *c, struct moment *m, uint32_t line)
{
	const struct line *l = &c->lines[line];

	m->progress = REACHED;
	m->k = l->k;
	m->stretches = l->stretches.n;
}

#endif
