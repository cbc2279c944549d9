/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages whose order MPI does not define: two threads send on one channel
 * (communicator, destination, tag), or post receives that one message could
 * match, and neither call had ended when the other one began. Which of the two
 * is first cannot be told from outside, so both are counted as ambiguous.
 *
 * Threads are read one after the other. Calls wait in a window until it is
 * full, then they are sorted by their ends and each is compared with those that
 * overlap it. What leaves the window stays in sums by channel: a call longer
 * than the window is still recognized, but how many of those that left it
 * overlapped may not be known: then they are not counted, and
 * order_incomplete() says so.
 */
#ifndef VFTR_NODEAGENT_TRAFFIC_ORDER_H
#define VFTR_NODEAGENT_TRAFFIC_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct order;
struct traffic;

#ifndef ORDER_WINDOW
#define ORDER_WINDOW   65536u /* calls of one process: more than two default rings hold */
#define ORDER_ALONE    4096u  /* as long as they are of one thread */
#define ORDER_CHANNELS 1024u  /* sums of what has left it */
#define ORDER_STEPS    1024u  /* comparisons, per call in the window */
#endif

enum order_kind { ORDER_SEND, ORDER_RECEIVE };

/* One send, or one receive posted, and the call that did it. */
struct order_call {
	uint64_t since, until;
	uint32_t lane; /* thread */
	uint32_t comm, peer, tag;
	uint32_t sums; /* where it counts: index into sums.comms of the traffic */
	uint8_t kind;  /* enum order_kind */
	bool any_source, any_tag;
	/* of traffic-order.c */
	bool counted, compared;
	uint32_t same; /* calls before it that are of the same lane and time */
};

/* Never NULL. Calls of one lane are added in the order of their ends. */
struct order *order_new(void);
void order_free(struct order *o);
void traffic_order_add(struct order *o, struct traffic *t, const struct order_call *c);
/* All that was added is compared. */
void order_settle(struct order *o, struct traffic *t);
/* Some ambiguous messages may not have been counted. */
bool order_incomplete(const struct order *o);

#endif
