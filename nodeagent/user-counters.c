/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/user-counters.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"
#include "shm/session.h"

struct user_counters {
	struct user_counter *at; /* by number, from 1 */
	size_t n, cap;
};

/* Of a name or unit; a line's end separates them in a profile. */
static char *one_line(const char *text)
{
	char *copy = xasprintf("%.*s", (int)SESSION_NAME_MAX, text);

	for (char *c = copy; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return copy;
}

void user_counters_define(
	struct process *p, const struct wire_counter *m, const char *name, const char *unit)
{
	struct user_counters *u = p->user_counters;

	if (!u)
		u = p->user_counters = xcalloc(1, sizeof(*u));
	if (m->number != u->n + 1 || m->number > COUNTER_NUMBER_MAX ||
		m->type > WIRE_COUNTER_REAL || !name[0]) {
		process_quarantine(p, "it defined counter %u of type %u", m->number, m->type);
		return;
	}
	u->at = grow(u->at, u->n, &u->cap, sizeof(*u->at));
	u->at[u->n++] = (struct user_counter){.name = one_line(name),
		.unit = one_line(unit),
		.real = m->type == WIRE_COUNTER_REAL};
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

bool user_value_less(bool real, union user_value a, union user_value b)
{
	return real ? a.real < b.real : a.integer < b.integer;
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

/* ---- to the profile ----------------------------------------------------------- */

void user_counters_gather(
	const struct agent *a, const struct process *p, uint32_t rank, struct profile *out)
{
	const struct user_counters *u = p->user_counters;

	if (!u)
		return;
	out->user_counters = xrealloc(out->user_counters,
		(out->n_user_counters + u->n) * sizeof(*out->user_counters) + 1);
	for (size_t i = 0; i < u->n; i++) {
		const struct user_counter *c = &u->at[i];
		union user_value sum = {.real = isfinite(c->sum) ? c->sum : 0};

		if (c->values)
			out->user_counters[out->n_user_counters++] =
				(struct profile_user_counter){.rank = rank,
					.real = c->real,
					.values = c->values,
					.min = c->min.bits,
					.max = c->max.bits,
					.last = c->last.bits,
					.last_ns = clocks_ns(&a->clocks, c->last_at),
					.sum = sum.bits,
					.name = xasprintf("%s\n%s", c->name, c->unit)};
	}
}

void user_counters_store(struct profile *p)
{
	const struct profile_list *l = profile_lists;

	while (l->array != offsetof(struct profile, user_counters))
		l++;
	gather_combine(p, l);
}

char *user_counter_name(const struct profile_user_counter *c)
{
	return xasprintf("%.*s", (int)strcspn(c->name, "\n"), c->name);
}

const char *user_counter_unit(const struct profile_user_counter *c)
{
	const char *end = c->name + strcspn(c->name, "\n");

	return *end ? end + 1 : end;
}

char *user_value_text(bool real, uint64_t bits)
{
	union user_value v = {.bits = bits};

	return real ? xasprintf("%.10g", v.real) : xasprintf("%" PRId64, v.integer);
}
