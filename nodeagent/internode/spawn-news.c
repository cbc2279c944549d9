/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/spawn-news.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/rank.h"
#include "nodeagent/base/util.h"
#include "nodeagent/internode/internal.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/jobs/spawns.h"

enum { JOB = 1, LINK, LINK_OF_SPAWNED, LINK_OF_OTHER, SIDE, MET, SIDE_ENDED };

#define JOB_WORDS 6u
#define RUN_WORDS 2u

static struct spawns *spawns_here(const struct host *host)
{
	return host->sync ? sync_spawns(host->sync) : NULL;
}

bool spawn_news_any(const struct host *host)
{
	const struct spawns *s = spawns_here(host);

	return s && spawns_have_news(s);
}

size_t spawn_news_awaited(const struct host *host)
{
	const struct spawns *s = spawns_here(host);

	return s ? spawns_open(s) : 0;
}

/* ---- telling --------------------------------------------------------------------------- */

static size_t put_job(const struct host *host, const struct spawn_job *j, uint64_t *to)
{
	const uint64_t words[JOB_WORDS] = {JOB, j->job, j->size, internode_global(host, j->since),
		j->root.space, j->root.rank};

	memcpy(to, words, sizeof(words));
	return JOB_WORDS;
}

/* Of parents from `at` on that have the same stride. */
static uint32_t run_of(const struct spawn_link *l, uint32_t at, int64_t *stride)
{
	uint32_t n = 1;

	*stride = at + 1 < l->n_parents ? (int64_t)l->parents[at + 1] - l->parents[at] : 1;
	while (at + n < l->n_parents &&
		(int64_t)l->parents[at + n] - l->parents[at + n - 1] == *stride)
		n++;
	return n;
}

/* leads_to: a job, or by which port it leads to one. 0: it does not fit. */
static size_t put_ranks(
	uint64_t kind, const struct spawn_link *l, uint64_t leads_to, uint64_t *to, size_t most)
{
	size_t n = 0;

	to[n++] = kind;
	to[n++] = l->comm;
	to[n++] = l->parent_job;
	to[n++] = leads_to;
	to[n++] = (uint64_t)l->n_parents << 32 | l->n_children;
	for (uint32_t at = 0, ranks; at < l->n_parents; at += ranks) {
		int64_t stride;

		if (n + RUN_WORDS > most)
			return 0;
		ranks = run_of(l, at, &stride);
		to[n++] = (uint64_t)l->parents[at] << 32 | ranks;
		to[n++] = (uint64_t)stride;
	}
	return n;
}

static size_t put_link(const struct spawn_link *l, uint64_t *to, size_t most)
{
	const uint64_t kind = l->parents_spawned ? LINK_OF_SPAWNED
			      : l->parents_other ? LINK_OF_OTHER
						 : LINK;

	return put_ranks(kind, l, l->child_job, to, most);
}

static size_t put_port(const struct spawn_port *p, uint64_t *to, size_t most)
{
	size_t n = 0;

	if (p->what == SPAWN_PORT_SIDE)
		return put_ranks(SIDE, p->side, p->port, to, most);
	to[n++] = p->what == SPAWN_PORT_MET ? MET : SIDE_ENDED;
	to[n++] = p->side->comm;
	to[n++] = p->side->parent_job;
	if (p->what != SPAWN_PORT_MET)
		return n;
	to[n++] = p->other_comm;
	to[n++] = p->other_job;
	return n;
}

static void warn_irregular(struct host *host, const struct spawn_link *l)
{
	host_warn(host, false,
		"%" PRIu32 " ranks that have spawned others, or met them by a port, lie so "
		"irregularly in their job that agents of other nodes are not told of it",
		l->n_parents);
}

size_t spawn_news_next(struct host *host, bool timed, uint64_t *words, size_t most)
{
	struct spawns *s = spawns_here(host);
	const struct spawn_link *l;
	struct spawn_port p;
	struct spawn_job j;
	size_t n;

	if (!s)
		return 0;
	if (timed && spawns_next_job(s, &j))
		return put_job(host, &j, words);
	while ((l = spawns_next_link(s))) {
		n = put_link(l, words, most);
		if (n)
			return n;
		warn_irregular(host, l);
	}
	while (spawns_next_port(s, &p)) {
		n = put_port(&p, words, most);
		if (n)
			return n;
		warn_irregular(host, p.side);
	}
	return 0;
}

