/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intercommunicators between a job and one that it has spawned, and communicators that were made
 * from such a one, or from one made from it, ... by all of its members. Whether the other side is
 * known is looked for when one is used; messages wait until it is, as they have no receiver before.
 * A member of the other side is known by its rank in that intercommunicator (wire_other()). Both
 * sides give the intercommunicator other identities, but each can tell from the identity of what
 * was made from it in which way, and as which one of several, that was made.
 */
#include <stdlib.h>
#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/match/process.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/jobs/spawns.h"
#include "shm/identity.h"

/* What the matcher looks at of a struct match_message, its struct message, and of a DONE what was
 * posted. */
struct held {
	uint64_t since, until, bytes, posted_bytes;
	uint32_t tag, ticket, request, flags, thread, path, probes, history;
	uint32_t rank; /* of the other one */
	uint16_t kind, posted_kind;
	uint8_t mode;
	bool done, probe, failed, overtaking;
};
_Static_assert(sizeof(struct held) == 80, "the number above");

struct spawned {
	const struct spawn_link *link; /* or NULL */
	uint64_t id;		       /* with link: the same on both sides */
	bool is_parent;		       /* with link: the process's job is that of the parents */
	bool given_up;		       /* its messages, all of which are without a partner then */
	bool is_mixed;		       /* with link: a group of it has ranks of both jobs */
	uint32_t side;		       /* with link: spawned_side() */
	struct held *held;
	size_t n_held, cap_held;
};

#define HELD_FIRST  16u
#define SOURCES_MAX 4096u
#define MADE_MAX    4096u /* of one, which are told apart */

static bool is_spawned(const struct traffic *t, const struct comm *c)
{
	if (!c->joins || c->job || !t->sync)
		return false;
	if (c->origin || !c->remote_size)
		return c->origin;
	if (c->kind == WIRE_COMM_ACCEPT)
		return c->n_runs && c->runs[0].first == WIRE_UNKNOWN;
	return t->name.space && (c->kind == WIRE_COMM_SPAWN || c->kind == WIRE_COMM_PARENT);
}

/* ---- made from others ------------------------------------------------------------------------ */

/* What c was made from. Only of a smaller number, so that no lie leads round in a circle. */
static bool is_made_from(const struct comm *c, const struct comm *of)
{
	return of && of->number == c->parent && of->number < c->number;
}

/* By functions that all members of the source call, in the same order. */
static bool is_made_by_all(uint32_t kind)
{
	return kind == WIRE_COMM_DUP || kind == WIRE_COMM_SPLIT || kind == WIRE_COMM_CREATE ||
	       kind == WIRE_COMM_TOPOLOGY || kind == WIRE_COMM_MERGE;
}

static struct comm *find_source(const struct traffic *t, uint32_t number)
{
	for (size_t i = 0; i < t->n_sources; i++)
		if (t->sources[i]->number == number)
			return t->sources[i];
	return NULL;
}

void spawned_made_from(struct traffic *t, struct comm *c, uint32_t function)
{
	if (function == VFTR_MPI_FILE_OPEN || !is_spawned(t, c) || find_source(t, c->number) ||
		t->n_sources >= SOURCES_MAX)
		return;
	*LIST_ADD(t, sources) = comm_hold(c);
}

void spawned_sources_free(struct traffic *t)
{
	for (size_t i = 0; i < t->n_sources; i++)
		comm_drop(t, t->sources[i]);
	free(t->sources);
	t->sources = NULL;
	t->n_sources = t->cap_sources = 0;
}

/* By its members, one of several of the same tag or the same members. */
static bool is_made_by_group(const struct comm *c)
{
	return (c->kind == WIRE_COMM_FROM_GROUP || c->kind == WIRE_COMM_INTER) && c->port;
}

