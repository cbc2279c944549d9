/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connection of a viewer to an agent, of this node or over TCP: shm/wire.h, WIRE_LIVE. For one
 * thread.
 */
#ifndef VFTR_NODEAGENT_TOOL_TOP_VIEWER_H
#define VFTR_NODEAGENT_TOOL_TOP_VIEWER_H

#include <stdbool.h>
#include <stdint.h>

struct live_view;
struct where;
struct viewer_link;

/* Which agent; all NULL: that of $VFTR_SESSION, else the only one on this node. */
struct viewer_place {
	const char *session; /* its name, or NULL */
	const char *at;	     /* contact of an agent on another node (net/tcp/contact.h), or NULL */
	const char *secret;  /* file with the secret, for `at'; NULL: the default one */
};

struct viewer {
	int fd;			  /* can be read when there is something new; viewer_next() may
				     change it */
	struct viewer_link *link; /* the connection over TCP; NULL: the agent is of this node */
	char *session;		  /* its name, for messages */
	int64_t period;		  /* ns from view to view */
	uint32_t agents;	  /* of the job, by the last view; 0: not known yet */
	int64_t patience;	  /* ns until all of them know of a viewer, by the last view */
	uint64_t record;	  /* stamp of the last viewer_record(), or 0 */
	struct where *where;	  /* of the last view: where threads are; NULL: not wanted */
	struct viewer_place place;
	bool anew; /* connected again, and no view has come since */
};

/*
 * Connects to the agent at that place, whose texts must stay, and asks for a view each `period' ns.
 * where: the caller's, filled in with each view, or NULL. Returns NULL, or a sentence (caller
 * frees) that says why it failed. The caller calls viewer_close() in any case.
 */
char *viewer_open(
	struct viewer *w, const struct viewer_place *place, int64_t period, struct where *where);
void viewer_close(struct viewer *w);

/* Asks the flight recorders of all nodes to write what they keep (sampling.keep); answer.h says
 * what becomes of it. */
void viewer_record(struct viewer *w);

enum viewer_news { VIEWER_VIEW, VIEWER_NOTHING, VIEWER_END, VIEWER_REFUSED };

/*
 * The next view, as *v, if one comes within so many ns (> 0); then asks for another one. NOTHING:
 * none has come; END: the agent has ended; REFUSED: *why is a sentence (caller frees), which is
 * otherwise left alone or NULL. It connects again to an agent that has hung up, as on a viewer that
 * was stopped for longer than its lease.
 */
enum viewer_news viewer_next(struct viewer *w, int64_t within, struct live_view *v, char **why);

/*
 * Asks all nodes to switch a function off, or on again. The request may get lost: the caller
 * repeats it, with the same stamp (viewer_stamp()), until a view shows that all nodes have it.
 * name: shorter than WIRE_FUNCTION_MAX bytes; empty: pause all recording, or let it go on.
 */
void viewer_switch(const struct viewer *w, const char *name, bool off, uint64_t stamp);

/* UNIX time in ns, for orders and requests. */
uint64_t viewer_stamp(void);

/* Monotonic time in ns. */
int64_t viewer_now(void);

/* True if the view has an interval, and each node of the job is in it, or is counted as missing. */
bool viewer_is_complete(const struct viewer *w, const struct live_view *v);

/* True if nodes are missing in the view that are not known to have ended. */
bool viewer_misses_some(const struct live_view *v);

#endif
