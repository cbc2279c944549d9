/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A signal handler has gone on to another block while the fast path was storing what
 * it had reserved a place for: is it in the block that was published?
 */
#include "libhook/emit.h"
#include "libhook/process.h"

/*
 * False in a child of fork that such a handler has made: it has the parent's block no more, and
 * blank pages in its place. What was stored there now, was not published by the parent.
 */
static bool is_in_ring(const struct thread *t, const uint64_t *word)
{
	return (uintptr_t)word - (uintptr_t)t->ring.base < t->ring.bytes;
}

void vftr_overtaken(
	uint64_t key, const void *site, uint64_t value, bool is_exit, uint64_t *word, uint64_t base)
{
	struct thread *t = &vftr_thread;
	const struct ring_producer_shm *p = t->ring.producer;
	unsigned s = word >= t->ring.stage[1];

	if (!turns_since(t, base)) /* it stands before a SYNC */
		return;
	/* stored in time, published, and zeroed since */
	if (load_relaxed(word) != value)
		return;
	if (is_in_ring(t, word) &&
		(int64_t)(load_relaxed(&p->stage[s]) - load_relaxed(&p->head)) >= 0) {
		/* it stands where it should, in a block not yet published; counted now, as another
		 * handler may come between ... */
		fence_signal();
		if (turns_since(t, base) == 1)
			return;
		/* ... or in place of a word of the handler in a later block */
		if (s != t->stage || word < t->cur) {
			add_relaxed_u64(&vftr_process.app->lost_nested, 1);
			return;
		}
	}
	store_relaxed(word, 0);
	vftr_slow(vftr_process_ticks(), is_exit ? RECORD_EXIT : 0, key, site);
}

/*
 * vftr_overtaken() for a record of several words. True if the record is gone,
 * and must be recorded again.
 */
static bool words_overtaken(struct thread *t, uint64_t *to, const uint64_t *word, uint64_t base)
{
	const struct ring_producer_shm *p = t->ring.producer;
	unsigned s = to >= t->ring.stage[1], n = record_words(word[0]);

	if (!turns_since(t, base) || load_relaxed(&to[n - 1]) != word[n - 1])
		return false;
	if (is_in_ring(t, to) &&
		(int64_t)(load_relaxed(&p->stage[s]) - load_relaxed(&p->head)) >= 0) {
		fence_signal();
		if (turns_since(t, base) == 1)
			return false;
		/* part of it stands among words of the handler: better none of them */
		if (s != t->stage || to < t->cur)
			add_relaxed_u64(&vftr_process.app->lost_nested, n);
	}
	for (unsigned i = 0; i < n; i++)
		store_relaxed(&to[i], 0);
	return true;
}

void vftr_emit_overtaken(uint64_t *to, const uint64_t *word, uint64_t base)
{
	if (words_overtaken(&vftr_thread, to, word, base))
		vftr_emit_slow(word);
}

void vftr_call_overtaken(uint64_t *to, const uint64_t *word, uint64_t base)
{
	if (words_overtaken(&vftr_thread, to, word, base))
		vftr_slow(clock_counter(), 0, word[1], NULL);
}

void vftr_openmp_overtaken(uint64_t *to, const uint64_t *word, uint64_t base)
{
	if (words_overtaken(&vftr_thread, to, word, base))
		vftr_openmp_slow(clock_counter(), word[0] & RECORD_EXIT,
			(enum record_id)(uint32_t)word[0], word[1], word[2]);
}
