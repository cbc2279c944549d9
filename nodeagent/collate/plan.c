/* SPDX-License-Identifier: BSD-3-Clause */
/* The agents' start: hosts go to agent 0, each agent's place in the tree comes back. */
#include "nodeagent/collate/collate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/collate/tree.h"
#include "nodeagent/base/util.h"

/* The message that agent 0 sends each agent at the start. */
struct plan_message {
	uint64_t n, position, level, n_levels, n_children;
	int64_t parent;
	int64_t child[LEVELS_MAX];
	char root_host[64];
};

int send_and_free(
	struct transport *transport, int to, enum tag tag, void *buf, size_t bytes, double until)
{
	int error = transport->send(transport, to, tag, buf, bytes, until);

	if (error != -ETIMEDOUT)
		free(buf);
	return error;
}

struct seat {
	char *host;
	int rank;
};

ORDER_BY(seat_cmp, struct seat, ALPHABETIC(host) ?: RISING(rank))

static void gather_hosts(
	struct transport *transport, struct seat *seats, const char *host, double until)
{
	int missing = transport->size - 1;

	seats[0].host = xstrdup(host);
	while (missing > 0) {
		void *buf;
		size_t bytes;
		int who;

		if (transport->receive(
			    transport, TRANSPORT_ANY, TAG_HOST, &buf, &bytes, &who, until))
			break;
		if (bytes && !((char *)buf)[bytes - 1] && !seats[who].host) {
			seats[who].host = xstrdup(buf);
			missing--;
		}
		free(buf);
	}
	for (int i = 0; i < transport->size; i++) {
		seats[i].rank = i;
		if (!seats[i].host)
			seats[i].host = xasprintf("(host of agent %d)", i);
	}
}

/* Tree of the agent at `position`, whose root is at `root`. */
static void plan_one(struct plan_message *m, uint32_t n, uint32_t position, uint32_t root,
	const struct seat *seats)
{
	uint32_t v = (position + n - root) % n;

	memset(m, 0, sizeof(*m));
	snprintf(m->root_host, sizeof(m->root_host), "%s", seats[root].host);
	m->n = n;
	m->position = position;
	m->parent = -1;
	while (m->n_levels < LEVELS_MAX - 1 && (1u << m->n_levels) < n)
		m->n_levels++;
	for (uint32_t k = 0; k < m->n_levels; k++) {
		uint32_t step = 1u << k;

		if (v & step) {
			m->parent = seats[(v - step + root) % n].rank;
			m->level = k;
			break;
		}
		if (v + step < n)
			m->child[m->n_children++] = seats[(v + step + root) % n].rank;
	}
}

static void adopt(struct transport *transport, const struct plan_message *m)
{
	struct collate_plan *plan = xcalloc(1, sizeof(*plan));

	plan->n = m->n;
	plan->position = m->position;
	plan->parent = m->parent;
	plan->level = m->level;
	plan->n_levels = m->n_levels;
	plan->n_children = m->n_children;
	for (uint32_t k = 0; k < plan->n_children; k++)
		plan->child[k] = m->child[k];
	snprintf(plan->root_host, sizeof(plan->root_host), "%s", m->root_host);
	transport->plan = plan;
}

/* Every agent gets its plan, agent 0 has the seats afterwards. */
static int plan_all(struct transport *transport, struct seat *seats, double until)
{
	struct plan_message own = {0};
	uint32_t n = transport->size, root = 0;
	int error = 0;

	qsort(seats, n, sizeof(*seats), seat_cmp);
	while (seats[root].rank)
		root++;
	for (uint32_t i = 0; i < n; i++) {
		struct plan_message *m = xmalloc(sizeof(*m));

		plan_one(m, n, i, root, seats);
		if (i != root) {
			int failed = send_and_free(
				transport, seats[i].rank, TAG_PLAN, m, sizeof(*m), until + 1);

			error = error ? error : failed;
			continue;
		}
		own = *m;
		free(m);
	}
	adopt(transport, &own);
	transport->plan->hosts = xcalloc(n, sizeof(char *));
	transport->plan->ranks = xcalloc(n, sizeof(int));
	transport->plan->direct = xcalloc(n, sizeof(bool));
	for (uint32_t i = 0; i < n; i++) {
		transport->plan->hosts[i] = seats[i].host;
		transport->plan->ranks[i] = seats[i].rank;
	}
	free(seats);
	return error;
}

static int start_root(struct transport *transport, const char *host, double until)
{
	struct seat *seats = xcalloc(transport->size, sizeof(*seats));

	gather_hosts(transport, seats, host, until);
	return plan_all(transport, seats, until);
}

static void make_known_plan(struct transport *transport, char *const *hosts)
{
	struct seat *seats = xcalloc(transport->size, sizeof(*seats));

	for (int i = 0; i < transport->size; i++)
		seats[i] = (struct seat){.host = xstrdup(hosts[i]), .rank = i};
	plan_all(transport, seats, transport_now());
}

