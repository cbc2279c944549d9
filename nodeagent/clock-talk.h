/* SPDX-License-Identifier: BSD-3-Clause */
/* One burst of ping-pongs between two couriers, from either side; see clock-burst.h. */
#ifndef VFTR_NODEAGENT_CLOCK_TALK_H
#define VFTR_NODEAGENT_CLOCK_TALK_H

#include "nodeagent/clock-sync.h"
#include "nodeagent/peer.h"

struct pollfd;

enum clock_talk_tag { TAG_CLOCK_ASK = 600, TAG_CLOCK_PING, TAG_CLOCK_PONG, TAG_CLOCK_GONE };

#define CLOCK_TALK_NEVER INT64_MAX

/* For what an asker asks: the server treats them alike, but counts only one kind. */
enum clock_purpose { CLOCK_EDGE = 1, CLOCK_CHECK, CLOCK_LAST };

enum clock_spin { SPIN_FIRST = 0, SPIN_AND_YIELD, SPIN_ONLY };

struct clock_talk {
	struct peer *peer;
	const struct clock_sync *sync; /* of this node */
	int64_t job_start;	       /* global; CLOCK_TALK_NEVER: not known yet */
	uint32_t seq;
	enum clock_spin spin;
	/* waiting ends when one of these becomes ready */
	const struct pollfd *fds;
	size_t n_fds;
};

/* Present time, as int64_t. */
int64_t clock_talk_now(void);

/* Sleeps a while, longer each time (*pause: 0 at first); false: a descriptor is ready. */
bool clock_talk_rest(const struct clock_talk *t, int64_t *pause);

struct clock_measure {
	struct clock_sync_knot knot; /* offset to global time */
	int64_t round_trip;
};

/*
 * Asks a server, until it answers or `until` (local time) has come. 0 with *m; then
 * clock_talk_done() is to follow. -ETIMEDOUT, -EINTR if a descriptor became ready.
 */
int clock_talk_ask(struct clock_talk *t, int server, enum clock_purpose purpose, int64_t until,
	struct clock_measure *m);
/* again: please serve me once more, a little later. */
void clock_talk_done(struct clock_talk *t, int server, bool again);

struct clock_served {
	int who; /* -1: nobody asked */
	enum clock_purpose purpose;
	bool complete, again; /* it said that it is done; that it wants more */
};

/* Serves one that asks now, if somebody does. */
struct clock_served clock_talk_serve(struct clock_talk *t);

#endif
