/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective operations of a session: who has come, who is missing, and what becomes of
 * them. None is waited for: each request, and each death, may be what ends one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/session/coordinator.h"
#include "nodeagent/base/util.h"

#define NAMED 4 /* so many of the missing are named */

static const char *const kinds[] = {[STARTING] = "vftrace_start",
	[FINISHING] = "vftrace_finish",
	[CREATING] = "vftrace_comm_create",
	[ATTACHING] = "vftrace_attach"};

/* ---- communicators ----------------------------------------------------------------- */

struct communicator *communicator_find(struct coordinator *c, uint64_t id)
{
	for (size_t i = c->n_comms; i--;)
		if (c->comms[i].id == id)
			return &c->comms[i];
	return NULL;
}

struct communicator *communicator_new(struct coordinator *c, const uint32_t *who, uint32_t n)
{
	struct communicator *comm;

	comm = LIST_ADD(c, comms);
	*comm = (struct communicator){
		.id = (c->session ^ ++c->comms_ever * 0x9e3779b97f4a7c15u) | 1, .n = n};
	comm->who = xmalloc(n * sizeof(*who));
	memcpy(comm->who, who, n * sizeof(*who));
	return comm;
}

void communicator_free(struct coordinator *c, struct communicator *comm)
{
	free(comm->who);
	*comm = c->comms[--c->n_comms];
}

/* ---- outcomes ------------------------------------------------------------------------ */

static void tell_outcome(struct coordinator *c, uint32_t member, const struct session_outcome *head,
	const struct communicator *made, const struct communicator *parent, const char *text)
{
	uint32_t n_made = made ? made->n : 0, n_parent = parent ? parent->n : 0;
	size_t text_bytes = strlen(text) + 1;
	size_t bytes = sizeof(*head) + (n_made + n_parent) * sizeof(int32_t) + text_bytes;
	struct session_outcome *o = xcalloc(1, bytes);
	int32_t *ranks = (int32_t *)(void *)(o + 1);

	*o = *head;
	o->key = c->members[member].key;
	o->text_bytes = (uint32_t)text_bytes;
	o->made = (struct session_members){made ? made->id : 0, 0, n_made};
	o->parent = (struct session_members){parent ? parent->id : 0, 0, n_parent};
	for (uint32_t i = 0; i < n_made; i++) {
		if (made->who[i] == member)
			o->made.rank = i;
		*ranks++ = c->members[made->who[i]].rank;
	}
	for (uint32_t i = 0; i < n_parent; i++) {
		if (parent->who[i] == member)
			o->parent.rank = i;
		*ranks++ = c->members[parent->who[i]].rank;
	}
	memcpy(ranks, text, text_bytes);
	sessions_deliver(c->agent, c->members[member].agent, o, bytes);
	free(o);
}

void outcome_tell(struct coordinator *c, uint32_t member, uint32_t request, enum session_code code,
	const char *fmt, ...)
{
	const struct session_outcome o = {.request = request, .code = code};
	char text[SESSION_CONTACT_MAX];
	va_list args;

	text[0] = '\0';
	if (fmt) {
		va_start(args, fmt);
		vsnprintf(text, sizeof(text), fmt, args);
		va_end(args);
	}
	tell_outcome(c, member, &o, NULL, NULL, text);
}

/* ---- operations ------------------------------------------------------------------------ */

void operation_free(struct coordinator *c, struct operation *o)
{
	struct operation **at = &c->operations;

	while (*at && *at != o)
		at = &(*at)->next;
	if (*at)
		*at = o->next;
	for (struct group *g = c->groups; g; g = g->next)
		if (g->attaching == o)
			g->attaching = NULL;
	free(o->who);
	free(o->arrivals);
	free(o);
}

void operation_fail(
	struct coordinator *c, struct operation *o, enum session_code code, const char *fmt, ...)
{
	struct operation taken = *o;
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	o->arrivals = NULL;
	operation_free(c, o);
	for (size_t i = 0; i < taken.n_arrivals; i++)
		outcome_tell(c, taken.arrivals[i].member, taken.arrivals[i].request, code, "%s: %s",
			kinds[taken.kind], text);
	free(taken.arrivals);
}

