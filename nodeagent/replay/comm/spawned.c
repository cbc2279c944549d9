/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators between a job and one that it has spawned, and communicators that are merged
 * of them. Whether the other side is known is looked for when one is used; messages wait until it
 * is, as they have no receiver before. Whoever is merged knows the ranks of the own job only: those
 * that are not known are the members of the other side, in the order that these have there.
 * Duplicates of both have the same members. Which of several one is, its identity tells.
 */
#include <stdlib.h>
#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/match/process.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/jobs/spawns.h"
#include "shm/identity.h"

/* Makes identities of merged communicators of those that they are made from. */
#define MERGED_IDS 0x9e3779b97f4a7c15u

/* Messages on one communicator, and of a process; then none are held any more. 250 B each */
#define HELD_MAX     4096u
#define HELD_ALL_MAX 65536u

struct held {
	struct message posted, m; /* posted: of a DONE */
	struct match_message told;
	uint32_t rank; /* of the other one */
	bool done;
};

struct spawned {
	const struct spawn_link *link; /* or NULL */
	uint64_t id;		       /* with link: the same on both sides */
	bool is_parent;		       /* with link: the process's job is that of the parents */
	bool given_up;
	struct held *held;
	size_t n_held, cap_held;
};

/* Such a communicator from which another one was made. */
struct source {
	struct comm *of; /* held */
	uint32_t merged; /* so many of it */
};

#define SOURCES_MAX 4096u
#define MADE_MAX    4096u /* of one, of which duplicates are looked for */

/* Some are in no communicator of the process's own job. */
static bool has_others(const struct comm *c)
{
	for (size_t i = 0; i < c->n_runs; i++)
		if (c->runs[i].first == WIRE_UNKNOWN)
			return true;
	return false;
}

static bool is_spawned(const struct traffic *t, const struct comm *c)
{
	if (!c->joins || c->job || !t->sync || !t->name.space)
		return false;
	return c->copy_of || (c->kind == WIRE_COMM_MERGE && has_others(c)) ||
	       (c->remote_size && (c->kind == WIRE_COMM_SPAWN || c->kind == WIRE_COMM_PARENT));
}

/* ---- made from others ------------------------------------------------------------------------ */

/* What c was made from. Only of a smaller number, so that no lie leads round in a circle. */
static bool is_made_from(const struct comm *c, const struct comm *of)
{
	return of && of->number == c->parent && of->number < c->number;
}

static struct source *find_source(const struct traffic *t, uint32_t number)
{
	for (size_t i = 0; i < t->n_sources; i++)
		if (t->sources[i].of->number == number)
			return &t->sources[i];
	return NULL;
}

static bool makes_copy(uint32_t function)
{
	return function == VFTR_MPI_COMM_DUP || function == VFTR_MPI_COMM_DUP_WITH_INFO ||
	       function == VFTR_MPI_COMM_IDUP || function == VFTR_MPI_COMM_IDUP_WITH_INFO;
}

void spawned_made_from(struct traffic *t, struct comm *c, uint32_t function)
{
	const bool merged = function == VFTR_MPI_INTERCOMM_MERGE;
	struct source *s;

	if ((!merged && !makes_copy(function)) || !is_spawned(t, c) || (merged && !c->remote_size))
		return;
	s = find_source(t, c->number);
	if (!s && t->n_sources < SOURCES_MAX) {
		s = LIST_ADD(t, sources);
		*s = (struct source){.of = comm_hold(c)};
	}
	if (s)
		s->merged += merged;
}

void spawned_sources_free(struct traffic *t)
{
	for (size_t i = 0; i < t->n_sources; i++)
		comm_drop(t, t->sources[i].of);
	free(t->sources);
	t->sources = NULL;
	t->n_sources = t->cap_sources = 0;
}

/* What it was merged of; NULL: that has led to no spawned job, or several were merged of it, and it
 * is not known which one is which at the other side. */
static struct comm *merged_of(const struct traffic *t, const struct comm *c)
{
	const struct source *s = find_source(t, c->parent);

	return s && s->merged == 1 && is_made_from(c, s->of) ? s->of : NULL;
}

/* Its source may be gone already. */
static struct comm *copied_of(struct traffic *t, const struct comm *c)
{
	const struct source *s = find_source(t, c->parent);
	struct comm *of = NULL;

