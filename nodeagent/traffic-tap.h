/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communication of one process, one by one, as it becomes complete: what the sums
 * of traffic.h count, for somebody who keeps them all. Each is told once: a
 * blocking call when it is left, a request when the call that has completed it
 * is left. mpi.only_for_ranks holds here, too.
 *
 *  - not told: what has failed, receives that were cancelled or never seen to end
 *  - a send that was never seen to end is told at the end of the process, with
 *    VFD_MESSAGE_UNKNOWN
 */
#ifndef VFTR_NODEAGENT_TRAFFIC_TAP_H
#define VFTR_NODEAGENT_TRAFFIC_TAP_H

#include <stdint.h>
#include "nodeagent/vfd-types.h"

struct traffic;

struct traffic_tap {
	/* A communicator that a message is on; c->number is not set. Returns its number,
	 * which stands in messages. */
	uint32_t (*comm)(void *ctx, const struct vfd_comm *c);
	/* The number of a window or file; o->number: what it has here. */
	uint32_t (*object)(void *ctx, const struct vfd_object *o);
	/* thread: number of the lane; m->lane is not set, times are ticks, m->stack is what
	 * struct traffic_frame said when it was posted. */
	void (*message)(void *ctx, uint32_t thread, const struct vfd_message *m);
	/* Of the communicator that has this number; before the first call of neighbours on it. */
	void (*neighbours)(void *ctx, const struct vfd_neighbours *n);
	/* Of some messages of a collective call, which is told later, or fails. */
	void (*lengths)(void *ctx, const struct vfd_lengths *l);
	/* What a collective call waited for others, by its key in the call tree; wait->start is
	 * the call's enter, which it said that it has. wait->lane, function are not set. */
	void (*wait)(void *ctx, uint32_t thread, uint64_t key, const struct vfd_wait *wait);
	void *ctx;
};

/* To be called before the first record. Copied. */
void traffic_tap_set(struct traffic *t, const struct traffic_tap *tap);

/* No record will come: tells the sends that are open. ticks: when the process ended. */
void traffic_tap_rest(struct traffic *t, uint64_t ticks);

#endif
