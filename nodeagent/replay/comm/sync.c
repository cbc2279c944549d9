/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/sync.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/replay/comm/internal.h"

#define BUCKETS 65536u

struct arrival {
	struct traffic *traffic;
	struct traffic_track *track; /* NULL: its thread has ended */
	struct calltree *tree;
	struct node *node;
	uint64_t since, until;
	uint32_t thread, stack; /* for the listener; stack 0: it is not told */
};

struct instance {
	uint64_t id; /* of the communicator */
	uint32_t ticket;
	struct traffic *traffic; /* of the first that came ... */
	struct comm *comm;	 /* ... and held there */
	struct arrival *arrivals;
	size_t n, cap;
	struct instance *next; /* in its bucket */
	struct instance *older, *newer;
};

struct sync {
	struct sync_member *members;
	size_t n_members;
	uint32_t generation; /* of members[], from 1 */
	struct instance *buckets[BUCKETS];
	struct instance *oldest, *newest;
	size_t n;
};

struct sync *sync_new(void)
{
	struct sync *s = xcalloc(1, sizeof(*s));

	s->generation = 1;
	return s;
}

/* ---- instances ------------------------------------------------------------------ */

static struct instance **place_of(struct sync *s, uint64_t id, uint32_t ticket)
{
	uint64_t h = (id ^ (uint64_t)ticket << 20) * 0x9e3779b97f4a7c15u;
	struct instance **at = &s->buckets[(h ^ h >> 32) % BUCKETS];

	while (*at && ((*at)->id != id || (*at)->ticket != ticket))
		at = &(*at)->next;
	return at;
}

static void drop_instance(struct sync *s, struct instance *i)
{
	*place_of(s, i->id, i->ticket) = i->next;
	*(i->older ? &i->older->newer : &s->oldest) = i->newer;
	*(i->newer ? &i->newer->older : &s->newest) = i->older;
	s->n--;
	comm_drop(i->traffic, i->comm);
	free(i->arrivals);
	free(i);
}

static struct instance *add_instance(
	struct sync *s, struct traffic *t, struct comm *c, uint32_t ticket)
{
	struct instance *i = xcalloc(1, sizeof(*i));

	if (s->n >= SYNC_OPEN_MAX)
		drop_instance(s, s->oldest);
	i->id = c->id;
	i->ticket = ticket;
	i->traffic = t;
	i->comm = comm_hold(c);
	*place_of(s, c->id, ticket) = i;
	i->older = s->newest;
	*(s->newest ? &s->newest->newer : &s->oldest) = i;
	s->newest = i;
	s->n++;
	return i;
}

void sync_free(struct sync *s)
{
	if (!s)
		return;
	while (s->oldest)
		drop_instance(s, s->oldest);
	free(s->members);
	free(s);
}

/* ---- who is waited for --------------------------------------------------------------- */

static bool is_local(const struct sync_member *m, const struct comm *c, uint64_t job)
{
	return (!m->job_known || m->job == job) && comm_has_world(c, m->rank);
}

static uint32_t count_local(const struct sync *s, const struct comm *c, uint64_t job)
{
	uint32_t n = 0, last = UINT32_MAX;

	for (size_t i = 0; i < s->n_members; i++) {
		const struct sync_member *m = &s->members[i];

		if (m->rank == last || !is_local(m, c, job))
			continue;
		last = m->rank;
		n++;
	}
	return n;
}

static bool has_arrived(const struct instance *i, uint32_t rank)
{
	for (size_t k = 0; k < i->n; k++)
		if (i->arrivals[k].traffic->rank == (int)rank)
			return true;
	return false;
}

/* Some that have arrived may live here no more, so that their number is not enough. */
static bool is_complete(const struct sync *s, const struct instance *i)
{
	for (size_t k = 0; k < s->n_members; k++)
		if (is_local(&s->members[k], i->comm, i->traffic->job) &&
			!has_arrived(i, s->members[k].rank))
			return false;
	return true;
}

