/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tree of agents. Nodes have positions 0..n-1 in the sequence of their
 * host names. The tree is binomial, its root is agent 0. Profiles of adjacent
 * positions are merged on the way up; where an agent is missing, the pieces
 * beside the gap travel side by side, so that a late one still fits between
 * them. An agent whose parent does not answer, or dies before the numbers come down, sends to
 * agent 0.
 *
 * Deadlines: the lowest level waits half of the time given, each level above
 * a bit longer, agent 0 to the end for those whose parents are missing.
 */
#include "nodeagent/collate/collate.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/collate/tree.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/net/tree.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/base/util.h"

#define TAKE_OVER_S 30.0 /* for an agent that died, whose deadlines are not known */
#define FOREVER_S   1e8
#define WEIGH_PART  0.2	 /* of the deadline, for weights.c */
#define ASKED_S	    1.0	 /* how often it is looked whether the parent's proxy asks */
#define WRITING_S   30.0 /* agent 0 writes the summary before it gives the numbers ... */
#define KEEP_S	    10.0 /* ... and others have files to write before SIGKILL */

static int send_words(
	struct transport *transport, int to, enum tag tag, uint64_t a, uint64_t b, double until)
{
	uint64_t *words = xmalloc(2 * sizeof(*words));

	words[0] = a;
	words[1] = b;
	return send_and_free(transport, to, tag, words, 2 * sizeof(*words), until);
}

/* Marks pieces if they are all of what is below the child at `place'. */
static void mark_whole(const struct collate_plan *plan, struct piece *at, size_t n, int place)
{
	const uint64_t end = (uint64_t)tree_end((int)plan->n, place);
	uint64_t positions = 0;
	bool inside = true;

	for (size_t i = 0; i < n; i++) {
		const uint64_t begins =
			(at[i].first + plan->place + plan->n - plan->position) % plan->n;

		positions += at[i].end - at[i].first;
		inside &= begins >= (uint64_t)place && begins + at[i].end - at[i].first <= end;
	}
	for (size_t i = 0; i < n; i++)
		at[i].whole = inside && positions == end - (uint64_t)place;
}

/* Receives a message from below, unless the deadline comes first, or `of` dies. */
static int take_one(struct transport *transport, struct pieces *p, int of, double until)
{
	struct collate_plan *plan = transport->plan;
	size_t bytes;
	void *buf;
	int who, error;
	const size_t before = p->n;
	bool child = false;

	error = collate_await(transport, of, TAG_UP, &buf, &bytes, &who, until);
	plan->cut_off |= error == -ECONNRESET;
	if (error)
		return error;
	if (pieces_unpack(p, plan->run, plan->n, buf, bytes)) {
		for (uint32_t k = 0; k < plan->n_children; k++) {
			if (plan->child[k] != who)
				continue;
			if (!plan->delivered[k]) /* else its first pieces may be in others */
				mark_whole(plan, p->at + before, p->n - before,
					(int)plan->place + (int)(1u << k));
			child = plan->delivered[k] = true;
			free(plan->keys[k].hash);
			plan->keys[k] = keys_of(p->at + before, p->n - before);
		}
		if (!child && plan->direct)
			plan->direct[who] = true;
		/* agent 0, after which nobody else is asked, answers by the numbers */
		if (plan->parent >= 0)
			send_words(transport, who, TAG_ACK, plan->run, 0, transport_now() + 1);
	}
	free(buf);
	if (child)
		pieces_join_whole(p);
	return 0;
}

static double level_deadline(
	const struct collate_plan *plan, double begin, double s, uint32_t level)
{
	return begin + s * (0.5 + 0.4 * (level + 1) / (plan->n_levels + 1));
}

static void take_children(struct transport *transport, struct pieces *p, double begin, double s)
{
	struct collate_plan *plan = transport->plan;

	for (uint32_t k = 0; k < plan->n_children; k++) {
		double until = level_deadline(plan, begin, s, k);

		while (!plan->delivered[k] && !take_one(transport, p, plan->child[k], until))
			;
	}
}

