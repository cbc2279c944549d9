/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The latest sums of each thread's counters, while the events of a file are read: for
 * formats that have them in every call.
 */
#ifndef VFTR_NODEAGENT_TRACE_READ_LATEST_H
#define VFTR_NODEAGENT_TRACE_READ_LATEST_H

#include "nodeagent/trace/read/file.h"

struct vfd_latest;

struct vfd_latest *vfd_latest_new(const struct vfd_file *f);
void vfd_latest_free(struct vfd_latest *l);
/* Counters of the file that are sums, in the order of their numbers. */
const uint32_t *vfd_latest_counters(const struct vfd_latest *l, size_t *n);
/* Takes an event of kind COUNTERS. */
void vfd_latest_note(struct vfd_latest *l, const struct vfd_event *e);
/* The latest values of a track, as many as counters; 0: none yet. Valid until the next note. */
const uint64_t *vfd_latest_values(const struct vfd_latest *l, uint32_t track);

/* "-17", "0.25" or, of a sum, "17": the value of a counter, in `buf` of 32 bytes. */
const char *vfd_value_text(enum vfd_counter_kind kind, uint64_t value, char *buf);

#endif
