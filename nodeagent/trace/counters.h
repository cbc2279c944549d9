/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of counters in the COUNTERS blocks of a sampling file: of a thread's hardware
 * counters at an event that is in the file, or a level that the program has set. A
 * record is
 *   zigzag(units since the record before, at first the block's time) << 1 | other
 *   other: number of counters, and for each number << 1 | real; else as before
 *   for each its value: zigzag of the difference to the last one of that counter in
 *     this block, at first 0; real: the bits of both exclusive-ored, bytes reversed
 */
#ifndef VFTR_NODEAGENT_TRACE_COUNTERS_H
#define VFTR_NODEAGENT_TRACE_COUNTERS_H

#include "nodeagent/trace/types.h"
#include "nodeagent/trace/varint.h"

#define VFD_COUNTS_MOST 64u /* values in one record */
#define VFD_COUNTS_ROOM ((2 + 2 * VFD_COUNTS_MOST) * VARINT_MAX + 8)

/* The state of writer and reader: the records before in a block. */
struct counts_codec {
	uint64_t units;
	uint32_t n;
	uint32_t counters[VFD_COUNTS_MOST];
	bool real[VFD_COUNTS_MOST];
	uint64_t *last; /* by number of the counter */
	size_t n_last;
};

/* Begins a block, at that time. */
void counts_begin(struct counts_codec *c, uint64_t units);
void counts_free(struct counts_codec *c);
/* Writes at most VFD_COUNTS_MOST values; real[]: by value. Returns the end of the record. */
unsigned char *counts_put(struct counts_codec *c, unsigned char *to, uint64_t units,
	const struct vfd_counts *counts, const bool *real);
/* Reads a record: *values has room for VFD_COUNTS_MOST; c gets the rest. Numbers are below
 * `most`. False: the record makes no sense. */
bool counts_get(struct counts_codec *c, struct varint_reader *r, uint64_t *values, size_t most);

#endif
