/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/home.h"

#include <stdlib.h>
#include "nodeagent/base/map.h"
#include "nodeagent/base/pool.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/trace/collective.h"

#define HEAD_WORDS 2

struct group {
	uint64_t id, job;
	uint32_t size, log2;
	uint32_t number;
	bool bad; /* agents do not agree on its size */
};

/* The latest of some successive ranks, or of all before it: settle_meeting(). */
struct run {
	uint32_t first, n, world;
	uint64_t time;
	struct run *next;
};

struct meeting {
	struct group *group;
	uint32_t kind;
	uint64_t members; /* that have reported */
	bool bad, some, settled;
	uint32_t world; /* of the latest, or of the root */
	uint64_t time;
	struct run *runs; /* of a scan */
	struct run **sorted;
	size_t n_runs;
};

/* What an agent is to be told. */
struct ask {
	const struct meeting *about; /* NULL: there were too many */
	uint32_t first;		     /* rank of the run of a scan */
};

/* What is bounded. */
enum room { GROUPS, MEETINGS, RUNS, ASKS, ROOMS };

static const size_t room_most[ROOMS] = {
	HOME_GROUPS_MAX, HOME_INSTANCES_MAX, HOME_RUNS_MAX, HOME_ASKS_MAX};

struct caller {
	struct ask *asks;
	size_t n_asks, cap_asks, told;
	size_t used[ROOMS];
};

struct home {
	int agents;
	struct caller *callers;
	struct match_table groups;   /* by id and job */
	struct match_table meetings; /* by number of the group and ticket */
	struct match_pool of_groups, of_meetings, of_runs;
	size_t used[ROOMS];   /* by all callers */
	uint64_t clock_error; /* the greatest */
};

struct home *home_new(int agents)
{
	struct home *h = xcalloc(1, sizeof(*h));

	h->agents = agents;
	h->callers = xcalloc((size_t)agents, sizeof(*h->callers));
	h->of_groups.bytes = sizeof(struct group);
	h->of_meetings.bytes = sizeof(struct meeting);
	h->of_runs.bytes = sizeof(struct run);
	return h;
}

void home_free(struct home *h)
{
	if (!h)
		return;
	for (int i = 0; i < h->agents; i++)
		free(h->callers[i].asks);
	for (size_t i = 0; h->meetings.slots && i <= h->meetings.mask; i++)
		if (h->meetings.slots[i].value)
			free(((struct meeting *)h->meetings.slots[i].value)->sorted);
	free(h->callers);
	match_table_free(&h->groups);
	match_table_free(&h->meetings);
	match_pool_free(&h->of_groups);
	match_pool_free(&h->of_meetings);
	match_pool_free(&h->of_runs);
	free(h);
}

/* ---- who is a home -------------------------------------------------------------------- */

int homes(int agents)
{
	return agents < HOMES_MAX ? agents : HOMES_MAX;
}

static int agent_of_home(int home, int agents)
{
	return (int)((int64_t)home * agents / homes(agents));
}

/* The lowest bits say what is kept. */
int home_of(uint64_t hash, int agents)
{
	return agent_of_home((int)((hash >> ELSEWHERE_LOG2_MAX) % (uint64_t)homes(agents)), agents);
}

bool home_is(int agent, int agents)
{
	return ANY(i, homes(agents), agent_of_home(i, agents) == agent);
}

/* ---- taking --------------------------------------------------------------------------- */

/*
 * One more for this agent. Half of the room is for who comes first, the other half in equal shares
 * for all: so no agent can take what others need.
 */
static bool take_room(struct home *h, int agent, enum room which)
{
	struct caller *c = &h->callers[agent];
	const size_t half = room_most[which] / 2, share = half / (size_t)h->agents;

	if (h->used[which] >= half && c->used[which] >= share)
		return false;
	h->used[which]++;
	c->used[which]++;
	return true;
}

/* NULL: there is no room for one more. */
static struct group *group_of(struct home *h, int agent, uint64_t id, uint64_t job, uint32_t size)
{
	struct group *g = match_table_find(&h->groups, id, job);

	if (!g) {
		if (!take_room(h, agent, GROUPS))
			return NULL;
		g = match_pool_take(&h->of_groups);
		*g = (struct group){
			.id = id, .job = job, .size = size, .number = (uint32_t)h->groups.n};
		match_table_add(&h->groups, id, job, g);
	}
	g->bad |= g->size != size;
	return g;
}

