/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/live/exchange/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/live/exchange/internal.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/net/transport.h"

#define SEND_S	     0.02
#define REFUSED_MOST 8
#define HEAR_MOST    1024 /* messages at a time; the rings are read in between */

/* Over MPI, whether something has come, while somebody looks; without a proxy always. */
#define LOOK_IDLE_S 1.0
#define LOOK_KEPT_S 0.5 /* while events of others may be written */
#define LOOK_MOST_S 0.25
/* The same while news are awaited: a twentieth of the time since the last ones, in these bounds. */
#define LOOKS_NEWS	  20
#define LOOK_NEWS_LEAST_S 0.01
#define LOOK_NEWS_MOST_S  0.5
#define LOOK_NEWS_FOR_S	  60.0 /* then it may be that none will come */

#define GRACE_PERIODS	2.5
#define GRACE_LEAST_S	2.0
#define PATIENCE_MOST_S 120.0
#define CLOCKS_LEAST_S	0.25
#define CLOCKS_MORE_S	0.5 /* the windows of all levels of the tree */

double live_grace(double period)
{
	const double s = GRACE_PERIODS * period;

	return s > GRACE_LEAST_S ? s : GRACE_LEAST_S;
}

/* Over MPI an agent that sleeps hears when clocks are compared (clock/burst.h). */
static double hears_within(const struct agent *a)
{
	const double s = a->host.conf->clock_sync_interval_s;

	if (!a->host.transport || !a->host.transport->listen || a->live->rings)
		return 0;
	return (s > CLOCKS_LEAST_S ? s : CLOCKS_LEAST_S) + CLOCKS_MORE_S;
}

double live_first_grace(const struct agent *a, double period)
{
	return live_grace(period) + hears_within(a);
}

double live_patience(const struct agent *a)
{
	double s = 0;

	for (int n = a->host.transport ? a->host.transport->size - 1 : 0; n > 0;
		n = (n - 1) / LIVE_FAN_OUT)
		s += hears_within(a);
	return s < PATIENCE_MOST_S ? s : PATIENCE_MOST_S;
}

/* ---- out --------------------------------------------------------------------------------------
 */

bool live_send(
	struct agent *a, int to, const struct live_message *m, const void *part, size_t bytes)
{
	struct transport *p = a->host.transport;
	char *copy = xmalloc(sizeof(*m) + bytes);
	int error;

	memcpy(copy, m, sizeof(*m));
	if (bytes)
		memcpy(copy + sizeof(*m), part, bytes);
	error = p->send(p, to, TAG_LIVE, copy, sizeof(*m) + bytes, transport_now() + SEND_S);
	if (error != -ETIMEDOUT) /* else it may be read yet */
		free(copy);
	a->live->sent++;
	a->live->sent_bytes += sizeof(*m) + bytes;
	return !error;
}

/* ---- in ---------------------------------------------------------------------------------------
 */

void live_refuse(struct agent *a, int from, const char *why)
{
	const char *host = from < 0 ? NULL : collate_host_of(a->host.transport, from);

	if (a->live->refused++ >= REFUSED_MOST)
		return;
	if (host)
		host_warn(&a->host, false,
			"live view: a message of the agent on %s was refused: %s", host, why);
	else
		host_warn(&a->host, false, "live view: a message of agent %d was refused: %s", from,
			why);
}

/* The part of a view lies in the whole. */
static bool is_part(const struct live_message *m, size_t bytes)
{
	return bytes && m->all <= LIVE_PACKED_MOST + WHERE_PACKED_MOST && m->where < m->all &&
	       m->all - m->where <= LIVE_PACKED_MOST && m->at <= m->all && bytes <= m->all - m->at;
}