static bool has_arrived(const struct operation *o, uint32_t member)
{
	return ANY(i, o->n_arrivals, o->arrivals[i].member == member);
}

static bool takes_part(const struct coordinator *c, const struct operation *o, uint32_t member)
{
	if (o->kind == STARTING && has_arrived(o, member))
		return true;
	if (o->kind == STARTING || o->kind == FINISHING)
		return o->n_arrivals &&
		       c->members[o->arrivals[0].member].group == c->members[member].group;
	return ANY(i, o->n, o->who[i] == member) ||
	       (o->children && o->children == c->members[member].group);
}

static struct operation *find_operation(struct coordinator *c, enum operation_kind kind,
	uint32_t member, uint64_t comm, const uint32_t *list, uint32_t n)
{
	const struct group *g = c->members[member].group;

	for (struct operation *o = c->operations; o; o = o->next) {
		if (o->kind != kind || o->comm != comm)
			continue;
		if (kind == STARTING || kind == FINISHING) {
			if (c->members[o->arrivals[0].member].group == g)
				return o;
		} else if (kind == ATTACHING ||
			   (o->n == n && !memcmp(o->who, list, n * sizeof(*list)))) {
			return o;
		}
	}
	return NULL;
}

/* The dead are missing for good: it makes no sense to wait. False: told so. */
static bool all_live(struct coordinator *c, uint32_t member, uint32_t request,
	enum operation_kind kind, const uint32_t *who, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (member_lives(c, who[i]))
			continue;
		outcome_tell(c, member, request, SESSION_DEAD, "%s: %s %s", kinds[kind],
			member_text(c, who[i]), member_fate(c, who[i]));
		return false;
	}
	return true;
}

struct operation *operation_arrive(struct coordinator *c, enum operation_kind kind, uint32_t member,
	uint32_t request, uint64_t comm, const uint32_t *list, uint32_t n)
{
	struct operation *o = find_operation(c, kind, member, comm, list, n);

	if (o && has_arrived(o, member)) {
		outcome_tell(c, member, request, SESSION_BUSY, "%s: another thread waits in it",
			kinds[kind]);
		return NULL;
	}
	if (!o) {
		if (!all_live(c, member, request, kind, list, n))
			return NULL;
		o = xcalloc(1, sizeof(*o));
		o->kind = kind;
		o->comm = comm;
		o->root = -1;
		o->who = xmalloc((n + 1) * sizeof(*list));
		if (n)
			memcpy(o->who, list, n * sizeof(*list));
		o->n = n;
		o->next = c->operations;
		c->operations = o;
	}
	*LIST_ADD(o, arrivals) = (struct arrival){member, request};
	return o;
}

/* Members that are there; in_round: and have neither finished it nor reset. */
static uint32_t living(const struct coordinator *c, const struct group *g, bool in_round)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_members; i++)
		n += c->members[i].group == g && member_lives(c, i) &&
		     (!in_round || c->members[i].rank >= 0);
	return n;
}

/* ---- how each kind ends ---------------------------------------------------------------- */

/* The members that have come, in the order of their numbers; others get free numbers. */
static uint32_t *in_order(struct coordinator *c, struct operation *o, bool strict)
{
	uint32_t n = (uint32_t)o->n_arrivals, free_at = 0;
	uint32_t *who = xmalloc((n + 1) * sizeof(*who));

	for (uint32_t i = 0; i < n; i++)
		who[i] = UINT32_MAX;
	for (uint32_t i = 0; i < n; i++) {
		int number = c->members[o->arrivals[i].member].number;

		if (number < 0)
			continue;
		if ((uint32_t)number >= n && strict) {
			operation_fail(c, o, SESSION_NUMBER,
				"%s has number %d, and there are %u processes",
				member_text(c, o->arrivals[i].member), number, n);
			free(who);
			return NULL;
		}
		if ((uint32_t)number < n)
			who[number] = o->arrivals[i].member;
	}
	for (uint32_t i = 0; i < n; i++) {
		int number = c->members[o->arrivals[i].member].number;

		if (number >= 0 && (uint32_t)number < n)
			continue;
		while (who[free_at] != UINT32_MAX)
			free_at++;
		who[free_at] = o->arrivals[i].member;
	}
	return who;
}