/* The same; g: NULL, too. */
static struct meeting *meeting_of(
	struct home *h, int agent, struct group *g, uint32_t ticket, uint32_t kind)
{
	struct meeting *m = g ? match_table_find(&h->meetings, g->number, ticket) : NULL;

	if (!g)
		return NULL;
	if (!m) {
		if (!take_room(h, agent, MEETINGS))
			return NULL;
		m = match_pool_take(&h->of_meetings);
		*m = (struct meeting){.group = g, .kind = kind};
		match_table_add(&h->meetings, g->number, ticket, m);
	}
	m->bad |= m->kind != kind;
	return m;
}

static void note_run(struct meeting *m, const struct run *r)
{
	/* two roots: no call is like that */
	m->bad |= m->some && m->kind == COLLECTIVE_FROM_ROOT;
	if (!m->some || (int64_t)(r->time - m->time) > 0 ||
		(r->time == m->time && r->world < m->world)) {
		m->time = r->time;
		m->world = r->world;
	}
	m->some = true;
	m->members += r->n;
}

static void keep_run(struct home *h, int agent, struct meeting *m, const struct run *r)
{
	struct run *kept;

	if (!take_room(h, agent, RUNS)) {
		m->bad = true;
		return;
	}
	kept = match_pool_take(&h->of_runs);
	*kept = *r;
	kept->next = m->runs;
	m->runs = kept;
	m->n_runs++;
}

/* Of each agent the first ones are answered: it has no other way to tell them apart. */
static void take_ask(struct home *h, int agent, const struct meeting *m, uint32_t first)
{
	struct caller *c = &h->callers[agent];

	if (take_room(h, agent, ASKS))
		*LIST_ADD(c, asks) = (struct ask){m, first};
}

static struct run read_run(struct words_in *in)
{
	const uint64_t where = words_get(in);
	struct run r = {.first = (uint32_t)(where >> 32), .n = (uint32_t)where};

	r.world = (uint32_t)words_get(in);
	r.time = words_get(in);
	return r;
}

/* size: of the communicator, as this agent has it. */
static const char *take_runs(struct home *h, int agent, uint32_t size, struct meeting *m,
	uint32_t kind, uint32_t n, struct words_in *in)
{
	const bool scan = kind == COLLECTIVE_CHAIN;

	if (n > in->n / 3 || n > size || (!scan && n > 1))
		return "more runs of ranks than there can be";
	if (!scan)
		take_ask(h, agent, m, 0);
	while (n--) {
		const struct run r = read_run(in);

		if (!r.n || r.first >= size || r.n > size - (scan ? r.first : 0))
			return "ranks that a communicator lacks";
		if (scan)
			take_ask(h, agent, m, r.first);
		if (m)
			note_run(m, &r);
		if (m && scan)
			keep_run(h, agent, m, &r);
	}
	return NULL;
}

static const char *take_instance(
	struct home *h, int agent, struct group *g, uint32_t size, struct words_in *in)
{
	const uint64_t head = words_get(in);
	const uint32_t kind = (uint32_t)head >> 24;

	if (in->bad)
		return "reports that end too early";
	if (kind == COLLECTIVE_UNKNOWN || kind >= COLLECTIVE_KINDS)
		return "a collective call of no kind";
	return take_runs(h, agent, size, meeting_of(h, agent, g, (uint32_t)(head >> 32), kind),
		kind, (uint32_t)head & 0xffffff, in);
}

static const char *take_group(struct home *h, int agent, struct words_in *in)
{
	const uint64_t id = words_get(in), job = words_get(in), counts = words_get(in),
		       log2 = words_get(in);
	const uint32_t size = (uint32_t)(counts >> 32);
	const char *why = NULL;
	struct group *g;

	if (in->bad)
		return "reports that end too early";
	if (!size || size > INT32_MAX || log2 > ELSEWHERE_LOG2_MAX)
		return "a communicator that cannot be";
	g = group_of(h, agent, id, job, size);
	if (g && g->log2 < log2)
		g->log2 = (uint32_t)log2;
	for (uint32_t n = (uint32_t)counts; n && !why; n--)
		why = take_instance(h, agent, g, size, in);
	return why;
}

