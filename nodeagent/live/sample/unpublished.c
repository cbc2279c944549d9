/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/sample/unpublished.h"

#include <stdlib.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/process.h"
#include "shm/ring.h"

static void take_message(struct unpublished *u, const struct message *m, struct map32 *called)
{
	if (m->kind == RECORD_COLLECTIVE && m->comm)
		map32_add(called, m->comm, m->ticket + 1);
	if (m->kind == RECORD_DONE) {
		*APPEND(u->done, u->n_done, u->cap_done) = *m;
	} else if (m->request && m->kind != RECORD_RECV && m->kind != RECORD_PARTITION &&
		   m->kind != RECORD_START) {
		*APPEND(u->posted, u->n_posted, u->cap_posted) = *m;
	} else if (m->kind == RECORD_SEND || m->kind == RECORD_COLLECTIVE) {
		u->m = *m;
		u->known = true;
	}
}

static bool is_frame(uint32_t id)
{
	return id >= RECORD_ID_MPI || id == RECORD_WIDE || (id >= RECORD_FORK && id <= RECORD_WAIT);
}

static void take_frame(struct unpublished *u, bool exit)
{
	if (!exit) {
		u->entered++;
		u->inside++;
		return;
	}
	if (u->entered)
		u->entered--;
	else
		u->left++;
	if (u->inside && !--u->inside)
		u->held = 0;
}

static void add_got(struct unpublished *u, uint32_t number, uint64_t since)
{
	if (number)
		*APPEND(u->got, u->n_got, u->cap_got) = (struct got_lock){number, since};
}

/* The frame that holds a lock is the next one that is opened. */
static void take_wait(struct unpublished *u, const uint64_t *w, uint64_t high)
{
	const bool exit = w[0] & RECORD_EXIT;

	u->has_waited = true;
	u->wanted = exit ? 0 : OPENMP_LOCK(w[1]);
	u->region = OPENMP_REGION(w[1]);
	if (exit && !(w[1] & (OPENMP_HOLDS | OPENMP_TURN)))
		add_got(u, OPENMP_LOCK(w[1]), high | w[0] >> RECORD_TIME_SHIFT);
	if (!exit || !(w[1] & OPENMP_HOLDS) || u->held)
		return;
	u->held = OPENMP_LOCK(w[1]);
	u->inside = 0;
}

/* high: the upper bits of the time, as the block's SYNC has them. */
static void take_word(struct unpublished *u, const uint64_t *w, uint64_t high, struct map32 *called)
{
	const uint32_t id = (uint32_t)w[0];
	struct message m;

	if (is_frame(id))
		take_frame(u, w[0] & RECORD_EXIT);
	if (id == RECORD_WAIT)
		take_wait(u, w, high);
	if (id == RECORD_UNLOCK)
		add_got(u, (uint32_t)w[1] & OPENMP_LOCKS, 0);
	if (record_is_message(id)) {
		if (message_read(w, &m))
			take_message(u, &m, called);
		return;
	}
	if (id < RECORD_ID_MPI)
		return;
	u->moved = true;
	u->known = false;
}

/* Those of a receive that were the same for a while. */
struct receive_words {
	uint64_t receive, from;
};

static struct receive_words receive_of(const struct thread_ring *t)
{
	const struct ring_producer_shm *p = t->ring.producer;
	struct receive_words w;

	w.receive = load_acquire(&p->receive); /* pairs with vftr_receive_begin() */
	w.from = load_acquire(&p->receive_from);
	return w;
}

/*
 * Those before `from' were read before they were published.
 *
 * A word that is zero has a place and is not stored: a signal handler has come in between, and its
 * words follow.
 */
static void take_block(struct unpublished *u, const uint64_t block[BLOCK_WORDS], unsigned from,
	struct map32 *called)
{
	uint64_t high = 0;

	for (unsigned at = 0; at < BLOCK_WORDS;) {
		const uint64_t *w = &block[at];
		const unsigned words = record_words(*w);

		if (at + words > BLOCK_WORDS)
			break;
		if ((uint32_t)*w == RECORD_SYNC)
			high = *w >> RECORD_TIME_SHIFT << RECORD_TIME_BITS;
		else if (at >= from && w[words - 1])
			take_word(u, w, high, called);
		at += words;
	}
}

/*
 * The receive is that of the call which the thread is in after its words if it is there before and
 * after they were looked at: then that call has stored it, or one like it. Of what was torn the
 * second look differs.
 */
void unpublished_read(struct unpublished *u, const struct thread_ring *t, struct map32 *called)
{
	uint64_t(*blocks)[BLOCK_WORDS] = xmalloc(2 * sizeof(*blocks));
	const struct receive_words before = receive_of(t);
	const unsigned n = t->error ? 0 : ring_unpublished(&t->ring, t->tail, blocks);
	struct receive_words after;

	*u = (struct unpublished){0};
	for (unsigned i = 0; i < n; i++)
		take_block(u, blocks[i], i ? 0 : t->taken, called);
	free(blocks);
	fence_acquire(); /* the second look comes after that at the words */
	after = receive_of(t);
	u->receives = before.receive == after.receive && before.from == after.from &&
		      message_read_receive(after.receive, after.from, &u->receive);
}

void unpublished_free(struct unpublished *u)
{
	free(u->got);
	free(u->posted);
	free(u->done);
}
