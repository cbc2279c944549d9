/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Most arrivals at collective calls: of a thread whose call blocks, on a communicator of which it
 * is known that all members that come are on this node, and that has ranks of one job. Each record
 * of such a call comes here, so what is the same for all calls on a communicator is looked at once
 * (struct comm, plain_of). sync_arrive_any() takes all others, and counts the same.
 */
#include "nodeagent/replay/comm/sync.h"

#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/sync-instances.h"
#include "nodeagent/replay/sampling/sampling.h"

/* One in how many such calls is compared, as log2; *skipped: whether this one is not. */
static inline uint32_t find_share(
	struct sync *s, struct comm *c, const struct pending *p, bool *skipped)
{
	struct sampled_comm *sampled = c->sampled;
	struct sampling_count *count;
	uint32_t log2;

	*skipped = false;
	if (!sampled)
		return 0;
	log2 = sampling_log2(s->sampling, sampled, p->m.ticket, p->since, c->local);
	if (log2)
		*skipped = elsewhere_hash(c->id, sampled->job, p->m.ticket) &
			   (((uint64_t)1 << log2) - 1);
	count = &s->counts[log2];
	count->all++;
	count->compared += !*skipped;
	return log2;
}

/* Calls are read one after the other, so mostly it is the one after that of the last arrival. */
static inline struct instance *find_instance(struct sync *s, uint64_t id, uint32_t ticket)
{
	struct instance *i = s->expected;

	return i && i->id == id && i->ticket == ticket ? i : *place_of(s, id, ticket);
}

/* What the next arrivals need is in no cache, and is to be there when they come. */
static inline void fetch_next(struct sync *s, const struct instance *i)
{
	struct instance *next = i->newer;

	s->expected = next;
	if (!next)
		return;
	__builtin_prefetch(instance_place(next), 1);
	if (next->newer)
		fetch_instance(next->newer);
}

static inline void add_arrival(struct sync *s, struct instance *i, struct traffic_track *l,
	const struct pending *p, uint64_t until)
{
	struct arrival *a = instance_add_arrival(s, i);
	const uint32_t rank = p->comm->rank, root = p->m.peer;

	*a = (struct arrival){.traffic = l->traffic,
		.track = l,
		.node = p->node,
		.since = p->since,
		.until = until,
		.activity = l->activity,
		.rank = rank,
		.stack = p->entered && l->number <= ARRIVAL_THREADS ? p->stack : 0,
		.thread = l->number & ARRIVAL_THREADS,
		.blocks = true,
		.is_root = root == rank,
		.no_root = root == MESSAGE_NO_RANK};
	if (i->n == 1)
		i->root = root;
	instance_await(i, a, p->since, false, root == rank);
}

/* An instance that is not only of such arrivals. */
static inline bool is_other(const struct sync *s, const struct instance *i, const struct traffic *t)
{
	return i->two_groups || i->of_pair || i->traffic->job != t->job ||
	       i->comm->local_of != s->generation;
}

/* False: this is no such arrival, and nothing was done. */
static inline bool arrive_plainly(
	struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	struct comm *c = p->comm;
	const uint32_t ticket = p->m.ticket;
	struct instance *i;
	uint32_t log2;
	bool skipped;

	if (c->plain_of != s->generation || c->joins || s->met_in != key_mpi(p->node->key) ||
		s->met_for.kind == COLLECTIVE_UNKNOWN || (int32_t)(ticket - c->arrives_next) < 0)
		return false;
	i = find_instance(s, c->id, ticket);
	if (i && is_other(s, i, l->traffic))
		return false;
	log2 = find_share(s, c, p, &skipped);
	c->left = until;
	if (skipped)
		return true;
	if (!i) {
		i = instance_add(s, l->traffic, c, c->id, ticket, s->met_for);
		i->log2 = (uint8_t)log2;
	}
	c->arrives_next = ticket + 1;
	fetch_next(s, i);
	add_arrival(s, i, l, p, until);
	l->n_arrived++;
	if (++i->living >= i->comm->local)
		instance_finish(s, i);
	return true;
}

void sync_arrive(struct sync *s, struct traffic_track *l, const struct pending *p, uint64_t until)
{
	if (!arrive_plainly(s, l, p, until))
		sync_arrive_any(s, l, p, until);
}
