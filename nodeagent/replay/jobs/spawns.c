/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/jobs/spawns.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/rank.h"
#include "nodeagent/base/util.h"

struct spawned_job {
	uint64_t job, since;
	uint32_t size;
	struct spawn_name root;
	struct spawn_link *link; /* or NULL */
	bool to_tell;
};

struct maker {
	struct spawn_name name;
	uint64_t used; /* first, by it */
};

struct spawned_comm {
	struct spawn_link *link; /* child_job 0: it is not known */
	struct maker *makers;
	size_t n_makers, cap_makers;
};

/* The identity of a communicator at one side. */
struct side_name {
	uint64_t job, comm; /* job 0: none */
};

/* One side; `own` has no children. */
struct port {
	uint64_t port;
	struct spawn_link own, *link; /* link: or NULL; at one of both sides */
	bool is_here;		      /* its root is; else another agent has told of it */
	bool met;		      /* it is to meet nobody else */
	bool is_linked;		      /* link is set, at this side or at the other one */
	struct side_name other;	      /* whom it has met, as the agent of its root says */
};

struct awaited {
	struct side_name side;
	size_t members; /* here, that have not ended */
};

struct port_event {
	enum spawn_port_what what;
	size_t port;
};

struct spawns {
	struct port *ports;
	size_t n_ports, cap_ports;
	struct port_event *events; /* of sides that are here: to be told */
	size_t n_events, cap_events, n_events_told;
	struct awaited *awaited; /* sides without a root here whose link is not known */
	size_t n_awaited, cap_awaited;
	struct spawned_job *jobs;
	size_t n_jobs, cap_jobs;
	struct spawned_comm *comms;
	size_t n_comms, cap_comms;
	uint64_t main_job; /* 0: it is not known */
	size_t n_linked;   /* pairs of both */
	/* of all parents; n_heard: of those of which other agents have told, who may tell anything
	 */
	uint32_t n_ranks, n_heard;
	bool any_to_tell;	   /* of jobs */
	struct spawn_link **found; /* here */
	size_t n_found, cap_found, n_told;
};

struct spawns *spawns_new(void)
{
	return xcalloc(1, sizeof(struct spawns));
}

void spawns_free(struct spawns *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_comms; i++) {
		free(s->comms[i].link->parents);
		free(s->comms[i].link);
		free(s->comms[i].makers);
	}
	for (size_t i = 0; i < s->n_ports; i++) {
		free(s->ports[i].own.parents);
		free(s->ports[i].link);
	}
	free(s->found);
	free(s->events);
	free(s->awaited);
	free(s->ports);
	free(s->comms);
	free(s->jobs);
	free(s);
}

/* ---- who belongs together ---------------------------------------------------------------------
 */

static struct spawned_job *find_job(const struct spawns *s, uint64_t job)
{
	return FIND(x, s->jobs, s->n_jobs, x->job == job);
}

static bool same_name(const struct spawn_name *a, const struct spawn_name *b)
{
	return a->space && a->space == b->space && a->rank == b->rank;
}

static bool may_be(const struct spawned_job *j, const struct spawned_comm *c)
{
	if (j->link || c->link->child_job || c->link->n_children != j->size)
		return false;
	for (size_t i = 0; i < c->n_makers; i++)
		if (same_name(&c->makers[i].name, &j->root))
			return (int64_t)(c->makers[i].used - j->since) > 0;
	return false;
}

/* The only communicator that may be meant, or NULL. */
static struct spawned_comm *only_comm(const struct spawns *s, const struct spawned_job *j)
{
	struct spawned_comm *only = NULL;

	for (size_t i = 0; i < s->n_comms; i++) {
		if (!may_be(j, &s->comms[i]))
			continue;
		if (only)
			return NULL;
		only = &s->comms[i];
	}
	return only;
}

static struct spawned_job *only_job(const struct spawns *s, const struct spawned_comm *c)
{
	struct spawned_job *only = NULL;

