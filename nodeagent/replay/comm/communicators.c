/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The objects of the numbers in records: communicators with their members, windows,
 * files. A number lives from its definition until after its GONE, when all
 * threads have been read beyond that; what still refers to a communicator
 * (open requests, windows) keeps it longer. Numbers are never reused: one
 * that is not beyond the highest so far and yet unknown is one that is gone.
 */
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/window/exposure.h"
#include "nodeagent/replay/comm/internal.h"
#include "nodeagent/replay/comm/neighbours.h"
#include "nodeagent/replay/comm/sync.h"
#include "shm/session.h"

#define NAME_MAX_BYTES 255
#define WINDOW_IDS     1u /* the ids of windows, among hashes of communicators' ids */

/* ---- slots ------------------------------------------------------------------- */

static uint32_t take_slot(struct traffic *t, struct comm *c)
{
	if (!t->n_vacant) {
		*LIST_ADD(t, slots) = c;
		return (uint32_t)t->n_slots - 1;
	}
	t->slots[t->vacant[--t->n_vacant]] = c;
	return t->vacant[t->n_vacant];
}

static void leave_slot(struct traffic *t, uint32_t i)
{
	struct comm *c = t->slots[i];

	t->slots[i] = NULL;
	*LIST_ADD(t, vacant) = i;
	comm_drop(t, c);
}

void comm_free(struct traffic *t, struct comm *c)
{
	spawned_end(t, c);
	comm_drop(t, c->source);
	comm_drop(t, c->origin);
	sync_comm_gone(t->sync, c->sampled);
	match_comm_gone(t, c);
	t->n_between -= (c->kind == WIRE_COMM_ACCEPT) + (c->spawned != NULL);
	free(c->spawned);
	topology_free(t, c->topology);
	shares_free(t, c->shares);
	t->n_comms--;
	t->n_runs -= c->n_runs;
	free(c->runs);
	free(c->name);
	free(c);
}

void comms_free(struct traffic *t)
{
	for (size_t i = 0; i < t->n_slots; i++)
		comm_drop(t, t->slots[i]);
	for (size_t i = 0; i < ARRAY_SIZE(t->numbers); i++)
		map32_free(&t->numbers[i].live);
	map32_free(&t->windows);
	map32_free(&t->windows_next);
	exposures_free(t->exposures);
	free(t->slots);
	free(t->vacant);
	free(t->gone);
}

/* ---- members ------------------------------------------------------------------- */

uint32_t comm_world_of_runs(const struct comm *c, uint32_t rank)
{
	const struct run *r;

	if (!c || !c->n_runs)
		return PROFILE_ELSEWHERE;
	r = &c->runs[LOWER_BOUND(i, 1, c->n_runs, c->runs[i].before <= rank) - 1];
	if (r->first < 0)
		return PROFILE_ELSEWHERE;
	return (uint32_t)(r->first + (int64_t)r->stride * (rank - r->before));
}

bool comm_has_world(const struct comm *c, uint32_t world)
{
	for (size_t i = 0; i < c->n_runs; i++) {
		const struct run *r = &c->runs[i];
		uint32_t end = i + 1 < c->n_runs ? r[1].before : c->members;
		int64_t way = (int64_t)world - r->first;

		if (r->first < 0)
			continue;
		if (!r->stride ? way == 0
			       : way % r->stride == 0 && way / r->stride >= 0 &&
					 way / r->stride < end - r->before)
			return true;
	}
	return false;
}

/* A run of members of another job, up to `last`. The process is a member, too. */
static const char *check_others(const struct comm *c, const struct wire_run *r, int64_t last)
{
	if (last >= WIRE_UNKNOWN || last < INT32_MIN || (!r->stride && r->count > 1) ||
		(uint32_t)r->count == comm_all(c))
		return "a communicator whose members are no ranks of another job";
	return NULL;
}

/* NULL, or why a run is none. */
static const char *check_run(const struct comm *c, const struct wire_run *r)
{
	int64_t last = r->first + (int64_t)r->stride * ((int64_t)r->count - 1);
	uint32_t end = c->members < comm_ranks(c) ? comm_ranks(c) : comm_all(c);

	if (r->count < 1 || (uint32_t)r->count > end - c->members)
		return "a communicator with a wrong number of members";
	if (r->first == WIRE_UNKNOWN)
		return r->stride ? "a communicator whose members are unknown in a wrong way" : NULL;
	if (r->first < 0)
		return check_others(c, r, last);
	if (r->first >= (int64_t)PROFILE_UNRANKED || last < 0 ||
		last >= (int64_t)PROFILE_UNRANKED || (!r->stride && r->count > 1))
		return "a communicator whose members are no ranks";
	return NULL;
}

static const char *add_runs(struct comm *c, const struct wire_run *runs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const char *why = check_run(c, &runs[i]);

		if (why)
			return why;
		*LIST_ADD(c, runs) = (struct run){runs[i].first, runs[i].stride, c->members};
		c->members += (uint32_t)runs[i].count;
	}
	return NULL;
}

