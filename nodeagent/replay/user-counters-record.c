/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Values of the user's counters: they belong to the process, and stand in whatever frame
 * is open. One whose number or value cannot be is counted as a record and no more.
 */
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/user-counters.h"
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

/* bits: an int64_t, or a double. Times may go back. */
static void draw_value(
	struct sampled_track *l, struct user_counter *c, uint64_t ticks, uint64_t bits)
{
	const struct vfd_counts counts = {.n = 1, .counters = &c->sampled, .values = &bits};

	if (!c->sampled)
		c->sampled = l->numbers->user_counter(l->ctx, c);
	vfd_counts(l->track, &counts, &c->real, ticks);
}

bool replay_take_user_counter(struct replay *r, const struct ring_record *rec)
{
	const union user_value value = {.bits = load_relaxed(&rec->word[1])};
	const uint64_t ticks = time_of(r, rec->last & ~RECORD_USER_MARK);
	struct user_counter *c = NULL;

	if (r->user_counters)
		c = user_counters_set(
			*r->user_counters, RECORD_USER_NUMBER(rec->head), value, ticks);
	if (c && r->sampled)
		draw_value(r->sampled, c, ticks, value.bits);
	return true;
}
