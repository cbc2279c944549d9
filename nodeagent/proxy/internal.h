/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages between the agent (ask.c) and its proxy (proxy.c). */
#ifndef VFTR_NODEAGENT_PROXY_INTERNAL_H
#define VFTR_NODEAGENT_PROXY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/net/transport.h"

enum operation {
	OPEN,
	SEND,
	RECEIVE,
	FINISH,
	REMEMBER,
	LAST_WILL,
	COLLATED,
	COMPARE,
	CLOCK,
	JOIN,
	JOINED,
	NOTES,
	GONE,
	AWAIT_LEFT,
	LISTEN,
	DEATHS,
	VIEWERS,
	TO_ROOT, /* together: final; status: milliseconds to wait */
	TO_ONE,
	TO_ALL
};

struct request {
	uint32_t operation;
	int32_t who, tag, status, together;
	uint64_t bytes; /* that follow */
	double until;
};

struct answer {
	int32_t error, who, size;
	uint64_t bytes; /* that follow */
};

/* Content of JOIN, followed by "HOST\0SESSION\0", and "CONTACTS\0" if they are to be invited. */
struct join_request {
	double deadline_s, sync_interval_s;
	double more_s; /* to deadline_s for each agent */
};

/* A time to wait in milliseconds, as a request has it; the longest one is 24 days. */
static inline int32_t request_ms(double s)
{
	return s >= INT32_MAX / 1000 ? INT32_MAX : (int32_t)(s * 1000);
}

/* Sends (out) or receives all bytes. False: the other side is gone, or *left_s, from which the time
 * of waiting is taken, has passed. */
bool proxy_transfer(int fd, void *buf, size_t bytes, bool out, double *left_s);

/* In the agent: sets the socket to its proxy, and the eventfd to which the proxy writes, or -1. */
void proxy_found(int fd, int bell);

/* counts.c: for tests, which set $VFTR_TEST_MESSAGES; see vftr-internals(7). */
struct proxy_counts {
	int rank, size; /* size 0: not taken */
	struct transport_counts messages;
	double begun;	    /* s, of transport_now(), when the transport was opened */
	double met_s;	    /* over TCP: seconds from then until all agents had met */
	unsigned met_files; /* descriptors when they had met ... */
	unsigned files;	    /* ... and at the end */
};
/* Notes the time and the descriptors: all agents have met. */
void proxy_counts_met(struct proxy_counts *c);
void proxy_counts_take(struct proxy_counts *to, const struct transport *p);
/* After the agent has ended. */
void proxy_counts_write(const struct proxy_counts *c);

struct tcp_options;
/* The options of proxy_use_tcp(), in both processes; NULL: MPI. */
const struct tcp_options *proxy_tcp(void);

#endif