void spawned_define(struct traffic *t, struct comm *c)
{
	struct comm *of = NULL;

	if (!t->sync || !(is_made_by_all(c->kind) || is_made_by_group(c)))
		return;
	/* it may be gone already */
	of = find_source(t, c->parent);
	if (!of && find_comm(t, c->parent, &of))
		of = NULL;
	if (is_made_from(c, of) && is_spawned(t, of))
		c->source = comm_hold(of);
}

static uint32_t end_of_run(const struct comm *c, size_t i)
{
	return i + 1 < c->n_runs ? c->runs[i + 1].before : c->members;
}

static size_t remote_runs(const struct comm *c)
{
	size_t remote = 0;

	while (remote < c->n_runs && c->runs[remote].before < c->remote_size)
		remote++;
	return remote;
}

/* As the application has made it of the same runs: mpi/object/members.c. */
static uint64_t hash_of_members(const struct comm *c)
{
	const size_t remote = remote_runs(c);
	uint64_t hash[2];
	size_t i = 0;

	for (int group = 0; group < 2; group++) {
		const size_t end = group ? c->n_runs : remote;

		hash[group] = end - i;
		for (; i < end; i++)
			hash[group] = identity_run(hash[group], c->runs[i].first, c->runs[i].stride,
				end_of_run(c, i) - c->runs[i].before);
	}
	return c->remote_size ? identity_of_both(hash[0], hash[1]) : hash[1];
}

/* How many were made from `of` before c; MADE_MAX: that is not known. */
static uint32_t made_before(const struct comm *c, const struct comm *of)
{
	const bool is_copy = c->kind == WIRE_COMM_DUP;
	const uint64_t members = is_copy ? 0 : hash_of_members(c);
	uint32_t before = 0;

	while (before < MADE_MAX) {
		const uint64_t id = identity_made(of->id, before, c->kind, 0);

		if ((is_copy ? id : identity_mix(id, members)) == c->id)
			break;
		before++;
	}
	return before;
}

static bool has_others(const struct comm *c)
{
	return ANY(i, c->n_runs, c->runs[i].first < 0);
}

/* Of a rank of the own job its place in the own group of an intercommunicator; UINT32_MAX: it is
 * not there. */
static uint32_t own_place(const struct comm *inter, int64_t world)
{
	for (size_t i = 0; i < inter->n_runs; i++) {
		const struct run *r = &inter->runs[i];
		const int64_t way = world - r->first, n = end_of_run(inter, i) - r->before;
		const int64_t at = r->stride ? way / r->stride : 0;

		if (r->before >= inter->remote_size && r->first >= 0 && at >= 0 && at < n &&
			at * r->stride == way)
			return r->before - inter->remote_size + (uint32_t)at;
	}
	return UINT32_MAX;
}

/* Members times runs that are looked at: of one communicator, and of all of a process, which may
 * say that it makes one after the other */
#define GROUP_COSTS_MAX	    (1u << 22)
#define GROUP_COSTS_ALL_MAX (1u << 26)

static bool is_affordable(struct traffic *t, const struct comm *c, const struct comm *inter)
{
	const uint64_t costs = (uint64_t)comm_all(c) * inter->n_runs;

	if (costs > GROUP_COSTS_MAX || costs > GROUP_COSTS_ALL_MAX - t->group_costs)
		return false;
	t->group_costs += (uint32_t)costs;
	return true;
}

/* Of the members of a group: as this job names them, and as the other one does. */
struct hash_of_group {
	uint64_t own, other;
};

/* Of the runs from `from' to before `end'. False: not all members are known. */
static bool hash_group(const struct comm *c, size_t from, size_t end, const struct comm *inter,
	struct hash_of_group *to)
{
	*to = (struct hash_of_group){1, 1};
	for (size_t i = from; i < end; i++) {
		const struct run *r = &c->runs[i];

		for (uint32_t k = 0; k < end_of_run(c, i) - r->before; k++) {
			const int64_t member = r->first + (int64_t)k * r->stride;
			const bool is_own = r->first >= 0;
			const uint64_t place = is_own ? own_place(inter, member)
						      : (uint32_t)wire_other((int32_t)member);

			if (r->first == WIRE_UNKNOWN || place == UINT32_MAX)
				return false;
			to->own = identity_mix(to->own, place << 1 | is_own);
			to->other = identity_mix(to->other, place << 1 | !is_own);
		}
	}
	return true;
}

