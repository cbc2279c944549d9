/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of large jobs, in a bounded number of entries: each rank may have some of its own.
 * Those with the most members are kept, and the others are added up by kind and size.
 *
 * Any order of merging gives the same: what has so many above it in a part has them above it in the
 * whole. So all of a communicator is kept or all of it added up, and how many communicators a sum
 * is of cannot be told, as parts do not know each other's; but the ranks that used them can. Where
 * members do not agree on kind and size (MPI, or the tracer, is wrong), parts may go to two sums.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "shm/wire.h"

struct member_count {
	uint64_t members;
	uint32_t at; /* in comms[], whose order is that of ids */
};

ORDER_BY(most_first, struct member_count, FALLING(members) ?: RISING(at))

/* The same from either group. */
static uint64_t members_of(const struct profile_comm *c)
{
	return (uint64_t)c->size + c->remote_size;
}

static uint32_t size_of(const struct profile_comm *c)
{
	const uint64_t members = MIN(members_of(c), (uint64_t)UINT32_MAX);
	uint32_t size = PROFILE_COMM_SIZES;

	if (members < PROFILE_COMM_SIZES)
		return (uint32_t)members;
	while (size <= members / 2)
		size *= 2;
	return size;
}

static void add_rest(struct profile *p, const struct profile_comm *c)
{
	struct profile_comm_rest *r = profile_add(p, PROFILE_COMM_RESTS);

	*r = (struct profile_comm_rest){
		.kind = c->kind == WIRE_COMM_PARENT ? WIRE_COMM_SPAWN : c->kind, /* of one thing */
		.size = size_of(c),
		.ranks = c->ranks,
		.sends = c->sends,
		.receives = c->receives,
		.bytes_sent = c->bytes_sent,
		.bytes_received = c->bytes_received,
		.collectives = c->collectives,
		.collective_bytes_sent = c->collective_bytes_sent,
		.collective_bytes_received = c->collective_bytes_received,
		.collective_ns = c->collective_ns,
		.ambiguous_sends = c->ambiguous_sends,
		.ambiguous_receives = c->ambiguous_receives};
}

static bool *find_kept(const struct profile *p, size_t most)
{
	struct member_count *counts = xmalloc(p->n_comms * sizeof(*counts));
	bool *kept = xcalloc(p->n_comms, sizeof(*kept));

	for (size_t i = 0; i < p->n_comms; i++)
		counts[i] = (struct member_count){members_of(&p->comms[i]), (uint32_t)i};
	qsort(counts, p->n_comms, sizeof(*counts), most_first);
	for (size_t i = 0; i < most; i++)
		kept[counts[i].at] = true;
	free(counts);
	return kept;
}

void profile_comms_limit(struct profile *p, size_t most)
{
	size_t n = 0;
	bool *kept;

	if (p->n_comms <= most)
		return;
	kept = find_kept(p, most);
	for (size_t i = 0; i < p->n_comms; i++) {
		if (kept[i]) {
			p->comms[n++] = p->comms[i];
			continue;
		}
		add_rest(p, &p->comms[i]);
		free(p->comms[i].name);
	}
	p->n_comms = n;
	profile_combine(p, PROFILE_COMM_RESTS);
	free(kept);
}
