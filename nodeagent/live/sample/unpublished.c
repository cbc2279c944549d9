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
	} else if (m->request && m->kind != RECORD_RECV && m->kind != RECORD_PARTITION) {
		*APPEND(u->posted, u->n_posted, u->cap_posted) = *m;
	} else if (m->kind == RECORD_SEND || m->kind == RECORD_COLLECTIVE) {
		u->m = *m;
		u->known = true;
	}
}

static void take_word(struct unpublished *u, const uint64_t *w, struct map32 *called)
{
	const uint32_t id = (uint32_t)w[0];
	struct message m;

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

void unpublished_read(struct unpublished *u, const struct thread_ring *t, struct map32 *called)
{
	uint64_t(*blocks)[BLOCK_WORDS] = xmalloc(2 * sizeof(*blocks));
	const unsigned n = t->error ? 0 : ring_unpublished(&t->ring, t->tail, blocks);

	*u = (struct unpublished){0};
	for (unsigned i = 0; i < n; i++) {
		for (unsigned at = 0; at < BLOCK_WORDS && blocks[i][at];) {
			const uint64_t *w = &blocks[i][at];
			const unsigned words = record_words(*w);

			if (at + words > BLOCK_WORDS)
				break;
			if (words == 1 || w[words - 1])
				take_word(u, w, called);
			at += words;
		}
	}
	free(blocks);
}

void unpublished_free(struct unpublished *u)
{
	free(u->posted);
	free(u->done);
}
