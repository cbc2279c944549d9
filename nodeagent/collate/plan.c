/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agents' start: hosts go to agent 0, the sequence of the agents comes back. From that each
 * one knows its place in the tree.
 */
#include "nodeagent/collate/collate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/collate/tree.h"
#include "nodeagent/net/tree.h"
#include "nodeagent/base/util.h"

/*
 * The message that agent 0 sends to all at the start: this, and then the agents by position, as
 * runs of successive ranks.
 */
struct plan_message {
	uint64_t n, n_runs;
	char root_host[64];
};

struct plan_run {
	uint32_t first, n;
};

#define START_HOLD_S 1.0 /* hosts wait for those of others (net/route.h), or a part of the time */
#define HOLD_PART    16

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

/* The place of the agent at `position` in the tree, whose root is at `root`. */
static struct collate_plan *plan_one(const int *ranks, uint32_t n, uint32_t position, uint32_t root)
{
	struct collate_plan *m = xcalloc(1, sizeof(*m));
	const int v = (int)((position + n - root) % n);
	int child;

	m->n = n;
	m->position = position;
	m->place = (uint32_t)v;
	m->parent = v ? ranks[((uint32_t)tree_parent(v) + root) % n] : -1;
	m->level = v ? (uint32_t)__builtin_ctz((unsigned)v) : 0;
	while (m->n_levels < LEVELS_MAX - 1 && (1u << m->n_levels) < n)
		m->n_levels++;
	while ((child = tree_child((int)n, v, (int)m->n_children)) > 0)
		m->child[m->n_children++] = ranks[((uint32_t)child + root) % n];
	return m;
}

/* ranks: by position; each is there once. */
static struct collate_plan *own_plan(
	const struct transport *transport, const int *ranks, const char *root_host)
{
	const uint32_t n = (uint32_t)transport->size;
	struct collate_plan *plan;
	uint32_t own = 0, root = 0;

	for (uint32_t i = 0; i < n; i++) {
		own = ranks[i] == transport->rank ? i : own;
		root = ranks[i] == 0 ? i : root;
	}
	plan = plan_one(ranks, n, own, root);
	snprintf(plan->root_host, sizeof(plan->root_host), "%s", root_host);
	return plan;
}

static void *pack_ranks(const int *ranks, uint32_t n, const char *root_host, size_t *bytes)
{
	struct plan_message m = {.n = n};
	struct plan_run *runs = xcalloc(n, sizeof(*runs));
	char *buf;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t rank = (uint32_t)ranks[i];
		struct plan_run *last = m.n_runs ? &runs[m.n_runs - 1] : NULL;

		if (last && rank == last->first + last->n)
			last->n++;
		else
			runs[m.n_runs++] = (struct plan_run){rank, 1};
	}
	snprintf(m.root_host, sizeof(m.root_host), "%s", root_host);
	*bytes = sizeof(m) + m.n_runs * sizeof(*runs);
	buf = xmalloc(*bytes);
	memcpy(buf, &m, sizeof(m));
	memcpy(buf + sizeof(m), runs, m.n_runs * sizeof(*runs));
	free(runs);
	return buf;
}

/* The agents by position; NULL if not each of n is there once. */
static int *unpack_ranks(const struct plan_run *runs, uint64_t n_runs, uint32_t n)
{
	bool *there = xcalloc(n, sizeof(*there));
	int *ranks = xcalloc(n, sizeof(*ranks));
	uint32_t have = 0;

	for (uint64_t i = 0; i < n_runs; i++) {
		const struct plan_run r = runs[i];

		if (r.n > n - have || r.first >= n || r.n > n - r.first)
			break;
		for (uint32_t k = 0; k < r.n && !there[r.first + k]; k++) {
			there[r.first + k] = true;
			ranks[have++] = (int)(r.first + k);
		}
	}
	free(there);
	if (have == n)
		return ranks;
	free(ranks);
	return NULL;
}

