/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/window/exposure.h"

#include <stdlib.h>
#include "mpi_id.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"

/* As which a rank takes part. */
enum part { ORIGIN, TARGET, PARTS };

struct member {
	uint32_t rank, nth; /* in its communicator; among the groups with this rank, from 1 */
};

/* The calls of one part. */
struct group {
	uint32_t epoch;	     /* the number of the last MPI_Win_start or post */
	bool broken;	     /* not all were seen, or in another order */
	struct map32 counts; /* rank + 1 -> groups that it was in */
	struct member *members;
	size_t n, cap;
};

struct exposure {
	uint32_t window;
	struct group groups[PARTS];
	struct exposure *next;
};

struct exposures {
	struct exposure *first;
	size_t n; /* ranks that these have counts of */
};

/* What a call may wait for, and what others wait for; a bit of each. */
enum meeting { START_FOR_POST, COMPLETE_FOR_POST, WAIT_FOR_COMPLETE, MEETINGS };

static const struct {
	enum part waiting;
	enum wait_kind wait;
} meetings[MEETINGS] = {
	[START_FOR_POST] = {ORIGIN, WAIT_RMA_POST},
	[COMPLETE_FOR_POST] = {ORIGIN, WAIT_RMA_POST},
	[WAIT_FOR_COMPLETE] = {TARGET, WAIT_RMA_COMPLETE},
};

#define AT(meeting) (1u << (meeting))

static const struct role {
	uint32_t function;
	enum part part;
	bool begins; /* an epoch, with a record for each rank of its group */
	unsigned at; /* AT(enum meeting) */
} roles[] = {
	{VFTR_MPI_WIN_START, ORIGIN, true, AT(START_FOR_POST)},
	{VFTR_MPI_WIN_COMPLETE, ORIGIN, false, AT(COMPLETE_FOR_POST) | AT(WAIT_FOR_COMPLETE)},
	{VFTR_MPI_WIN_POST, TARGET, true, AT(START_FOR_POST) | AT(COMPLETE_FOR_POST)},
	{VFTR_MPI_WIN_WAIT, TARGET, false, AT(WAIT_FOR_COMPLETE)},
	{VFTR_MPI_WIN_TEST, TARGET, false, AT(WAIT_FOR_COMPLETE)},
};

static const struct role *role_of(uint32_t function)
{
	return FIND(x, roles, ARRAY_SIZE(roles), x->function == function);
}

static struct exposure *exposure_of(struct exposures *all, uint32_t window)
{
	struct exposure **at = &all->first, *e;

	while (*at && (*at)->window != window)
		at = &(*at)->next;
	e = *at;
	if (e)
		*at = e->next; /* to the front */
	else {
		e = xcalloc(1, sizeof(*e));
		e->window = window;
	}
	e->next = all->first;
	all->first = e;
	return e;
}

static void exposure_free(struct exposures *all, struct exposure *e)
{
	for (int i = 0; i < PARTS; i++) {
		all->n -= e->groups[i].counts.n;
		map32_free(&e->groups[i].counts);
		free(e->groups[i].members);
	}
	free(e);
}

void exposure_gone(struct exposures *of, uint32_t window)
{
	for (struct exposure **at = of ? &of->first : NULL; at && *at; at = &(*at)->next) {
		struct exposure *e = *at;

		if (e->window != window)
			continue;
		*at = e->next;
		exposure_free(of, e);
		return;
	}
}

void exposures_free(struct exposures *of)
{
	while (of && of->first) {
		struct exposure *e = of->first;

		of->first = e->next;
		exposure_free(of, e);
	}
	free(of);
}

/* A rank of the group of an epoch that begins. False: it is not known which one of its is this. */
static bool add_member(struct exposures *all, struct group *g, const struct exposure_call *call)
{
	uint32_t *count;

	if (call->epoch != g->epoch) {
		g->broken |= call->epoch != g->epoch + 1;
		g->epoch = call->epoch;
		g->n = 0;
	}
	if (g->broken || call->other >= call->ranks)
		return false;
	count = map32_find(&g->counts, call->other + 1);
	if (!count && all->n >= EXPOSURES_MAX)
		g->broken = true;
	if (g->broken || g->n > g->counts.n) /* no group has a rank twice */
		return false;
	if (!count) {
		map32_add(&g->counts, call->other + 1, 0);
		count = map32_find(&g->counts, call->other + 1);
		all->n++;
	}
	*APPEND(g->members, g->n, g->cap) = (struct member){call->other, ++*count};
	return true;
}

static struct exposure_pair pair_of(const struct exposure_call *call, const struct role *c,
	const struct member *other, enum meeting meeting)
{
	const uint32_t self = call->self;
	const bool is_origin = c->part == ORIGIN, waits = meetings[meeting].waiting == c->part;

	return (struct exposure_pair){.origin = is_origin ? self : other->rank,
		.target = is_origin ? other->rank : self,
		.ticket = other->nth * MEETINGS + meeting,
		.awaited = waits ? other->rank : self,
		.waiting = waits ? self : other->rank,
		.wait = meetings[meeting].wait};
}

void exposure_pairs(struct exposures **of, const struct exposure_call *call,
	void (*use)(void *arg, const struct exposure_pair *pair), void *arg)
{
	const struct role *c = role_of(call->function);
	struct group *g;
	size_t first = 0;

	if (!c)
		return;
	if (!*of)
		*of = xcalloc(1, sizeof(**of));
	g = &exposure_of(*of, call->window)->groups[c->part];
	if (c->begins) {
		if (!add_member(*of, g, call))
			return;
		first = g->n - 1;
	}
	if (g->broken || call->epoch != g->epoch)
		return;
	for (size_t i = first; i < g->n; i++)
		for (enum meeting k = 0; k < MEETINGS && g->members[i].rank != call->self; k++)
			if (c->at & AT(k)) {
				const struct exposure_pair pair =
					pair_of(call, c, &g->members[i], k);

				use(arg, &pair);
			}
	if (!c->begins)
		g->n = 0;
}
