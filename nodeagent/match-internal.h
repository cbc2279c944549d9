/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files match*.c share, and nobody else.
 *
 *   match.c              records in, the end
 *   match-pair.c         sends and receives as they are kept, and pairs as they are told
 *   match-order.c        calls into the order of their tickets; which overlap
 *   match-post.c         open receives, and which of them hold back others
 *   match-defer.c        receives from far away, and back
 *   match-channel.c      sends meet receives; what losses do to that
 *   match-partitioned.c  partitioned messages, a world of their own
 *
 * A send:    order of its channel -> stream -> pair
 * A receive: order of its space -> open, by selector -> stream -> pair
 */
#ifndef VFTR_NODEAGENT_MATCH_INTERNAL_H
#define VFTR_NODEAGENT_MATCH_INTERNAL_H

#include "nodeagent/match-table.h"
#include "nodeagent/match.h"

struct channel;
struct receive;
struct space;
struct stream;

/* ---- order: match-order.c ------------------------------------------------- */

/* A send, or a receive that was posted; the first member of both. */
struct call {
	struct call *before, *after; /* in one of the lists below */
	uint64_t position;	     /* its ticket, without the wrap-around */
	uint64_t enter, leave;
	uint64_t reach;	    /* latest leave, of those before it, too */
	struct call *other; /* the last one before it of another thread ... */
	uint64_t other_at;  /* ... and its position, as it may be gone */
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
	struct call_list waiting;   /* beyond it, in no order */
	struct call_list unsettled; /* before it: later ones may overlap them */
	uint64_t ambiguous_to;	    /* all unsettled ones before this position */
	bool of_sends;		    /* a channel's, not a space's */
};

/* c->position is the ticket. Takes c over. */
void match_order_add(struct match *m, struct sequence *q, struct call *c);
/* What has this ticket cannot be kept. */
void match_order_drop(struct match *m, struct sequence *q, uint32_t ticket);
/* No more will come: gaps are losses, and nothing is unsettled. */
void match_order_finish(struct match *m, struct sequence *q);

/* In match.c; in the order of tickets. */
void call_ready(struct match *m, struct sequence *q, struct call *c);
void call_discard(struct match *m, struct sequence *q, struct call *c);
void calls_lost(struct match *m, struct sequence *q, uint64_t n);
/* Have records of the process that makes these calls been lost? */
bool match_order_is_damaged(const struct match *m, const struct sequence *q);

/* ---- sends and receives ------------------------------------------------------ */

struct send {
	struct call call;
	struct channel *channel; /* NULL: partitioned */
	struct stream *stream;
	struct send *next; /* in its stream */
	uint64_t ordinal;  /* in its channel: the position without void ones */
	uint64_t comm, destination, bytes;
};

enum receive_stage {
	RECEIVE_IN_ORDER, /* in match-order.c */
	RECEIVE_OPEN,	  /* it, or an older one that it depends on, is not complete */
	RECEIVE_RESOLVED, /* in its stream or kept, or paired and not complete yet */
};

struct receive {
	struct call call;
	struct space *space; /* NULL: partitioned */
	struct stream *stream;
	struct receive *next; /* in its stream, or among the woken */
	struct selector *selector;
	struct receive *older, *younger; /* with the same selector */
	uint64_t comm, place;
	uint64_t source; /* as posted, as is ... */
	uint32_t tag;
	uint32_t request; /* 0: none, or it is complete */
	struct match_done done;
	struct send *partner; /* matched by a probe, not complete */
	struct init *init;    /* partitioned */
	enum match_label label;
	uint8_t stage;	  /* enum receive_stage */
	bool known;	  /* source and tag, in `call` */
	bool complete;	  /* `done` is valid */
	bool in_selector; /* and in the list of open ones */
};

/* Open receives that could take the same messages, and what waits for the oldest to go. */
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
	uint32_t pins; /* it stays, though empty */
};

/* A wildcard source and one tag. */
struct tag_selector {
	struct selector selector;
	uint32_t tag;
};

/* All messages on a communicator from one process to another. */
struct channel {
	struct space *space;
	struct channel *next;
	uint64_t source;
	struct sequence order;
	struct call_list sends, receives; /* not yet paired, in the order of coming */
	struct call_list kept;		  /* receives behind deferred ones: match-defer.c */
	uint64_t deferred;
	bool tainted; /* what is deferred has lost its order: all pairs are broken */
	struct selector any_tag;
	uint64_t sent, received;     /* lost ones, too */
	uint64_t received_until;     /* when the last of those was over */
	uint64_t missing;	     /* lost sends without a receive so far */
	uint64_t lost_from, lost_to; /* ordinals of the lost, since all was sound */
	struct send *cursor;	     /* in doubt: the first one with ordinal >= received */
	uint32_t tag, tags;	     /* seen since all was received: 0, 1 (tag), 2 or more */
	bool doubt;		     /* something was lost: match-channel.c */
	bool broken;		     /* ... and pairs may be wrong */
	bool unsure;		     /* sent or received may be wrong */
};

