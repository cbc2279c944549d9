/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Batches of sends, which the agent of the sender gives to the agent of the receiver:
 * bytes without padding and pointers, the same on all machines. Most sends take about
 * ten bytes: members that equal those of the send before are left out, numbers are
 * differences of variable length.
 */
#ifndef VFTR_NODEAGENT_MATCH_WIRE_H
#define VFTR_NODEAGENT_MATCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/match/match.h"

/* A batch while it is written; begins as zeros. */
struct match_batch {
	uint8_t *bytes;
	size_t n, cap;
	struct match_send last;
	uint32_t last_path;
};

void match_batch_send(struct match_batch *b, const struct match_send *s);
/* Adds a complete receive to a batch of receives, for match_batch_receives(). */
void match_batch_receive(struct match_batch *b, const struct match_receive *r);
/* Empties the batch, and keeps its memory. */
void match_batch_clear(struct match_batch *b);
void match_batch_free(struct match_batch *b);

/*
 * Calls send for each send of a batch. NULL, or what is wrong with the batch; then the rest
 * was not given.
 */
const char *match_batch_each(const void *bytes, size_t n,
	void (*send)(void *arg, const struct match_send *s), void *arg);
/* The same for a batch of receives. False: it is damaged, and the rest was not given. */
bool match_batch_receives(const void *bytes, size_t n,
	void (*receive)(void *arg, const struct match_receive *r), void *arg);
/* Gives each send of a batch to m. Result as of match_batch_each(). */
const char *match_batch_give(const void *bytes, size_t n, struct match *m);

#endif