/*
 * The same on both sides: of the members by their places in the groups of the intercommunicator
 * that leads from one job to the other, whichever of the groups is the own one, of that and of c.
 * 0: not known.
 */
static uint64_t hash_of_groups(const struct comm *c, const struct comm *inter)
{
	const size_t remote = remote_runs(c);
	struct hash_of_group far, near;

	if (!hash_group(c, 0, remote, inter, &far) ||
		!hash_group(c, remote, c->n_runs, inter, &near))
		return 0;
	if (!c->remote_size)
		return identity_of_both(near.own, near.other);
	return identity_of_both(
		identity_of_both(near.own, far.own), identity_of_both(near.other, far.other));
}

static void complete_group(struct traffic *t, struct comm *c, struct comm *of)
{
	struct comm *origin = of->origin ?: of;
	uint64_t members = 0;

	if (has_others(c) && is_affordable(t, c, origin))
		members = hash_of_groups(c, origin);
	if (!members)
		return;
	c->origin = comm_hold(origin);
	c->way = identity_mix(identity_mix(identity_mix(of->way, c->port), members), c->kind);
	c->joins = true;
}

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
	if (c->kind == WIRE_COMM_ACCEPT)
		spawns_add_port(sync_spawns(t->sync), c->port, &like);
	else
		spawns_add_comm(sync_spawns(t->sync), &like, used, &t->name);
	free(like.parents);
}

static void await_root(struct traffic *t, struct comm *c)
{
	c->awaits_root = true;
	spawns_await_port(sync_spawns(t->sync), t->job, c->id);
}

void spawned_complete(struct traffic *t, struct comm *c)
{
	struct comm *of = c->source;
	const bool by_group = is_made_by_group(c);
	const uint32_t before = of && !by_group && has_others(c) ? made_before(c, of) : MADE_MAX;

	if (of && by_group)
		complete_group(t, c, of);
	if (c->kind == WIRE_COMM_ACCEPT && c->port && is_spawned(t, c))
		add_comm(t, c, 0);
	else if (c->kind == WIRE_COMM_ACCEPT && is_spawned(t, c))
		await_root(t, c);
	c->source = NULL;
	if (before < MADE_MAX) {
		c->origin = comm_hold(of->origin ?: of);
		c->way = identity_mix(identity_mix(of->way, before), c->kind);
		c->joins = true;
	}
	comm_drop(t, of);
}

/* Of a rank that messages may name, as in a run: wire.h. */
static int32_t member_at(const struct comm *c, uint32_t rank)
{
	size_t i = 0;

	while (rank >= end_of_run(c, i))
		i++;
	return c->runs[i].first + (int32_t)(rank - c->runs[i].before) * c->runs[i].stride;
}

/* Its rank in the group of the other side; UINT32_MAX: it is of the own one, or not known. */
static uint32_t place_among_others(const struct comm *c, uint32_t rank)
{
	const int32_t member = member_at(c, rank);

	if (member == WIRE_UNKNOWN)
		return c->remote_size ? rank : UINT32_MAX;
	return member < 0 ? (uint32_t)wire_other(member) : UINT32_MAX;
}

/* Whether who has this rank in the group of the other side is a member. */
static bool has_other(const struct comm *c, uint32_t place)
{
	const int64_t member = wire_other((int32_t)place);

	for (size_t i = 0; i < c->n_runs; i++) {
		const struct run *r = &c->runs[i];
		const int64_t way = member - r->first;

		if (r->first == WIRE_UNKNOWN && c->remote_size)
			return true;
		if (r->first >= 0)
			continue;
		if (!r->stride ? way == 0
			       : way % r->stride == 0 && way / r->stride >= 0 &&
					 way / r->stride < end_of_run(c, i) - r->before)
			return true;
	}
	return false;
}

