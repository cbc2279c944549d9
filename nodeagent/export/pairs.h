/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ends of messages brought together and sorted by the time of the send, for formats that want
 * a message as one record. Ends may come in any order. Memory holds the ends whose other one has
 * not come, and one row of pairs; full rows go, sorted, to a temporary file, and are merged when
 * they are read. For one thread.
 */
#ifndef VFTR_NODEAGENT_EXPORT_PAIRS_H
#define VFTR_NODEAGENT_EXPORT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

struct pairs;

struct pair_end {
	uint64_t start, end; /* ns */
	uint32_t thread;     /* the caller's number for it */
};

struct pair {
	struct pair_end send, receive;
	uint64_t bytes;
	int32_t tag;
};

/*
 * near: the temporary file, if one is needed, is made as "NEAR.sort.XXXXXX" and loses that name at
 * once. row: pairs in a row; 0: 262144. pairs_free() frees the result.
 */
struct pairs *pairs_new(const char *near, uint32_t row);
void pairs_free(struct pairs *p);

/*
 * Adds one end of the message `flow', which is not 0. The pair gets bytes and tag of the receive.
 * A second end of the same side is left out.
 */
void pairs_add(struct pairs *p, uint64_t flow, bool send, const struct pair_end *end,
	uint64_t bytes, int32_t tag);
/* To be called once, after the last pairs_add() and before the first pairs_first(). */
void pairs_sort(struct pairs *p);
/* The earliest pair that was not taken, valid until it is; NULL: there is none. */
const struct pair *pairs_first(struct pairs *p);
/* Takes the pair that pairs_first() has given. */
void pairs_take(struct pairs *p);

/* 0, or the errno of an error of the temporary file: then pairs are missing. */
int pairs_error(const struct pairs *p);

#endif
