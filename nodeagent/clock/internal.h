/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of clock/ only. */
#ifndef VFTR_NODEAGENT_CLOCK_INTERNAL_H
#define VFTR_NODEAGENT_CLOCK_INTERNAL_H

#include "nodeagent/clock/sync.h"
#include "nodeagent/net/transport.h"

/* ---- line.c: the broken line through sync points of a clock, and the bound of its error */

/* Usual difference in rate of two clocks that were not compared yet. */
#define CLOCK_SYNC_RATE_USUAL 100e-6

struct clock_line {
	const struct clock_sync_point *at;
	const bool *jump; /* the clock jumped between the sync point before and this one */
	size_t n;
};

/* Makes *line and *jump from `measured`; frees the old ones; the caller frees. */
void clock_line_make(
	struct clock_sync_points *line, bool **jump, const struct clock_sync_points *measured);

/* As clock_sync_offset(). */
int64_t clock_line_offset(const struct clock_line *l, int64_t local, int64_t *error);

/* ---- talk.c: one burst of ping-pongs between two proxies, from either side; see burst.h */

struct pollfd;

enum clock_talk_tag { TAG_CLOCK_ASK = 600, TAG_CLOCK_PING, TAG_CLOCK_PONG, TAG_CLOCK_GONE };

#define CLOCK_TALK_NEVER INT64_MAX

/* The purpose of an asker: the server treats all alike, but counts only one. */
enum clock_purpose { CLOCK_EDGE = 1, CLOCK_CHECK, CLOCK_LAST };

enum clock_spin { SPIN_FIRST = 0, SPIN_AND_YIELD, SPIN_ONLY };

struct clock_talk {
	struct transport *transport;
	const struct clock_sync *sync; /* of this node */
	int64_t job_start;	       /* global; CLOCK_TALK_NEVER: not known yet */
	uint32_t seq;		       /* of the latest ask of this node, and what for */
	enum clock_purpose purpose;
	enum clock_spin spin;
	/* waiting ends when one of these becomes ready */
	const struct pollfd *fds;
	size_t n_fds;
};

/* clocks_raw_ns() as int64_t. */
int64_t clock_talk_now(void);

/* Sleeps, longer each time (*pause: 0 at first); returns false if a descriptor is ready. */
bool clock_talk_rest(const struct clock_talk *t, int64_t *pause);

struct clock_measure {
	struct clock_sync_point sync_point; /* offset to global time */
	int64_t round_trip;
};

/*
 * Asks a server, until it answers or `until` (local time) has come. 0 with *m; then
 * clock_talk_done() is to follow. -ETIMEDOUT, -EINTR if a descriptor became ready.
 */
int clock_talk_ask(struct clock_talk *t, int server, enum clock_purpose purpose, int64_t until,
	struct clock_measure *m);
/* Ends a burst; again: asks for another one a little later. */
void clock_talk_done(struct clock_talk *t, int server, bool again);

struct clock_served {
	int who; /* the asker, or -1 */
	enum clock_purpose purpose;
	bool complete, again; /* it said that it is done; that it wants more */
};

/*
 * Serves an agent that asks now, if there is one, or takes the message that an agent sends no more.
 */
struct clock_served clock_talk_serve(struct clock_talk *t);

#endif
