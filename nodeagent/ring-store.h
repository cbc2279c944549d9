/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings of all processes: where their memory comes from, how large they are
 * and how many there can be.
 *
 * Making a ring of megabytes and giving it back costs more than a short process,
 * so some of those that ended processes have left are kept for the next ones.
 *
 * All rings together have at most half of the memory (of the control group, if
 * it has less), and half of what is left when one is made, but for a reserve. While
 * there is much of it they have the size that is wanted; then the next one gets
 * less, down to the smallest, so that thousands of threads find room.
 */
#ifndef VFTR_NODEAGENT_RING_STORE_H
#define VFTR_NODEAGENT_RING_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/segment.h"

struct memory_left;
struct ring_store;

/* ring.size says what it is; fd is to be sent, and the store's: negative if none is needed. */
struct stored_ring {
	struct ring ring; /* base NULL: none */
	int fd;
};

/* left: how to learn what memory there is; memory_left() but in tests. */
struct ring_store *ring_store_new(uint64_t ring_size, struct memory_left (*left)(void));

/* What machine and control group have. */
struct memory_left ring_store_memory(void);

/* An empty ring with all words zero but those of its data. 0 or -errno. */
int ring_store_take(struct ring_store *s, struct stored_ring *out);

/* It was sent; the descriptor stays open only if the ring may be used again. */
void ring_store_sent(struct ring_store *s, struct stored_ring *r);

/*
 * The end of a ring. again: the process has ended well, and nobody writes to it
 * any more. r->ring.base is NULL afterwards.
 */
void ring_store_leave(struct ring_store *s, struct stored_ring *r, bool again);

/* Bytes of the rings that processes had at one time, at most. */
uint64_t ring_store_peak(const struct ring_store *s);

#endif
