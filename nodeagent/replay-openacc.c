/* SPDX-License-Identifier: BSD-3-Clause */
/* What an event of OpenACC has moved or allocated: it belongs to the frame on top. */
#include "nodeagent/replay-internal.h"
#include "shm/atomic.h"

unsigned replay_openacc(struct replay *r, const uint64_t *word, unsigned left, uint64_t w)
{
	unsigned n = record_words(w);
	uint64_t bytes;

	if (n > left) {
		r->error = "a record crosses the end of its block";
		return left;
	}
	bytes = load_acquire(&word[n - 1]);
	if (!bytes) /* never completed */
		return n;
	r->counts.records++;
	calltree_extra(replay_node(r->top))->openacc_bytes += bytes & ~RECORD_OPENACC_MARK;
	return n;
}
