/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sums that the counters of each thread stand at, while the events of a file go
 * by: for formats that have them in every call.
 */
#ifndef VFTR_NODEAGENT_VFD_LATEST_H
#define VFTR_NODEAGENT_VFD_LATEST_H

#include "nodeagent/vfd-read.h"

struct vfd_latest;

struct vfd_latest *vfd_latest_new(const struct vfd_file *f);
void vfd_latest_free(struct vfd_latest *l);
/* Counters of the file that are sums, in the order of their numbers. */
const uint32_t *vfd_latest_counters(const struct vfd_latest *l, size_t *n);
/* An event of kind COUNTERS. */
void vfd_latest_note(struct vfd_latest *l, const struct vfd_event *e);
/* As many values of a lane, 0 where none was told. Valid until the next note. */
const uint64_t *vfd_latest_values(const struct vfd_latest *l, uint32_t lane);

/* "-17", "0.25" or, of a sum, "17": the value of a counter, in `buf` of 32 bytes. */
const char *vfd_value_text(enum vfd_counter_kind kind, uint64_t value, char *buf);

#endif
