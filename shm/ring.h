/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring of one thread: one producer (the thread), one consumer (the agent).
 * vftr-ring(7) is the long form of this page.
 *
 *   producer                                consumer
 *
 *   store words in staging block S
 *   when S is full:
 *     LOAD tail, room?          (A)         LOAD head               (C)
 *     copy S into the ring                  read blocks
 *     STORE head                (B)         STORE tail              (D)
 *     zero S
 *
 *   A pairs with D: a block is overwritten only after it was read.
 *   B pairs with C: what is below head is complete.
 *
 * The staging block is the thread's own 4 KiB of warm cache; the copy uses
 * non-temporal stores, so the lines of the ring never have to be fetched from
 * the consumer's cache, wherever it runs.
 *
 * Invariants (ring_check() checks what the consumer can see):
 *  R1  head and tail are multiples of BLOCK_BYTES and only grow
 *  R2  tail <= head <= tail + size, as differences
 *  R3  the blocks in [tail, head) are complete
 *  R4  a staging block whose position is >= head holds words that are not in
 *      the ring; the words in one whose position is < head are old
 *  R5  the two staging positions differ; the unpublished ones are head and
 *      head + BLOCK_BYTES
 *  R6  words of a staging block at or above head are zero until stored, and a
 *      stored word never changes before the block is published
 *  R7  the consumer stores nothing but tail, futex, retired; the producer
 *      nothing but its page, the staging blocks and the data
 *
 * Death at any instruction leaves R1-R6 intact: the consumer reads
 * [tail, head), then the staging blocks in the order of their positions.
 */
#ifndef VFTR_SHM_RING_H
#define VFTR_SHM_RING_H

#include <stdbool.h>
#include "shm/atomic.h"
#include "shm/copy.h"
#include "shm/killpoint.h"
#include "shm/segment.h"

/* ---- producer ---------------------------------------------------------- */

/*
 * Readies a new ring, or of one that an ended thread has left and the
 * agent has emptied: staging block 0 is current, 1 is spare. The agent reads
 * nothing of it before ring_show().
 */
static inline void ring_prepare(struct ring *r, uint32_t tid, uint64_t ticks)
{
	struct ring_producer_shm *p = r->producer;

	if (r->magic != ring_magic(0)) {
		zero_block(r->stage[0]);
		zero_block(r->stage[1]);
	}
	p->size = r->size;
	p->head = p->lost = p->blocked_ns = p->kicks = p->lost_messages = 0;
	p->waiting = 0;
	p->receive = p->receive_from = 0;
	p->tid = tid;
	p->stage[1] = UINT64_MAX; /* no position: R4 does not see it as data ... */
	p->stage[0] = 0;
	r->stage[0][0] = record_sync_word(ticks);
}

/* From now on the agent may read the ring. */
static inline void ring_show(struct ring *r)
{
	store_release(&r->producer->magic, r->magic); /* pairs with ring_check() */
}

/* Both, for a ring in which nothing is to be before the agent sees it. */
static inline void ring_start(struct ring *r, uint32_t tid, uint64_t ticks)
{
	ring_prepare(r, tid, ticks);
	ring_show(r);
}

/* True if `blocks` more blocks can be published. */
static inline bool ring_has_room(const struct ring *r, unsigned blocks)
{
	/* A, pairs with D in ring_release() */
	uint64_t tail = load_acquire(&r->consumer->tail);

	/* head is our own word: nobody else writes it */
	return load_relaxed(&r->producer->head) + blocks * (uint64_t)BLOCK_BYTES - tail <= r->size;
}

/* Bytes that are published and not yet read. */
static inline uint64_t ring_fill(const struct ring *r)
{
	/* stale is safe: the fill only shrinks behind our back */
	return load_relaxed(&r->producer->head) - load_relaxed(&r->consumer->tail);
}

/*
 * Makes staging block `s` ready to become the current one, right after the
 * block `before`. It must be spare (zero, not above head).
 */
static inline void ring_stage_open(struct ring *r, unsigned s, unsigned before, uint64_t ticks)
{
	struct ring_producer_shm *p = r->producer;

	store_relaxed(&r->stage[s][0], record_sync_word(ticks));
	KILLPOINT("stage.synced");
	/* release: whoever sees the position sees the zeroed block and its SYNC */
	store_release(&p->stage[s], p->stage[before] + BLOCK_BYTES);
	KILLPOINT("stage.opened");
}

/*
 * Publishes staging block s, which must be the oldest and for which there must
 * be room, and leaves it spare.
 */
static inline void ring_publish(struct ring *r, unsigned s)
{
	struct ring_producer_shm *p = r->producer;
	uint64_t head = load_relaxed(&p->head);
	uint64_t *slot = r->data + (head & (r->size - 1)) / 8;

	copy_block(slot, r->stage[s]); /* ends with a store fence of its own */
	KILLPOINT("publish.copied");
	store_release(&p->head, head + BLOCK_BYTES); /* B, pairs with C in ring_peek() */
	KILLPOINT("publish.headed");
	/* a reader that finds the zeroes also finds the head that explains them */
	fence_release();
	zero_block(r->stage[s]);
	KILLPOINT("publish.zeroed");
}

/* ---- consumer ---------------------------------------------------------- */

/* After the producer's end, when all was read: readies the ring for the next thread, its
 * use number `uses`. */
static inline void ring_use_again(struct ring *r, uint32_t uses)
{
	store_relaxed(&r->consumer->tail, 0); /* it learns of the ring by a message */
	r->magic = ring_magic(uses);
}

/* NULL, and sets *head (to tail until the producer has started); or the text of the invariant that
 * the producer has broken. */
const char *ring_check(const struct ring *r, uint64_t tail, uint64_t *head);

/* Oldest unread block below head (as returned by ring_check), or NULL. */
static inline const uint64_t *ring_peek(const struct ring *r, uint64_t tail, uint64_t head)
{
	return tail == head ? NULL : r->data + (tail & (r->size - 1)) / 8;
}

/* Gives blocks back to the producer; wakes it if it sleeps. */
void ring_release(struct ring *r, uint64_t tail);

/*
 * The unpublished words of a ring, oldest first: copies up to two staging
 * blocks to out[2][BLOCK_WORDS] and returns how many. For a producer that has
 * ended this is exact; for a running one it is what was stored a moment ago.
 */
unsigned ring_unpublished(const struct ring *r, uint64_t head, uint64_t (*out)[BLOCK_WORDS]);

#endif
