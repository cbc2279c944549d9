/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The very end of all agents. The summary was written before any of them had its numbers. Where the
 * transport tells who has left, and no agent is missing, an agent leaves after those below it. Else
 * goodbyes go to agent 0, and its word that all is over comes back.
 */
#include "nodeagent/collate/collate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/collate/tree.h"

#define WRITING_S  30.0 /* agent 0 may have a lot to write */
#define BYE_HOLD_S 0.5	/* goodbyes wait for those of others (net/route.h) */
#define LOOK_S	   0.2	/* agent 0: for those who need an answer */

/* Whose parent has died with the numbers that it should have passed on sends again what that had.
 */
static void answer_orphans(struct transport *transport)
{
	struct collate_plan *plan = transport->plan;
	size_t bytes;
	void *buf;
	int who;

	while (!transport->receive(
		transport, TRANSPORT_ANY, TAG_UP, &buf, &bytes, &who, transport_now())) {
		const bool of_this_run =
			bytes >= sizeof(plan->run) && !memcmp(buf, &plan->run, sizeof(plan->run));

		free(buf);
		if (of_this_run && plan->down)
			plan->down_leaves |=
				transport->send(transport, who, TAG_DOWN, plan->down,
					plan->down_bytes, transport_now() + 1) == -ETIMEDOUT;
	}
}

/* Launchers may end the others as soon as this process ends: let them finish their work. False: not
 * all have in time. */
static bool await_goodbyes(struct transport *transport, double until)
{
	uint32_t left = transport->plan ? transport->plan->n_present : 0;

	while (left > 1) {
		const double look = transport_now() + LOOK_S;
		size_t bytes;
		void *buf;
		int who, error;

		error = transport->receive(transport, TRANSPORT_ANY, TAG_BYE, &buf, &bytes, &who,
			look < until ? look : until);
		if (!error) {
			free(buf);
			left--;
		} else if (error != -ETIMEDOUT || transport_now() >= until) {
			return false;
		}
		answer_orphans(transport);
	}
	return true;
}

static bool ends_by_leaving(const struct transport *transport)
{
	return transport->await_left && transport->plan && transport->plan->complete;
}

/* Who missed its numbers does not know that it may leave after those below it, and says goodbye: it
 * leaves alone, while agent 0 waits for the others. */
static void answer_goodbyes(struct transport *transport)
{
	const uint64_t end[2] = {0};
	size_t bytes;
	void *buf;
	int who;

	while (!transport->receive(
		transport, TRANSPORT_ANY, TAG_BYE, &buf, &bytes, &who, transport_now())) {
		free(buf);
		transport_to_one(transport, who, TAG_END, end, sizeof(end), transport_now() + 1);
	}
}

/* At agent 0. False: not all have left in time. */
static bool await_all_left(struct transport *transport, double until)
{
	for (;;) {
		const double look = transport_now() + LOOK_S;

		if (transport->await_left(transport, look < until ? look : until))
			return true;
		answer_orphans(transport);
		answer_goodbyes(transport);
		if (transport_now() >= until)
			return false;
	}
}

static bool end_all(struct transport *transport, double until)
{
	struct collate_plan *plan = transport->plan;
	const bool complete = plan && plan->complete, by_leaving = ends_by_leaving(transport);
	const double begin = transport_now();
	uint64_t end[2] = {0};

	if (!(by_leaving ? await_all_left : await_goodbyes)(transport, until))
		complain("not all agents had written their files %.0f s after the summary: logs "
			 "and sampling files of their nodes may be missing",
			transport_now() - begin);
	else if (by_leaving)
		return true;
	end[0] = complete;
	return !transport_to_all(
		       transport, TAG_END, end, sizeof(end), complete ? until : transport_now()) &&
	       complete;
}

static bool await_end(struct transport *transport, double until)
{
	const struct collate_plan *plan = transport->plan;
	uint64_t bye[2] = {0}, end = 0;
	size_t bytes;
	void *buf;
	int who;

	if (ends_by_leaving(transport))
		return transport->await_left(transport, until);
	transport_to_root(transport, TAG_BYE, bye, sizeof(bye), true, BYE_HOLD_S, until);
	if (plan && plan->over)
		return plan->together;
	if (transport_receive(transport, 0, 0, TAG_END, &buf, &bytes, &who, until + WRITING_S))
		return false;
	if (bytes >= sizeof(end))
		memcpy(&end, buf, sizeof(end));
	free(buf);
	return end;
}

void collate_end(struct transport *transport, int status, double deadline_s)
{
	double until = transport_now() + deadline_s;
	bool together;

	if (!transport)
		return;
	together = transport->rank ? await_end(transport, until) : end_all(transport, until);
	collate_plan_free(transport->plan);
	transport->finish(transport, together, status, until);
}
