/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events and news that all agents are to hear of at once. They go down the tree of the agent where
 * they have happened, and nobody answers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/live/exchange/internal.h"
#include "nodeagent/net/transport.h"

_Static_assert(LIVE_NEWS_BYTES <= LIVE_PART_MOST, "in one message");

struct live_news {
	struct live_news *next;
	size_t bytes;
	char content[];
};

#define AGAIN_S	    1.0 /* then twice as long each time */
#define AGAIN_FOR_S 60.0

/* News for one agent, to which they could not be sent. */
struct live_unsent {
	struct live_unsent *next;
	struct live_message m;
	int to;
	double at, pause, until; /* s; to be tried again, then after that pause, at most until */
	size_t bytes;
	char content[];
};

static bool is_oldest_for_agent(const struct live *l, const struct live_unsent *one)
{
	const struct live_unsent *u = l->unsent;

	while (u->to != one->to)
		u = u->next;
	return u == one;
}

static void unsent_free(struct live *l, struct live_unsent **at)
{
	struct live_unsent *u = *at;

	*at = u->next;
	l->n_unsent--;
	free(u);
}

/* An event is over; news stay true. */
static void keep_unsent(
	struct live *l, int to, const struct live_message *m, const void *part, size_t bytes)
{
	struct live_unsent *u, **end = &l->unsent;
	const double at = transport_now() + AGAIN_S;

	if (m->kind != LIVE_NEWS)
		return;
	if (l->n_unsent >= LIVE_UNSENT_MAX) {
		l->news_lost++;
		return;
	}
	u = xmalloc(sizeof(*u) + bytes);
	*u = (struct live_unsent){.m = *m,
		.to = to,
		.at = at,
		.pause = AGAIN_S,
		.until = at + AGAIN_FOR_S,
		.bytes = bytes};
	memcpy(u->content, part, bytes);
	while (*end)
		end = &(*end)->next;
	*end = u;
	l->n_unsent++;
	l->next = at < l->next ? at : l->next;
}

/* True: it has left, or was tried long enough. */
static bool send_again(struct agent *a, struct live_unsent *u, double now)
{
	if (u->to >= a->host.transport->size || live_send(a, u->to, &u->m, u->content, u->bytes))
		return true;
	u->pause *= 2;
	u->at = now + u->pause;
	a->live->news_lost += now >= u->until;
	return now >= u->until;
}

double live_news_again(struct agent *a, double now)
{
	struct live *l = a->live;
	double again = NEVER_S;

	for (struct live_unsent **at = &l->unsent, *u; (u = *at);) {
		const bool may_leave = is_oldest_for_agent(l, u);

		if (may_leave && now >= u->at && send_again(a, u, now)) {
			unsent_free(l, at);
			continue;
		}
		if (may_leave)
			again = u->at - now < again ? u->at - now : again;
		at = &u->next;
	}
	return again;
}

/* False: not all that were kept for this agent have left. */
static bool send_unsent(struct agent *a, int to)
{
	for (struct live_unsent **at = &a->live->unsent, *u; (u = *at);) {
		if (u->to != to)
			at = &u->next;
		else if (live_send(a, to, &u->m, u->content, u->bytes))
			unsent_free(a->live, at);
		else
			return false;
	}
	return true;
}

/* News overtake none for the same agent: without these they may be of no use to it. */
static void pass_to(
	struct agent *a, int to, const struct live_message *m, const void *part, size_t bytes)
{
	if ((m->kind == LIVE_NEWS && !send_unsent(a, to)) || !live_send(a, to, m, part, bytes))
		keep_unsent(a->live, to, m, part, bytes);
}

void live_event_pass(struct agent *a, const struct live_message *m, const void *part, size_t bytes)
{
	const int64_t n = a->host.transport->size, root = m->root;
	const int64_t first = (a->host.transport->rank - root + n) % n * LIVE_FAN_OUT + 1;

	for (int64_t p = first; p < first + LIVE_FAN_OUT && p < n; p++)
		pass_to(a, (int)((p + root) % n), m, part, bytes);
}