	for (size_t i = 0; i < s->n_jobs; i++) {
		if (!may_be(&s->jobs[i], c))
			continue;
		if (only)
			return NULL;
		only = &s->jobs[i];
	}
	return only;
}

static void join(struct spawns *s, struct spawned_job *j, struct spawned_comm *c)
{
	j->link = c->link;
	c->link->child_job = j->job;
	s->n_linked++;
}

static void set_link(struct spawns *s, struct spawned_job *j, struct spawned_comm *c)
{
	if (!j || !c || only_comm(s, j) != c || only_job(s, c) != j)
		return;
	join(s, j, c);
	c->link->parents_spawned = find_job(s, c->link->parent_job);
	c->link->parents_other = s->main_job && s->main_job != c->link->parent_job;
	*LIST_ADD(s, found) = c->link;
}

/* ---- what is seen ------------------------------------------------------------------------------
 */

void spawns_add_job(struct spawns *s, uint64_t job, uint32_t size, uint64_t since,
	const struct spawn_name *root)
{
	struct spawned_job *j = find_job(s, job);

	if (j && !j->root.space) { /* only a link was told of it */
		j->since = since;
		j->root = *root;
	}
	if (j)
		return;
	if (!job || s->n_jobs >= SPAWNS_MAX)
		return;
	*LIST_ADD(s, jobs) =
		(struct spawned_job){.job = job, .since = since, .size = size, .root = *root};
	j = &s->jobs[s->n_jobs - 1];
	set_link(s, j, only_comm(s, j));
}

/* n_ranks: what it takes is added there. */
static struct spawned_comm *comm_of(
	struct spawns *s, const struct spawn_link *like, uint32_t *n_ranks)
{
	struct spawned_comm *c;

	for (size_t i = 0; i < s->n_comms; i++)
		if (s->comms[i].link->comm == like->comm &&
			s->comms[i].link->parent_job == like->parent_job)
			return &s->comms[i];
	if (s->n_comms >= SPAWNS_MAX || like->n_parents > SPAWNS_RANKS_MAX - *n_ranks)
		return NULL;
	*n_ranks += like->n_parents;
	c = LIST_ADD(s, comms);
	*c = (struct spawned_comm){.link = xcalloc(1, sizeof(*c->link))};
	*c->link = *like;
	c->link->child_job = 0;
	c->link->parents = xmalloc((like->n_parents + (size_t)1) * sizeof(*c->link->parents));
	memcpy(c->link->parents, like->parents, like->n_parents * sizeof(*c->link->parents));
	return c;
}

void spawns_add_comm(struct spawns *s, const struct spawn_link *like, uint64_t used,
	const struct spawn_name *maker)
{
	struct spawned_comm *c = comm_of(s, like, &s->n_ranks);

	for (size_t i = 0; c && i < c->n_makers; i++)
		if (same_name(&c->makers[i].name, maker))
			return;
	if (!c || c->n_makers >= c->link->n_parents)
		return;
	*LIST_ADD(c, makers) = (struct maker){*maker, used};
	set_link(s, only_job(s, c), c);
}

void spawns_set_main(struct spawns *s, uint64_t job)
{
	s->main_job = job;
}

/* ---- other nodes -------------------------------------------------------------------------------
 */

void spawns_tell_job(struct spawns *s, uint64_t job)
{
	struct spawned_job *j = find_job(s, job);

	if (!j || !j->root.space)
		return;
	j->to_tell = true;
	s->any_to_tell = true;
}

bool spawns_have_news(const struct spawns *s)
{
	return s->any_to_tell || s->n_told < s->n_found || s->n_events_told < s->n_events;
}

bool spawns_next_job(struct spawns *s, struct spawn_job *j)
{
	for (size_t i = 0; s->any_to_tell && i < s->n_jobs; i++) {
		struct spawned_job *of = &s->jobs[i];

		if (!of->to_tell)
			continue;
		of->to_tell = false;
		*j = (struct spawn_job){of->job, of->since, of->size, of->root};
		return true;
	}
	s->any_to_tell = false;
	return false;
}

