/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations for the files of this folder only.
 *
 *   match.c        takes the records, and settles the rest at the end
 *   pair.c         sends and receives in memory, and pairs for the listener
 *   order.c        puts calls into the order of their tickets; finds overlaps
 *   post.c         open receives, and which of them hold back others
 *   gone.c         communicators that are freed
 *   defer.c        receives whose sends are on other nodes
 *   channel.c      pairs sends with receives, also after losses
 *   partitioned.c  partitioned messages, which use only order.c
 *
 * A send:    order of its channel -> stream -> pair
 * A receive: order of its space -> open, by selector -> stream -> pair
 */
#ifndef VFTR_NODEAGENT_MATCH_INTERNAL_H
#define VFTR_NODEAGENT_MATCH_INTERNAL_H

#include "nodeagent/base/map.h"
#include "nodeagent/base/pool.h"
#include "nodeagent/match/match.h"

struct channel;
struct space;
struct stream;

/*
 * True if time a is later than b. Times of other nodes may be before this one's zero: they are
 * modulo 2^64.
 */
static inline bool is_later(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) > 0;
}

/* ---- order: order.c ------------------------------------------------- */

/* A send, or a receive that was posted; the first member of both. */
struct call {
	struct call *before, *after; /* in one of the lists below */
	uint64_t
		position; /* its ticket, without the wrap-around; partitioned: start<<32 | ticket */
	uint64_t enter, leave;
	uint64_t reach;	    /* latest leave of this call and all before it */
	struct call *other; /* last call before it of another thread */
	uint64_t other_at;  /* position of `other`, which may be freed */
	uint64_t peer;	    /* of a receive: source, or MATCH_ANYWHERE */
	uint32_t tag;	    /* or MATCH_ANY_TAG */
	uint32_t thread, flags;
	bool ambiguous;
};

struct call_list {
	struct call *first, *last;
	size_t n;
};

static inline void call_append(struct call_list *l, struct call *c)
{
	c->after = NULL;
	c->before = l->last;
	*(l->last ? &l->last->after : &l->first) = c;
	l->last = c;
	l->n++;
}

static inline void call_unlink(struct call_list *l, struct call *c)
{
	*(c->before ? &c->before->after : &l->first) = c->after;
	*(c->after ? &c->after->before : &l->last) = c->before;
	l->n--;
}

struct sequence {
	uint64_t next;		    /* position */
	struct call_list waiting;   /* beyond `next`, in no order */
	struct call_list unsettled; /* before `next`: later calls may overlap them */
	uint64_t ambiguous_to;	    /* all unsettled ones before this position */
	bool of_sends;		    /* a channel's, not a space's */
};

/* c->position is the ticket. Takes c over. */
void match_order_add(struct match *m, struct sequence *q, struct call *c);
/* The call with this ticket cannot be kept: counts it as lost. */
void match_order_drop(struct match *m, struct sequence *q, uint32_t ticket);
/* What waits comes now: the gaps before it are losses. */
void match_order_jump(struct match *m, struct sequence *q);
/* No more will come: gaps are losses, and nothing is unsettled. */
void match_order_finish(struct match *m, struct sequence *q);

/* In match.c; called in the order of tickets. */
void call_ready(struct match *m, struct sequence *q, struct call *c);
void call_discard(struct match *m, struct sequence *q, struct call *c);
void calls_lost(struct match *m, struct sequence *q, uint64_t n);
/* True if records of the process that makes these calls were lost. */
bool match_order_is_damaged(const struct match *m, const struct sequence *q);

/* ---- sends and receives ------------------------------------------------------ */

struct send {
	struct call call;
	struct channel *channel; /* NULL: partitioned */
	struct stream *stream;
	struct send *next; /* in its stream */
	uint64_t ordinal;  /* in its channel: the position without void calls */
	uint64_t comm, destination, bytes;
	uint64_t done_enter, done_leave;
	uint32_t history;
	uint32_t path, mode;
};

enum receive_stage {
	RECEIVE_IN_ORDER, /* in order.c */
	RECEIVE_OPEN,	  /* it, or an older one that it depends on, is not complete */
	RECEIVE_RESOLVED, /* in its stream or kept, or paired and not complete yet */
};