static const char *what_is_wrong(const struct agent *a, const struct live_message *m, size_t bytes)
{
	if (bytes < sizeof(*m) || bytes > sizeof(*m) + LIVE_PART_MOST)
		return "its length does not fit";
	if (m->magic != LIVE_MAGIC)
		return "it is of another version";
	if (!m->kind || m->kind >= LIVE_KINDS_END || (m->kind < LIVE_VIEW && bytes != sizeof(*m)))
		return "it is of no kind";
	if (m->kind == LIVE_VIEW && !is_part(m, bytes - sizeof(*m)))
		return "it is no part of a view";
	if (m->kind == LIVE_NEWS && bytes == sizeof(*m))
		return "it has no news";
	if (m->kind == LIVE_SWITCH && bytes != sizeof(*m) + sizeof(struct function_switch))
		return "it is no order for a function";
	if (m->root >= (uint32_t)a->host.transport->size || !m->number)
		return "it is of no tree";
	if (m->kind == LIVE_ASK && (m->root == (uint32_t)a->host.transport->rank ||
					   m->period_ms < 1e3 * LIVE_PERIOD_LEAST ||
					   m->period_ms > 1e3 * LIVE_PERIOD_MOST))
		return "its period makes no sense";
	return NULL;
}

static void take_switch(struct agent *a, int from, const struct live_message *m, const void *part)
{
	struct function_switch order;

	memcpy(&order, part, sizeof(order));
	order.name[sizeof(order.name) - 1] = '\0';
	order.off = order.off != 0;
	order.functions = 0;
	live_tree_switch(a, m, from, &order);
}

static void take_news(struct agent *a, const struct live_message *m, const void *buf, size_t bytes)
{
	const char *news = (const char *)buf + sizeof(*m);

	live_news_take(a, news, bytes - sizeof(*m));
	live_event_pass(a, m, news, bytes - sizeof(*m));
}

static void take_message(struct agent *a, int from, const void *buf, size_t bytes, double now)
{
	struct live_message m = {0};
	struct live_tree *t;
	const char *why;

	memcpy(&m, buf, bytes < sizeof(m) ? bytes : sizeof(m));
	why = what_is_wrong(a, &m, bytes);
	if (why) {
		live_refuse(a, from, why);
		return;
	}
	switch (m.kind) {
	case LIVE_ASK:
		live_tree_ask(a, &m, from, now);
		break;
	case LIVE_STOP:
		t = live_tree_of(a->live, (int)m.root);
		if (t && t->number == m.number && t->parent == from)
			live_tree_stop(a, t);
		break;
	case LIVE_SWITCH:
		take_switch(a, from, &m, (const char *)buf + sizeof(m));
		break;
	case LIVE_EVENT:
		live_event_take(a, &m);
		live_event_pass(a, &m, NULL, 0);
		break;
	case LIVE_NEWS:
		take_news(a, &m, buf, bytes);
		break;
	case LIVE_VIEW:
		live_tree_take(a, from, &m, (const char *)buf + sizeof(m), bytes - sizeof(m), now);
		break;
	}
}

/* False: there may be more. News are heard in pieces, between which they are taken. */
static bool hear_agents(struct agent *a, double now)
{
	struct transport *p = a->host.transport;
	const bool takes_news = a->live->n_news < LIVE_NEWS_MAX;
	void *buf;
	size_t bytes;
	int who;

	for (int left = HEAR_MOST; left; left--) {
		if (p->receive(p, TRANSPORT_ANY, TAG_LIVE, &buf, &bytes, &who, 0))
			return true;
		if (who >= 0 && who < p->size && who != p->rank)
			take_message(a, who, buf, bytes, now);
		free(buf);
		if (takes_news && a->live->n_news >= LIVE_NEWS_MAX)
			break;
	}
	return false;
}

/* ---- the time ----------------------------------------------------------------------------------
 */

/* A tree from before the agents had met, which had other numbers or none. */
static bool is_outdated(const struct live_tree *t, int own, int n_agents)
{
	return t->parent < 0 && (t->root != own || t->n_agents != n_agents);
}

/* Our own tree is there as long as there are viewers. */
static void keep_own_tree(struct agent *a, double now)
{
	const int own = a->host.transport ? a->host.transport->rank : 0;
	const int n_agents = a->host.transport ? a->host.transport->size : 1;
	struct live *l = a->live;
	struct live_tree *t;
	struct live_message m = {.magic = LIVE_MAGIC, .kind = LIVE_ASK, .root = (uint32_t)own};

	for (size_t i = l->n_trees; i-- > 0;)
		if (is_outdated(&l->trees[i], own, n_agents))
			live_tree_stop(a, &l->trees[i]);
	t = live_tree_of(l, own);
	if (!l->n_viewers) {
		if (t)
			live_tree_stop(a, t);
		return;
	}
	if (!t)
		l->number = random_word();
	m.number = l->number;
	m.period_ms = (uint32_t)(1e3 * live_viewers_period(l));
	m.where = live_viewers_want_where(l);
	live_tree_ask(a, &m, -1, now);
}

