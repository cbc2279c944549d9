/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Views of the whole job for viewers of this agent and of others (vftr-top(1)). A viewer connects
 * to the agent's socket and asks with WIRE_LIVE for a view each so many ms; it has to ask again
 * before its lease is over. Then the agent is the root of a tree with a fan-out of 16, in which
 * each agent asks those below it, and sends the one above it a view of its subtree each period.
 * Each level has a lease of its own, so that all ends when nobody asks any more.
 *
 * Without a viewer nothing is sent, nothing is looked at, and nobody is woken: over MPI, where
 * nothing tells of a message, the proxy looks for one when it compares clocks. An agent that does
 * not answer in time is left out, named, and asked on; those below it are asked directly meanwhile.
 * Nothing waits.
 *
 * A look never takes more than a hundredth of the time: what takes longer is done less often.
 */
#ifndef VFTR_NODEAGENT_LIVE_EXCHANGE_EXCHANGE_H
#define VFTR_NODEAGENT_LIVE_EXCHANGE_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/process/observer.h"

struct agent;

/*
 * An event that is sent to all agents at once, over the trees of viewers: an event of the flight
 * recorder, or the wish of a viewer of this agent for one.
 */
struct live_event {
	uint32_t kind, detail; /* their meaning is the caller's */
	uint64_t number;       /* below UINT64_MAX */
	uint64_t stamp;	       /* UNIX time in ns of a viewer's wish; 0: it was none */
	bool wished; /* it is a wish of a viewer of this agent: all members but stamp are 0 */
};
/* Tells the others, where there are any. */
void live_event_tell(struct agent *a, const struct live_event *e);
/*
 * The next event that has come from other agents; false: there is none. If many come at once, only
 * the first ones are kept.
 */
bool live_event_next(struct agent *a, struct live_event *e);

/* Bytes of a piece of news at most. What it means is the caller's. */
#define LIVE_NEWS_BYTES 2048
/* Sends news to all other agents that are known. */
void live_news_tell(struct agent *a, const void *news, size_t bytes);
/* Pieces of news of other agents that nobody has taken yet. */
size_t live_news_waiting(const struct agent *a);
/* Takes the oldest one, *bytes long; the caller frees it. NULL: there is none. */
void *live_news_next(struct agent *a, size_t *bytes);
/* Keeps a copy of one that was taken, behind the others. */
void live_news_put_back(struct agent *a, const void *news, size_t bytes);
/*
 * Says how many things the caller hopes to learn from news. As long as there are some, the agent
 * looks for messages more often where nothing rings for them, until no news have come for a minute.
 * True if there are more than before: then live_tick() is to be called.
 */
bool live_news_await(struct agent *a, size_t awaited);

/* Takes the requests of viewers, and keeps in views what processes have counted that are let go. */
extern const struct process_observer live_observer;
/* Has processes pause as a viewer has ordered, and writes that into the profile. */
extern const struct process_observer pause_observer;

/* To be called repeatedly, and when a->news is set. Returns the seconds until the next call. */
double live_tick(struct agent *a);
/* Ends all views, and takes the events that have come: live_event_next() still returns these. */
void live_end(struct agent *a);
void live_free(struct agent *a);

#endif