/* True if an agent that has lost its parent may still send to us. */
static bool orphans_possible(struct transport *transport, const struct pieces *p, int *rank)
{
	const struct collate_plan *plan = transport->plan;
	bool *covered = xcalloc(plan->n, sizeof(*covered)), possible = false;

	for (size_t i = 0; i < p->n; i++)
		memset(covered + p->at[i].first, true, p->at[i].end - p->at[i].first);
	for (uint32_t v = 1; v < plan->n && !possible; v++) {
		uint32_t parent = v & (v - 1);

		possible = parent && !covered[(v + plan->position) % plan->n] &&
			   !covered[(parent + plan->position) % plan->n];
		*rank = plan->ranks[(v + plan->position) % plan->n];
		possible = possible && !(transport->gone && transport->gone(transport, *rank));
	}
	free(covered);
	return possible;
}

static struct profile *missing_agent(const char *host)
{
	struct profile *p = profile_new();

	p->n_agents = 1;
	p->agents = xcalloc(1, sizeof(*p->agents));
	p->agents[0].host = xstrdup(host);
	p->agents[0].missing = true;
	return p;
}

static struct profile *finish_root(struct collate_plan *plan, struct pieces *p)
{
	struct profile *whole = NULL;

	plan->complete = true;
	plan->n_present = plan->n;
	for (uint32_t i = 0; i < plan->n; i++) {
		if (!pieces_cover(p, i)) {
			plan->complete = false;
			plan->n_present--;
			pieces_add(p, i, i + 1, missing_agent(plan->hosts[i]));
		}
	}
	pieces_join(p);
	for (size_t i = 0; i < p->n; i++)
		whole = profile_merge(whole, p->at[i].profile);
	if (whole)
		profile_name_far(whole);
	free(p->at);
	return whole;
}

/* -EAGAIN: the parent's proxy asks for what was sent. */
static int wait_for_ack(struct transport *transport, int of, double until)
{
	for (;;) {
		uint64_t *words;
		void *buf;
		size_t bytes;
		int who, error;
		bool good, again;

		error = collate_await(transport, of, TAG_ACK, &buf, &bytes, &who, until);
		if (error == -ECANCELED && transport->plan->down)
			return 0; /* whom we stand for was acknowledged before it died */
		if (error)
			return error;
		words = buf;
		good = bytes >= sizeof(*words) && words[0] == transport->plan->run;
		again = collate_asks_again(transport->plan, buf, bytes, who);
		free(buf);
		if (good || again)
			return good ? 0 : -EAGAIN;
	}
}

/* What an agent has sent up. */
struct delivery {
	void *buf;
	size_t bytes;
	int to;
	bool leaves; /* a send of it may not be complete, so it is not freed */
};

static int send_up(struct transport *transport, struct delivery *sent, int to, double until)
{
	const int error = transport->send(transport, to, TAG_UP, sent->buf, sent->bytes, until);

	sent->to = to;
	sent->leaves |= error == -ETIMEDOUT;
	return error;
}

/* Who had it has died; whether others have got it from that one is not known. */
static void deliver_again(struct transport *transport, struct delivery *sent, int to)
{
	send_up(transport, sent, to, transport_now() + 1);
}

/* Until it is acknowledged, but by agent 0. The parent's proxy, which asks for it, has it twice if
 * the agent that died had not taken it: then it takes the first one only, and the second one does
 * not leave. */
static int send_surely(struct transport *transport, struct delivery *sent, int to, double until)
{
	int error = send_up(transport, sent, to, until);

	if (!error && to)
		error = wait_for_ack(transport, to, until);
	while (error == -EAGAIN && transport_now() < until) {
		deliver_again(transport, sent, transport->plan->parent);
		error = wait_for_ack(transport, transport->plan->parent, until);
	}
	return error == -EAGAIN ? -ETIMEDOUT : error;
}

/* Sends p to the parent; if that does not answer, to agent 0. */
static int deliver(struct transport *transport, struct pieces *p, double begin, double s,
	struct delivery *sent)
{
	struct collate_plan *plan = transport->plan;
	double slack = s * 0.2 / (plan->n_levels + 1), end = begin + s;
	double until = level_deadline(plan, begin, s, plan->level) + slack;
	int error;

	sent->buf = pieces_pack(p, plan->run, &sent->bytes);
	sent->to = plan->parent;
	if (!plan->parent)
		until = end;
	error = !plan->down	? -EAGAIN
		: !plan->parent ? 0
				: wait_for_ack(transport, plan->parent, until);
	if (error == -EAGAIN)
		error = send_surely(transport, sent, plan->parent, until);
	if (error && plan->parent)
		error = send_surely(transport, sent, 0, end);
	pieces_free(p);
	return error;
}

