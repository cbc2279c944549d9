/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both ends of messages brought together and sorted by the time of the send, for
 * formats that want a message as one record. Ends may come in any order. Memory
 * holds what has no other end yet; complete pairs go to a temporary file
 * in sorted rows, which are merged when they are read.
 */
#ifndef VFTR_NODEAGENT_EXPORT_PAIRS_H
#define VFTR_NODEAGENT_EXPORT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

struct pairs;

struct pair_end {
	uint64_t start, end;
	uint32_t thread;
};

struct pair {
	struct pair_end send, receive;
	uint64_t bytes;
	int32_t tag;
};

/* near: the temporary file, if one is needed, is made as "NEAR.sort.XXXXXX" and at
 * once has no name. row: pairs in memory at a time; 0: many. */
struct pairs *pairs_new(const char *near, uint32_t row);
void pairs_free(struct pairs *p);

/* One end of the message `flow`; bytes and tag of the receive count. */
void pairs_add(struct pairs *p, uint64_t flow, bool send, const struct pair_end *end,
	uint64_t bytes, int32_t tag);
/* After the last one, before the first pairs_first(). */
void pairs_sort(struct pairs *p);
/* The earliest that was not taken, or NULL. */
const struct pair *pairs_first(struct pairs *p);
void pairs_take(struct pairs *p);

/* errno of the temporary file's first error, or 0: pairs are missing then. */
int pairs_error(const struct pairs *p);

#endif
