/* SPDX-License-Identifier: BSD-3-Clause */
/* The agents' start: hosts go to agent 0, each agent's place in the tree comes back. */
#include "nodeagent/collate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/collate-tree.h"
#include "nodeagent/courier.h"
#include "nodeagent/util.h"

/* The message that agent 0 sends each agent at the start. */
struct plan_message {
	uint64_t n, position, level, n_levels, n_children;
	int64_t parent;
	int64_t child[LEVELS_MAX];
	char root_host[64];
};

int send_and_free(struct peer *peer, int to, enum tag tag, void *buf, size_t bytes, double until)
{
	int error = peer->send(peer, to, tag, buf, bytes, until);

	if (error != -ETIMEDOUT)
		free(buf);
	return error;
}

struct seat {
	char *host;
	int rank;
};

static int seat_cmp(const void *x, const void *y)
{
	const struct seat *a = x, *b = y;
	int order = strcmp(a->host, b->host);

	return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

static void gather_hosts(struct peer *peer, struct seat *seats, const char *host, double until)
{
	int missing = peer->size - 1;

	seats[0].host = xstrdup(host);
	while (missing > 0) {
		void *buf;
		size_t bytes;
		int who;

		if (peer->receive(peer, PEER_ANY, TAG_HOST, &buf, &bytes, &who, until))
			break;
		if (bytes && !((char *)buf)[bytes - 1] && !seats[who].host) {
			seats[who].host = xstrdup(buf);
			missing--;
		}
		free(buf);
	}
	for (int i = 0; i < peer->size; i++) {
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

static void adopt(struct peer *peer, const struct plan_message *m)
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
	peer->plan = plan;
}

/* Every agent gets its plan, agent 0 has the seats afterwards. */
static int plan_all(struct peer *peer, struct seat *seats, double until)
{
	struct plan_message own = {0};
	uint32_t n = peer->size, root = 0;
	int error = 0;

	qsort(seats, n, sizeof(*seats), seat_cmp);
	while (seats[root].rank)
		root++;
	for (uint32_t i = 0; i < n; i++) {
		struct plan_message *m = xmalloc(sizeof(*m));

		plan_one(m, n, i, root, seats);
		if (i != root) {
			int failed = send_and_free(
				peer, seats[i].rank, TAG_PLAN, m, sizeof(*m), until + 1);

			error = error ? error : failed;
			continue;
		}
		own = *m;
		free(m);
	}
	adopt(peer, &own);
	peer->plan->hosts = xcalloc(n, sizeof(char *));
	peer->plan->ranks = xcalloc(n, sizeof(int));
	peer->plan->direct = xcalloc(n, sizeof(bool));
	for (uint32_t i = 0; i < n; i++) {
		peer->plan->hosts[i] = seats[i].host;
		peer->plan->ranks[i] = seats[i].rank;
	}
	free(seats);
	return error;
}

static int start_root(struct peer *peer, const char *host, double until)
{
	struct seat *seats = xcalloc(peer->size, sizeof(*seats));

	gather_hosts(peer, seats, host, until);
	return plan_all(peer, seats, until);
}

void collate_plan_known(struct peer *peer, char *const *hosts)
{
	struct seat *seats = xcalloc(peer->size, sizeof(*seats));

	for (int i = 0; i < peer->size; i++)
		seats[i] = (struct seat){.host = xstrdup(hosts[i]), .rank = i};
	plan_all(peer, seats, peer_now());
}

bool collate_plan_take(struct peer *peer, const void *buf, size_t bytes)
{
	struct plan_message m;

	if (bytes != sizeof(m))
		return false;
	memcpy(&m, buf, bytes);
	m.root_host[sizeof(m.root_host) - 1] = '\0';
	if (m.n != (uint64_t)peer->size || m.n_children > LEVELS_MAX || m.position >= m.n ||
		m.parent < 0 || m.parent >= peer->size || m.level > LEVELS_MAX ||
		m.n_levels > LEVELS_MAX)
		return false;
	for (uint64_t i = 0; i < m.n_children; i++)
		if (m.child[i] < 0 || m.child[i] >= peer->size)
			return false;
	adopt(peer, &m);
	return true;
}

/* The plan; at agent 0 also rank and host of each position, texts with NUL. */
void *collate_plan_pack(const struct peer *peer, size_t *bytes)
{
	const struct collate_plan *plan = peer->plan;
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

bool collate_plan_unpack(struct peer *peer, const void *buf, size_t bytes)
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
	peer->plan = plan;
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

static int start_other(struct peer *peer, const char *host, double until)
{
	struct plan_message *m;
	size_t bytes;
	int who, error;
	void *buf;

	error = send_and_free(peer, 0, TAG_HOST, xstrdup(host), strlen(host) + 1, until);
	if (!error)
		error = peer->receive(peer, 0, TAG_PLAN, &buf, &bytes, &who, until + 2);
	if (error)
		return error;
	m = buf;
	if (bytes == sizeof(*m) && m->n == (uint64_t)peer->size && m->n_children < LEVELS_MAX)
		adopt(peer, m);
	else
		error = -EPROTO;
	free(buf);
	return error;
}

int collate_start(struct peer *peer, const char *host, double deadline_s)
{
	double until = peer_now() + deadline_s;

	int error;

	if (!peer)
		return 0;
	error = peer->rank ? start_other(peer, host, until) : start_root(peer, host, until);
	if (peer->plan && peer->rank)
		courier_remember(peer, peer->plan, sizeof(*peer->plan), host);
	return error;
}

const char *collate_host(const struct peer *peer, unsigned i)
{
	const struct collate_plan *plan = peer ? peer->plan : NULL;

	return plan && plan->hosts && i < plan->n ? plan->hosts[i] : NULL;
}

const char *collate_host_of(const struct peer *peer, int rank)
{
	const struct collate_plan *plan = peer ? peer->plan : NULL;

	for (uint32_t i = 0; plan && plan->hosts && i < plan->n; i++)
		if (plan->ranks[i] == rank)
			return plan->hosts[i];
	return plan && !rank && plan->root_host[0] ? plan->root_host : NULL;
}
