/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hardware counters: what they have grown by since the last record of them
 * belongs to the frame on top, whatever that frame did meanwhile: calls that
 * were lost or left by a jump are in it as their time is. Of a pause it is the
 * frame of the pause.
 */
#include "nodeagent/replay/internal.h"
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

bool replay_check_counters(struct replay *r, uint64_t head)
{
	const uint32_t n = RECORD_COUNTERS_N(head);

	if (n && n == r->n_counters && !(head & RECORD_EXIT))
		return true;
	r->error = "counters that were not asked for";
	return false;
}

bool replay_take_counters(struct replay *r, const struct ring_record *rec)
{
	const unsigned n = rec->words - 1;
	struct node_counters *to;

	if (!replay_check_counters(r, rec->head))
		return false;
	to = calltree_counters(replay_node(r->top), n);
	for (unsigned i = 0; i < n; i++) {
		uint64_t value = load_relaxed(&rec->word[1 + i]) & (COUNTER_MARK - 1);

		if (i < to->n)
			to->of[i] += growth(r->counter[i], value);
		r->counter[i] = value;
	}
	if (r->sampled) {
		r->slow |= SLOW_COUNTED;
		r->counted_at = r->sampled->track->at;
	}
	return false;
}

void replay_counted(struct replay *r, uint32_t id)
{
	static const bool none_is_real[COUNTERS_MAX];
	struct vfd_counts counts = {.n = r->n_counters, .values = r->counter};
	const struct sampled_track *l = r->sampled;

	/* these stand before the event */
	if (id == RECORD_COUNTERS || id == RECORD_SYNC || id == RECORD_SITE)
		return;
	r->slow &= ~SLOW_COUNTED;
	if (!l || l->track->at == r->counted_at)
		return;
	counts.counters = l->numbers->counters(l->ctx, counts.n);
	if (counts.counters)
		vfd_counts(l->track, &counts, none_is_real, r->now);
}