const struct spawn_link *spawns_next_link(struct spawns *s)
{
	return s->n_told < s->n_found ? s->found[s->n_told++] : NULL;
}

/* The root's agent may have seen members that this one has not, but not another group. */
static bool is_same(const struct spawn_link *a, const struct spawn_link *b)
{
	return a->n_parents == b->n_parents && a->n_children == b->n_children &&
	       !memcmp(a->parents, b->parents, a->n_parents * sizeof(*a->parents));
}

void spawns_hear_link(struct spawns *s, const struct spawn_link *l)
{
	struct spawned_job *j = find_job(s, l->child_job);
	struct spawned_comm *c;

	if (!l->child_job || l->child_job == l->parent_job || (j && j->link) ||
		(j && j->size != l->n_children) || (!j && s->n_jobs >= SPAWNS_MAX))
		return;
	c = comm_of(s, l, &s->n_heard);
	if (!c || c->link->child_job || !is_same(c->link, l))
		return;
	if (!j) {
		j = LIST_ADD(s, jobs);
		*j = (struct spawned_job){.job = l->child_job, .size = l->n_children};
	}
	join(s, j, c);
	c->link->parents_spawned = l->parents_spawned;
	c->link->parents_other = l->parents_other;
}

static uint32_t parent_name(const struct spawn_link *l, uint64_t id)
{
	const uint32_t rank = (uint32_t)id;

	if (l->parents_spawned)
		return rank_far(id);
	return l->parents_other || rank >= PROFILE_UNRANKED ? PROFILE_ELSEWHERE : rank;
}

uint32_t spawns_name(const struct spawns *s, uint64_t id)
{
	const uint32_t rank = (uint32_t)id;

	for (size_t i = 0; i < s->n_jobs; i++) {
		const struct spawn_link *l = s->jobs[i].link;

		if (rank_id(s->jobs[i].job, rank) == id)
			return rank < s->jobs[i].size ? rank_far(id) : PROFILE_ELSEWHERE;
		if (l && rank_id(l->parent_job, rank) == id)
			return parent_name(l, id);
	}
	return PROFILE_ELSEWHERE;
}

/* Its other side may still become known. */
static bool is_open(const struct port *p)
{
	return p->is_here && !p->is_linked && (!p->met || p->other.job);
}

size_t spawns_open(const struct spawns *s)
{
	size_t n = s->n_jobs + s->n_comms - 2 * s->n_linked + s->n_awaited;

	for (size_t i = 0; i < s->n_ports; i++)
		n += is_open(&s->ports[i]);
	return n;
}

/* ---- look-ups ----------------------------------------------------------------------------------
 */

const struct spawn_link *spawns_of_comm(const struct spawns *s, uint64_t job, uint64_t comm)
{
	for (size_t i = 0; i < s->n_comms; i++) {
		const struct spawn_link *l = s->comms[i].link;

		if (l->comm == comm && l->parent_job == job)
			return l->child_job ? l : NULL;
	}
	return NULL;
}

const struct spawn_link *spawns_of_job(const struct spawns *s, uint64_t child_job)
{
	for (size_t i = 0; i < s->n_jobs; i++)
		if (s->jobs[i].job == child_job)
			return s->jobs[i].link;
	return NULL;
}

/* ---- ports ---- */

static bool may_meet(const struct port *a, const struct port *b)
{
	return !a->met && !b->met && a->port == b->port && a->own.parent_job != b->own.parent_job &&
	       a->own.n_parents == b->own.n_children && a->own.n_children == b->own.n_parents;
}

static struct port *only_port(const struct spawns *s, const struct port *p)
{
	struct port *only = NULL;

