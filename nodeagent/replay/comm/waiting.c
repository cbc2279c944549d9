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

void traffic_requests(const struct traffic_track *l, traffic_request_seen *tell, void *ctx)
{
	const struct requests *r = &l->traffic->requests;
	size_t left = l->n_open;

	for (size_t i = 0; i < l->n; i++)
		if (l->pending[i].m.kind == RECORD_DONE)
			tell(ctx, &l->pending[i].m);
	for (size_t i = 0; i < l->n; i++)
		if (l->pending[i].m.request && l->pending[i].m.kind != RECORD_DONE &&
			l->pending[i].m.kind != RECORD_RECV)
			tell(ctx, &l->pending[i].m);
	for (size_t i = 0; i < r->n && left; i++) {
		if (!r->at[i].of.node || r->at[i].track != l)
			continue;
		left--;
		if (r->at[i].taken)
			tell(ctx, &r->at[i].of.m);
	}
}

bool traffic_is_over(const struct traffic_track *l, uint32_t request)
{
	return map32_find(&l->traffic->requests.early, request) != NULL;
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

static struct traffic_group group_told(const struct comm *c)
{
	return (struct traffic_group){c->id, c->number, c->size, c->called, name_of(c)};
}

bool traffic_find_group(const struct traffic *t, uint32_t number, struct traffic_group *g)
{
	const struct comm *c = group_of(t, number);

	if (c)
		*g = group_told(c);
	return c;
}

void traffic_groups(const struct traffic *t, traffic_group_seen *tell, void *ctx)
{
	for (size_t i = 0; i < t->n_slots; i++) {
		const struct comm *c = own_group(t->slots[i]);
		struct traffic_group g;

		/* a window has a slot of its own for its communicator */
		if (!c || group_of(t, c->number) != c)
			continue;
		g = group_told(c);
		tell(ctx, &g);
	}
}

void traffic_members(
	const struct traffic *t, uint32_t number, traffic_members_seen *tell, void *ctx)
{
	const struct comm *c = group_of(t, number);

	for (size_t i = 0; c && i < c->n_runs; i++) {
		const struct run *r = &c->runs[i];
		const uint32_t end = i + 1 < c->n_runs ? r[1].before : c->members;

		if (r->first >= 0) /* else of another job, or not known */
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

enum collective_kind traffic_call_kind(const struct message *m)
{
	return m->kind == RECORD_COLLECTIVE ? collective_shape(m->field)->kind : COLLECTIVE_UNKNOWN;
}
