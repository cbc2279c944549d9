/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages in the wrong order (Wolf and Mohr, EuroPar 2003): a thread waited for a message until it
 * was sent, while one that was sent earlier lay there, which it received only in a later call,
 * though it could have chosen it before (wait-kinds.h).
 *
 * Messages become known in any order. For each receiving thread two lists are kept: its last waits,
 * until such a message becomes known; and of its messages those after which only messages were
 * received that were sent later, or messages of one other queue, which not every receive could have
 * chosen. Where there is no room, every second one of the older messages, or the oldest waits, are
 * forgotten, and few messages are looked at for one that could have been chosen: so a wait may be
 * taken to be in the right order, never in the wrong one.
 */
#ifndef VFTR_NODEAGENT_INTERNODE_WRONG_ORDER_H
#define VFTR_NODEAGENT_INTERNODE_WRONG_ORDER_H

#include <stdint.h>

struct longest_wait;
struct wrong_order;

/* Smaller in tests. */
#ifndef WRONG_ORDER_MESSAGES
#define WRONG_ORDER_MESSAGES 4096u	/* of a list, 24 B each; twice, of several queues */
#define WRONG_ORDER_WAITS    4096u	/* the same, 32 B each */
#define WRONG_ORDER_KEPT     (1u << 16) /* waits of all lists, 40 B each; with causes 112 B */
#define WRONG_ORDER_ALL	     (1u << 20) /* messages of all lists */
#endif

/* A message, and the call in which it was received. */
struct wrong_order_message {
	uint64_t source, destination; /* ids of processes */
	uint64_t enter, leave, sent;  /* ticks; of that call, and begin of the one that sent it */
	/* ticks: by how much `sent` may be wrong against times of other processes; UINT64_MAX:
	 * not known */
	uint64_t error;
	uint32_t thread, path; /* of that call */
	uint32_t queue, takes; /* wait-kinds.h; takes: of the receive */
};

/*
 * Is told a wait that was in the wrong order. path: of the call, in the same process, that received
 * the message which lay there. Of w->about only `to' is set. The function may change *w, which is
 * forgotten afterwards.
 */
typedef void wrong_order_found(void *arg, struct longest_wait *w, uint32_t path);

struct wrong_order *wrong_order_new(wrong_order_found *found, void *arg);
void wrong_order_free(struct wrong_order *o);

/* Adds a message. wait: the wait of the call for this message, copied; NULL: it has not waited. */
void wrong_order_add(struct wrong_order *o, const struct wrong_order_message *m,
	const struct longest_wait *wait);
/* Takes back the wait of the call of this thread that began at `enter'. */
void wrong_order_take_back(
	struct wrong_order *o, uint64_t destination, uint32_t thread, uint64_t enter);

#endif
