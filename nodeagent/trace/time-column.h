/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of the events of a block: differences of neighbours, each in the same number of bits.
 *
 * A clock has a granule: on many processors the counter of ticks goes on in steps of 10 ns, which
 * are 20 to 40 ticks, and nearly all differences of short calls are one or two of them. Where the
 * granule is one tick, most differences are in a narrow range. So a difference is
 * lowest + code * granule, with codes of 1 to 8 bits; those that are none of these have the code
 * of only ones, and stand behind all codes as numbers of their own. Nothing is rounded. A block
 * says which of each it has.
 */
#ifndef VFTR_NODEAGENT_TRACE_TIME_COLUMN_H
#define VFTR_NODEAGENT_TRACE_TIME_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/trace/varint.h"

struct time_coding {
	uint32_t granule; /* units, from 1 */
	uint32_t lowest;  /* units: the difference with code 0 */
	uint32_t bits;	  /* of a code: 1 to 8 */
};

#define TIME_BITS_MOST 8u
#define TIMES_MOST     8192u /* differences of a column that is written */
/* Room for n differences, and for what is written too far. */
#define TIME_COLUMN_ROOM(n) ((size_t)(n) * (1 + 5) + 64)

/* Looks at some of the n differences, from 1, and chooses what takes the fewest bytes. */
struct time_coding time_coding_choose(const uint32_t *difference, size_t n);

/*
 * Writes the column of n differences, at most TIMES_MOST. Behind the last one are seven more,
 * whose codes may get into the column. Returns its end; TIME_COLUMN_ROOM(n) is enough.
 */
unsigned char *time_column_put(
	unsigned char *to, const uint32_t *difference, size_t n, const struct time_coding *c);

struct time_column {
	struct time_coding coding;
	const unsigned char *codes;
	size_t next;   /* number of the next difference */
	uint64_t word; /* codes of the eight that it is one of */
	struct varint_reader others;
};

/* Begins a column of n differences that stands in r up to its end. False: nonsense. */
bool time_column_begin(struct time_column *t, struct varint_reader *r, size_t n);
/* The next difference, to be called at most n times. t->others.bad: nonsense. */
uint64_t time_column_next(struct time_column *t);

/* ---- codes for different processors, for tests */

/*
 * Codes of n differences, n a multiple of 8, into n / 8 * c->bits bytes and up to 8 more, and the
 * places of those that have none into without[]. Returns the number of these. inverse: of the odd
 * part of the granule, modulo 2^32; shift: how often it can be halved.
 */
typedef size_t time_coder(unsigned char *to, const uint32_t *difference, size_t n,
	const struct time_coding *c, uint32_t inverse, unsigned shift, uint16_t *without);
/* The i-th one that this processor can run, the best first; NULL: there are no more. */
time_coder *time_coder_at(unsigned i);
/* time_column_put() by this one. */
unsigned char *time_column_put_by(time_coder *coder, unsigned char *to, const uint32_t *difference,
	size_t n, const struct time_coding *c);

#endif