	if (s)
		return s->of;
	return find_comm(t, c->parent, &of) ? NULL : of;
}

void spawned_define(struct traffic *t, struct comm *c)
{
	struct comm *of = c->kind == WIRE_COMM_DUP ? copied_of(t, c) : NULL;

	if (!is_made_from(c, of) || !is_spawned(t, of) || of->size != c->size ||
		of->remote_size != c->remote_size)
		return;
	for (uint32_t before = 0; before < MADE_MAX; before++)
		if (identity_made(of->id, before, WIRE_COMM_DUP, 0) == c->id) {
			c->copy_of = comm_hold(of->copy_of ?: of);
			c->copy = identity_mix(of->copy, before);
			c->joins = true;
			return;
		}
}

/* Members of the other side before this rank, which is one; UINT32_MAX: it is of the own side. */
static uint32_t place_among_others(const struct comm *c, uint32_t rank)
{
	uint32_t others = 0;

	for (size_t i = 0; i < c->n_runs && c->runs[i].before <= rank; i++) {
		const struct run *r = &c->runs[i];
		const uint32_t end = i + 1 < c->n_runs ? r[1].before : c->members;

		if (rank < end)
			return r->first == WIRE_UNKNOWN ? others + rank - r->before : UINT32_MAX;
		others += r->first == WIRE_UNKNOWN ? end - r->before : 0;
	}
	return UINT32_MAX;
}

/* ---- the other side -------------------------------------------------------------------------- */

static void add_comm(struct traffic *t, struct comm *c, uint64_t used)
{
	struct spawn_link like = {.comm = c->id,
		.parent_job = t->job,
		.n_parents = c->size,
		.n_children = c->remote_size};

	if (c->members != comm_all(c) || c->size > SPAWNS_RANKS_MAX)
		return;
	like.parents = xmalloc(c->size * sizeof(*like.parents));
	for (uint32_t i = 0; i < c->size; i++)
		like.parents[i] = comm_world(c, c->remote_size + i);
	spawns_add_comm(sync_spawns(t->sync), &like, used, &t->name);
	free(like.parents);
}

static uint64_t place_of(const struct traffic *t, const struct comm *c, uint32_t rank)
{
	const struct spawn_link *link = c->spawned->link;
	uint32_t other = rank;

	if (rank >= comm_ranks(c))
		return MATCH_ELSEWHERE;
	if (!c->remote_size) {
		other = place_among_others(c, rank);
		if (other == UINT32_MAX)
			return match_proc_id(t->match_job, comm_world(c, rank));
	}
	if (!link)
		return MATCH_ELSEWHERE;
	if (c->spawned->is_parent)
		return match_proc_id(link->child_job, other);
	return other < link->n_parents ? match_proc_id(link->parent_job, link->parents[other])
				       : MATCH_ELSEWHERE;
}

static void tell_matcher(struct traffic *t, const struct comm *c, struct held *h)
{
	h->told.m = &h->m;
	h->told.comm = spawned_identity(c);
	h->told.peer = place_of(t, c, h->rank);
	if (!t->match)
		return;
	if (h->done)
		match_process_done(t->match, &h->posted, &h->told);
	else
		match_process_message(t->match, &h->told);
}

static void tell_held(struct traffic *t, struct comm *c)
{
	struct spawned *s = c->spawned;

	for (size_t i = 0; i < s->n_held; i++)
		tell_matcher(t, c, &s->held[i]);
	t->n_held -= (uint32_t)s->n_held;
	free(s->held);
	s->held = NULL;
	s->n_held = s->cap_held = 0;
}

static const struct spawn_link *find_link(struct traffic *t, const struct comm *c, uint64_t used)
{
	struct comm *of = c->copy_of;

	switch (c->kind) {
	case WIRE_COMM_SPAWN:
		return spawns_of_comm(sync_spawns(t->sync), t->job, c->id);
	case WIRE_COMM_PARENT:
		return spawns_of_job(sync_spawns(t->sync), t->job);
	case WIRE_COMM_MERGE:
		of = merged_of(t, c);
		break;
	}
	c->spawned->given_up = !of;
	return of ? spawned_link(t, of, used) : NULL;
}

/* The same on both sides. */
static uint64_t linked_identity(const struct traffic *t, const struct comm *c)
{
	if (c->copy_of)
		return identity_mix(c->copy_of->spawned->id, c->copy);
	if (c->kind == WIRE_COMM_MERGE)
		return merged_of(t, c)->spawned->id * MERGED_IDS;
	return c->spawned->link->comm;
}