static uint64_t job_of(const struct coordinator *c)
{
	return (c->session ^ c->round * 0xbf58476d1ce4e5b9u) | 1;
}

static void end_start(struct coordinator *c, struct operation *o, struct group *g,
	const struct communicator *world, const struct communicator *parent)
{
	const struct communicator w = *world, p = parent ? *parent : (struct communicator){0};
	struct session_outcome head = {.job = job_of(c), .size = (int32_t)c->ranks};
	struct operation taken = *o;

	g->started = c->round;
	g->again = true;
	o->arrivals = NULL;
	operation_free(c, o);
	head.epoch = c->round;
	for (size_t i = 0; i < taken.n_arrivals; i++) {
		head.request = taken.arrivals[i].request;
		head.rank = c->members[taken.arrivals[i].member].rank;
		tell_outcome(c, taken.arrivals[i].member, &head, &w, parent ? &p : NULL, "");
	}
	free(taken.arrivals);
}

static void free_world(struct coordinator *c, struct group *g)
{
	struct communicator *world = g->world ? communicator_find(c, g->world) : NULL;

	if (world)
		communicator_free(c, world);
	g->world = 0;
}

/* Gives the members ranks and a world; false: o has failed. */
static bool give_ranks(struct coordinator *c, struct operation *o, struct group *g, uint64_t *world)
{
	uint32_t n = (uint32_t)o->n_arrivals, *who = in_order(c, o, !g->again);

	if (!who)
		return false;
	if (!g->contact) {
		c->round++;
		c->ranks = 0;
	}
	for (uint32_t i = 0; i < n; i++)
		c->members[who[i]].rank = (int)c->ranks++;
	free_world(c, g); /* of a round that nobody has finished */
	*world = g->world = communicator_new(c, who, n)->id;
	free(who);
	return true;
}

static void try_start(struct coordinator *c, struct operation *o)
{
	struct group *g = c->members[o->arrivals[0].member].group;
	uint64_t world;

	if (g->attaching) {
		operation_try(c, g->attaching);
		return;
	}
	if (g->started || !g->expected || o->n_arrivals < g->expected || (g->contact && !g->again))
		return;
	if (give_ranks(c, o, g, &world))
		end_start(c, o, g, communicator_find(c, world), NULL);
}

static struct operation *start_of(struct coordinator *c, const struct group *g)
{
	for (struct operation *o = c->operations; o; o = o->next)
		if (o->kind == STARTING && c->members[o->arrivals[0].member].group == g)
			return o;
	return NULL;
}

void group_is_free(struct coordinator *c, struct group *g)
{
	struct operation *o = start_of(c, g);

	g->started = g->lost = 0;
	free_world(c, g);
	if (o)
		try_start(c, o);
}

static void try_finish(struct coordinator *c, struct operation *o)
{
	struct group *g = c->members[o->arrivals[0].member].group;
	enum session_code code = g->lost ? SESSION_DEAD : SESSION_OK;
	struct operation taken = *o;

	if (o->n_arrivals < living(c, g, true))
		return;
	o->arrivals = NULL;
	operation_free(c, o);
	g->expected = (uint32_t)taken.n_arrivals;
	for (size_t i = 0; i < taken.n_arrivals; i++) {
		c->members[taken.arrivals[i].member].rank = -1;
		if (code)
			outcome_tell(c, taken.arrivals[i].member, taken.arrivals[i].request, code,
				"vftrace_finish: %s; the others have finished", g->lost_name);
		else
			outcome_tell(
				c, taken.arrivals[i].member, taken.arrivals[i].request, code, NULL);
	}
	group_is_free(c, g);
	free(taken.arrivals);
}

