/* SPDX-License-Identifier: BSD-3-Clause */
#include "t/scale/sim/states.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/agent/job-end.h"
#include "nodeagent/base/util.h"

enum { TAG_STATE = 500, TAG_FINISH };

#define HOLD_S 1.0 /* as in agent/peers.c */
#define LOOK_S 0.2

static const struct job_rule each_tells = {.all_must_end = true};

static void hear_states(struct transport *p, struct job_end *job)
{
	size_t bytes;
	void *buf;
	int who;

	while (!p->receive(p, TRANSPORT_ANY, TAG_STATE, &buf, &bytes, &who,
		transport_now() + (job_end_reached(job, &each_tells, 0) ? 0 : LOOK_S))) {
		job_end_take(job, who, buf, bytes);
		free(buf);
	}
	for (int i = 1; i < p->size; i++)
		if (p->gone(p, i))
			job_end_take(job, i, "", 1);
}

/* The message: 1 if there is something to exchange, and who is gone. */
static void take_finish(struct sim_agent *a, const uint32_t *words, size_t n)
{
	a->n_gone = n - 1;
	a->gone = xcalloc(n, sizeof(*a->gone));
	memcpy(a->gone, words + 1, a->n_gone * sizeof(*a->gone));
}

static bool end_job(struct sim_agent *a, const struct job_state *own, double until)
{
	struct transport *p = &a->transport;
	struct job_end *job = job_end_new(p->size, 0);
	uint32_t *gone, *words;
	size_t n;
	bool exchange;

	job_end_take(job, 0, own, sizeof(*own));
	while (!job_end_reached(job, &each_tells, 0) && transport_now() < until)
		hear_states(p, job);
	exchange = job_end_exchange(job);
	gone = job_end_gone(job, &n);
	job_end_free(job);
	words = xcalloc(n + 1, sizeof(*words));
	words[0] = exchange;
	memcpy(words + 1, gone, n * sizeof(*words));
	take_finish(a, words, n + 1);
	transport_to_all(p, TAG_FINISH, words, (n + 1) * sizeof(*words), until);
	free(words);
	free(gone);
	return exchange;
}

bool states_end(struct sim_agent *a, bool sends, double deadline_s)
{
	const struct job_state done = {.what = JOB_DONE, .ever = 1, .sends = sends};
	const double until = transport_now() + deadline_s;
	struct transport *p = &a->transport;
	bool exchange = true;
	size_t bytes;
	void *buf;
	int who;

	if (!p->rank)
		return end_job(a, &done, until);
	transport_to_root(p, TAG_STATE, &done, sizeof(done), true, HOLD_S, until);
	if (!transport_receive(p, 0, 0, TAG_FINISH, &buf, &bytes, &who, until)) {
		exchange = *(uint32_t *)buf;
		take_finish(a, buf, bytes / sizeof(uint32_t));
		free(buf);
	}
	return exchange;
}

void states_gone(struct sim_agent *a)
{
	const struct job_state gone = {.what = JOB_GONE};

	transport_to_root(
		&a->transport, TAG_STATE, &gone, sizeof(gone), true, 0, transport_now() + 1);
}
