/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/readers/readers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/readers/idle.h"
#include "nodeagent/readers/team.h"
#include "shm/ring.h"

/* Less of a round is read by one thread: to call the others takes as long. */
#define ROUND_BYTES (16u * BLOCK_BYTES)

/* How many there are, where agent.readers is "auto": rings that are half full, again and again, and
 * CPUs that nobody needs make them more. */
#define FULL_TIMES 3u
#define LOOK_NS	   100000000u
#define QUIET_NS   1000000000u

struct job {
	struct thread_ring *thread;
	size_t index; /* of its ring */
	uint64_t until, bytes;
	const char *damage; /* or NULL */
};

struct readers {
	struct host *host;
	struct team *team;
	struct job *jobs;
	size_t n_jobs, cap_jobs;
	uint64_t together; /* bytes that were read side by side */

	/* auto */
	struct idle *idle;
	unsigned full; /* times one after the other */
	uint64_t looks_since, quiet_since;
};

/* ---- how many ----------------------------------------------------------------------------- */

static void resize_to(struct readers *r, unsigned wanted)
{
	const int error = team_resize(r->team, wanted);

	if (error)
		host_warn(r->host, false, "only %u of %u threads read rings: %s",
			team_size(r->team), wanted, strerror(-error));
}

struct readers *readers_new(struct host *host, const char *stat)
{
	struct readers *r = xcalloc(1, sizeof(*r));

	r->host = host;
	r->team = team_new();
	if (host->conf->agent_readers == CONF_AUTO)
		r->idle = idle_new(stat);
	else
		resize_to(r, (unsigned)host->conf->agent_readers);
	return r;
}

void readers_free(struct readers *r)
{
	if (!r)
		return;
	team_free(r->team);
	idle_free(r->idle);
	free(r->jobs);
	free(r);
}

unsigned readers_number(const struct readers *r)
{
	return team_size(r->team);
}

uint64_t readers_together(const struct readers *r)
{
	return r->together;
}

void readers_follow(const struct readers *r)
{
	team_follow(r->team);
}

/* Of the fullest ring, in 8ths. */
static unsigned fullest_ring(const struct host *host)
{
	uint64_t most = 0;

	for (const struct process *p = host->live; p; p = p->next_live)
		for (size_t i = 0; !p->ended && i < p->n_threads; i++) {
			const struct thread_ring *t = p->threads[i];
			const uint64_t used =
				!t || t->error ? 0
					       : load_relaxed(&t->ring.producer->head) - t->tail;

			if (used && used <= t->ring.size && 8 * used / t->ring.size > most)
				most = 8 * used / t->ring.size;
		}
	return (unsigned)most;
}

static void grow_team(struct readers *r, uint64_t now)
{
	const unsigned size = team_size(r->team);
	const unsigned idle = (unsigned)(idle_since(r->idle) + 0.1);

	r->looks_since = 0;
	if (!idle || size == TEAM_MOST)
		return;
	r->quiet_since = now;
	resize_to(r, size + (idle < size ? idle : size));
}

static void judge_load(struct readers *r)
{
	const unsigned full = fullest_ring(r->host);
	const uint64_t now = clock_raw_ns();

	if (full < 4) {
		r->full = 0;
		r->looks_since = 0;
	} else if (++r->full >= FULL_TIMES) {
		if (!r->looks_since) {
			r->looks_since = now;
			idle_begin(r->idle);
		} else if (now - r->looks_since >= LOOK_NS) {
			grow_team(r, now);
		}
	}
	if (full >= 1 || team_size(r->team) == 1) {
		r->quiet_since = now;
	} else if (now - r->quiet_since >= QUIET_NS) {
		resize_to(r, team_size(r->team) - 1);
		r->quiet_since = now;
	}
}

/* ---- rounds ------------------------------------------------------------------------------- */

static void read_own(void *ctx, size_t i)
{
	struct job *j = &((struct readers *)ctx)->jobs[i];

	j->bytes = drain_own(j->thread, j->until, &j->damage);
}

/* False: there is too little of it, or they are too few. */
static bool find_jobs(struct readers *r)
{
	const uint64_t least = drain_least(r->host), until = drain_until(r->host, least);
	uint64_t bytes = 0;

	r->n_jobs = 0;
	for (struct process *p = r->host->live; p; p = p->next_live)
		for (size_t i = 0; !p->ended && !p->read_no_more && i < p->n_threads; i++) {
			struct thread_ring *t = p->threads[i];

			if (!t || !drain_has_turn(t, least, until))
				continue;
			*LIST_ADD(r, jobs) = (struct job){t, i, until, 0, NULL};
			bytes += t->head - t->tail;
		}
	return r->n_jobs > 1 && bytes >= ROUND_BYTES;
}

static bool read_round(struct readers *r, uint64_t *bytes)
{
	struct host *host = r->host;
	uint64_t before = *bytes;

	if (host->is_behind && host->is_behind(host))
		return false;
	for (struct process *p = host->live; p; p = p->next_live)
		drain_may_go_on(p);
	if (!find_jobs(r))
		return false;
	team_run(r->team, r->n_jobs, read_own, r);
	EACH(const struct job, j, r->jobs, r->n_jobs) {
		host->drained_bytes += j->bytes;
		r->together += j->bytes;
		*bytes += j->bytes + drain_common(j->thread, j->index, j->damage);
	}
	for (struct process *p = host->live; p; p = p->next_live)
		if (!p->ended)
			drain_round_over(p);
	return *bytes != before;
}

uint64_t readers_drain(struct readers *r)
{
	uint64_t bytes = 0;

	if (r->idle)
		judge_load(r);
	if (team_size(r->team) > 1) {
		for (struct process *p = r->host->live; p; p = p->next_live)
			drain_begin(p);
		while (read_round(r, &bytes))
			continue;
	}
	return bytes + drain_host(r->host);
}