/* Every agent gets the sequence of all, agent 0 has the seats afterwards. */
static int plan_all(struct transport *transport, struct seat *seats, double until)
{
	const uint32_t n = (uint32_t)transport->size;
	int *ranks = xcalloc(n, sizeof(*ranks)), error;
	char **hosts = xcalloc(n, sizeof(*hosts));
	const char *root_host = seats[0].host;
	size_t bytes;
	void *buf;

	qsort(seats, n, sizeof(*seats), seat_cmp);
	for (uint32_t i = 0; i < n; i++) {
		ranks[i] = seats[i].rank;
		hosts[i] = seats[i].host;
	}
	transport->plan = own_plan(transport, ranks, root_host);
	transport->plan->hosts = hosts;
	transport->plan->ranks = ranks;
	transport->plan->direct = xcalloc(n, sizeof(bool));
	buf = pack_ranks(ranks, n, root_host, &bytes);
	error = transport_to_all(transport, TAG_PLAN, buf, bytes, until + 1);
	free(buf);
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
	struct plan_run *runs;
	int *ranks;

	if (bytes < sizeof(m))
		return false;
	memcpy(&m, buf, sizeof(m));
	m.root_host[sizeof(m.root_host) - 1] = '\0';
	if (m.n != (uint64_t)transport->size || m.n_runs > m.n ||
		bytes != sizeof(m) + m.n_runs * sizeof(*runs))
		return false;
	runs = xmalloc(m.n_runs * sizeof(*runs) + 1);
	memcpy(runs, (const char *)buf + sizeof(m), m.n_runs * sizeof(*runs));
	ranks = unpack_ranks(runs, m.n_runs, (uint32_t)m.n);
	if (ranks)
		transport->plan = own_plan(transport, ranks, m.root_host);
	free(runs);
	free(ranks);
	return ranks != NULL;
}

const struct transport_plan_operations collate_plan_operations = {
	TAG_HOST,
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

static bool is_agent(const struct transport *transport, int rank)
{
	return rank >= 0 && rank < transport->size;
}

/* A rank and a text of each position are behind it, or nothing: that is so but at agent 0. */
static bool is_plan(const struct transport *transport, const struct collate_plan *plan,
	const char *behind, size_t bytes)
{
	if (plan->n != (uint64_t)transport->size || plan->position >= plan->n ||
		plan->place >= plan->n ||
		plan->n_children > LEVELS_MAX || plan->n_levels > LEVELS_MAX ||
		plan->level > LEVELS_MAX)
		return false;
	if (!is_agent(transport, plan->parent) && !(bytes && plan->parent == -1))
		return false;
	for (uint32_t k = 0; k < plan->n_children; k++)
		if (!is_agent(transport, plan->child[k]))
			return false;
	if (!bytes)
		return true;
	if (plan->n > bytes / (sizeof(int) + 1) || behind[bytes - 1])
		return false;
	for (uint32_t i = 0; i < plan->n; i++) {
		int rank;

		memcpy(&rank, behind + i * sizeof(rank), sizeof(rank));
		if (!is_agent(transport, rank))
			return false;
	}
	return true;
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
	if (!is_plan(transport, plan, at, (size_t)(end - at))) {
		free(plan);
		return false;
	}
	plan->root_host[sizeof(plan->root_host) - 1] = '\0';
	plan->hosts = NULL;
	plan->ranks = NULL;
	plan->direct = NULL;
	plan->down = NULL;
	plan->down_bytes = 0;
	plan->down_leaves = false;
	plan->gone = NULL;
	plan->n_gone = 0;
	plan->in_place = plan->over = plan->together = false;
	plan->own = (struct keys){0};
	memset(plan->keys, 0, sizeof(plan->keys));
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

bool collate_plan_replace(struct transport *transport, const void *buf, size_t bytes)
{
	struct collate_plan *before = transport->plan;

	if (bytes != sizeof(*before) || !collate_plan_unpack(transport, buf, bytes))
		return false;
	collate_plan_free(before);
	return true;
}

void collate_plan_forget(struct collate_plan *plan)
{
	if (!plan->down_leaves)
		free(plan->down);
	plan->down = NULL;
	plan->down_leaves = false;
	for (uint32_t k = 0; k < LEVELS_MAX; k++)
		free(plan->keys[k].hash);
	memset(plan->keys, 0, sizeof(plan->keys));
	free(plan->own.hash);
	plan->own = (struct keys){0};
}

void collate_plan_free(struct collate_plan *plan)
{
	for (uint32_t i = 0; plan && plan->hosts && i < plan->n; i++)
		free(plan->hosts[i]);
	if (plan) {
		free(plan->hosts);
		free(plan->ranks);
		free(plan->direct);
		collate_plan_forget(plan);
	}
	free(plan);
}

static int start_other(struct transport *transport, const char *host, double until)
{
	const double hold = (until - transport_now()) / HOLD_PART;
	size_t bytes;
	int who, error;
	void *buf;

	error = transport_to_root(transport, TAG_HOST, host, strlen(host) + 1, true,
		hold < START_HOLD_S ? hold : START_HOLD_S, until);
	if (!error)
		error = transport->receive(transport, 0, TAG_PLAN, &buf, &bytes, &who, until + 2);
	if (error)
		return error;
	error = take_plan(transport, buf, bytes) ? 0 : -EPROTO;
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
