/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A listener gets each communication of one process when it is complete: those
 * that the sums of comm.h count. Each is reported once: a blocking call at its
 * exit, a request at the exit of the call that has completed it.
 * mpi.only_for_ranks holds here, too.
 *
 *  - not reported: failed calls, receives that were cancelled or never seen to end
 *  - a send that was never seen to end is reported at the end of the process, with
 *    VFD_MESSAGE_UNKNOWN
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_LISTENER_H
#define VFTR_NODEAGENT_REPLAY_COMM_LISTENER_H

#include <stdint.h>
#include "nodeagent/trace/types.h"

struct traffic;

struct traffic_listener {
	/* A communicator with messages; c->number is not set. Returns its number, which is used
	 * in messages. */
	uint32_t (*comm)(void *ctx, const struct vfd_comm *c);
	/* Of the communicator c->number it is known now who the members of another job are: c->link
	 * and what is behind it are set. May be NULL. */
	void (*link)(void *ctx, const struct vfd_comm *c);
	/* Returns the number of a window or file; o->number: its number here. */
	uint32_t (*object)(void *ctx, const struct vfd_object *o);
	/* thread: number of the track; m->track is not set, times are ticks, m->stack is what
	 * struct traffic_frame said when it was posted. */
	void (*message)(void *ctx, uint32_t thread, const struct vfd_message *m);
	/* Neighbours on the communicator with this number; before their first call on it. */
	void (*neighbours)(void *ctx, const struct vfd_neighbours *n);
	/* Lengths of some messages of a collective call, which is reported later, or fails. */
	void (*lengths)(void *ctx, const struct vfd_lengths *l);
	/* The time that a collective call waited for others; key: of the call in the call tree.
	 * wait->start is the call's enter, of which traffic_frame.entered was true. wait->track
	 * and wait->function are not set. */
	void (*wait)(void *ctx, uint32_t thread, uint64_t key, const struct vfd_wait *wait);
	void *ctx;
};

/* Before the first record. *listener is copied. */
void traffic_listener_set(struct traffic *t, const struct traffic_listener *listener);

/* After the last record: reports the sends that are still open. ticks: the process's end. */
void traffic_listener_rest(struct traffic *t, uint64_t ticks);

#endif