/* Down: the ids of stacks in the job */

/* The message is kept to the end, for orphans; the name is not known yet. */
static void make_numbers(struct collate_plan *plan, const struct profile *whole)
{
	const struct numbers_head head = {.run = plan->run, .complete = plan->complete};
	struct profile_number *all = profile_numbers(whole);

	plan->down = numbers_pack(&head, all, whole->n_stacks, &plan->down_bytes);
	free(all);
}

void collate_prune(
	struct transport *transport, uint64_t from, bool asks, const uint32_t *gone, size_t n)
{
	struct collate_plan *plan = transport->plan;

	if (!plan)
		return;
	plan->prunes = from != PRUNE_NEVER;
	plan->prune_from = from;
	plan->asks = asks;
	plan->gone = gone;
	plan->n_gone = n;
}

void collate_unasked(struct transport *transport)
{
	if (transport->plan)
		transport->plan->unasked = true;
}

void collate_tell(struct transport *transport, const char *name, double seconds)
{
	struct collate_plan *plan = transport->plan;
	struct numbers_head *head = plan ? plan->down : NULL;

	if (!head)
		return;
	if (strlen(name) < sizeof(head->name))
		strcpy(head->name, name);
	plan->down_leaves = numbers_pass_down(
		transport, plan->down, plan->down_bytes, transport_now() + seconds);
}

const char *collate_name(const struct transport *transport)
{
	return transport->plan ? transport->plan->name : "";
}

/* Waits for numbers, unless agent 0 dies; sends again what was sent up if who had it has died, or
 * its proxy asks. */
static int await_numbers(
	struct transport *transport, struct delivery *sent, void **buf, size_t *bytes, double until)
{
	for (;;) {
		const double look = transport_now() + ASKED_S;
		int who, error;

		if (!transport->plan->in_place) /* SIGTERM may have come meanwhile */
			until = transport_now() + ending_left(until - transport_now(), KEEP_S);
		error = collate_await(transport, sent->to, TAG_DOWN, buf, bytes, &who,
			look < until ? look : until);
		if (error != -ETIMEDOUT || transport_now() >= until)
			return error;
		if (collate_asked_again(transport, &who))
			deliver_again(transport, sent, who);
		else if (!transport->gone || !transport->gone(transport, sent->to))
			continue;
		else if (sent->to)
			deliver_again(transport, sent, 0);
		else
			return error;
	}
}

static int receive_numbers(struct transport *transport, struct delivery *sent,
	struct profile_number **numbers, size_t *n, double until)
{
	struct collate_plan *plan = transport->plan;
	int error;

	for (;;) {
		size_t bytes;
		void *buf;

		error = await_numbers(transport, sent, &buf, &bytes, until);
		if (error)
			return error;
		if (!numbers_valid(plan->run, buf, bytes)) {
			free(buf);
			continue;
		}
		memcpy(plan->name, ((struct numbers_head *)buf)->name, sizeof(plan->name));
		plan->complete = ((struct numbers_head *)buf)->complete;
		*numbers = numbers_choose(&plan->own, buf, bytes, n);
		if (!numbers_pass_down(transport, buf, bytes, until))
			free(buf);
		return 0;
	}
}

static struct profile *alone(const struct profile *mine)
{
	struct profile *p = profile_copy(mine);

	profile_drop_processes(p);
	return p;
}

static void begin_run(struct collate_plan *plan)
{
	collate_plan_forget(plan);
	plan->run++;
	plan->complete = false;
	plan->name[0] = '\0';
	memset(plan->delivered, 0, sizeof(plan->delivered));
	if (plan->direct)
		memset(plan->direct, 0, plan->n * sizeof(bool));
}

static int run_root(struct transport *transport, struct pieces *p, double begin, double s,
	struct profile **whole, struct profile_number **numbers, size_t *n_numbers)
{
	struct collate_plan *plan = transport->plan;
	int of, error;

