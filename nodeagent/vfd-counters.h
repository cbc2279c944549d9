/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of counters in the COUNTERS blocks of a sampling file: what a thread's
 * counters were at the time of an event of it that is in the file, or a level that
 * the program told. A record is
 *   zigzag(units since the record before, at first the block's time) << 1 | other
 *   other: number of counters, and for each number << 1 | real; else as before
 *   for each its value: zigzag of the difference to the last one of that counter in
 *     this block, at first 0; real: the bits of both exclusive-ored, bytes reversed
 */
#ifndef VFTR_NODEAGENT_VFD_COUNTERS_H
#define VFTR_NODEAGENT_VFD_COUNTERS_H

#include "nodeagent/vfd-types.h"
#include "nodeagent/vfd-varint.h"

#define VFD_COUNTS_MOST 64u /* values in one record */
#define VFD_COUNTS_ROOM ((2 + 2 * VFD_COUNTS_MOST) * VARINT_MAX + 8)

/* What both sides know of the records before in a block. */
struct counts_codec {
	uint64_t units;
	uint32_t n;
	uint32_t counters[VFD_COUNTS_MOST];
	bool real[VFD_COUNTS_MOST];
	uint64_t *last; /* by number of the counter */
	size_t n_last;
};

/* A block begins, at that time. */
void counts_begin(struct counts_codec *c, uint64_t units);
void counts_free(struct counts_codec *c);
/* At most VFD_COUNTS_MOST values; real[]: by value. Returns the place behind it. */
unsigned char *counts_put(struct counts_codec *c, unsigned char *to, uint64_t units,
	const struct vfd_counts *counts, const bool *real);
/* values: room for VFD_COUNTS_MOST; c has the rest. No number is `most` or more.
 * False: there is no record that makes sense. */
bool counts_get(struct counts_codec *c, struct varint_reader *r, uint64_t *values, size_t most);

/* ---- vfd-values.c: the records of one lane of a file that is read, in the order of time */

struct values;
struct vfd_event;
struct vfd_file;
struct vfd_filter;

/* NULL: there are none. */
struct values *values_new(
	struct vfd_file *f, uint32_t file, uint32_t lane, const struct vfd_filter *filter);
void values_free(struct values *v);
/* False: that was all. What e points to is valid until the next call. */
bool values_next(struct values *v, struct vfd_event *e);
/* Whether the last record has sums, which were read at an event of the lane. */
bool values_are_sums(const struct values *v);
/* Blocks read, and to be read. */
void values_progress(const struct values *v, uint64_t *done, uint64_t *all);

#endif