const char *home_take(struct home *h, int agent, const uint64_t *words, size_t n)
{
	struct words_in in = {words, n, false};
	const char *why = NULL;
	uint64_t error;

	if (agent < 0 || agent >= h->agents)
		return "reports of no agent";
	if (words_get(&in) != HOME_VERSION)
		return "reports of another version";
	error = words_get(&in);
	if (in.bad)
		return "reports that end too early";
	h->clock_error = error > h->clock_error ? error : h->clock_error;
	while (in.n && !why)
		why = take_group(h, agent, &in);
	return why;
}

/* ---- giving ----------------------------------------------------------------------------- */

ORDER_POINTERS_BY(by_first, struct run, RISING(first))

/* A run becomes that of all ranks up to its end: the latest of them, and in n how many have
 * reported. */
static void add_before(struct run *r, const struct run *before)
{
	r->n += before->n;
	if ((int64_t)(before->time - r->time) >= 0) {
		r->time = before->time;
		r->world = before->world;
	}
}

static void sort_runs(struct meeting *m)
{
	uint64_t end = 0; /* of the ranks so far */
	size_t n = 0;

	m->sorted = xcalloc(m->n_runs, sizeof(struct run *));
	for (struct run *r = m->runs; r; r = r->next)
		m->sorted[n++] = r;
	qsort(m->sorted, n, sizeof(struct run *), by_first);
	for (size_t i = 0; i < n; i++) {
		struct run *r = m->sorted[i];

		m->bad |= r->first < end; /* a rank twice */
		end = (uint64_t)r->first + r->n;
		if (i)
			add_before(r, m->sorted[i - 1]);
	}
}

static void settle_meeting(struct meeting *m)
{
	m->settled = true;
	m->bad |= m->members > m->group->size || m->group->bad;
	if (!m->bad && m->runs)
		sort_runs(m);
}

static void answer_known(struct home_answer *a, uint32_t world, uint64_t time)
{
	a->status = HOME_KNOWN;
	a->world = world;
	a->time = time;
}

/* For the run of a scan that begins with this rank. */
static void answer_scan(const struct meeting *m, uint32_t first, struct home_answer *a)
{
	const size_t low = LOWER_BOUND(i, 0, m->n_runs, m->sorted[i]->first < first);

	if (!first)
		a->status = HOME_NOBODY;
	else if (low && m->sorted[low - 1]->n == first) /* all below it have reported */
		answer_known(a, m->sorted[low - 1]->world, m->sorted[low - 1]->time);
}

static struct home_answer answer_to(const struct ask *q)
{
	const struct meeting *m = q->about;
	struct home_answer a = {.status = HOME_UNKNOWN};

	if (!m)
		return a;
	a.log2 = m->group->log2;
	if (m->bad)
		return a;
	if (m->kind == COLLECTIVE_CHAIN)
		answer_scan(m, q->first, &a);
	else if (m->some && (m->kind == COLLECTIVE_FROM_ROOT || m->members == m->group->size))
		answer_known(&a, m->world, m->time);
	return a;
}

bool home_give(struct home *h, int agent, size_t most, struct words *w)
{
	struct caller *c = &h->callers[agent];

	if (c->told == c->n_asks)
		return false;
	words_put(w, HOME_VERSION);
	words_put(w, h->clock_error);
	for (size_t n = HEAD_WORDS; c->told < c->n_asks && n + HOME_ANSWER_WORDS <= most;
		n += HOME_ANSWER_WORDS) {
		const struct ask *q = &c->asks[c->told++];
		struct home_answer a;

		if (q->about && !q->about->settled)
			settle_meeting((struct meeting *)q->about);
		a = answer_to(q);
		words_put(w, (uint64_t)a.status << 40 | (uint64_t)a.log2 << 32 | a.world);
		words_put(w, a.time);
	}
	return true;
}

void home_read_answer(struct words_in *in, struct home_answer *a)
{
	const uint64_t head = words_get(in);

	*a = (struct home_answer){.status = (enum home_status)(head >> 40),
		.log2 = (uint32_t)(head >> 32) & 0xff,
		.world = (uint32_t)head};
	a->time = words_get(in);
	if (in->bad || head >> 40 >= HOME_STATUS_KINDS || a->log2 > ELSEWHERE_LOG2_MAX) {
		in->bad = true;
		*a = (struct home_answer){.status = HOME_UNKNOWN};
	}
}
