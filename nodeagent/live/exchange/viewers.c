/* SPDX-License-Identifier: BSD-3-Clause */
/* Those who look: each is a connection, from which nothing is awaited and that never holds us up.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/live/exchange/internal.h"
#include "nodeagent/live/sample/sample.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/process/callers.h"
#include "nodeagent/process/process.h"
#include "shm/wire.h"

#define HEAR_MOST 64 /* requests of a viewer at a time */

static void refuse_viewer(int fd, const char *why)
{
	struct {
		struct wire_head head;
		char text[128];
	} m = {.head = {.kind = WIRE_REFUSED, .text_bytes = (uint32_t)strlen(why) + 1}};

	memcpy(m.text, why, m.head.text_bytes);
	send(fd, &m, sizeof(m.head) + m.head.text_bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* True if the request makes sense. */
static bool take_request(
	struct live *l, struct live_viewer *v, const struct wire_live *m, double now)
{
	const double period = 1e-3 * m->period_ms;

	if (m->version != WIRE_LIVE_VERSION) {
		refuse_viewer(
			v->fd, "the agent (" VFTR_VERSION ") has another version of live views");
		return false;
	}
	v->period = period < LIVE_PERIOD_LEAST	? LIVE_PERIOD_LEAST
		    : period > LIVE_PERIOD_MOST ? LIVE_PERIOD_MOST
						: period;
	v->where = m->where;
	v->until = now + LIVE_LEASES * v->period;
	v->until = MAX(v->until, now + LIVE_LEASE_LEAST);
	if (m->record)
		live_event_wish(l, m->record);
	return true;
}

static void on_viewer(struct process *p, const struct wire_live *m)
{
	struct agent *a = agent_of(p->host);
	struct live_viewer v = {.fd = callers_take(p)};
	struct live *l;

	if (!a->live)
		a->live = xcalloc(1, sizeof(*a->live));
	l = a->live;
	if (l->n_viewers == LIVE_VIEWERS_MAX) /* some may have gone */
		live_viewers_tick(a, transport_now());
	if (l->n_viewers == LIVE_VIEWERS_MAX)
		refuse_viewer(v.fd, "the agent has as many viewers as it takes");
	if (l->n_viewers == LIVE_VIEWERS_MAX || !take_request(l, &v, m, transport_now())) {
		close(v.fd);
		return;
	}
	l->viewers[l->n_viewers++] = v;
	l->next = 0;
}

const struct process_observer live_observer = {.viewer = on_viewer, .let_go = samplers_let_go};

union request {
	struct wire_head head;
	struct wire_live live;
	struct wire_switch order;
	char bytes[sizeof(struct wire_switch) + WIRE_FUNCTION_MAX];
};

_Static_assert(WIRE_FUNCTION_MAX == FUNCTION_NAME_BYTES, "a name has room");

static uint32_t own_agent(const struct agent *a)
{
	return a->host.transport ? (uint32_t)a->host.transport->rank : 0;
}

/* True if the order makes sense. */
static bool take_order(struct agent *a, const union request *r, size_t bytes)
{
	const struct live_message m = {.root = own_agent(a)};
	struct function_switch order = {.stamp = r->order.stamp, .off = r->order.off != 0};
	const size_t n = r->head.text_bytes;

	if (bytes < sizeof(r->order) || r->order.version != WIRE_LIVE_VERSION || !n ||
		n > WIRE_FUNCTION_MAX || n != bytes - sizeof(r->order))
		return false;
	memcpy(order.name, &r->order + 1, n - 1);
	live_tree_switch(a, &m, -1, &order);
	return true;
}

static bool take_any(
	struct agent *a, struct live_viewer *v, const union request *r, size_t bytes, double now)
{
	if (bytes < sizeof(r->head))
		return false;
	if (r->head.kind == WIRE_SWITCH)
		return take_order(a, r, bytes);
	return r->head.kind == WIRE_LIVE && bytes == sizeof(r->live) &&
	       take_request(a->live, v, &r->live, now);
}

/* Reads what it has said since. False: it has gone, or makes no sense. */
static bool hear_viewer(struct agent *a, struct live_viewer *v, double now)
{
	union request r;
	ssize_t n;

	for (int left = HEAR_MOST; left; left--) {
		n = recv(v->fd, &r, sizeof(r), MSG_DONTWAIT | MSG_TRUNC);
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
		if ((size_t)n > sizeof(r) || !take_any(a, v, &r, (size_t)n, now))
			return false;
	}
	return true;
}

void live_viewers_tick(struct agent *a, double now)
{
	struct live *l = a->live;
	size_t k = 0;

	for (size_t i = 0; i < l->n_viewers; i++) {
		if (hear_viewer(a, &l->viewers[i], now) && now < l->viewers[i].until)
			l->viewers[k++] = l->viewers[i];
		else
			close(l->viewers[i].fd);
	}
	l->n_viewers = k;
}

double live_viewers_period(const struct live *l)
{
	double least = LIVE_PERIOD_MOST;

	for (size_t i = 0; i < l->n_viewers; i++)
		least = MIN(least, l->viewers[i].period);
	return least;
}

bool live_viewers_want_where(const struct live *l)
{
	bool where = false;

	for (size_t i = 0; i < l->n_viewers; i++)
		where |= l->viewers[i].where;
	return where;
}

double live_viewers_next(const struct live *l)
{
	return l->n_viewers ? LIVE_VIEWERS_LOOK : NEVER_S;
}

/* One that is slow misses this view. */
void live_viewers_show(struct agent *a, const struct live_view *v, const struct where *where)
{
	const struct live *l = a->live;
	const size_t room = sizeof(struct wire_live_view) + LIVE_PACKED_MOST + WHERE_PACKED_MOST;
	struct wire_live_view *m = xcalloc(1, room);
	unsigned char *packed = (unsigned char *)(m + 1);
	size_t bytes = live_pack(v, NULL, packed), where_bytes = 0;

	if (where)
		where_bytes = where_pack(where, packed + bytes);
	bytes += where_bytes;
	*m = (struct wire_live_view){.head = {.kind = WIRE_LIVE, .text_bytes = (uint32_t)bytes},
		.version = WIRE_LIVE_VERSION,
		.agents = a->joining	      ? 0
			  : a->host.transport ? (uint32_t)a->host.transport->size
					      : 1,
		.period_ms = (uint32_t)(1e3 * live_viewers_period(l)),
		.patience_ms = (uint32_t)(1e3 * live_patience(a)),
		.where_bytes = (uint32_t)where_bytes};
	for (size_t i = 0; i < l->n_viewers; i++)
		send(l->viewers[i].fd, m, sizeof(*m) + bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
	free(m);
}

void live_viewers_end(struct live *l)
{
	for (size_t i = 0; i < l->n_viewers; i++)
		close(l->viewers[i].fd);
	l->n_viewers = 0;
}
