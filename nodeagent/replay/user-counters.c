/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/user-counters.h"

#include <math.h>
#include <stdlib.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"
#include "shm/atomic.h"
#include "shm/session.h"
#include "shm/wire.h"

struct user_counters {
	struct user_counter *at; /* by number, from 1 */
	size_t n, cap;
};

/* A name or unit without newlines, as a newline separates them in a profile. */
static char *one_line(const char *text)
{
	char *copy = xasprintf("%.*s", (int)SESSION_NAME_MAX, text);

	for (char *c = copy; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return copy;
}

bool user_counters_define(struct user_counters **all, const struct wire_counter *m,
	const char *name, const char *unit)
{
	struct user_counters *u = *all;

	if (!u)
		u = *all = xcalloc(1, sizeof(*u));
	if (m->number != u->n + 1 || m->number > COUNTER_NUMBER_MAX ||
		m->type > WIRE_COUNTER_REAL || !name[0])
		return false;
	*APPEND(u->at, u->n, u->cap) = (struct user_counter){.name = one_line(name),
		.unit = one_line(unit),
		.real = m->type == WIRE_COUNTER_REAL};
	return true;
}

void user_counters_free(struct user_counters *u)
{
	for (size_t i = 0; u && i < u->n; i++) {
		free(u->at[i].name);
		free(u->at[i].unit);
	}
	if (u)
		free(u->at);
	free(u);
}

struct user_counter *user_counters_set(
	struct user_counters *u, uint32_t number, union user_value value, uint64_t ticks)
{
	struct user_counter *c = u && number - 1 < u->n ? &u->at[number - 1] : NULL;

	if (!c || (c->real && !isfinite(value.real)))
		return NULL;
	if (!c->values || user_value_less(c->real, value, c->min))
		c->min = value;
	if (!c->values || user_value_less(c->real, c->max, value))
		c->max = value;
	if (!c->in_round || user_value_less(c->real, value, c->round_min))
		c->round_min = value;
	if (!c->in_round || user_value_less(c->real, c->round_max, value))
		c->round_max = value;
	c->in_round = true;
	if (!c->values || ticks >= c->last_at) {
		c->last = value;
		c->last_at = ticks;
	}
	c->values++;
	c->sum += c->real ? value.real : (double)value.integer;
	return c;
}

void user_counters_new_round(struct user_counters *u)
{
	for (size_t i = 0; u && i < u->n; i++)
		u->at[i].in_round = false;
}

void user_counters_only_round(struct user_counters *u)
{
	for (size_t i = 0; u && i < u->n; i++) {
		u->at[i].min = u->at[i].round_min;
		u->at[i].max = u->at[i].round_max;
	}
}

const struct user_counter *user_counters_all(const struct user_counters *u, size_t *n)
{
	*n = u ? u->n : 0;
	return u ? u->at : NULL;
}

/* ---- records: values belong to the process, and stand in whatever frame is open. One whose
 * number or value cannot be is counted as a record and no more. */

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