static void try_attach(struct coordinator *c, struct operation *o)
{
	struct operation *start = o->children ? start_of(c, o->children) : NULL, taken;
	struct session_outcome head = {.job = job_of(c)};
	struct communicator made;
	struct group *g = o->children;
	uint64_t world, all_id;
	uint32_t *all;

	if (o->n_arrivals < o->n || !start || start->n_arrivals < g->expected)
		return;
	if (!give_ranks(c, start, g, &world)) {
		operation_fail(c, o, SESSION_NUMBER, "the numbers of the children do not fit");
		return;
	}
	made = *communicator_find(c, world);
	all = xmalloc((o->n + made.n) * sizeof(*all));
	memcpy(all, o->who, o->n * sizeof(*all));
	memcpy(all + o->n, made.who, made.n * sizeof(*all));
	all_id = communicator_new(c, all, o->n + made.n)->id;
	free(all);
	made = *communicator_find(c, all_id);
	taken = *o;
	o->arrivals = NULL;
	operation_free(c, o);
	end_start(c, start, g, communicator_find(c, world), &made);
	head.size = (int32_t)c->ranks;
	head.epoch = c->round;
	for (size_t i = 0; i < taken.n_arrivals; i++) {
		head.request = taken.arrivals[i].request;
		tell_outcome(c, taken.arrivals[i].member, &head, &made, NULL, "");
	}
	free(taken.arrivals);
}

static void try_create(struct coordinator *c, struct operation *o)
{
	struct session_outcome head = {.job = job_of(c)};
	struct communicator made;
	struct operation taken;

	if (o->n_arrivals < o->n)
		return;
	made = *communicator_new(c, o->who, o->n);
	taken = *o;
	o->arrivals = NULL;
	operation_free(c, o);
	for (size_t i = 0; i < taken.n_arrivals; i++) {
		head.request = taken.arrivals[i].request;
		tell_outcome(c, taken.arrivals[i].member, &head, &made, NULL, "");
	}
	free(taken.arrivals);
}

void operation_try(struct coordinator *c, struct operation *o)
{
	switch (o->kind) {
	case STARTING:
		try_start(c, o);
		break;
	case FINISHING:
		try_finish(c, o);
		break;
	case CREATING:
		try_create(c, o);
		break;
	case ATTACHING:
		try_attach(c, o);
		break;
	}
}

/* ---- those that do not come --------------------------------------------------------------- */

/* An operation of a whole group; else of the members in o->who[]. */
static bool is_of_group(const struct operation *o)
{
	return o->kind == STARTING || o->kind == FINISHING;
}

/* How many members have to come; 0: nobody has said it. */
static uint32_t members_wanted(
	struct coordinator *c, const struct operation *o, const struct group *g)
{
	if (o->kind == STARTING)
		return g->expected;
	return o->kind == FINISHING ? living(c, g, true) : o->n;
}

/* Member m of the coordinator has to come, and has not. */
static bool is_missing(
	struct coordinator *c, const struct operation *o, const struct group *g, uint32_t m)
{
	if (is_of_group(o) && (c->members[m].group != g || !member_lives(c, m)))
		return false;
	return !has_arrived(o, m);
}

/* "3 of 5 processes have come; missing: a (pid 1 on x), 1 that has not joined" */
static void describe_missing(
	struct coordinator *c, const struct operation *o, char *text, size_t bytes)
{
	const struct group *g = c->members[o->arrivals[0].member].group;
	const uint32_t wanted = members_wanted(c, o, g);
	const uint32_t n = is_of_group(o) ? (uint32_t)c->n_members : o->n;
	uint32_t missing = 0;
	size_t used;

