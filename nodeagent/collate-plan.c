/* SPDX-License-Identifier: BSD-3-Clause */
/* The agents' start: hosts go to agent 0, each agent's place in the tree comes back. */
#include "nodeagent/collate.h"

#include <errno.h>
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
	peer->plan = plan;
}

static int start_root(struct peer *peer, const char *host, double until)
{
	struct seat *seats = xcalloc(peer->size, sizeof(*seats));
	struct plan_message own = {0};
	uint32_t n = peer->size, root = 0;
	int error = 0;

	gather_hosts(peer, seats, host, until);
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
