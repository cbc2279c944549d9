/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/unproven.h"

#include <stdlib.h>
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/replay/tree/calltree.h"

#define PLACES 8u /* where a row may be */
#define AMONG  4u /* sends of one call that are kept */

/* Waits of standard sends of one length that may have been sent at once. */
struct row {
	struct unproven_send of;
	uint32_t path, late;
	uint64_t calls, ticks, error;
};

/* A call that completed several operations. Of two sends one says more if it is longer, and was
 * waited for longer. */
struct open_call {
	uint64_t source, enter;
	uint32_t path, n;
	struct {
		struct unproven_send of;
		struct longest_wait wait;
	} at[AMONG];
};

struct unproven {
	struct {
		bool some;
		uint64_t bytes; /* the longest message that was sent at once */
	} at_once[2];		/* on this node, to others */
	struct row rows[UNPROVEN_ROWS_MAX];
	struct open_call *calls; /* UNPROVEN_CALLS_MAX, or NULL */
	struct match_table by_call;
	size_t ever;
};

struct unproven *unproven_new(void)
{
	return xcalloc(1, sizeof(struct unproven));
}

void unproven_at_once(struct unproven *u, bool far, uint64_t bytes)
{
	if (unproven_is_at_once(u, far, bytes))
		return;
	u->at_once[far].some = true;
	u->at_once[far].bytes = bytes;
}

bool unproven_is_at_once(const struct unproven *u, bool far, uint64_t bytes)
{
	return u->at_once[far].some && bytes <= u->at_once[far].bytes;
}

/* ---- sums ---------------------------------------------------------------------------------- */

static bool is_like(
	const struct row *row, const struct unproven_send *s, uint32_t path, uint32_t late)
{
	return row->of.source == s->source && row->of.bytes == s->bytes && row->of.far == s->far &&
	       row->path == path && row->late == late;
}

/* Its row, or a free one; NULL: there is no room. */
static struct row *row_of(
	struct unproven *u, const struct unproven_send *s, uint32_t path, uint32_t late)
{
	uint64_t h = (s->source ^ s->bytes << 17) * 0x9e3779b97f4a7c15u;

	h = (h ^ ((uint64_t)path << 32 | late)) * 0xd6e8feb86659fd93u;
	for (uint64_t i = 0; i < PLACES; i++) {
		struct row *row = &u->rows[((h ^ h >> 32) + i) % UNPROVEN_ROWS_MAX];

		if (!row->calls)
			*row = (struct row){.of = *s, .path = path, .late = late};
		if (is_like(row, s, path, late))
			return row;
	}
	return NULL;
}

void unproven_add(struct unproven *u, const struct unproven_send *s, const struct longest_wait *w,
	uint64_t calls)
{
	struct row *row = calls ? row_of(u, s, w->path, w->late) : NULL;

	if (!row)
		return;
	row->calls += calls;
	row->ticks += w->ticks;
	row->error += w->error;
}

static void count_row(const struct unproven *u, struct matching *m, const struct row *row)
{
	const struct process *p = matching_process(m, row->of.source);

	if (p && p->traffic && !unproven_is_at_once(u, row->of.far, row->of.bytes))
		traffic_wait_elsewhere(p->traffic, row->path,
			&(struct node_wait){.kind = WAIT_LATE_RECEIVER,
				.late = row->late,
				.calls = row->calls,
				.ticks = row->ticks,
				.error = row->error});
}

/* ---- calls one by one ---------------------------------------------------------------------- */

static struct traffic *traffic_of(const struct matching *m, const struct open_call *c)
{
	const struct process *p = matching_process(m, c->source);

	return p ? p->traffic : NULL;
}

/* The send that it has waited for longest, if it has at all, as far as is known now. Of the others
 * no cause counts. AMONG: it has not. */
static unsigned choose_longest(
	const struct unproven *u, struct traffic *t, const struct open_call *c)
{
	unsigned best = AMONG;

	for (unsigned i = 0; i < c->n; i++)
		if (!unproven_is_at_once(u, c->at[i].of.far, c->at[i].of.bytes) &&
			(best == AMONG || c->at[i].wait.ticks > c->at[best].wait.ticks))
			best = i;
	for (unsigned i = 0; i < c->n; i++)
		if (i != best)
			traffic_cause_back(t, &c->at[i].wait.causes);
	return best;
}