void spawned_tell(struct traffic *t, struct comm *c)
{
	const struct spawned *s = c->spawned;
	struct vfd_comm told;

	if (!t->listener.link || !c->told || c->link_told || !s || !s->link)
		return;
	told = (struct vfd_comm){.number = c->told,
		.link = s->id,
		.link_job = s->is_parent ? s->link->child_job : s->link->parent_job,
		.spawn = s->link->comm,
		.is_child = !s->is_parent};
	c->link_told = true;
	t->listener.link(t->listener.ctx, &told);
}

const struct spawn_link *spawned_link(struct traffic *t, struct comm *c, uint64_t used)
{
	struct spawned *s = c->spawned;

	if (s && (s->link || s->given_up))
		return s->link;
	if (!is_spawned(t, c))
		return NULL;
	if (!s) {
		s = c->spawned = xcalloc(1, sizeof(*s));
		if (c->kind == WIRE_COMM_SPAWN)
			add_comm(t, c, used);
	}
	s->link = find_link(t, c, used);
	if (s->link && s->link->n_children + s->link->n_parents != comm_all(c))
		s->link = NULL;
	if (s->link) {
		s->is_parent = s->link->parent_job == t->job;
		s->id = linked_identity(t, c);
		c->local_of = 0; /* more of its members are known */
		tell_held(t, c);
		spawned_tell(t, c);
	}
	return s->link;
}

/* Between jobs of which one has spawned the other one. */
bool spawned_match(struct traffic *t, struct comm *c, uint32_t rank, const struct message *posted,
	const struct match_message *m)
{
	struct held h = {.m = *m->m, .told = *m, .rank = rank, .done = posted};
	const bool known = spawned_link(t, c, m->until);
	struct spawned *s = c->spawned;

	if (!s)
		return false;
	if (posted)
		h.posted = *posted;
	if (known || s->given_up) {
		tell_matcher(t, c, &h);
		return true;
	}
	*LIST_ADD(s, held) = h;
	t->n_held++;
	if (s->n_held >= HELD_MAX || t->n_held >= HELD_ALL_MAX) {
		s->given_up = true;
		tell_held(t, c);
	}
	return true;
}

void spawned_end(struct traffic *t, struct comm *c)
{
	if (!c->spawned)
		return;
	spawned_link(t, c, 0);
	tell_held(t, c);
}

bool spawned_has(const struct comm *c, uint64_t job, uint32_t rank)
{
	const struct spawn_link *link = c->spawned ? c->spawned->link : NULL;

	if (!link)
		return false;
	if (c->spawned->is_parent)
		return job == link->child_job && rank < link->n_children;
	for (uint32_t i = 0; job == link->parent_job && i < link->n_parents; i++)
		if (link->parents[i] == rank)
			return true;
	return false;
}

uint32_t spawned_side(const struct comm *c)
{
	if (!c->spawned->link)
		return 0;
	return c->spawned->is_parent ? UINT32_MAX - 2 : UINT32_MAX - 3;
}

bool spawned_is_linked(const struct traffic *a, const struct traffic *b)
{
	const struct spawn_link *x, *y;

	if (!a->sync || a->sync != b->sync)
		return false;
	x = spawns_of_job(sync_spawns(a->sync), a->job);
	y = spawns_of_job(sync_spawns(b->sync), b->job);
	return (x && x->parent_job == b->job) || (y && y->parent_job == a->job);
}

uint64_t spawned_identity(const struct comm *c)
{
	return c->spawned && c->spawned->link ? c->spawned->id : c->id;
}

uint64_t spawned_meeting(struct traffic *t, struct comm *c, uint64_t used)
{
	spawned_link(t, c, used);
	return comm_identity(c);
}

void traffic_comm_spawned(struct traffic *t, uint32_t number, uint64_t ticks)
{
	struct comm *c;

	if (!find_comm(t, number, &c) && c && c->members == comm_all(c))
		spawned_link(t, c, ticks);
}

void traffic_spawned_end(struct traffic *t)
{
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i])
			spawned_end(t, t->slots[i]);
}

void traffic_spawn_name(struct traffic *t, const struct spawn_name *own)
{
	t->name = *own;
}