/* ---- taking ---------------------------------------------------------------------------- */

static bool is_rank(uint64_t word)
{
	return word < PROFILE_UNRANKED;
}

static const char *take_job(struct host *host, struct spawns *s, struct words_in *in)
{
	const uint64_t job = words_get(in), size = words_get(in), since = words_get(in);
	struct spawn_name root = {.space = words_get(in)};
	const uint64_t rank = words_get(in);

	if (in->bad || in->n || !job || !size || !is_rank(size) || !root.space || rank > UINT32_MAX)
		return "a spawned job that cannot be";
	root.rank = (uint32_t)rank;
	spawns_add_job(s, job, (uint32_t)size, internode_ticks(host, since), &root);
	return NULL;
}

/* Into l->parents, of which there are as many as it says. */
static bool take_runs(struct spawn_link *l, struct words_in *in)
{
	uint32_t at = 0;

	while (at < l->n_parents) {
		const uint64_t head = words_get(in);
		const int64_t first = (int64_t)(head >> 32), stride = (int64_t)words_get(in);
		const uint32_t n = (uint32_t)head;
		const bool fits =
			stride > -(int64_t)PROFILE_UNRANKED && stride < (int64_t)PROFILE_UNRANKED;

		if (in->bad || !n || n > l->n_parents - at || !fits || !is_rank((uint64_t)first) ||
			(n > 1 && !stride) || first + stride * ((int64_t)n - 1) < 0 ||
			!is_rank((uint64_t)(first + stride * ((int64_t)n - 1))))
			return false;
		for (uint32_t k = 0; k < n; k++)
			l->parents[at++] = (uint32_t)(first + stride * (int64_t)k);
	}
	return !in->n;
}

/* Of a side, too. */
static const char *take_link(struct spawns *s, struct words_in *in, uint64_t kind)
{
	const uint64_t comm = words_get(in), parent_job = words_get(in), leads_to = words_get(in),
		       counts = words_get(in);
	struct spawn_link l = {.comm = comm,
		.parent_job = parent_job,
		.child_job = kind == SIDE ? 0 : leads_to,
		.n_parents = (uint32_t)(counts >> 32),
		.n_children = (uint32_t)counts,
		.parents_spawned = kind == LINK_OF_SPAWNED,
		.parents_other = kind == LINK_OF_OTHER};
	bool good;

	if (in->bad || !l.n_parents || !l.n_children || l.n_parents > SPAWNS_RANKS_MAX ||
		!is_rank(l.n_children))
		return "a communicator with spawned ranks that cannot be";
	l.parents = xcalloc(l.n_parents, sizeof(*l.parents));
	good = take_runs(&l, in);
	if (good && kind == SIDE)
		spawns_hear_port(s, leads_to, &l);
	else if (good)
		spawns_hear_link(s, &l);
	free(l.parents);
	return good ? NULL : "a communicator with spawned ranks whose parents are no ranks";
}

static const char *take_met(struct spawns *s, struct words_in *in)
{
	const uint64_t comm = words_get(in), job = words_get(in), other_comm = words_get(in),
		       other_job = words_get(in);

	if (in->bad || in->n || !job || !other_job || job == other_job)
		return "jobs that cannot have met by a port";
	spawns_hear_met(s, job, comm, other_job, other_comm);
	return NULL;
}

static const char *take_end(struct spawns *s, struct words_in *in)
{
	const uint64_t comm = words_get(in), job = words_get(in);

	if (in->bad || in->n || !job)
		return "a communicator made by a port that cannot be";
	spawns_hear_port_end(s, job, comm);
	return NULL;
}

bool spawn_news_has_times(const uint64_t *words, size_t n)
{
	return n && words[0] == JOB;
}

const char *spawn_news_take(struct host *host, const uint64_t *words, size_t n)
{
	struct words_in in = {words, n, false};
	struct spawns *s;
	uint64_t kind;

	process_begin_comparing(host); /* processes of these jobs may still come here */
	s = spawns_here(host);
	if (!s)
		return NULL;
	kind = words_get(&in);
	switch (kind) {
	case JOB:
		return take_job(host, s, &in);
	case LINK:
	case LINK_OF_SPAWNED:
	case LINK_OF_OTHER:
	case SIDE:
		return take_link(s, &in, kind);
	case MET:
		return take_met(s, &in);
	case SIDE_ENDED:
		return take_end(s, &in);
	default:
		return "it is of no kind";
	}
}
