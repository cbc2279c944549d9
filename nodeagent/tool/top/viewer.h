/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of a viewer to an agent, of this node or over TCP: shm/wire.h, WIRE_LIVE. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_VIEWER_H
#define VFTR_NODEAGENT_TOOL_TOP_VIEWER_H

#include <stdbool.h>
#include <stdint.h>

struct live_view;
struct where;
struct viewer_link;

/* Which agent; all NULL: that of $VFTR_SESSION, else the only one here. */
struct viewer_place {
	const char *session;
	const char *at;	    /* not of this node: its contact (net/tcp/contact.h) */
	const char *secret; /* file, for `at`; NULL: the default one */
};

struct viewer {
	int fd;			  /* can be read when there is something new */
	struct viewer_link *link; /* NULL: of this node */
	char *session;
	int64_t period;	     /* ns */
	uint32_t agents;     /* of the job, by the last view; 0: not known yet */
	int64_t patience;    /* ns until all of them know of a viewer, by the last view */
	uint64_t record;     /* stamp of the last viewer_record(), or 0 */
	struct where *where; /* of the last view: where threads are; NULL: not wanted */
	struct viewer_place place;
	bool anew; /* connected again, and no view has come since */
};

/*
 * Connects to the agent at that place. Asks for a view each `period` ns. where: the caller's, filled
 * in with each view, or NULL. Returns NULL, or a sentence, which the caller frees, if it failed. The
 * caller calls viewer_close() in any case.
 */
char *viewer_open(
	struct viewer *w, const struct viewer_place *place, int64_t period, struct where *where);
void viewer_close(struct viewer *w);

/* Asks that what the flight recorders of all nodes keep (sampling.keep) is written; answer.h says
 * what becomes of it. */
void viewer_record(struct viewer *w);

enum viewer_news { VIEWER_VIEW, VIEWER_NOTHING, VIEWER_END, VIEWER_REFUSED };

/*
 * The next view, if one comes within so many ns; asks again. NOTHING: none has; END: the agent has
 * ended; REFUSED: *why is a sentence, and the caller frees it. An agent that has hung up, as on a
 * viewer that was stopped for longer than its lease, is connected to again.
 */
enum viewer_news viewer_next(struct viewer *w, int64_t within, struct live_view *v, char **why);

/*
 * Asks all nodes to switch a function off, or on again. The request may get lost: the caller
 * repeats it, with the same stamp, until a view shows that all nodes have it. name: shorter than
 * WIRE_FUNCTION_MAX; empty: pause all recording, or let it go on.
 */
void viewer_switch(const struct viewer *w, const char *name, bool off, uint64_t stamp);

/* UNIX time in ns, for orders and requests. */
uint64_t viewer_stamp(void);

/* Monotonic time in ns. */
int64_t viewer_now(void);

/* True if the view has all nodes of the job, with an interval, but those that are named missing. */
bool viewer_is_complete(const struct viewer *w, const struct live_view *v);

#endif
