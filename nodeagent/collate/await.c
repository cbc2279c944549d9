/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting in the tree. The proxy in place of a dead agent does not know what that had done: it asks
 * those below to send again what the dead one had taken, and stops where the numbers come down,
 * as the dead one had sent its own, the job is over, or agent 0 is gone.
 */
#include <errno.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/collate/tree.h"

#define LOOK_S 0.2
#define AGAIN  UINT64_MAX /* first word of a TAG_ACK: send again what was acknowledged before */

static bool poll_one(struct transport *transport, enum tag tag, void **buf, size_t *bytes, int *who)
{
	return !transport->receive(transport, TRANSPORT_ANY, tag, buf, bytes, who, transport_now());
}

/* Whether there is nothing to wait for any more. */
static bool is_done(struct transport *transport, enum tag tag)
{
	struct collate_plan *plan = transport->plan;
	size_t bytes;
	void *buf = NULL;
	int who;

	if (!plan->over) {
		const int error = transport->receive(
			transport, 0, TAG_END, &buf, &bytes, &who, transport_now());
		const uint64_t *words = buf;

		/* where agent 0 has died, or left, nobody says that the job is over */
		plan->over = !error || error == -ECONNRESET ||
			     (transport->gone && transport->gone(transport, 0));
		plan->together = !error && bytes >= sizeof(*words) && words[0];
		if (!error)
			free(buf);
	}
	if (tag != TAG_DOWN && !plan->down && poll_one(transport, TAG_DOWN, &buf, &bytes, &who)) {
		plan->down = buf;
		plan->down_bytes = bytes;
	}
	return plan->over || (tag != TAG_DOWN && plan->down);
}

int collate_await(struct transport *transport, int of, enum tag tag, void **buf, size_t *bytes,
	int *who, double until)
{
	struct collate_plan *plan = transport->plan;
	int error;

	if (!plan->in_place)
		return transport_receive(transport, TRANSPORT_ANY, of, tag, buf, bytes, who, until);
	if (tag == TAG_DOWN && plan->down) {
		*buf = plan->down;
		*bytes = plan->down_bytes;
		*who = plan->parent;
		plan->down = NULL;
		return 0;
	}
	do {
		const double look = transport_now() + LOOK_S;

		error = transport_receive(transport, TRANSPORT_ANY, of, tag, buf, bytes, who,
			look < until ? look : until);
		if (error != -ETIMEDOUT || transport_now() >= until)
			return error;
		if (is_done(transport, tag))
			return -ECANCELED;
	} while (of < 0 || !transport->gone || !transport->gone(transport, of));
	return error;
}

void collate_ask_again(struct transport *transport)
{
	struct collate_plan *plan = transport->plan;

	for (uint32_t k = 0; k < plan->n_children; k++) {
		uint64_t *words = xmalloc(2 * sizeof(*words));

		words[0] = AGAIN;
		words[1] = plan->run;
		send_and_free(transport, plan->child[k], TAG_ACK, words, 2 * sizeof(*words),
			transport_now() + 1);
	}
}

bool collate_asks_again(
	const struct collate_plan *plan, const void *message, size_t bytes, int from)
{
	const uint64_t *words = message;

	return bytes >= 2 * sizeof(*words) && words[0] == AGAIN && words[1] == plan->run &&
	       from == plan->parent;
}

bool collate_asked_again(struct transport *transport, int *by)
{
	bool asked = false;
	size_t bytes;
	void *buf;

	while (!asked && poll_one(transport, TAG_ACK, &buf, &bytes, by)) {
		asked = collate_asks_again(transport->plan, buf, bytes, *by);
		free(buf);
	}
	return asked;
}
