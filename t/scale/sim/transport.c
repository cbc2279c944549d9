/* SPDX-License-Identifier: BSD-3-Clause */
/* The transport between the agents of this process, and what is below the tree of route.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/net/route.h"
#include "nodeagent/net/tree.h"
#include "t/scale/sim/world.h"

/* Of a message; a large one that goes to many is kept once. */
struct content {
	unsigned users;
	size_t bytes;
	char at[];
};

#define LARGE_BYTES ((size_t)1 << 16)

static struct content *last_large;

static void content_drop(struct content *c)
{
	if (!--c->users)
		free(c);
}

static struct content *content_of(const void *buf, size_t bytes)
{
	struct content *c = last_large;

	if (bytes < LARGE_BYTES || !c || c->bytes != bytes || memcmp(c->at, buf, bytes)) {
		c = xmalloc(sizeof(*c) + bytes);
		*c = (struct content){.bytes = bytes};
		if (bytes)
			memcpy(c->at, buf, bytes);
	}
	if (bytes >= LARGE_BYTES && c != last_large) {
		if (last_large)
			content_drop(last_large);
		last_large = c;
		c->users++;
	}
	c->users++;
	return c;
}

static struct sim_agent *of(struct transport *p)
{
	return (struct sim_agent *)p;
}

/* From whom a message is in the inbox, or on its way there. */
static const struct letter *last_from(const struct sim_agent *a, int from)
{
	const struct letter *last = NULL;

	for (const struct letter *l = a->inbox; l; l = l->next)
		if (l->from == from)
			last = l;
	return last;
}

static void put_letter(struct sim_agent *to, struct letter *l)
{
	struct letter **at = &to->inbox;

	while (*at && (*at)->arrives <= l->arrives)
		at = &(*at)->next;
	l->next = *at;
	*at = l;
}

static double delay(const struct sim_agent *a, const struct world_settings *s)
{
	const uint64_t number = a->transport.counts.sent, rank = (uint64_t)a->transport.rank;

	if (!s->delayed || a->clock < s->delayed_from_s ||
		world_dice(rank, 2 * number, 1000) >= s->delayed)
		return 0;
	return s->delay_s * world_dice(rank, 2 * number + 1, 1000) / 1000;
}

/* When observer learns that the agent has died, if it has. */
static bool is_told(const struct sim_agent *observer, const struct sim_agent *dead)
{
	const uint64_t who = (uint64_t)dead->transport.rank;
	const uint32_t part = world_dice(1000000 + who, (uint64_t)observer->transport.rank, 1000);

	return dead->dead == DEATH_OF_NODE &&
	       observer->clock >= dead->dies + world_settings()->notice_s * part / 1000;
}

static int send_letter(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	const struct world_settings *s = world_settings();
	struct sim_agent *a = of(p), *receiver = world_agent(to);
	const struct letter *before;
	struct letter *l;

	(void)until;
	world_catch_up(a);
	if (a->sends)
		a->sends(a, tag);
	transport_count_sent(p, bytes);
	a->clock += s->cost_s + (double)bytes / s->bytes_per_s;
	if (receiver->dead == DEATH_OF_NODE)
		return is_told(a, receiver) ? -ECONNRESET : 0;
	if (receiver->ended)
		return 0;
	world_pause();
	l = xcalloc(1, sizeof(*l));
	*l = (struct letter){.content = content_of(buf, bytes),
		.from = p->rank,
		.tag = tag,
		.arrives = a->clock + s->latency_s + delay(a, s),
		.complete = WORLD_NEVER};
	before = s->delayed ? last_from(receiver, p->rank) : NULL;
	if (before && before->arrives > l->arrives)
		l->arrives = before->arrives;
	put_letter(receiver, l);
	memory_use(&receiver->memory);
	memory_add((long)bytes);
	memory_use(NULL);
	world_wake(receiver, l->arrives);
	world_resume();
	return 0;
}

/* The link takes one after the other. */
static void take_from_link(struct sim_agent *a)
{
	for (struct letter *l = a->inbox; l && l->arrives <= a->clock; l = l->next) {
		if (l->complete < WORLD_NEVER)
			continue;
		l->complete = (l->arrives > a->link_free ? l->arrives : a->link_free) +
			      (double)l->content->bytes / world_settings()->bytes_per_s;
		a->link_free = l->complete;
	}
}

