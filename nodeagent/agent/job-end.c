/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/job-end.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define PATIENCE_S	10.0 /* for ranks that were announced and never seen */
#define PATIENCE_GONE_S 2.0  /* ... when an agent is gone, and its ranks with it */
#define SPEAK_S		10.0 /* for the first word of an agent */

struct one_agent {
	struct job_state state, before; /* what it said before it was gone */
	bool heard;
};

struct job_end {
	int n;
	double began, quiet_since; /* 0: it is not quiet */
	struct one_agent agents[];
};

struct job_end *job_end_new(int agents, double now)
{
	struct job_end *j = xcalloc(1, sizeof(*j) + (size_t)agents * sizeof(j->agents[0]));

	j->n = agents;
	j->began = now;
	for (int i = 0; i < agents; i++)
		j->agents[i].state.what = JOB_IDLE;
	return j;
}

void job_end_free(struct job_end *j)
{
	free(j);
}

bool job_end_take(struct job_end *j, int who, const void *buf, size_t bytes)
{
	struct one_agent *a = &j->agents[who];
	struct job_state s = a->state;

	if (!bytes && a->state.what == JOB_GONE) {
		a->state = a->before;
		return false;
	}
	if (bytes == 1)
		s.what = JOB_GONE;
	else if (bytes == sizeof(s))
		memcpy(&s, buf, bytes);
	else
		return false;
	a->heard = true;
	if (a->state.what == JOB_GONE && s.what != JOB_GONE) {
		a->before = s;
		return false;
	}
	if (a->state.what != JOB_GONE)
		a->before = a->state;
	a->state = s;
	return s.what == JOB_GONE;
}

void job_end_restart(struct job_end *j)
{
	j->quiet_since = 0;
}

uint32_t *job_end_gone(const struct job_end *j, size_t *n)
{
	uint32_t *gone = xcalloc((size_t)j->n, sizeof(*gone));

	*n = 0;
	for (int i = 0; i < j->n; i++)
		if (j->agents[i].state.what == JOB_GONE)
			gone[(*n)++] = (uint32_t)i;
	return gone;
}

uint64_t job_end_paths(const struct job_end *j)
{
	uint64_t sum = 0;

	for (int i = 0; i < j->n; i++)
		sum += (uint64_t)MAX(j->agents[i].state.paths, 0);
	return sum;
}

bool job_end_exchange(const struct job_end *j)
{
	for (int i = 0; i < j->n; i++) {
		const struct job_state *s = &j->agents[i].state;

		if (s->sends || s->what == JOB_BUSY || s->what == JOB_GONE)
			return true;
	}
	return false;
}

bool job_end_reached(struct job_end *j, const struct job_rule *rule, double now)
{
	bool any_over = false, any_gone = false, any_waits = false, all_done = true;
	int ended = 0, world = 0;
	unsigned ever = 0;

	for (int i = 0; i < j->n; i++) {
		const struct job_state *s = &j->agents[i].state;

		if (s->what == JOB_BUSY)
			return false;
		if (rule->all_speak && !j->agents[i].heard && now - j->began < SPEAK_S)
			return false;
		all_done &= s->what != JOB_IDLE;
		any_gone |= s->what == JOB_GONE;
		any_waits |= s->what == JOB_WAITS;
		/* of one that is gone before any process has come nothing is over */
		any_over |= s->what == JOB_DONE || (s->what == JOB_GONE && s->ever > 0);
		ever += (unsigned)s->ever;
		ended += s->ended;
		world = MAX(world, s->world);
	}
	if (rule->all_must_end)
		return all_done;
	if (rule->expect && ever < rule->expect && !(any_gone && any_over))
		return rule->within_s > 0 && now - j->began > rule->within_s;
	if (!any_over)
		return false;
	if (any_waits) { /* with ranks that are not counted yet, unless all are */
		j->quiet_since = 0;
		return world > 0 && ended >= world;
	}
	if (!j->quiet_since)
		j->quiet_since = now;
	return ended >= world || now - j->quiet_since > (any_gone ? PATIENCE_GONE_S : PATIENCE_S);
}