static bool take_plan(struct transport *transport, const void *buf, size_t bytes)
{
	struct plan_message m;

	if (bytes != sizeof(m))
		return false;
	memcpy(&m, buf, bytes);
	m.root_host[sizeof(m.root_host) - 1] = '\0';
	if (m.n != (uint64_t)transport->size || m.n_children > LEVELS_MAX || m.position >= m.n ||
		m.parent < 0 || m.parent >= transport->size || m.level > LEVELS_MAX ||
		m.n_levels > LEVELS_MAX)
		return false;
	for (uint64_t i = 0; i < m.n_children; i++)
		if (m.child[i] < 0 || m.child[i] >= transport->size)
			return false;
	adopt(transport, &m);
	return true;
}

const struct transport_plan_operations collate_plan_operations = {
	TAG_PLAN,
	make_known_plan,
	take_plan,
};

/* The plan; at agent 0 also rank and host of each position, texts with NUL. */
void *collate_plan_pack(const struct transport *transport, size_t *bytes)
{
	const struct collate_plan *plan = transport->plan;
	size_t n = plan->hosts ? plan->n : 0, all = sizeof(*plan) + n * sizeof(int);
	char *buf, *at;

	for (size_t i = 0; i < n; i++)
		all += strlen(plan->hosts[i]) + 1;
	at = buf = xmalloc(all);
	memcpy(at, plan, sizeof(*plan));
	at += sizeof(*plan);
	if (n)
		memcpy(at, plan->ranks, n * sizeof(int));
	at += n * sizeof(int);
	for (size_t i = 0; i < n; i++)
		at = stpcpy(at, plan->hosts[i]) + 1;
	*bytes = all;
	return buf;
}

bool collate_plan_unpack(struct transport *transport, const void *buf, size_t bytes)
{
	const char *at = buf, *end = at + bytes;
	struct collate_plan *plan;
	size_t n;

	if (bytes < sizeof(*plan))
		return false;
	plan = xmalloc(sizeof(*plan));
	memcpy(plan, at, sizeof(*plan));
	at += sizeof(*plan);
	plan->hosts = NULL;
	plan->ranks = NULL;
	plan->direct = NULL;
	transport->plan = plan;
	if (at == end)
		return true;
	n = plan->n;
	plan->hosts = xcalloc(n, sizeof(char *));
	plan->ranks = xcalloc(n, sizeof(int));
	plan->direct = xcalloc(n, sizeof(bool));
	memcpy(plan->ranks, at, n * sizeof(int));
	at += n * sizeof(int);
	for (size_t i = 0; i < n; i++) {
		plan->hosts[i] = xstrdup(at < end ? at : "");
		at += strlen(plan->hosts[i]) + 1;
	}
	return true;
}

void collate_plan_free(struct collate_plan *plan)
{
	for (uint32_t i = 0; plan && plan->hosts && i < plan->n; i++)
		free(plan->hosts[i]);
	if (plan) {
		free(plan->hosts);
		free(plan->ranks);
		free(plan->direct);
	}
	free(plan);
}

static int start_other(struct transport *transport, const char *host, double until)
{
	struct plan_message *m;
	size_t bytes;
	int who, error;
	void *buf;

	error = send_and_free(transport, 0, TAG_HOST, xstrdup(host), strlen(host) + 1, until);
	if (!error)
		error = transport->receive(transport, 0, TAG_PLAN, &buf, &bytes, &who, until + 2);
	if (error)
		return error;
	m = buf;
	if (bytes == sizeof(*m) && m->n == (uint64_t)transport->size && m->n_children < LEVELS_MAX)
		adopt(transport, m);
	else
		error = -EPROTO;
	free(buf);
	return error;
}

int collate_start(struct transport *transport, const char *host, double deadline_s)
{
	double until = transport_now() + deadline_s;

	int error;

	if (!transport)
		return 0;
	error = transport->rank ? start_other(transport, host, until)
				: start_root(transport, host, until);
	if (transport->plan && transport->rank && transport->remember)
		transport->remember(transport, transport->plan, sizeof(*transport->plan), host);
	return error;
}

const char *collate_host(const struct transport *transport, unsigned i)
{
	const struct collate_plan *plan = transport ? transport->plan : NULL;

	return plan && plan->hosts && i < plan->n ? plan->hosts[i] : NULL;
}

const char *collate_host_of(const struct transport *transport, int rank)
{
	const struct collate_plan *plan = transport ? transport->plan : NULL;

	for (uint32_t i = 0; plan && plan->hosts && i < plan->n; i++)
		if (plan->ranks[i] == rank)
			return plan->hosts[i];
	return plan && !rank && plan->root_host[0] ? plan->root_host : NULL;
}