/* ---- the other side -------------------------------------------------------------------------- */

static uint64_t place_of(const struct traffic *t, const struct comm *c, uint32_t rank)
{
	const struct spawn_link *link = c->spawned->link;
	const uint32_t other = rank < comm_ranks(c) ? place_among_others(c, rank) : UINT32_MAX;

	if (rank >= comm_ranks(c))
		return MATCH_ELSEWHERE;
	if (other == UINT32_MAX)
		return comm_world(c, rank) == PROFILE_ELSEWHERE
			       ? MATCH_ELSEWHERE
			       : match_proc_id(t->match_job, comm_world(c, rank));
	if (!link || c->spawned->given_up)
		return MATCH_ELSEWHERE;
	if (c->spawned->is_parent)
		return other < link->n_children
			       ? match_proc_id(link->child_job, spawn_child(link, other))
			       : MATCH_ELSEWHERE;
	return other < link->n_parents ? match_proc_id(link->parent_job, link->parents[other])
				       : MATCH_ELSEWHERE;
}

static struct held held_of(
	uint32_t rank, const struct message *posted, const struct match_message *m)
{
	return (struct held){.since = m->since,
		.until = m->until,
		.bytes = m->m->bytes,
		.posted_bytes = posted ? posted->bytes : 0,
		.tag = m->m->field,
		.ticket = m->m->ticket,
		.request = posted ? posted->request : m->m->request,
		.flags = m->m->flags,
		.thread = m->thread,
		.path = m->path,
		.probes = m->probes,
		.history = m->history,
		.rank = rank,
		.kind = (uint16_t)m->m->kind,
		.posted_kind = posted ? (uint16_t)posted->kind : 0,
		.mode = (uint8_t)m->mode,
		.done = posted,
		.probe = m->probe,
		.failed = m->failed,
		.overtaking = m->overtaking};
}

static void tell_matcher(struct traffic *t, const struct comm *c, const struct held *h)
{
	const struct message m = {.kind = h->kind,
		.field = h->tag,
		.ticket = h->ticket,
		.request = h->request,
		.flags = h->flags,
		.bytes = h->bytes};
	const struct message posted = {
		.kind = h->posted_kind, .request = h->request, .bytes = h->posted_bytes};
	const struct match_message told = {.m = &m,
		.comm = spawned_told(c),
		.peer = place_of(t, c, h->rank),
		.since = h->since,
		.until = h->until,
		.thread = h->thread,
		.path = h->path,
		.probes = h->probes,
		.mode = h->mode,
		.history = h->history,
		.probe = h->probe,
		.failed = h->failed,
		.overtaking = h->overtaking};

	if (!t->match)
		return;
	if (h->done)
		match_process_done(t->match, &posted, &told);
	else
		match_process_message(t->match, &told);
}

static void tell_held(struct traffic *t, struct comm *c)
{
	struct spawned *s = c->spawned;

	for (size_t i = 0; i < s->n_held; i++)
		tell_matcher(t, c, &s->held[i]);
	t->held_bytes -= s->cap_held * sizeof(*s->held);
	free(s->held);
	s->held = NULL;
	s->n_held = s->cap_held = 0;
}

/* The order of messages tells which belong together, so that once some have none, none have. */
static void give_up(struct traffic *t, struct comm *c)
{
	for (size_t i = 0; i < c->spawned->n_held; i++)
		t->unlinked += !c->spawned->held[i].done;
	c->spawned->given_up = true;
	tell_held(t, c);
}