/* All messages on a communicator to one process. */
struct space {
	uint64_t comm, place;
	struct space *next_of_comm, *next_of_party, **link_of_party; /* what points to it */
	struct party *party;
	struct sequence order;
	struct channel *channels;
	struct channel *recent; /* used last */
	uint32_t n_channels, n_tag_selectors;
	struct call_list open;
	struct selector any;
	uint64_t suspect_to;   /* completions of older ones may be lost */
	int64_t unconsumed;    /* sent less received, of all channels */
	uint64_t unattributed; /* lost receives; of which channel is not known */
	size_t unpaired;       /* receives in streams */
	bool lost_receives;    /* ever */
	bool assumed;	       /* at the end */
};

/* A process. */
struct party {
	uint64_t place;
	struct space *spaces;
	struct init *inits;
	uint64_t progress;
	bool damaged; /* records of it were lost */
};

struct match {
	struct match_options options;
	struct match_counts counts;
	struct match_pool sends, receives, streams, tag_selectors, channels, spaces, parties, early;
	struct match_table space_at;   /* communicator, destination */
	struct match_table channel_at; /* space, source */
	struct match_table stream_at;  /* channel, tag */
	struct match_table tag_at;     /* space, tag: of wildcard sources */
	struct match_table waiting_at; /* sequence, position */
	struct match_table request_at; /* place, request: receives that are not complete */
	struct match_table early_at;   /* place, request */
	struct match_table comm_at;    /* communicator: its spaces */
	struct match_table party_at;   /* place */
	struct match_table line_at, gate_at, init_at, berth_at; /* match-partitioned.c */
	struct early *oldest_early, *newest_early;
	struct receive *woken, *last_woken;
	struct channel *recent; /* of the last send */
	bool waking;
	bool defers; /* match_defer_no_more() was not called, and there is a place to put them */
};

/* ---- match.c, match-pair.c --------------------------------------------------------- */

struct party *match_party(struct match *m, uint64_t place);
/* Copies; NULL: there are too many. */
struct send *send_make(struct match *m, const struct match_send *s);
struct receive *receive_make(struct match *m, const struct match_receive *r);
void receive_set_done(struct receive *r, const struct match_done *d);
/* As the user sees it. */
struct match_receive tell_receive(const struct receive *r);
/* r and its partner. */
void tell_pair(struct match *m, struct receive *r);
/* Takes s and r over; r may not be complete. */
void match_pair(struct match *m, struct send *s, struct receive *r, enum match_label label);
void unmatched_send(struct match *m, struct send *s, enum match_reason why);
void unmatched_receive(struct match *m, struct receive *r, enum match_reason why);
void receive_free(struct match *m, struct receive *r);
/* A completion may come, or has come before; may set MATCH_VOID. */
void receive_register(struct match *m, struct receive *r);
/* A completion for it is of another. */
void receive_forget_request(struct match *m, struct receive *r);
void send_free(struct match *m, struct send *s);

/* ---- match-post.c ----------------------------------------------------------------- */

/* Of a space in the order of tickets. */
void receive_open(struct match *m, struct receive *r);
/* It is complete now; its stage is RECEIVE_OPEN. */
void receive_completed(struct match *m, struct receive *r);
/* It took nothing, or nothing that is known. */
void receive_close(struct match *m, struct receive *r);
/* Receives that are still open hold back no others any more. */
void space_force(struct match *m, struct space *s);
void selector_free(struct selector *s);

/* ---- match-defer.c ---------------------------------------------------------------- */

/* r comes to a channel whose source is far, or was. */
void receive_defer(struct match *m, struct channel *c, struct receive *r);
/* Those that stayed, if all deferred ones are back. */
void deferred_take_kept(struct match *m, struct channel *c);
/* At the end: those that did not come back. */
void deferred_leave(struct match *m, struct channel *c);

/* ---- match-channel.c -------------------------------------------------------------- */

static inline bool channel_is_far(const struct match *m, const struct channel *c)
{
	return m->defers && m->options.is_far(m->options.arg, c->source);
}

/* The same as channel_receive(), but it is not deferred. */
void channel_take(struct match *m, struct stream *stream, struct receive *r);

struct space *space_of(struct match *m, uint64_t comm, uint64_t place, bool make);
/* NULL: too many. */
struct channel *channel_of(struct match *m, struct space *s, uint64_t source);
struct stream *stream_of(struct match *m, struct channel *c, uint32_t tag);
void stream_release(struct match *m, struct stream *s);
void channel_send(struct match *m, struct send *s);
void channel_receive(struct match *m, struct stream *s, struct receive *r);
void sends_lost(struct match *m, struct channel *c, uint64_t n);
void receives_lost(struct match *m, struct space *s, uint64_t n);
/* What is left in streams is unmatched. */
void space_leave(struct match *m, struct space *s);
void space_free(struct match *m, struct space *s);

/* ---- match-partitioned.c ------------------------------------------------------------ */

void partitioned_send(struct match *m, const struct match_send *s);
void partitioned_receive(struct match *m, const struct match_receive *r);
void partitioned_progress(struct match *m, struct party *p);
/* On this communicator, or all. */
void partitioned_finish(struct match *m, uint64_t comm, bool all);
void partitioned_free(struct match *m);
#endif
