/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages whose order MPI does not define: two threads send on one channel
 * (communicator, destination, tag), or post receives that one message could
 * match, and neither call had ended when the other one began. Which of the two
 * is first cannot be told from outside, so both are counted as ambiguous.
 *
 * Threads are read one after the other. Calls wait in a window until it is
 * full, then they are sorted by their ends and each is compared with those that
 * overlap it. Calls that leave the window are added to sums by channel: a call
 * longer than the window is still found, but how many of the calls that left it
 * overlapped may be unknown: then they are not counted, and order_incomplete() is
 * true.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_ORDER_H
#define VFTR_NODEAGENT_REPLAY_COMM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct order;

#ifndef ORDER_WINDOW
#define ORDER_WINDOW   65536u /* calls of one process: more than two default rings hold */
#define ORDER_ALONE    4096u  /* the same while they are of one thread */
#define ORDER_CHANNELS 1024u  /* sums of calls that have left it */
#define ORDER_STEPS    1024u  /* comparisons, per call in the window */
#endif

enum order_kind { ORDER_SEND, ORDER_RECEIVE };

/* One send, or one receive posted, and the call that did it. */
struct order_call {
	uint64_t since, until;
	uint32_t track; /* thread */
	uint32_t comm, peer, tag;
	uint32_t sums; /* where it counts: for order_found */
	uint8_t kind;  /* enum order_kind */
	bool any_source, any_tag;
	/* of order.c */
	bool counted, compared;
	uint32_t same; /* number of earlier calls with the same track and time */
};

/* n calls like c are ambiguous; each is reported once. */
typedef void order_found(void *ctx, const struct order_call *c, uint64_t n);

/* Never NULL. Calls of one track are added in the order of their ends. */
struct order *order_new(order_found *found, void *ctx);
void order_free(struct order *o);
void order_add(struct order *o, const struct order_call *c);
/* Compares all calls that were added. */
void order_settle(struct order *o);
/* True if some ambiguous messages may not have been counted. */
bool order_incomplete(const struct order *o);

#endif