static bool has_others(const struct agent *a)
{
	return a->live && !a->joining && a->host.transport && a->host.transport->size > 1;
}

void live_event_tell(struct agent *a, const struct live_event *e)
{
	struct live_message m = {.magic = LIVE_MAGIC,
		.kind = LIVE_EVENT,
		.period_ms = e->kind,
		.at = e->detail,
		.number = e->number + 1,
		.stamp = e->stamp};

	if (!has_others(a))
		return;
	m.root = (uint32_t)a->host.transport->rank;
	live_event_pass(a, &m, NULL, 0);
}

void live_event_take(struct agent *a, const struct live_message *m)
{
	struct live *l = a->live;

	if (l->n_events < LIVE_EVENTS_MAX)
		l->events[l->n_events++] =
			(struct live_event){m->period_ms, m->at, m->number - 1, m->stamp, false};
}

void live_event_wish(struct live *l, uint64_t stamp)
{
	if (l->n_events < LIVE_EVENTS_MAX)
		l->events[l->n_events++] = (struct live_event){.stamp = stamp, .wished = true};
}

bool live_event_next(struct agent *a, struct live_event *e)
{
	struct live *l = a->live;

	if (!l || !l->n_events)
		return false;
	*e = l->events[0];
	memmove(l->events, l->events + 1, --l->n_events * sizeof(*e));
	return true;
}

/* ---- news -------------------------------------------------------------------------------- */

void live_news_tell(struct agent *a, const void *news, size_t bytes)
{
	struct live_message m = {.magic = LIVE_MAGIC, .kind = LIVE_NEWS, .number = 1};

	if (!has_others(a))
		return;
	m.root = (uint32_t)a->host.transport->rank;
	live_event_pass(a, &m, news, bytes);
}

void live_news_put_back(struct agent *a, const void *news, size_t bytes)
{
	struct live *l = a->live;
	struct live_news *n;

	if (l->n_news >= LIVE_NEWS_MAX) {
		l->news_lost++;
		return;
	}
	n = xmalloc(sizeof(*n) + bytes);
	*n = (struct live_news){.bytes = bytes};
	memcpy(n->content, news, bytes);
	*(l->n_news++ ? l->news_end : &l->news) = n;
	l->news_end = &n->next;
}

void live_news_take(struct agent *a, const void *news, size_t bytes)
{
	a->live->news_at = transport_now();
	live_news_put_back(a, news, bytes);
}

size_t live_news_waiting(const struct agent *a)
{
	return a->live ? a->live->n_news : 0;
}

void *live_news_next(struct agent *a, size_t *bytes)
{
	struct live *l = a->live;
	struct live_news *n = l ? l->news : NULL;
	void *content;

	if (!n)
		return NULL;
	l->news = n->next;
	l->n_news--;
	*bytes = n->bytes;
	content = xmalloc(n->bytes + 1);
	memcpy(content, n->content, n->bytes);
	free(n);
	return content;
}

bool live_news_await(struct agent *a, size_t awaited)
{
	struct live *l = a->live;
	const bool more = l && awaited > l->news_awaited;

	if (l)
		l->news_awaited = awaited;
	if (!more)
		return false;
	l->news_at = transport_now();
	l->next = 0;
	return true;
}

void live_news_warn(struct agent *a)
{
	const uint64_t n = a->live->news_lost;

	if (n)
		host_warn(&a->host, false,
			"%" PRIu64 " %s of spawned jobs %s lost between agents: waits of ranks of "
			"different jobs may not be matched",
			n, one_or_many(n, "piece of news", "pieces of news"),
			one_or_many(n, "was", "were"));
	a->live->news_lost = 0;
}

void live_news_free(struct live *l)
{
	for (struct live_news *n = l->news, *next; n; n = next) {
		next = n->next;
		free(n);
	}
	for (struct live_unsent *u = l->unsent, *next; u; u = next) {
		next = u->next;
		free(u);
	}
	l->news = NULL;
	l->unsent = NULL;
	l->n_news = l->n_unsent = 0;
}