struct receive {
	struct call call;
	struct space *space; /* NULL: partitioned */
	struct stream *stream;
	struct receive *next; /* in its stream, or in the list `woken` */
	struct selector *selector;
	struct receive *older, *younger; /* with the same selector */
	uint64_t comm, proc_id;
	uint64_t source; /* as posted; so is tag */
	uint32_t tag;
	uint32_t request; /* 0: none, or it is complete */
	struct match_done done;
	struct send *partner; /* matched by a probe, not complete */
	struct init *init;    /* partitioned */
	enum match_label label;
	uint32_t history;
	uint32_t probe_path;
	uint8_t stage;	  /* enum receive_stage */
	bool known;	  /* source and tag, in `call` */
	bool complete;	  /* `done` is valid */
	bool in_selector; /* and in space->open */
};

/* Open receives that could take the same messages, and receives held back by the oldest. */
struct selector {
	struct receive *oldest, *youngest;
	struct receive **held; /* a heap by position */
	size_t n_held, cap_held;
};

/* One source and one tag. */
struct stream {
	struct channel *channel;
	uint32_t tag;
	struct send *sends, *last_send;
	struct receive *receives, *last_receive;
	struct selector exact;
	uint32_t pins; /* not 0: kept though empty */
};

/* A wildcard source and one tag. */
struct tag_selector {
	struct selector selector;
	uint32_t tag;
};

/* Sends that were lost, the next n from this ordinal on. */
struct gap {
	uint64_t from, n;
	struct gap *next;
};

/* All messages on a communicator from one process to another. */
struct channel {
	struct space *space;
	struct channel *next;
	uint64_t source;
	struct sequence order;
	struct stream *recent;		  /* used last, or NULL: it stays though it is empty */
	struct call_list sends, receives; /* not yet paired, in the order of coming */
	struct call_list kept;		  /* receives behind deferred ones: defer.c */
	uint64_t deferred;
	bool tainted; /* deferred receives have lost their order: all pairs are broken */
	struct selector any_tag;
	uint64_t sent, received;     /* lost ones, too */
	uint64_t received_until;     /* end of the last receive; 0: none yet */
	uint64_t missing;	     /* lost sends without a receive so far */
	uint64_t lost_from, lost_to; /* ordinals of sends lost since the last sound state */
	struct gap *gap, *last_gap;  /* lost sends, as long as none was given to a receive */
	struct send *cursor;	     /* in doubt: the first one with ordinal >= received */
	uint32_t tag, tags;	     /* seen since all was received: 0, 1 (tag), 2 or more */
	bool doubt;		     /* records were lost: channel.c */
	bool broken;		     /* and pairs may be wrong */
	bool unsure;		     /* sent or received may be wrong */
};

/* All messages on a communicator to one process. */
struct space {
	uint64_t comm, proc_id;
	struct space *next_of_comm, *before_of_comm;
	struct space *next_of_party, **link_of_party; /* the pointer to it */
	struct space *before_left, *after_left;	      /* gone.c */
	struct party *party;
	struct sequence order;
	struct channel *channels;
	struct channel *recent; /* used last */
	uint32_t n_channels, n_tag_selectors;
	struct call_list open;
	struct selector any;
	uint64_t suspect_to;   /* completions of older receives may be lost */
	int64_t unconsumed;    /* sent less received, of all channels */
	uint64_t unattributed; /* lost receives of an unknown channel */
	size_t unpaired;       /* receives in streams */
	size_t probed;	       /* receives with a partner, not complete */
	bool is_left;	       /* its process is gone; it is in a list: gone.c */
	bool lost_receives;    /* some were lost at any time */
	bool assumed;	       /* at the end: all later pairs are */
};

/* A process. */
struct party {
	uint64_t proc_id;
	struct space *spaces;
	struct init *inits;
	uint64_t progress;
	bool damaged; /* records of it were lost */
};

#define FORGOTTEN_MOST 1024

struct match {
	struct match_options options;
	struct match_counts counts;
	struct match_pool sends, receives, streams, tag_selectors, channels, spaces, parties, early,
		gaps;
	struct match_table space_at;   /* communicator, destination */
	struct match_table channel_at; /* space, source */
	struct match_table stream_at;  /* channel, tag */
	struct match_table tag_at;     /* space, tag: of wildcard sources */
	struct match_table waiting_at; /* sequence, position */
	struct match_table
		request_at; /* id of the process, request: receives that are not complete */
	struct match_table early_at; /* id of the process, request */
	struct match_table comm_at;  /* communicator: its spaces */
	struct match_table party_at; /* id of the process */
	struct match_table gone_at;  /* communicator: how many members have freed it */
	uint64_t forgotten[FORGOTTEN_MOST], n_forgotten; /* communicators of spaces that went */
	struct match_table line_at, gate_at, init_at, berth_at; /* partitioned.c */
	struct early *oldest_early, *newest_early;
	struct receive *woken, *last_woken;
	struct space *first_left, *last_left;
	struct channel *recent; /* of the last send */
	struct space *space;	/* found last, or NULL */
	bool waking;
	bool defers; /* receives may be deferred: until match_defer_no_more() */
};