static const struct spawn_link *find_link(struct traffic *t, const struct comm *c, uint64_t used)
{
	if (c->origin)
		return spawned_link(t, c->origin, used);
	if (c->kind == WIRE_COMM_ACCEPT)
		return spawns_of_port(sync_spawns(t->sync), t->job, c->id);
	return c->kind == WIRE_COMM_SPAWN ? spawns_of_comm(sync_spawns(t->sync), t->job, c->id)
					  : spawns_of_job(sync_spawns(t->sync), t->job);
}

/* The first one of the parents in the runs from `from' to before `end', by its rank among these. */
static uint32_t first_parent_in(const struct comm *c, size_t from, size_t end)
{
	const struct spawned *s = c->spawned;

	for (size_t i = from; i < end; i++) {
		const int32_t first = c->runs[i].first;

		if (s->is_parent != (first >= 0))
			continue;
		if (!s->is_parent)
			return place_among_others(c, c->runs[i].before);
		for (uint32_t k = 0; k < s->link->n_parents; k++)
			if (s->link->parents[k] == (uint32_t)first)
				return k;
	}
	return UINT32_MAX;
}

/* A member that is one of the parents, the same one in both groups. Of communicators that were made
 * at once, as of MPI_Comm_split, no two have it. */
static uint32_t first_parent(const struct comm *c)
{
	const size_t remote = remote_runs(c);
	const uint32_t far = first_parent_in(c, 0, remote),
		       near = first_parent_in(c, remote, c->n_runs);

	return far < near ? far : near;
}

/* A number for the own group, other than that of the other one: by the job, or, if there are ranks
 * of both jobs in a group, by a member. */
static uint32_t side_of(const struct comm *c)
{
	const struct spawned *s = c->spawned;
	const uint32_t parent =
		s->is_mixed ? first_parent_in(c, remote_runs(c), c->n_runs) : UINT32_MAX;

	if (parent < UINT32_MAX)
		return 1 + parent;
	return s->is_parent && !s->is_mixed ? UINT32_MAX - 2 : UINT32_MAX - 3;
}

/* True if a group of an intercommunicator has ranks of both jobs, or the own one has none of this
 * job. */
static bool is_mixed(const struct comm *c)
{
	const size_t remote = remote_runs(c);

	for (size_t i = 0; i < c->n_runs && c->remote_size; i++)
		if ((c->runs[i].first >= 0) != (i >= remote))
			return true;
	return false;
}

/* The same on both sides. */
static uint64_t linked_identity(const struct comm *c)
{
	const uint64_t id = c->spawned->link->comm;

	return c->origin ? identity_mix(identity_mix(id, c->way), first_parent(c)) : id;
}

/* As many are on both sides, where that one has not been made from another one. */
static bool fits_link(const struct comm *c, const struct spawn_link *link)
{
	return c->origin || link->n_children + link->n_parents == comm_all(c);
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
		.spawn = s->is_parent && s->link->children ? s->link->child_comm : s->link->comm,
		.is_child = !s->is_parent || s->link->children};
	c->link_told = true;
	t->listener.link(t->listener.ctx, &told);
}

const struct spawn_link *spawned_link(struct traffic *t, struct comm *c, uint64_t used)
{
	struct spawned *s = c->spawned;

	if (s && s->link)
		return s->link;
	if (!is_spawned(t, c))
		return NULL;
	if (!s) {
		s = c->spawned = xcalloc(1, sizeof(*s));
		t->n_between++;
		if (c->kind == WIRE_COMM_SPAWN)
			add_comm(t, c, used);
	}
	s->link = find_link(t, c, used);
	if (s->link && !fits_link(c, s->link))
		s->link = NULL;
	if (s->link) {
		s->is_parent = s->link->parent_job == t->job;
		s->id = linked_identity(c);
		s->is_mixed = is_mixed(c);
		s->side = side_of(c);
		c->local_of = 0; /* more of its members are known */
		tell_held(t, c);
		spawned_tell(t, c);
	}
	return s->link;
}

