/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends without their receives on this node, by destination, or receives without their
 * sends, by source, until the node of the others is known: as batches (wire.h). Beyond
 * a limit of memory they go to an unlinked temporary file; beyond the limit of the file,
 * or if it cannot be written, a send is dropped and counted, and a receive refused.
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
#define MATCH_OUTBOX_PIECE  ((size_t)64 << 10) /* larger batches go to the file, too */
#endif

/* An outbox for sends or for receives; never NULL. directory: of the temporary file; copied. */
struct match_outbox *match_outbox_new(const char *directory);
void match_outbox_free(struct match_outbox *o);
/*
 * To be called first in a child of fork() that goes on with its copy of o: what it adds goes to a
 * file of its own, as the other process writes to the one that both have open.
 */
void match_outbox_copied(struct match_outbox *o);

void match_outbox_send(struct match_outbox *o, const struct match_send *s);
/* By done.source. False: it was refused. */
bool match_outbox_receive(struct match_outbox *o, const struct match_receive *r);

struct match_piece {
	void *bytes; /* a batch; NULL: these records are lost */
	size_t n;
	uint64_t records;
};

/* Takes out the oldest piece for a process; the caller frees the bytes. False: there is none. */
bool match_outbox_piece(struct match_outbox *o, uint64_t proc_id, struct match_piece *p);

/* All processes with records that are kept or were dropped; the caller frees. */
uint64_t *match_outbox_proc_ids(const struct match_outbox *o, size_t *n);

/* Number of records that are kept or were dropped, and not taken out. */
uint64_t match_outbox_left(const struct match_outbox *o);

#endif
