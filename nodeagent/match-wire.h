/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches of sends, as the agent of the sender gives them to the agent of the
 * receiver: bytes without padding and pointers, the same on all machines. Most sends
 * take about ten bytes: what is as in the send before is left out, numbers are
 * differences of variable length.
 */
#ifndef VFTR_NODEAGENT_MATCH_WIRE_H
#define VFTR_NODEAGENT_MATCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/match.h"

/* Being written; all zero at first. */
struct match_batch {
	uint8_t *bytes;
	size_t n, cap;
	struct match_send last;
};

void match_batch_send(struct match_batch *b, const struct match_send *s);
/* In a batch of its own kind: a receive that is complete, for match_batch_receives(). */
void match_batch_receive(struct match_batch *b, const struct match_receive *r);
/* It is empty again, and keeps its memory. */
void match_batch_clear(struct match_batch *b);
void match_batch_free(struct match_batch *b);

/*
 * All of a batch, one after the other. NULL, or what is wrong with it; then the rest was
 * not given.
 */
const char *match_batch_each(const void *bytes, size_t n,
	void (*send)(void *arg, const struct match_send *s), void *arg);
/* All of a batch of receives. False: it is damaged, and the rest was not given. */
bool match_batch_receives(const void *bytes, size_t n,
	void (*receive)(void *arg, const struct match_receive *r), void *arg);
/* Gives all of a batch to m. NULL, or what is wrong with it; then the rest was not given. */
const char *match_batch_give(const void *bytes, size_t n, struct match *m);

#endif