/* ---- definitions ------------------------------------------------------------------ */

static struct comm *live_comm(const struct traffic *t, uint32_t number)
{
	const uint32_t *slot = map32_find(&t->numbers[WIRE_OBJECT_COMM].live, number);

	return slot ? t->slots[*slot] : NULL;
}

static const char *check_comm(const struct wire_comm *m, size_t bytes)
{
	if (!m->number || m->number >= MESSAGE_COMM_LIMIT)
		return "a communicator with a number out of range";
	if (m->kind >= WIRE_COMM_KINDS || !m->size || m->size > INT32_MAX || m->rank >= m->size ||
		m->remote_size > INT32_MAX)
		return "a communicator with a size or kind that none has";
	if (!m->runs || m->runs > WIRE_RUNS_MAX || bytes != m->runs * sizeof(struct wire_run))
		return "a communicator whose members are cut off";
	return NULL;
}

static struct comm *first_packet(struct traffic *t, const struct wire_comm *m)
{
	struct numbers *n = &t->numbers[WIRE_OBJECT_COMM];
	struct comm *c;

	if (m->number > n->highest)
		n->highest = m->number;
	if (t->n_comms >= TRAFFIC_COMMS_MAX) {
		t->limits |= 1u << LIMIT_COMMS;
		return NULL;
	}
	c = xcalloc(1, sizeof(*c));
	*c = (struct comm){.id = m->id,
		.port = m->port,
		.number = m->number,
		.kind = m->kind,
		.job = m->number >= SESSION_COMM_FIRST ? t->session_job : 0,
		.rank = m->rank,
		.size = m->size,
		.remote_size = m->remote_size,
		.parent = m->parent,
		.joins = m->remote_size || m->kind == WIRE_COMM_MERGE,
		.refs = 1,
		.sums = NO_SUMS};
	t->n_comms++;
	t->n_between += c->kind == WIRE_COMM_ACCEPT;
	spawned_define(t, c);
	map32_add(&n->live, m->number, take_slot(t, c));
	return c;
}

static void undefine(struct traffic *t, uint32_t object, uint32_t number)
{
	struct map32 *live = &t->numbers[object].live;
	const uint32_t *at = map32_find(live, number);
	uint32_t slot;

	if (!at)
		return;
	slot = *at;
	map32_remove(live, number);
	t->recent = NULL;
	if (object == WIRE_OBJECT_WINDOW) {
		map32_remove(&t->windows, number);
		map32_remove(&t->windows_next, number);
		exposure_gone(t->exposures, number);
	}
	if (object != WIRE_OBJECT_FILE)
		leave_slot(t, slot);
}

const char *traffic_define_comm(struct traffic *t, const struct wire_comm *m, size_t bytes)
{
	const char *why = check_comm(m, bytes);
	struct comm *c = why ? NULL : live_comm(t, m->number);
	size_t before;

	if (why)
		return why;
	if (m->runs_before) {
		if (!c) /* too many: its first packet was not kept */
			return m->number <= t->numbers[WIRE_OBJECT_COMM].highest
				       ? NULL
				       : "a communicator without its first members";
		if (c->id != m->id || m->runs_before != c->n_runs || c->size != m->size ||
			c->remote_size != m->remote_size)
			return "a communicator whose parts contradict each other";
	} else {
		if (c)
			return "a communicator that was defined before";
		c = first_packet(t, m);
		if (!c)
			return NULL;
	}
	if (t->n_runs + m->runs > TRAFFIC_RUNS_MAX) {
		t->limits |= 1u << LIMIT_COMMS;
		undefine(t, WIRE_OBJECT_COMM, m->number);
		return NULL;
	}
	before = c->n_runs;
	why = add_runs(c, (const struct wire_run *)(m + 1), m->runs);
	if (!why && c->members == comm_all(c))
		spawned_complete(t, c);
	t->n_runs += c->n_runs - before;
	return why;
}

const char *traffic_define_object(
	struct traffic *t, enum wire_kind kind, const struct wire_object *m, const char *name)
{
	uint32_t object = kind == WIRE_FILE ? WIRE_OBJECT_FILE : WIRE_OBJECT_WINDOW;
	struct numbers *n = &t->numbers[object];
	struct comm *c;
	const char *why = find_comm(t, m->comm, &c);

