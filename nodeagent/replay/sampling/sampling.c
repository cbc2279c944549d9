/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/sampling/sampling.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/map.h"
#include "nodeagent/clock/ticks.h"

#define LONG 64 /* windows: then little has come, or a clock is wrong */

struct sampling {
	struct clocks *clocks;
	double per_s;
	struct match_table comms; /* by id and job */
	struct sampled_comm *gone[SAMPLING_GONE];
	uint32_t gone_next;
	uint64_t window, since, now; /* ticks; window 0: not known */
	uint64_t arrivals;	     /* that calls since then have, or will have */
	uint32_t log2, calm;	     /* calm: windows in a row in which fewer would do */
	struct sampling_count counts[SAMPLING_LOG2_MAX + 1];
};

struct sampling *sampling_new(struct clocks *clocks, double per_s)
{
	struct sampling *s = xcalloc(1, sizeof(*s));

	s->clocks = clocks;
	s->per_s = per_s;
	return s;
}

void sampling_free(struct sampling *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->comms.n && i <= s->comms.mask; i++)
		free(s->comms.slots[i].value);
	match_table_free(&s->comms);
	free(s);
}

struct sampling_count *sampling_counts(struct sampling *s)
{
	return s->counts;
}

/* ---- communicators ------------------------------------------------------------------ */

struct sampled_comm *sampling_hold(struct sampling *s, uint64_t id, uint64_t job)
{
	struct sampled_comm *c = match_table_find(&s->comms, id, job);

	if (!c) {
		c = xcalloc(1, sizeof(*c));
		c->id = id;
		c->job = job;
		match_table_add(&s->comms, id, job, c);
	}
	if (c->gone_at)
		s->gone[c->gone_at - 1] = NULL;
	c->gone_at = 0;
	c->refs++;
	return c;
}

/* A process that is read later may have it yet, so the one that is gone longest makes room. */
void sampling_let_go(struct sampling *s, struct sampled_comm *c)
{
	struct sampled_comm **at;

	if (!c || --c->refs)
		return;
	at = &s->gone[s->gone_next];
	if (*at) {
		match_table_remove(&s->comms, (*at)->id, (*at)->job);
		free(*at);
	}
	*at = c;
	c->gone_at = ++s->gone_next;
	s->gone_next %= SAMPLING_GONE;
}

/* ---- one in how many ---------------------------------------------------------------- */

/* In a second; of all arrivals. */
static void decide_log2(struct sampling *s, double rate)
{
	while (rate > s->per_s * (1u << s->log2) && s->log2 < SAMPLING_LOG2_MAX) {
		s->log2++;
		s->calm = 0;
	}
	if (!s->log2 || rate > SAMPLING_ROOM * s->per_s * (1u << (s->log2 - 1)))
		s->calm = 0;
	else if (++s->calm >= SAMPLING_CALM) {
		s->log2--;
		s->calm = 0;
	}
}

static void begin_window(struct sampling *s, uint64_t ticks)
{
	s->since = s->now = ticks;
	s->arrivals = 0;
}

static void find_window(struct sampling *s, uint64_t ticks)
{
	if (s->clocks->ns_per_tick <= 0.0)
		clocks_calibrate(s->clocks);
	s->window = 1 + (uint64_t)(SAMPLING_WINDOW_NS / s->clocks->ns_per_tick);
	begin_window(s, ticks);
}

/* Processes are read by turns: time is that of the one whose records are the latest. */
static void measure_rate(struct sampling *s, uint64_t ticks)
{
	uint64_t took;

	if ((int64_t)(ticks - s->now) > 0)
		s->now = ticks;
	took = s->now - s->since;
	if (took >= LONG * s->window || s->now - ticks >= LONG * s->window)
		decide_log2(s, 0.0);
	else if (took >= s->window)
		decide_log2(s, 1e9 * (double)s->arrivals / (double)took / s->clocks->ns_per_tick);
	else
		return;
	begin_window(s, ticks);
}

static void note_change(struct sampled_comm *c, uint32_t ticket, uint32_t log2)
{
	if (c->n && c->changes[c->n - 1].log2 == log2)
		return;
	if (c->n == SAMPLING_CHANGES) {
		memmove(c->changes, c->changes + 1, (c->n - 1) * sizeof(*c->changes));
		c->n--;
	}
	c->changes[c->n++] = (struct sampling_change){ticket, log2};
	if (log2 > c->most)
		c->most = log2;
}

void sampling_first(struct sampling *s, struct sampled_comm *c, uint32_t ticket, uint64_t ticks,
	uint32_t members)
{
	c->next = ticket + 1;
	if (!s->window)
		find_window(s, ticks);
	s->arrivals += members;
	measure_rate(s, ticks);
	note_change(c, ticket, s->log2);
}