static void count_call(const struct unproven *u, struct matching *m, const struct open_call *c)
{
	struct traffic *t = traffic_of(m, c);
	const unsigned best = t ? choose_longest(u, t, c) : AMONG;
	const struct longest_wait *w = &c->at[best % AMONG].wait;
	struct longest_wait *kept;

	if (best == AMONG)
		return;
	kept = longest_add(matching_longest(m), t, w);
	if (kept)
		kept->causes = w->causes;
	else
		traffic_cause_back(t, &w->causes);
}

/* There is no room for it any more, and it is not known yet: what it may have waited longer for
 * this send than for its other operations is kept with the sums. */
static void give_up_call(struct unproven *u, struct matching *m, const struct open_call *c)
{
	struct traffic *t = traffic_of(m, c);
	const unsigned best = t ? choose_longest(u, t, c) : AMONG;
	const struct longest_wait *known;
	struct longest_wait w;

	if (best == AMONG)
		return;
	known = longest_of_call(matching_longest(m), t, c->path, c->enter);
	w = c->at[best].wait;
	if (known)
		traffic_cause_back(t, &w.causes);
	if (known && known->ticks >= w.ticks)
		return;
	w.ticks -= known ? known->ticks : 0;
	unproven_add(u, &c->at[best].of, &w, 1);
}

/* NULL: another one is in its place. */
static struct open_call *call_of(struct unproven *u, struct matching *m,
	const struct unproven_send *s, const struct longest_wait *w)
{
	const uint64_t caller = s->source ^ (uint64_t)w->path << 40;
	struct open_call *c = match_table_find(&u->by_call, caller, w->enter);

	if (c)
		return c->source == s->source && c->path == w->path ? c : NULL;
	if (!u->calls)
		u->calls = xcalloc(UNPROVEN_CALLS_MAX, sizeof(*u->calls));
	c = &u->calls[u->ever % UNPROVEN_CALLS_MAX];
	if (u->ever++ >= UNPROVEN_CALLS_MAX) {
		give_up_call(u, m, c);
		match_table_remove(&u->by_call, c->source ^ (uint64_t)c->path << 40, c->enter);
	}
	*c = (struct open_call){.source = s->source, .enter = w->enter, .path = w->path};
	match_table_add(&u->by_call, caller, w->enter, c);
	return c;
}

static bool says_more(const struct unproven_send *a, uint64_t a_ticks,
	const struct unproven_send *b, uint64_t b_ticks)
{
	return a->far == b->far && a->bytes >= b->bytes && a_ticks >= b_ticks;
}

/* False: another one of the call says more, or there is no room. */
static bool make_place(
	struct traffic *t, struct open_call *c, const struct unproven_send *s, uint64_t ticks)
{
	unsigned shortest = 0, n = 0;

	for (unsigned i = 0; i < c->n; i++)
		if (says_more(&c->at[i].of, c->at[i].wait.ticks, s, ticks))
			return false;
	for (unsigned i = 0; i < c->n; i++)
		if (says_more(s, ticks, &c->at[i].of, c->at[i].wait.ticks))
			traffic_cause_back(t, &c->at[i].wait.causes);
		else
			c->at[n++] = c->at[i];
	c->n = n;
	if (n < AMONG)
		return true;
	for (unsigned i = 1; i < n; i++)
		if (c->at[i].wait.ticks < c->at[shortest].wait.ticks)
			shortest = i;
	if (c->at[shortest].wait.ticks >= ticks)
		return false;
	traffic_cause_back(t, &c->at[shortest].wait.causes);
	c->at[shortest] = c->at[--c->n];
	return true;
}

void unproven_add_among(struct unproven *u, struct matching *m, const struct unproven_send *s,
	const struct longest_wait *w)
{
	struct open_call *c = call_of(u, m, s, w);
	struct traffic *t = c ? traffic_of(m, c) : NULL;

	if (!t || !make_place(t, c, s, w->ticks))
		return;
	c->at[c->n].of = *s;
	c->at[c->n].wait = *w;
	matching_causes(m, t, &c->at[c->n++].wait);
}

void unproven_end(struct unproven *u, struct matching *m)
{
	if (!u)
		return;
	for (size_t i = 0; i < UNPROVEN_ROWS_MAX; i++)
		if (u->rows[i].calls)
			count_row(u, m, &u->rows[i]);
	for (size_t i = 0; i < UNPROVEN_CALLS_MAX && i < u->ever; i++)
		count_call(u, m, &u->calls[i]);
	match_table_free(&u->by_call);
	free(u->calls);
	free(u);
}
