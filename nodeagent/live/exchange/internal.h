/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between agents for viewers, and their state. exchange.c takes messages and keeps the
 * time, trees.c has the agents below and above this one, viewers.c the viewers of this agent.
 */
#ifndef VFTR_NODEAGENT_LIVE_EXCHANGE_INTERNAL_H
#define VFTR_NODEAGENT_LIVE_EXCHANGE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/live/view.h"

struct agent;
struct function_switch;
struct live_news;
struct live_unsent;
struct sampler;
struct where;

#define TAG_LIVE	  520
#define LIVE_MAGIC	  (0x6577696cu + LIVE_VERSION)
#define LIVE_FAN_OUT	  16
#define LIVE_TREES_MAX	  4    /* other agents with viewers at a time */
#define LIVE_BRANCHES_MAX 272  /* agents that one agent asks: a few, and those below silent ones */
#define LIVE_PART_MOST	  2048 /* bytes: MPI libraries send so many without asking the other side */
#define LIVE_EVENTS_MAX	  8    /* of a moment; more are of no use */
#define LIVE_NEWS_MAX	  256  /* of others, that nobody has taken yet; further ones are lost */
#define LIVE_UNSENT_MAX	  64   /* news that have not left; further ones are lost */
#define LIVE_VIEWERS_MAX  8    /* of this agent */
#define LIVE_VIEWERS_LOOK 5.0  /* s */
#define LIVE_PERIOD_LEAST 0.25 /* s */
#define LIVE_PERIOD_MOST  3600.0
#define LIVE_LEASES	  3.0 /* of a period, at least ... */
#define LIVE_LEASE_LEAST  3.0 /* ... s */

enum live_kind {
	LIVE_ASK = 1, /* down: views are wanted */
	LIVE_STOP,    /* down: no more */
	LIVE_EVENT,   /* down: something has happened at the root (struct live_event) */
	LIVE_VIEW,    /* up: with a part of a packed view behind it */
	LIVE_SWITCH,  /* down: with a struct function_switch behind it */
	LIVE_NEWS,    /* down: with news of the root behind it (live_news_tell()) */
	LIVE_KINDS_END
};

struct live_message {
	uint32_t magic, kind;
	uint32_t root;	    /* the agent that has the viewer */
	uint32_t period_ms; /* of ASK; of EVENT: its kind */
	uint64_t number; /* of what the root asks for: another one after it has stopped; of EVENT:
			    its number + 1 */
	uint32_t at;  /* of EVENT: its detail; of VIEW: where the part begins; of ASK, if not 0: all
			 texts are wanted */
	uint32_t all; /* of VIEW: bytes of the whole */
	uint32_t where; /* of ASK: 1: also where threads are; of VIEW: bytes of that, the last ones
			 */
	uint64_t stamp; /* of EVENT: its stamp */
};

/* An agent below this one. */
struct live_branch {
	int agent;
	int instead_of;	   /* one that does not answer, -1: it is a child of this agent */
	double since;	   /* it was asked first, or was heard last */
	double ask_again;  /* not before; it took no message, ... */
	double pause;	   /* ... and this is how long we leave it alone, in s */
	bool heard, fresh; /* it has answered; since our last view */
	bool adopted;	   /* those below it are asked directly, ... */
	uint32_t left_out; /* ... but for so many agents: there is no room */
	char *parts;	   /* of the view that comes; n_parts bytes of all_parts are here */
	size_t n_parts, all_parts, where_parts;
	struct live_view *view;	  /* NULL: none yet */
	struct where *where;	  /* of its last view; NULL: it had none */
	struct live_names *known; /* NULL: none, and to be asked for */
	char host[LIVE_HOST_BYTES];
};

struct live_tree {
	int root, parent; /* -1: this agent is the root */
	uint64_t number;
	double period, until; /* s; transport_now() */
	double next, asked;   /* the next view is due; those below were asked */
	int n_agents;	      /* when it began */
	bool where;	      /* also where threads are */
	unsigned stuck;	      /* views in a row that have not left */
	struct live_branch **branches;
	size_t n_branches, cap_branches;
	struct live_names *told; /* to the parent */
};

