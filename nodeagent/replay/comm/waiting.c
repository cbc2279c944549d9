/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/waiting.h"

#include "nodeagent/replay/comm/internal.h"

bool traffic_open_call(const struct traffic_track *l, struct message *m)
{
	const struct pending *last = l && l->n ? &l->pending[l->n - 1] : NULL;

	if (!last || last->m.request ||
		(last->m.kind != RECORD_SEND && last->m.kind != RECORD_COLLECTIVE))
		return false;
	*m = last->m;
	return true;
}

static const struct comm *own_group(const struct comm *c)
{
	return c && !c->job && !c->remote_size ? c : NULL;
}

/* Of MPI_COMM_WORLD no name comes, unless the user gives it one. */
static const char *name_of(const struct comm *c)
{
	return c->name						? c->name
	       : c->kind == WIRE_COMM_PREDEFINED && c->size > 1 ? "MPI_COMM_WORLD"
								: NULL;
}

static const struct comm *group_of(const struct traffic *t, uint32_t number)
{
	const uint32_t *slot = map32_find(&t->numbers[WIRE_OBJECT_COMM].live, number);

	return slot ? own_group(t->slots[*slot]) : NULL;
}

void traffic_groups(const struct traffic *t, traffic_group_seen *tell, void *ctx)
{
	for (size_t i = 0; i < t->n_slots; i++) {
		const struct comm *c = own_group(t->slots[i]);

		/* a window has a slot of its own for its communicator */
		if (!c || group_of(t, c->number) != c)
			continue;
		tell(ctx,
			&(struct traffic_group){c->id, c->number, c->size, c->called, name_of(c)});
	}
}

void traffic_members(
	const struct traffic *t, uint32_t number, traffic_members_seen *tell, void *ctx)
{
	const struct comm *c = group_of(t, number);

	for (size_t i = 0; c && i < c->n_runs; i++) {
		const struct run *r = &c->runs[i];
		const uint32_t end = i + 1 < c->n_runs ? r[1].before : c->members;

		if (r->first != WIRE_UNKNOWN)
			tell(ctx, (uint32_t)r->first, r->stride, end - r->before);
	}
}

bool traffic_member(
	const struct traffic *t, uint32_t number, uint32_t rank, uint32_t *world, const char **name)
{
	const struct comm *c = group_of(t, number);

	if (!c || rank >= comm_ranks(c))
		return false;
	*world = comm_world(c, rank);
	*name = name_of(c);
	return *world != PROFILE_ELSEWHERE;
}
