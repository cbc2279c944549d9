/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches in a sampling file: a call on one lane has started something on another
 * one, a stream of a GPU. One record has both ends.
 */
#ifndef VFTR_NODEAGENT_VFD_LAUNCH_H
#define VFTR_NODEAGENT_VFD_LAUNCH_H

#include "nodeagent/vfd-types.h"

#define VFD_LAUNCH_ROOM 96u /* no record is longer */

/* *last: the record before; at first its time is the block's, and all else 0. Times in
 * units. Returns the place behind it. */
unsigned char *vfd_launch_put(
	unsigned char *to, const struct vfd_launch *l, struct vfd_launch *last);

/* ---- reading: both ends of each, in the order of time ---------------------------- */

struct vfd_file;
struct vfd_event;
struct vfd_filter;
struct launches;

/*
 * Those of which both lanes are wanted and both times lie in what the filter asks
 * for; NULL: there are none. 96 bytes of memory for each.
 */
struct launches *launches_new(struct vfd_file *f, uint32_t file, const struct vfd_filter *filter,
	bool (*wanted)(const void *ctx, const struct vfd_file *f, uint32_t lane), const void *ctx);
void launches_free(struct launches *l);
bool launches_next(struct launches *l, struct vfd_event *e);
/* Ends given, and to be given. */
void launches_progress(const struct launches *l, uint64_t *done, uint64_t *all);

#endif