	for (size_t i = 0; i < s->n_ports; i++) {
		if (!may_meet(&s->ports[i], p))
			continue;
		if (only)
			return NULL;
		only = &s->ports[i];
	}
	return only;
}

/* Of which p is the only one that can have met it, too. */
static struct port *only_other(const struct spawns *s, const struct port *p)
{
	struct port *other = p->met ? NULL : only_port(s, p);

	return other && only_port(s, other) == p ? other : NULL;
}

static struct side_name name_of(const struct port *p)
{
	return (struct side_name){p->own.parent_job, p->own.comm};
}

static bool is_named(const struct port *p, struct side_name n)
{
	return p->own.parent_job == n.job && p->own.comm == n.comm;
}

static struct port *find_side(const struct spawns *s, struct side_name n)
{
	for (size_t i = 0; n.job && i < s->n_ports; i++)
		if (is_named(&s->ports[i], n))
			return &s->ports[i];
	return NULL;
}

static struct awaited *find_awaited(const struct spawns *s, uint64_t job, uint64_t comm)
{
	return FIND(x, s->awaited, s->n_awaited, x->side.job == job && x->side.comm == comm);
}

static void stop_awaiting(struct spawns *s, uint64_t job, uint64_t comm)
{
	struct awaited *x = find_awaited(s, job, comm);

	if (x)
		*x = s->awaited[--s->n_awaited];
}

static void set_link_of(struct spawns *s, struct port *a, struct port *b)
{
	/* the same ones on all nodes */
	struct port *first = a->own.parent_job < b->own.parent_job ? a : b,
		    *second = first == a ? b : a;
	struct spawn_link *l = first->link = xmalloc(sizeof(*l));

	*l = first->own;
	l->child_job = second->own.parent_job;
	l->child_comm = second->own.comm;
	l->children = second->own.parents;
	second->is_linked = first->is_linked = true;
	second->met = first->met = true;
	stop_awaiting(s, a->own.parent_job, a->own.comm);
	stop_awaiting(s, b->own.parent_job, b->own.comm);
}

static void note_event(struct spawns *s, const struct port *p, enum spawn_port_what what)
{
	*LIST_ADD(s, events) = (struct port_event){what, (size_t)(p - s->ports)};
}

/* Both have met if the agents of both say so. */
static void settle_side(struct spawns *s, struct port *p)
{
	struct port *other = find_side(s, p->other);

	if (other && !p->is_linked && !other->is_linked && is_named(p, other->other))
		set_link_of(s, p, other);
}

static void say_met(struct spawns *s, struct port *p, struct port *other)
{
	p->met = other->met = true;
	p->other = name_of(other);
	note_event(s, p, SPAWN_PORT_MET);
}

/* Sides that are here and that other agents have told of. */
static void meet_far(struct spawns *s)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		struct port *p = &s->ports[i], *other = p->is_here ? only_other(s, p) : NULL;

		if (!other || other->is_here)
			continue;
		say_met(s, p, other);
		settle_side(s, p);
	}
}

/* NULL: there is no room. */
static struct port *add_side(
	struct spawns *s, uint64_t port, const struct spawn_link *like, uint32_t *n_ranks)
{
	struct port *p;

	if (!port || s->n_ports >= SPAWNS_MAX || like->n_parents > SPAWNS_RANKS_MAX - *n_ranks)
		return NULL;
	*n_ranks += like->n_parents;
	p = LIST_ADD(s, ports);
	*p = (struct port){.port = port, .own = *like};
	p->own.child_job = 0;
	p->own.parents = xmalloc((like->n_parents + (size_t)1) * sizeof(*p->own.parents));
	memcpy(p->own.parents, like->parents, like->n_parents * sizeof(*p->own.parents));
	return p;
}

void spawns_add_port(struct spawns *s, uint64_t port, const struct spawn_link *like)
{
	struct port *p = add_side(s, port, like, &s->n_ranks);

	if (!p)
		return;
	p->is_here = true;
	note_event(s, p, SPAWN_PORT_SIDE);
	meet_far(s);
}

