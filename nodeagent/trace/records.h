/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One record of the blocks MESSAGES, MATCHES, LAUNCHES, WAITS, LOCKS and LENGTHS of a sampling
 * file; format.h describes them. Times are in units. Each put() writes at most its ROOM bytes and
 * returns the end of the record; each get() is false if the record makes no sense.
 */
#ifndef VFTR_NODEAGENT_TRACE_RECORDS_H
#define VFTR_NODEAGENT_TRACE_RECORDS_H

#include "nodeagent/trace/types.h"
#include "nodeagent/trace/varint.h"
#include "shm/message.h"

#define VFD_MESSAGE_ROOM 224u
#define VFD_PAIR_ROOM	 64u
#define VFD_LAUNCH_ROOM	 96u
#define VFD_WAIT_ROOM	 56u
#define VFD_LOCK_ROOM	 56u
#define VFD_LENGTHS_ROOM 144u

/* *last: start of the record before, at first the block's time. */
unsigned char *vfd_message_put(unsigned char *to, const struct vfd_message *m, int64_t *last);
bool vfd_message_get(struct varint_reader *r, struct vfd_message *m, int64_t *last);

unsigned char *vfd_pair_put(unsigned char *to, const struct vfd_pair *p);
bool vfd_pair_get(struct varint_reader *r, struct vfd_pair *p);

/* *last: the record before; at first its time is the block's, and the rest is 0. */
unsigned char *vfd_launch_put(
	unsigned char *to, const struct vfd_launch *l, struct vfd_launch *last);
bool vfd_launch_get(struct varint_reader *r, struct vfd_launch *l, struct vfd_launch *last);

/* *last: as of a message. */
unsigned char *vfd_wait_put(unsigned char *to, const struct vfd_wait *wait, int64_t *last);
bool vfd_wait_get(struct varint_reader *r, struct vfd_wait *wait, int64_t *last);

unsigned char *vfd_lock_put(unsigned char *to, const struct vfd_lock_wait *wait, int64_t *last);
bool vfd_lock_get(struct varint_reader *r, struct vfd_lock_wait *wait, int64_t *last);

unsigned char *vfd_lengths_put(unsigned char *to, const struct vfd_lengths *l);
/* Sets l->bytes to bytes. */
bool vfd_lengths_get(struct varint_reader *r, struct vfd_lengths *l, uint64_t bytes[LENGTHS_MOST]);

#endif