	take_children(transport, p, begin, s);
	while (orphans_possible(transport, p, &of)) /* asks again where that one has died */
		if ((error = take_one(transport, p, of, begin + s)) &&
			(error != -ETIMEDOUT || transport_now() >= begin + s))
			break;
	*whole = finish_root(plan, p);
	if (plan->prunes && *whole)
		prune_job(*whole, plan->prune_from);
	make_numbers(plan, *whole);
	*numbers = numbers_choose(&plan->own, plan->down, plan->down_bytes, n_numbers);
	if (!plan->complete)
		return plan->cut_off ? -ECONNRESET : -ETIMEDOUT;
	for (size_t i = 0; i < (*whole)->n_agents; i++) {
		if ((*whole)->agents[i].missing)
			return -EOWNERDEAD;
	}
	return 0;
}

static int run_other(struct transport *transport, struct pieces *p, double begin, double s,
	struct profile_number **numbers, size_t *n_numbers)
{
	const struct collate_plan *plan = transport->plan;
	struct delivery sent = {0};
	double numbers_s = 1.25 * s;
	int error;

	if (plan->in_place)
		numbers_s = FOREVER_S;
	else if (!plan->unasked)
		numbers_s += WRITING_S;
	take_children(transport, p, begin, s);
	pieces_join(p);
	error = deliver(transport, p, begin, s, &sent);
	if (!error)
		error = receive_numbers(transport, &sent, numbers, n_numbers, begin + numbers_s);
	if (!sent.leaves)
		free(sent.buf);
	return error;
}

int collate_run(struct transport *transport, const struct profile *mine, double deadline_s,
	struct profile **whole, struct profile_number **numbers, size_t *n_numbers)
{
	struct collate_plan *plan = transport ? transport->plan : NULL;
	struct pieces p = {0};
	double begin = transport_now();
	int error;

	*whole = NULL;
	*numbers = NULL;
	*n_numbers = 0;
	if (!plan) {
		if (!transport || !transport->rank)
			*whole = profile_copy(mine);
		if (transport)
			return -ENOTCONN;
		*numbers = profile_numbers(mine);
		*n_numbers = mine->n_stacks;
		return 0;
	}
	begin_run(plan);
	pieces_add(&p, plan->position, plan->position + 1, alone(mine));
	p.at[0].whole = true;
	plan->own = keys_of(p.at, p.n);
	if (plan->unasked && plan->prunes) /* others may have been asked, and wait for this one */
		collate_weigh_not(transport);
	else if (plan->asks && !plan->unasked)
		collate_weigh(transport, p.at[0].profile, plan->prune_from,
			begin + WEIGH_PART * deadline_s);
	if (plan->parent < 0)
		error = run_root(transport, &p, begin, deadline_s, whole, numbers, n_numbers);
	else
		error = run_other(transport, &p, begin, deadline_s, numbers, n_numbers);
	if (transport->collated)
		transport->collated(transport, plan->complete);
	return error;
}

/* 0 when one child has sent, -ETIMEDOUT if all are dead, or as collate_await(). */
static int await_first_child(struct transport *transport, struct pieces *p)
{
	const struct collate_plan *plan = transport->plan;
	int error = -ETIMEDOUT;

	for (uint32_t k = 0; k < plan->n_children && error == -ETIMEDOUT; k++)
		error = take_one(transport, p, plan->child[k], transport_now() + FOREVER_S);
	return error;
}

/*
 * When the job ends is not known here: with children, the first message from them tells it;
 * without, the message lies at the parent until that wants it. What has come down ends all.
 */
static void run_in_place_of(struct transport *transport, const char *host)
{
	struct collate_plan *plan = transport->plan;
	struct pieces p = {0};
	struct profile_number *numbers = NULL;
	int error;
	size_t n;

	begin_run(plan);
	plan->in_place = true;
	pieces_add(&p, plan->position, plan->position + 1, missing_agent(host));
	collate_weigh_not(transport);
	collate_ask_again(transport);
	error = await_first_child(transport, &p);
	if (error && error != -ETIMEDOUT && !plan->down) {
		pieces_free(&p);
		return;
	}
	run_other(transport, &p, transport_now(), error ? FOREVER_S : TAKE_OVER_S, &numbers, &n);
	free(numbers);
}

void collate_take_over(struct transport *transport, const char *host, bool collated)
{
	if (!transport->plan || !transport->rank)
		return;
	if (!collated)
		run_in_place_of(transport, host);
	collate_end(transport, 0, TAKE_OVER_S);
}