void spawns_await_port(struct spawns *s, uint64_t job, uint64_t comm)
{
	const struct side_name n = {job, comm};
	const struct port *p = find_side(s, n);
	struct awaited *x = find_awaited(s, job, comm);

	if (x)
		x->members++;
	if (x || !job || s->n_awaited >= SPAWNS_MAX || (p && (p->is_here || p->is_linked)))
		return;
	*LIST_ADD(s, awaited) = (struct awaited){n, 1};
}

void spawns_unawait_port(struct spawns *s, uint64_t job, uint64_t comm)
{
	struct awaited *x = find_awaited(s, job, comm);

	if (x && !--x->members)
		stop_awaiting(s, job, comm);
}

void spawns_hear_port(struct spawns *s, uint64_t port, const struct spawn_link *like)
{
	const struct side_name n = {like->parent_job, like->comm};

	if (n.job && !find_side(s, n) && add_side(s, port, like, &s->n_heard))
		meet_far(s);
}

void spawns_hear_met(
	struct spawns *s, uint64_t job, uint64_t comm, uint64_t other_job, uint64_t other_comm)
{
	struct port *p = find_side(s, (struct side_name){job, comm});

	if (!p || p->is_here || p->other.job)
		return;
	p->other = (struct side_name){other_job, other_comm};
	settle_side(s, p);
	meet_far(s);
}

void spawns_hear_port_end(struct spawns *s, uint64_t job, uint64_t comm)
{
	struct port *p = find_side(s, (struct side_name){job, comm});

	if (!p || p->is_here)
		return;
	p->met = true;
	meet_far(s);
}

bool spawns_next_port(struct spawns *s, struct spawn_port *to)
{
	const struct port_event *e;
	const struct port *p;

	if (s->n_events_told == s->n_events)
		return false;
	e = &s->events[s->n_events_told++];
	p = &s->ports[e->port];
	*to = (struct spawn_port){.what = e->what,
		.port = p->port,
		.side = &p->own,
		.other_job = p->other.job,
		.other_comm = p->other.comm};
	return true;
}

static bool is_unmet(const struct port *p, uint64_t job, uint64_t comm)
{
	return p->is_here && !p->met && p->own.parent_job == job && p->own.comm == comm;
}

void spawns_end_port(struct spawns *s, uint64_t job, uint64_t comm)
{
	stop_awaiting(s, job, comm);
	for (size_t i = 0; i < s->n_ports; i++) {
		if (!is_unmet(&s->ports[i], job, comm))
			continue;
		s->ports[i].met = true; /* nobody whom an agent knows */
		note_event(s, &s->ports[i], SPAWN_PORT_END);
	}
}

/* Sides that are here meet when they are asked for: both are there then, and others that wait, too.
 */
static void meet_side(struct spawns *s, struct port *p)
{
	struct port *other = only_other(s, p);

	if (!other || !other->is_here)
		return;
	say_met(s, p, other);
	say_met(s, other, p);
	settle_side(s, p);
}

const struct spawn_link *spawns_of_port(struct spawns *s, uint64_t job, uint64_t comm)
{
	for (size_t i = 0; i < s->n_ports; i++)
		if (is_unmet(&s->ports[i], job, comm))
			meet_side(s, &s->ports[i]);
	for (size_t i = 0; i < s->n_ports; i++) {
		const struct spawn_link *l = s->ports[i].link;

		if (l && ((l->comm == comm && l->parent_job == job) ||
				 (l->child_comm == comm && l->child_job == job)))
			return l;
	}
	return NULL;
}

bool spawns_have_met(const struct spawns *s, uint64_t a, uint64_t b)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		const struct spawn_link *l = s->ports[i].link;

		if (l && ((l->parent_job == a && l->child_job == b) ||
				 (l->parent_job == b && l->child_job == a)))
			return true;
	}
	return false;
}