static void notify_wait(const struct arrival *a, uint64_t end)
{
	const struct traffic_listener *listener = &a->traffic->listener;
	const struct vfd_wait wait = {.stack = a->stack,
		.start = (int64_t)a->since,
		.end = (int64_t)(a->since + ticks_between(a->since, end))};

	if (listener->wait && a->stack)
		listener->wait(listener->ctx, a->thread, KEY_SYNC | a->node->key, &wait);
}

/* What the call of each waited is the time until the last one came. */
static void finish_instance(struct sync *s, struct instance *i)
{
	uint64_t last = i->arrivals[0].since;

	for (size_t k = 1; k < i->n; k++)
		if ((int64_t)(i->arrivals[k].since - last) > 0)
			last = i->arrivals[k].since;
	for (size_t k = 0; k < i->n; k++) {
		struct arrival *a = &i->arrivals[k];
		uint64_t end = (int64_t)(a->until - last) < 0 ? a->until : last;
		struct node *n;

		if (key_mpi(a->node->key) == KEY_NO_MPI) /* among too many call paths */
			continue;
		n = calltree_child(a->tree, a->node, NULL, KEY_SYNC | a->node->key);
		n->calls++;
		n->ticks += ticks_between(a->since, end);
		notify_wait(a, end);
	}
	drop_instance(s, i);
}

void sync_arrive(struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	struct traffic *t = l->traffic;
	struct comm *c = p->comm;
	struct instance *i = *place_of(s, c->id, p->m.ticket);

	if (c->local_of != s->generation) {
		c->local = count_local(s, c, t->job);
		c->local_of = s->generation;
	}
	if (!i)
		i = add_instance(s, t, c, p->m.ticket);
	for (size_t k = 0; k < i->n; k++)
		if (i->arrivals[k].traffic == t)
			return; /* twice: it lies */
	*APPEND(i->arrivals, i->n, i->cap) = (struct arrival){
		t, l, l->tree, p->node, p->since, until, l->number, p->entered ? p->stack : 0};
	if (i->n >= c->local && is_complete(s, i))
		finish_instance(s, i);
}

void sync_move(struct sync *s, struct traffic_track *l, struct calltree *past)
{
	for (struct instance *i = s->oldest; i; i = i->newer)
		for (size_t k = 0; k < i->n; k++) {
			struct arrival *a = &i->arrivals[k];

			if (a->track != l)
				continue;
			a->track = NULL;
			a->tree = past;
			a->node = a->node->counterpart;
		}
}

void sync_moved(struct sync *s, const struct traffic_track *l, const struct node *from)
{
	for (struct instance *i = s->oldest; i; i = i->newer)
		for (size_t k = 0; k < i->n; k++) {
			struct arrival *a = &i->arrivals[k];

			if (a->track == l && calltree_is_below(a->node, from))
				a->node = a->node->counterpart;
		}
}

void sync_forget(struct sync *s, const struct traffic *t)
{
	for (struct instance *i = s->oldest, *newer; i; i = newer) {
		bool here = i->traffic == t;

		newer = i->newer;
		for (size_t k = 0; k < i->n; k++)
			here |= i->arrivals[k].traffic == t;
		if (here)
			drop_instance(s, i);
	}
}

ORDER_BY(by_rank, struct sync_member, RISING(rank))

static bool same_members(const struct sync *s, const struct sync_member *m, size_t n)
{
	if (n != s->n_members)
		return false;
	for (size_t i = 0; i < n; i++)
		if (m[i].rank != s->members[i].rank || m[i].job != s->members[i].job ||
			m[i].job_known != s->members[i].job_known)
			return false;
	return true;
}

void sync_set_members(struct sync *s, const struct sync_member *m, size_t n)
{
	struct sync_member *sorted = xmalloc((n + 1) * sizeof(*sorted));
	size_t before = s->n_members;

	if (n)
		memcpy(sorted, m, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_rank);
	if (same_members(s, sorted, n)) {
		free(sorted);
		return;
	}
	free(s->members);
	s->members = sorted;
	s->n_members = n;
	s->generation++;
	/* who has left will not come */
	for (struct instance *i = s->oldest, *newer; n < before && i; i = newer) {
		newer = i->newer;
		if (is_complete(s, i))
			finish_instance(s, i);
	}
}