/* ---- match.c, pair.c --------------------------------------------------------- */

struct party *match_party(struct match *m, uint64_t proc_id);
/* Copies of a record; NULL: there are too many. */
struct send *send_make(struct match *m, const struct match_send *s);
struct receive *receive_make(struct match *m, const struct match_receive *r);
void receive_set_done(struct receive *r, const struct match_done *d);
/* r as the caller of match.h sees it. */
struct match_receive tell_receive(const struct receive *r);
/* Reports r and its partner as a pair. */
void tell_pair(struct match *m, struct receive *r);
/* Takes s and r over; r may not be complete. */
void match_pair(struct match *m, struct send *s, struct receive *r, enum match_label label);
void unmatched_send(struct match *m, struct send *s, enum match_reason why);
void unmatched_receive(struct match *m, struct receive *r, enum match_reason why);
void receive_free(struct match *m, struct receive *r);
/* Ties r to its completion, which may have come before; may set MATCH_VOID. */
void receive_register(struct match *m, struct receive *r);
/* r gets no completion: later ones with its request are of another receive. */
void receive_forget_request(struct match *m, struct receive *r);
void send_free(struct match *m, struct send *s);

/* ---- post.c ----------------------------------------------------------------- */

/* Opens a receive; those of a space come in the order of tickets. */
void receive_open(struct match *m, struct receive *r);
/* r, whose stage is RECEIVE_OPEN, is complete now. */
void receive_completed(struct match *m, struct receive *r);
/* r took no message, or an unknown one. */
void receive_close(struct match *m, struct receive *r);
/* From now on open receives of s hold back no others. */
void space_force(struct match *m, struct space *s);
void selector_free(struct selector *s);

/* ---- gone.c ----------------------------------------------------------------- */

/* s is about to end. */
void space_not_left(struct match *m, struct space *s);
/* True if the space of a member of this communicator went lately. */
bool match_was_forgotten(const struct match *m, uint64_t comm);

/* ---- defer.c ---------------------------------------------------------------- */

/* r is complete, in a channel whose source is, or was, on another node. */
void receive_defer(struct match *m, struct channel *c, struct receive *r);
/* Pairs the kept receives of c, if all deferred ones are back. */
void deferred_take_kept(struct match *m, struct channel *c);
/* At the end: the deferred receives that did not come back are unmatched. */
void deferred_leave(struct match *m, struct channel *c);

/* ---- channel.c -------------------------------------------------------------- */

static inline bool channel_is_far(const struct match *m, const struct channel *c)
{
	return m->defers && m->options.is_far(m->options.arg, c->source);
}

/* channel_receive() without deferring. */
void channel_take(struct match *m, struct stream *stream, struct receive *r);

struct space *space_of(struct match *m, uint64_t comm, uint64_t proc_id, bool make);
/* NULL: there are too many channels. */
struct channel *channel_of(struct match *m, struct space *s, uint64_t source);
struct stream *stream_of(struct match *m, struct channel *c, uint32_t tag);
void stream_release(struct match *m, struct stream *s);
void channel_send(struct match *m, struct send *s);
void channel_receive(struct match *m, struct stream *s, struct receive *r);
void sends_lost(struct match *m, struct channel *c, uint64_t n);
void receives_lost(struct match *m, struct space *s, uint64_t n);
/* Reports all sends and receives that are left in streams as unmatched. */
void space_leave(struct match *m, struct space *s);
void space_free(struct match *m, struct space *s);

/* ---- partitioned.c ------------------------------------------------------------ */

void partitioned_send(struct match *m, const struct match_send *s);
void partitioned_receive(struct match *m, const struct match_receive *r);
void partitioned_progress(struct match *m, struct party *p);
/* Settles all messages on this communicator, or on all. */
void partitioned_finish(struct match *m, uint64_t comm, bool all);
void partitioned_free(struct match *m);
#endif