static struct letter *take_letter(struct sim_agent *a, int from, int tag)
{
	take_from_link(a);
	for (struct letter **at = &a->inbox, *l; (l = *at); at = &l->next) {
		if (l->complete > a->clock || l->tag != tag ||
			(from != TRANSPORT_ANY && from != l->from))
			continue;
		*at = l->next;
		return l;
	}
	return NULL;
}

static bool all_has_come(struct sim_agent *a, int rank)
{
	const struct letter *last;

	take_from_link(a);
	last = last_from(a, rank);
	return !last || last->complete <= a->clock;
}

/* What it has sent has come when its death is known. */
static bool is_gone(struct transport *p, int rank)
{
	struct sim_agent *a = of(p);

	return rank >= 0 && is_told(a, world_agent(rank)) && all_has_come(a, rank);
}

/* As over TCP: of one agent it is known that it has left, or died. */
static bool has_left(struct sim_agent *a, int rank)
{
	const struct sim_agent *other = world_agent(rank);

	return ((other->ended && !other->dead) || is_told(a, other)) && all_has_come(a, rank);
}

static int receive_letter(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	struct sim_agent *a = of(p);
	struct letter *l;
	double looked;

	a->clock += world_settings()->cost_s;
	for (;;) {
		world_catch_up(a);
		looked = a->clock;
		l = take_letter(a, from, tag);
		if (l)
			break;
		if (from != TRANSPORT_ANY && has_left(a, from))
			return -ECONNRESET;
		if (p->attend && p->attend(p))
			return -EINTR;
		if (transport_now() >= until)
			return -ETIMEDOUT;
		world_sleep(a, until, looked);
	}
	*bytes = l->content->bytes;
	*who = l->from;
	*buf = xmalloc(*bytes + 1);
	memcpy(*buf, l->content->at, *bytes);
	transport_count_received(p, *bytes);
	memory_add(-(long)*bytes);
	world_pause();
	content_drop(l->content);
	free(l);
	world_resume();
	return 0;
}

static void finish_agent(struct transport *p, int together, int status, double until)
{
	(void)p, (void)together, (void)status, (void)until;
}

static void remember_plan(struct transport *p, const void *plan, size_t bytes, const char *host)
{
	struct sim_agent *a = of(p);

	world_pause();
	a->plan = xmalloc(bytes);
	memcpy(a->plan, plan, bytes);
	a->plan_bytes = bytes;
	world_resume();
	(void)host; /* as it is in a */
}

/* Who is below `top` has ended, or its death is known. */
static bool all_left(struct sim_agent *a, int top)
{
	for (int k = 0, child; (child = tree_child(a->transport.size, top, k)) > 0; k++) {
		const struct sim_agent *other = world_agent(child);
		const bool dead = is_told(a, other);

		if (!dead && !(other->ended && !other->dead && all_has_come(a, child)))
			return false;
		if (dead && !all_left(a, child))
			return false;
	}
	return true;
}

static bool await_left(struct transport *p, double until)
{
	struct sim_agent *a = of(p);

	for (;;) {
		const double looked = a->clock;

		if (p->attend) /* other agents may run meanwhile */
			p->attend(p);
		if (all_left(a, p->rank))
			return true;
		if (transport_now() >= until)
			return false;
		world_sleep(a, until, looked);
	}
}

static void note_collated(struct transport *p, bool complete)
{
	of(p)->collated = true;
	of(p)->complete = complete;
}

void transport_sim_open(struct sim_agent *a, int rank, int size)
{
	a->transport = (struct transport){.rank = rank,
		.size = size,
		.send = send_letter,
		.receive = receive_letter,
		.gone = is_gone,
		.remember = remember_plan,
		.collated = note_collated,
		.await_left = await_left,
		.finish = finish_agent,
		.fd = -1};
	route_open(&a->transport);
}

void transport_sim_forget(struct sim_agent *a)
{
	for (struct letter *l; (l = a->inbox);) {
		a->inbox = l->next;
		content_drop(l->content);
		free(l);
	}
}
