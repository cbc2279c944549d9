/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that all agents are to hear of at once. They go down the tree of the agent where they
 * have happened, and nobody answers.
 */
#include <string.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/live/exchange/internal.h"
#include "nodeagent/net/transport.h"

void live_event_pass(struct agent *a, const struct live_message *m)
{
	const int64_t n = a->host.transport->size, root = m->root;
	const int64_t first = (a->host.transport->rank - root + n) % n * LIVE_FAN_OUT + 1;

	for (int64_t p = first; p < first + LIVE_FAN_OUT && p < n; p++)
		live_send(a, (int)((p + root) % n), m, NULL, 0);
}

void live_event_tell(struct agent *a, const struct live_event *e)
{
	struct live_message m = {.magic = LIVE_MAGIC,
		.kind = LIVE_EVENT,
		.period_ms = e->kind,
		.at = e->detail,
		.number = e->number + 1,
		.stamp = e->stamp};

	if (!a->live || a->joining || !a->host.transport || a->host.transport->size < 2)
		return;
	m.root = (uint32_t)a->host.transport->rank;
	live_event_pass(a, &m);
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
