/* SPDX-License-Identifier: BSD-3-Clause */
/* What passes between the agent (courier-ask.c) and its courier (courier.c). */
#ifndef VFTR_NODEAGENT_COURIER_INTERNAL_H
#define VFTR_NODEAGENT_COURIER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum operation {
	OPEN,
	SEND,
	RECEIVE,
	FINISH,
	REMEMBER,
	WILL,
	COLLATED,
	COMPARE,
	CLOCK,
	JOIN,
	JOINED,
	NOTES,
	GONE
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
};

/* Both directions, whole or not at all. */
bool courier_transfer(int fd, void *buf, size_t bytes, bool out, double until);

/* In the agent: the socket to its courier, and the bell that it rings, or -1. */
void courier_found(int fd, int bell);

struct peer_tcp_options;
/* As courier_use_tcp() was told, in both processes; NULL: MPI. */
const struct peer_tcp_options *courier_tcp(void);

#endif