	if (why)
		return why;
	if (!m->number || map32_find(&n->live, m->number))
		return "a window or file whose number cannot be";
	if (m->number > n->highest)
		n->highest = m->number;
	if (object == WIRE_OBJECT_FILE) {
		uint32_t sums = sums_of_file(t, name);

		t->sums.files[sums].opens++;
		if (n->live.n < TRAFFIC_COMMS_MAX)
			map32_add(&n->live, m->number, sums);
		else
			t->limits |= 1u << LIMIT_COMMS;
	} else if (n->live.n < TRAFFIC_COMMS_MAX) {
		map32_add(&n->live, m->number, take_slot(t, comm_hold(c)));
		map32_add(&t->windows, m->number, c ? c->windows : 0);
		map32_add(&t->windows_next, m->number, 0);
	} else {
		t->limits |= 1u << LIMIT_COMMS;
	}
	if (object == WIRE_OBJECT_WINDOW && c)
		c->windows++;
	return NULL;
}

const char *traffic_name(struct traffic *t, const struct wire_about *m, const char *name)
{
	struct comm *c;
	const char *why;

	if (m->object > WIRE_OBJECT_FILE)
		return "a name of an unknown kind of object";
	if (m->object != WIRE_OBJECT_COMM)
		return NULL;
	why = find_comm(t, m->number, &c);
	if (why || !c)
		return why;
	free(c->name);
	c->name = *name ? xasprintf("%.*s", NAME_MAX_BYTES, name) : NULL;
	if (c->sums != NO_SUMS && c->name && t->sums.comms[c->sums].id) {
		free(t->sums.comms[c->sums].name);
		t->sums.comms[c->sums].name = xstrdup(c->name);
	}
	return NULL;
}

/* ---- what is gone ------------------------------------------------------------------ */

bool traffic_has_gone(const struct traffic *t)
{
	return t->n_gone > t->first_gone;
}

static void undefine_first(struct traffic *t)
{
	const struct gone *g = &t->gone[t->first_gone++];

	undefine(t, g->object, g->number);
}

/* Those that a session has made for a round: none of its records is that far behind, and a thread
 * that records nothing is never read beyond their end. */
static bool is_of_round(const struct traffic *t, const struct gone *g)
{
	const struct comm *c = g->object == WIRE_OBJECT_COMM ? live_comm(t, g->number) : NULL;

	return c && c->number >= SESSION_COMM_FIRST && c->kind == WIRE_COMM_PREDEFINED;
}

const char *traffic_gone(struct traffic *t, const struct wire_about *m)
{
	if (m->object > WIRE_OBJECT_FILE)
		return "the end of an unknown kind of object";
	if (!m->number || m->number > t->numbers[m->object].highest)
		return "the end of something that never was";
	if (t->n_gone - t->first_gone >= TRAFFIC_GONE_MAX) {
		if (!is_of_round(t, &t->gone[t->first_gone]))
			t->limits |= 1u << LIMIT_GONE;
		undefine_first(t);
	}
	if (t->first_gone > t->n_gone / 2) {
		t->n_gone -= t->first_gone;
		memmove(t->gone, t->gone + t->first_gone, t->n_gone * sizeof(*t->gone));
		t->first_gone = 0;
	}
	*LIST_ADD(t, gone) = (struct gone){m->head.ticks, m->object, m->number};
	return NULL;
}

void traffic_sweep(struct traffic *t, uint64_t ticks)
{
	while (traffic_has_gone(t) && (int64_t)(ticks - t->gone[t->first_gone].ticks) > 0)
		undefine_first(t);
}

/* ---- look-ups ------------------------------------------------------------------------- */

const char *find_comm(struct traffic *t, uint32_t number, struct comm **c)
{
	if (t->recent && t->recent->number == number) {
		*c = t->recent;
		return NULL;
	}
	*c = NULL;
	if (!number)
		return NULL;
	if (number > t->numbers[WIRE_OBJECT_COMM].highest)
		return "a message on a communicator that was not defined";
	*c = live_comm(t, number);
	if (*c && (*c)->members < comm_all(*c))
		return "a message on a communicator that was defined in part";
	t->recent = *c;
	return NULL;
}

const char *find_window(struct traffic *t, uint32_t number, struct comm **c)
{
	const uint32_t *slot = map32_find(&t->numbers[WIRE_OBJECT_WINDOW].live, number);

	*c = slot ? t->slots[*slot] : NULL;
	return number > t->numbers[WIRE_OBJECT_WINDOW].highest
		       ? "one-sided communication on a window that was not defined"
		       : NULL;
}

uint64_t window_id(const struct traffic *t, uint32_t number)
{
	const uint32_t *slot = map32_find(&t->numbers[WIRE_OBJECT_WINDOW].live, number);
	const uint32_t *before = map32_find(&t->windows, number);
	const struct comm *c = slot ? t->slots[*slot] : NULL;

	return c && before ? elsewhere_hash(c->id, WINDOW_IDS, *before) : 0;
}

const char *find_file(struct traffic *t, uint32_t number, uint32_t *sums)
{
	const uint32_t *at = map32_find(&t->numbers[WIRE_OBJECT_FILE].live, number);

	*sums = at ? *at : NO_SUMS;
	return number > t->numbers[WIRE_OBJECT_FILE].highest
		       ? "input or output on a file that was not opened"
		       : NULL;
}
