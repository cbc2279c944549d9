/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends whose receives are not here, by destination, or receives whose sends are not
 * here, by source, until it is known where those are: as batches (match-wire.h). What
 * is beyond some memory goes to an unlinked temporary file; what is beyond its limit,
 * or cannot be written, is dropped and counted (a send), or refused (a receive).
 */
#ifndef VFTR_NODEAGENT_MATCH_OUTBOX_H
#define VFTR_NODEAGENT_MATCH_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct match_outbox;
struct match_receive;
struct match_send;

/* Smaller in tests. */
#ifndef MATCH_OUTBOX_MEMORY
#define MATCH_OUTBOX_MEMORY ((size_t)16 << 20)
#define MATCH_OUTBOX_FILE   ((uint64_t)16 << 30)
#define MATCH_OUTBOX_PIECE  ((size_t)64 << 10) /* a batch that is larger goes there, too */
#endif

/* directory: for the temporary file; copied. Never NULL. For sends or for receives. */
struct match_outbox *match_outbox_new(const char *directory);
void match_outbox_free(struct match_outbox *o);

void match_outbox_send(struct match_outbox *o, const struct match_send *s);
/* By done.source. False: it is not taken. */
bool match_outbox_receive(struct match_outbox *o, const struct match_receive *r);

struct match_piece {
	void *bytes; /* a batch; NULL: these records are lost */
	size_t n;
	uint64_t records;
};

/* Takes out the oldest piece for a place; the caller frees the bytes. False: there is none. */
bool match_outbox_piece(struct match_outbox *o, uint64_t place, struct match_piece *p);

/* All places with records that are kept or were dropped; the caller frees. */
uint64_t *match_outbox_places(const struct match_outbox *o, size_t *n);

/* How many records are kept or were dropped, and not taken. */
uint64_t match_outbox_left(const struct match_outbox *o);

#endif
