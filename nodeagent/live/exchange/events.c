/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events and news that all agents are to hear of at once. They go down the tree of the agent where
 * they have happened, and nobody answers.
 */
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

void live_event_pass(struct agent *a, const struct live_message *m, const void *part, size_t bytes)
{
	const int64_t n = a->host.transport->size, root = m->root;
	const int64_t first = (a->host.transport->rank - root + n) % n * LIVE_FAN_OUT + 1;

	for (int64_t p = first; p < first + LIVE_FAN_OUT && p < n; p++)
		live_send(a, (int)((p + root) % n), m, part, bytes);
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

/* ---- news --------------------------------------------------------------------------------------
 */

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

	if (l->n_news >= LIVE_NEWS_MAX)
		return;
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

void live_news_free(struct live *l)
{
	for (struct live_news *n = l->news, *next; n; n = next) {
		next = n->next;
		free(n);
	}
	l->news = NULL;
	l->n_news = 0;
}
