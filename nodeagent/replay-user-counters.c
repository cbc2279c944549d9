/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of the user's counters: they belong to the process, and stand in whatever frame
 * is open. One whose number or value cannot be is counted as a record and no more.
 */
#include "nodeagent/replay-internal.h"
#include "nodeagent/sampling-counters.h"
#include "nodeagent/user-counters.h"
#include "shm/atomic.h"

void replay_set_user_counters(struct replay *r, struct user_counters *const *u)
{
	r->user_counters = u;
}

/* Not before the thread began, and not in the future. */
static uint64_t time_of(const struct replay *r, uint64_t ticks)
{
	if (ticks < r->start)
		return r->start;
	return ticks < r->not_after ? ticks : r->now;
}

unsigned replay_user_counter(struct replay *r, const uint64_t *word, unsigned left, uint64_t w)
{
	unsigned n = record_words(w);
	struct user_counter *c = NULL;
	union user_value value;
	uint64_t last, ticks;

	if (n > left) {
		r->error = "a record crosses the end of its block";
		return left;
	}
	last = load_acquire(&word[n - 1]);
	if (!last) /* never completed */
		return n;
	value.bits = load_relaxed(&word[1]);
	r->counts.records++;
	ticks = time_of(r, last & ~RECORD_USER_MARK);
	if (r->user_counters)
		c = user_counters_set(*r->user_counters, RECORD_USER_NUMBER(w), value, ticks);
	if (c)
		sampling_user_counter(r->sampled, c, ticks, value.bits);
	return n;
}
