/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What blocking collective calls wait for each other (mpi.show_sync_time), from
 * the times at which the members entered: no barrier is added to the program.
 * Only members on this node are compared: clocks of different nodes are not,
 * so a wait for another node stays part of the call. Calls on
 * intercommunicators and MPI_Barrier, which is all waiting, are left out.
 *
 * Each instance of a collective call (communicator, ticket) is kept until all
 * members that live on this node have left it. Then each gets a child of its
 * call, "MPI_Xxx_sync", with the time from its own enter to the latest one, or
 * to its own exit if that was earlier. A tap (traffic-tap.h) is told the same.
 */
#ifndef VFTR_NODEAGENT_TRAFFIC_SYNC_H
#define VFTR_NODEAGENT_TRAFFIC_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calltree;
struct node;
struct pending;
struct sync;
struct traffic;
struct traffic_lane;

#ifndef SYNC_OPEN_MAX
#define SYNC_OPEN_MAX 65536u /* instances; then the oldest is dropped */
#endif

/* A rank that lives on this node. */
struct sync_member {
	uint64_t job;
	bool job_known; /* else it counts in any job */
	uint32_t rank;
};

/* One per agent. */
struct sync *sync_new(void);
void sync_free(struct sync *s);

/* Who lives here now (copied). Instances that wait only for the gone are complete. */
void sync_set_members(struct sync *s, const struct sync_member *m, size_t n);

/* A member has left the collective call p on a communicator. */
void sync_arrive(struct sync *s, struct traffic_lane *l, const struct pending *p, uint64_t until);

/* As traffic_lane_end(). */
void sync_move(struct sync *s, struct traffic_lane *l, struct calltree *past);
/* As traffic_lane_moved(). */
void sync_moved(struct sync *s, const struct traffic_lane *l, const struct node *from);
/* The process's trees are about to be freed. */
void sync_forget(struct sync *s, const struct traffic *t);

#endif
