/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a thread waits in now, and how far a process is in the collective calls of its
 * communicators, for those who look while it runs. Nothing is changed.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_WAITING_H
#define VFTR_NODEAGENT_REPLAY_COMM_WAITING_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/trace/collective.h"

struct message;
struct traffic;
struct traffic_track;

/* The last record of the frames that are open: a blocking SEND, or a blocking COLLECTIVE. False:
 * there is none. */
bool traffic_open_call(const struct traffic_track *l, struct message *m);

/*
 * Is told each DONE that was read in an open frame, and then each request that this thread has
 * posted and whose completion was not read, by its SEND, POST or other record.
 */
typedef void traffic_request_seen(void *ctx, const struct message *m);
void traffic_requests(const struct traffic_track *l, traffic_request_seen *tell, void *ctx);
/* True if the completion of this request was read before the record that posted it. */
bool traffic_is_over(const struct traffic_track *l, uint32_t request);

/* An intracommunicator of the process's own job. */
struct traffic_group {
	uint64_t id;	 /* the same in all its members */
	uint32_t number; /* of the process */
	uint32_t size;
	uint32_t called;  /* number of the last collective call that was read + 1; 0: none */
	const char *name; /* or NULL; valid until the process is read on */
};

/* Is told each intracommunicator of the process. */
typedef void traffic_group_seen(void *ctx, const struct traffic_group *g);
void traffic_groups(const struct traffic *t, traffic_group_seen *tell, void *ctx);

/* Is told each run of members of the communicator: n world ranks first, first + stride, ... */
typedef void traffic_members_seen(void *ctx, uint32_t first, int32_t stride, uint32_t n);
void traffic_members(
	const struct traffic *t, uint32_t number, traffic_members_seen *tell, void *ctx);
/* World rank of a member of a communicator; false: it is not known. */
bool traffic_member(const struct traffic *t, uint32_t number, uint32_t rank, uint32_t *world,
	const char **name);
/* Who waits for whom in the call of a COLLECTIVE. */
enum collective_kind traffic_call_kind(const struct message *m);
/* A communicator by its number; false: it is not known. */
bool traffic_find_group(const struct traffic *t, uint32_t number, struct traffic_group *g);

#endif