static double look_for_news(const struct live *l, double now)
{
	const double s = (now - l->news_at) / LOOKS_NEWS;

	return s < LOOK_NEWS_LEAST_S  ? LOOK_NEWS_LEAST_S
	       : s > LOOK_NEWS_MOST_S ? LOOK_NEWS_MOST_S
				      : s;
}

static double next_look(const struct agent *a, bool alone, double now)
{
	double s = a->live->listens ? NEVER_S : LOOK_IDLE_S;

	if (alone || a->live->rings)
		return NEVER_S;
	if (a->host.conf->sampling_keep > 0)
		s = LOOK_KEPT_S;
	if (a->live->news_awaited && now - a->live->news_at < LOOK_NEWS_FOR_S)
		s = look_for_news(a->live, now);
	for (size_t i = 0; i < a->live->n_trees; i++) {
		const double part = a->live->trees[i].period / 4;

		s = s < LOOK_MOST_S ? s : LOOK_MOST_S;
		s = part < s ? part : s;
	}
	return s;
}

/* From then on nobody needs to ask, as long as nobody looks. */
static void listen_to_agents(struct agent *a)
{
	struct transport *p = a->host.transport;

	if (a->live->listens || !p->listen)
		return;
	a->live->rings = p->listen(p, TAG_LIVE);
	a->live->listens = true;
}

double live_tick(struct agent *a)
{
	const bool alone = a->joining || !a->host.transport || a->host.transport->size < 2;
	const double now = transport_now();
	struct live *l = a->live;
	bool all = true;
	double again;

	if (!l && alone)
		return NEVER_S;
	if (!l)
		l = a->live = xcalloc(1, sizeof(*l));
	if (now < l->next && !a->news)
		return l->next - now;
	if (!alone) {
		listen_to_agents(a);
		all = hear_agents(a, now);
	}
	live_viewers_tick(a, now);
	keep_own_tree(a, now);
	again = all ? next_look(a, alone, now) : 0;
	again = live_viewers_next(l) < again ? live_viewers_next(l) : again;
	for (size_t i = l->n_trees; i-- > 0;) { /* one may end, and another one take its place */
		const double s = live_tree_tick(a, &l->trees[i], now);

		again = s < again ? s : again;
	}
	if (!alone) {
		const double s = live_news_again(a, now);

		again = s < again ? s : again;
	}
	again = again < 0 ? 0 : again;
	l->next = now + again;
	return again;
}

/* Some MPI libraries complain of what nobody received. Nothing is begun any more; what has
 * happened elsewhere is still of interest. */
static void drop_messages(struct agent *a)
{
	struct transport *p = a->host.transport;
	struct live_message m;
	void *buf;
	size_t bytes;
	int who;

	for (int left = HEAR_MOST;
		left && !p->receive(p, TRANSPORT_ANY, TAG_LIVE, &buf, &bytes, &who, 0); left--) {
		memcpy(&m, buf, bytes < sizeof(m) ? bytes : sizeof(m));
		if (!what_is_wrong(a, &m, bytes) && m.kind == LIVE_EVENT)
			live_event_take(a, &m);
		else if (!what_is_wrong(a, &m, bytes) && m.kind == LIVE_NEWS)
			take_news(a, &m, buf, bytes);
		free(buf);
	}
}

void live_free(struct agent *a)
{
	if (a->live)
		live_news_free(a->live);
	free(a->live);
	a->live = NULL;
}

void live_end(struct agent *a)
{
	struct live *l = a->live;

	if (!l)
		return;
	if (!a->joining && a->host.transport && a->host.transport->size > 1)
		drop_messages(a);
	live_news_warn(a);
	live_viewers_end(l);
	live_trees_end(l);
	free(l->own_where);
	l->own_where = NULL;
	if (!l->n_events && !l->n_news)
		live_free(a);
}