/* False: there is no room. */
static bool hold(struct traffic *t, struct spawned *s, const struct held *h)
{
	const size_t more = s->n_held < s->cap_held ? 0 : s->cap_held ?: HELD_FIRST;

	if (t->held_bytes + more * sizeof(*h) > TRAFFIC_HELD_MAX)
		return false;
	if (more) {
		s->cap_held += more;
		s->held = xrealloc(s->held, s->cap_held * sizeof(*h));
		t->held_bytes += more * sizeof(*h);
	}
	s->held[s->n_held++] = *h;
	return true;
}

/* Between jobs of which one has spawned the other one. */
bool spawned_match(struct traffic *t, struct comm *c, uint32_t rank, const struct message *posted,
	const struct match_message *m)
{
	const bool known = (c->spawned && c->spawned->given_up) || spawned_link(t, c, m->until);
	struct spawned *s = c->spawned;
	struct held h;

	if (!s)
		return false;
	h = held_of(rank, posted, m);
	if (!known && hold(t, s, &h))
		return true;
	if (!known)
		give_up(t, c);
	t->unlinked += s->given_up && !posted;
	tell_matcher(t, c, &h);
	return true;
}

/* Other members may be used still: only the root ends its side. */
static void end_port(struct traffic *t, struct comm *c)
{
	if (c->port)
		spawns_end_port(sync_spawns(t->sync), t->job, c->id);
	else if (c->awaits_root)
		spawns_unawait_port(sync_spawns(t->sync), t->job, c->id);
	c->awaits_root = false;
}

void spawned_end(struct traffic *t, struct comm *c)
{
	if (c->spawned) {
		spawned_link(t, c, 0);
		tell_held(t, c);
	}
	if (c->kind == WIRE_COMM_ACCEPT && t->sync)
		end_port(t, c);
}

bool spawned_has(const struct comm *c, uint64_t job, uint32_t rank)
{
	const struct spawn_link *link = c->spawned ? c->spawned->link : NULL;
	const bool is_parent = link && c->spawned->is_parent;
	const uint32_t n = !link ? 0 : is_parent ? link->n_children : link->n_parents;

	if (!link || job != (is_parent ? link->child_job : link->parent_job))
		return false;
	if (is_parent && !link->children)
		return rank < n && has_other(c, rank);
	for (uint32_t i = 0; i < n; i++)
		if ((is_parent ? link->children : link->parents)[i] == rank)
			return has_other(c, i);
	return false;
}

uint64_t traffic_unlinked(const struct traffic *t)
{
	return t->unlinked;
}

uint32_t spawned_side(const struct comm *c)
{
	return c->spawned->link ? c->spawned->side : 0;
}

bool spawned_is_mixed(const struct comm *c)
{
	return c->spawned && c->spawned->is_mixed;
}

bool spawned_is_linked(const struct traffic *a, const struct traffic *b)
{
	const struct spawn_link *x, *y;

	if (!a->sync || a->sync != b->sync)
		return false;
	x = spawns_of_job(sync_spawns(a->sync), a->job);
	y = spawns_of_job(sync_spawns(b->sync), b->job);
	return (x && x->parent_job == b->job) || (y && y->parent_job == a->job) ||
	       spawns_have_met(sync_spawns(a->sync), a->job, b->job);
}

uint64_t spawned_identity(const struct comm *c)
{
	return c->spawned && c->spawned->link ? c->spawned->id : c->id;
}

uint64_t spawned_told(const struct comm *c)
{
	return c->spawned && c->spawned->given_up ? c->id : spawned_identity(c);
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
	if (!t->n_between) /* each round of a session comes here */
		return;
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i])
			spawned_end(t, t->slots[i]);
	for (size_t i = 0; i < t->n_sources; i++) /* freed, and held */
		spawned_end(t, t->sources[i]);
}

void traffic_spawn_name(struct traffic *t, const struct spawn_name *own)
{
	t->name = *own;
}