struct live_viewer {
	int fd;
	double period, until;
	bool where;
};

/* The state in an agent; a->live. */
struct live {
	bool listens;		 /* transport->listen() was called */
	bool rings;		 /* the proxy rings at once for each message */
	struct sampler *sampler; /* NULL: nobody looks */
	struct live_view own;
	struct where *own_where;		    /* of that look; NULL: nobody wants it */
	double looked, look_again;		    /* s; no look before that */
	double next;				    /* of the tick */
	struct live_tree trees[LIVE_TREES_MAX + 1]; /* with our own */
	size_t n_trees;
	struct live_viewer viewers[LIVE_VIEWERS_MAX];
	size_t n_viewers;
	uint64_t number; /* of our own tree's last */
	uint64_t sent, sent_bytes;
	unsigned refused;			   /* lines about messages that make no sense */
	struct live_event events[LIVE_EVENTS_MAX]; /* of others, that nobody has taken yet */
	size_t n_events;
	struct live_news *news, **news_end; /* the same of news; oldest first */
	size_t n_news;
	struct live_unsent *unsent; /* news that have not left, oldest first */
	size_t n_unsent;
	uint64_t news_lost;  /* of both, and what nobody took in time: live_end() says it */
	size_t news_awaited; /* live_news_await() */
	double news_at;	     /* s; when more were awaited, or some came, last */
	bool full;	     /* a line was written that too many agents have viewers */
};

/* exchange.c: sends a message with a part of a view or nothing behind it. False: it has not left.
 */
bool live_send(
	struct agent *a, int to, const struct live_message *m, const void *part, size_t bytes);
/* A message of another agent makes no sense. */
void live_refuse(struct agent *a, int from, const char *why);
/*
 * Seconds after which a silent agent is left out; live_first_grace(): one that has never answered.
 */
double live_grace(double period);
double live_first_grace(const struct agent *a, double period);
/* Seconds until all agents know what a viewer wants, at most. */
double live_patience(const struct agent *a);

/*
 * events.c: takes an event, or news, of another agent; passes one on to the agents below, with what
 * is behind it; takes a viewer's wish for one.
 */
void live_event_take(struct agent *a, const struct live_message *m);
void live_news_take(struct agent *a, const void *news, size_t bytes);
void live_event_pass(struct agent *a, const struct live_message *m, const void *part, size_t bytes);
void live_event_wish(struct live *l, uint64_t stamp);
void live_news_free(struct live *l);
/* Warns of news that were lost since the last call, if any. */
void live_news_warn(struct agent *a);
/* events.c: sends news again that have not left. Returns the seconds until the next call. */
double live_news_again(struct agent *a, double now);

/* trees.c */
struct live_tree *live_tree_of(struct live *l, int root);
/* Takes an order of the agent `from`, or of ourselves (-1). */
void live_tree_ask(struct agent *a, const struct live_message *m, int from, double now);
void live_tree_stop(struct agent *a, struct live_tree *t);
/* Frees all trees, and sends nothing. */
void live_trees_end(struct live *l);
/* A part of a view, which has been checked. */
void live_tree_take(struct agent *a, int from, const struct live_message *m, const void *part,
	size_t bytes, double now);
/* A function goes off, or on again, here and below. from: -1: a viewer of ours wants that. */
void live_tree_switch(struct agent *a, const struct live_message *m, int from,
	const struct function_switch *order);
/* Seconds until the next call. */
double live_tree_tick(struct agent *a, struct live_tree *t, double now);

/* viewers.c */
void live_viewers_tick(struct agent *a, double now);
/* Seconds until live_viewers_tick() checks again that the viewers are there. */
double live_viewers_next(const struct live *l);
/* Their shortest period. */
double live_viewers_period(const struct live *l);
/* One of them wants to know where threads are. */
bool live_viewers_want_where(const struct live *l);
/* where: NULL: not known. */
void live_viewers_show(struct agent *a, const struct live_view *v, const struct where *where);
void live_viewers_end(struct live *l);

#endif
