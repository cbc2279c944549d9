/* SPDX-License-Identifier: BSD-3-Clause */
/* The consumer's half of the ring. Every shared word is read once, then checked. */
#include "shm/ring.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

const char *ring_check(const struct ring *r, uint64_t tail, uint64_t *head)
{
	uint64_t h;

	if (load_acquire(&r->producer->magic) != r->magic) {
		*head = tail;
		return NULL; /* not started yet */
	}
	h = load_acquire(&r->producer->head); /* C, pairs with B in ring_publish() */
	*head = tail;
	if (h % BLOCK_BYTES)
		return "its head is not at a block's start (R1)";
	if (h - tail > r->size)
		return "its head is out of range (R2)";
	*head = h;
	return NULL;
}

void ring_release(struct ring *r, uint64_t tail)
{
	store_release(&r->consumer->tail, tail); /* D, pairs with A in ring_has_room() */
	/* the load of waiting must not pass the store of tail: the producer
	 * stores waiting, fences, and looks at tail again before it sleeps */
	fence_full();
	if (load_relaxed(&r->producer->waiting)) {
		add_relaxed_u32(&r->consumer->futex, 1);
		syscall(SYS_futex, &r->consumer->futex, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

/* Copies staging block s if it still is the block at `at` afterwards. */
static bool take_stage(const struct ring *r, unsigned s, uint64_t at, uint64_t *out)
{
	/* pairs with the release in ring_stage_open() */
	if (load_acquire(&r->producer->stage[s]) != at)
		return false;
	/* backwards: one that lives stores forwards, so no word is missing before another */
	for (unsigned i = BLOCK_WORDS; i-- > 0;)
		out[i] = load_acquire(&r->stage[s][i]);
	/* a producer that lives may have published and zeroed it meanwhile;
	 * pairs with the fence in ring_publish() */
	fence_acquire();
	return (int64_t)(load_relaxed(&r->producer->head) - at) <= 0;
}

static bool take_position(const struct ring *r, uint64_t at, uint64_t *out)
{
	return take_stage(r, 0, at, out) || take_stage(r, 1, at, out);
}

unsigned ring_unpublished(const struct ring *r, uint64_t head, uint64_t (*out)[BLOCK_WORDS])
{
	bool second;

	if (load_acquire(&r->producer->magic) != r->magic)
		return 0;
	/* the later one first, again backwards */
	second = take_position(r, head + BLOCK_BYTES, out[1]);
	if (!take_position(r, head, out[0]))
		return 0; /* R5: without the first there is no second */
	return second ? 2 : 1;
}