	if (!wanted) {
		snprintf(text, bytes,
			g->contact ? "nobody has called vftrace_attach with our contact"
				   : "nobody has said how many processes there are "
				     "(vftrace_expect)");
		return;
	}
	used = (size_t)snprintf(
		text, bytes, "%zu of %u processes have come", o->n_arrivals, wanted);
	for (uint32_t i = 0; i < n && used < bytes; i++) {
		const uint32_t m = is_of_group(o) ? i : o->who[i];

		if (is_missing(c, o, g, m) && missing++ < NAMED)
			used += (size_t)snprintf(text + used, bytes - used, "%s%s",
				missing == 1 ? "; missing: " : ", ", member_text(c, m));
	}
	if (missing > NAMED && used < bytes)
		used += (size_t)snprintf(
			text + used, bytes - used, " and %u others", missing - NAMED);
	if (o->n_arrivals + missing < wanted && used < bytes)
		used += (size_t)snprintf(text + used, bytes - used, "; %zu have not joined",
			wanted - o->n_arrivals - missing);
	if (o->kind == ATTACHING && o->n_arrivals == o->n && used < bytes)
		snprintf(text + used, bytes - used, "; %u children have joined, of %u",
			o->children ? living(c, o->children, false) : 0,
			o->children ? o->children->expected : 0);
}

void operation_give_up(struct coordinator *c, uint32_t member, uint32_t request)
{
	char text[1024];

	for (struct operation *o = c->operations; o; o = o->next) {
		for (size_t i = 0; i < o->n_arrivals; i++) {
			enum operation_kind kind = o->kind;

			if (o->arrivals[i].member != member || o->arrivals[i].request != request)
				continue;
			describe_missing(c, o, text, sizeof(text));
			o->arrivals[i] = o->arrivals[--o->n_arrivals];
			if (!o->n_arrivals)
				operation_free(c, o);
			outcome_tell(
				c, member, request, SESSION_TIMEOUT, "%s: %s", kinds[kind], text);
			return;
		}
	}
	/* what came before it is on its way */
}

static void leave_arrivals(struct operation *o, uint32_t member)
{
	for (size_t i = o->n_arrivals; i--;)
		if (o->arrivals[i].member == member)
			o->arrivals[i] = o->arrivals[--o->n_arrivals];
}

/* A finish does not wait for a member that is gone, nor a start for one that left before it. */
static bool must_fail(const struct coordinator *c, const struct operation *o, uint32_t member,
	enum session_code code)
{
	if (!takes_part(c, o, member))
		return false;
	if (o->kind == FINISHING)
		return code == SESSION_ABORTED;
	return o->kind != STARTING || has_arrived(o, member) ||
	       (code != SESSION_MISMATCH && !c->members[member].left);
}

/* The end of one operation may end others, so each search begins anew. */
static struct operation *next_to_fail(
	const struct coordinator *c, uint32_t member, enum session_code code)
{
	struct operation *o = c->operations;

	while (o && !must_fail(c, o, member, code))
		o = o->next;
	return o;
}

static bool has_finished(const struct coordinator *c, const struct operation *o)
{
	return o->kind == FINISHING &&
	       (!o->n_arrivals ||
		       o->n_arrivals >= living(c, c->members[o->arrivals[0].member].group, true));
}

static struct operation *next_finished(const struct coordinator *c)
{
	struct operation *o = c->operations;

	while (o && !has_finished(c, o))
		o = o->next;
	return o;
}

void operations_of_member(struct coordinator *c, uint32_t member, enum session_code code)
{
	const char *what = code == SESSION_ABORTED    ? "has called vftrace_abort()"
			   : code == SESSION_MISMATCH ? "has called vftrace_reset()"
						      : member_fate(c, member);
	struct operation *o;

	while ((o = next_to_fail(c, member, code))) {
		if (code != SESSION_ABORTED)
			leave_arrivals(o, member);
		if (o->n_arrivals)
			operation_fail(c, o, code, "%s %s", member_text(c, member), what);
		else
			operation_free(c, o);
	}
	for (o = c->operations; o && code != SESSION_ABORTED; o = o->next)
		if (o->kind == FINISHING)
			leave_arrivals(o, member);
	while ((o = next_finished(c))) {
		if (o->n_arrivals)
			operation_try(c, o);
		else
			operation_free(c, o);
	}
}
