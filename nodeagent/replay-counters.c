/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters: what they have grown by since the last record of them
 * belongs to the frame on top, whatever that frame did meanwhile: calls that
 * were lost or left by a jump are in it as their time is. Of a pause it is the
 * frame of the pause.
 */
#include "nodeagent/replay-internal.h"
#include "nodeagent/sampling-counters.h"
#include "shm/atomic.h"

void replay_set_counters(struct replay *r, uint32_t n)
{
	r->n_counters = n <= COUNTERS_MAX ? n : COUNTERS_MAX;
}

/* A counter that went back, which none should, has not grown. */
static uint64_t growth(uint64_t from, uint64_t to)
{
	uint64_t d = (to - from) & (COUNTER_MARK - 1);

	return d < COUNTER_MARK >> 1 ? d : 0;
}

unsigned replay_counters(struct replay *r, const uint64_t *word, unsigned left, uint64_t w)
{
	unsigned n = RECORD_COUNTERS_N(w);
	struct node_counters *to;

	if (n >= left) {
		r->error = "a record crosses the end of its block";
		return left;
	}
	if (!n || n != r->n_counters || (w & RECORD_EXIT)) {
		r->error = "counters that were not asked for";
		return left;
	}
	if (!load_acquire(&word[n]))
		return 1 + n; /* never completed */
	to = calltree_counters(replay_node(r->top), n);
	for (unsigned i = 0; i < n; i++) {
		uint64_t value = load_relaxed(&word[1 + i]) & (COUNTER_MARK - 1);

		if (i < to->n)
			to->of[i] += growth(r->counter[i], value);
		r->counter[i] = value;
	}
	if (r->sampled) {
		r->slow |= SLOW_COUNTED;
		r->counted_at = r->sampled->lane->at;
	}
	return 1 + n;
}

void replay_counted(struct replay *r, uint32_t id)
{
	/* these stand before the event */
	if (id == RECORD_COUNTERS || id == RECORD_SYNC || id == RECORD_SITE)
		return;
	r->slow &= ~SLOW_COUNTED;
	if (r->sampled && r->sampled->lane->at != r->counted_at)
		sampling_counters(r->sampled, r->counter, r->n_counters, r->now);
}
