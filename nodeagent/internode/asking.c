/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/asking.h"

#include <stdlib.h>
#include "nodeagent/base/rank.h"
#include "nodeagent/base/util.h"
#include "nodeagent/internode/home.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/comm/longest.h"
#include "nodeagent/trace/collective.h"

#define RUN_WORDS 3

/* The end of the run of successive ranks that begins with this call. */
static uint32_t run_end(const struct elsewhere_call *calls, uint32_t from, uint32_t n)
{
	uint32_t end = from + 1;

	while (end < n && calls[end].rank == calls[end - 1].rank + 1)
		end++;
	return end;
}

static const struct elsewhere_call *latest(
	const struct elsewhere_call *calls, uint32_t from, uint32_t end)
{
	const struct elsewhere_call *last = &calls[from];

	for (uint32_t i = from + 1; i < end; i++)
		if ((int64_t)(calls[i].start - last->start) > 0)
			last = &calls[i];
	return last;
}

/* Where the calls of an instance are kept. */
struct visit {
	const struct elsewhere_comm *comm;
	const struct elsewhere_instance *i;
	const struct elsewhere_call *calls;
	uint64_t hash;
};

static void begin_visits(struct visit *v, const struct elsewhere_comm *c)
{
	*v = (struct visit){.comm = c};
}

static bool next_visit(struct visit *v)
{
	const struct elsewhere_comm *c = v->comm;
	const struct elsewhere_instance *end = c->instances + c->n_instances;

	v->calls = v->i ? v->calls + v->i->n : c->calls;
	v->i = v->i ? v->i + 1 : c->instances;
	if (!c->n_instances || v->i == end)
		return false;
	v->hash = elsewhere_hash(c->id, c->job, v->i->ticket);
	return true;
}

/* ---- reports ---------------------------------------------------------------------- */

struct reporter {
	const struct asking_clock *clock;
	struct words w;
	size_t counts; /* in w: the word with the number of instances; 0: no communicator yet */
	size_t most;
	void (*send)(void *arg, struct words *w);
	void *arg;
};

static void send_report(struct reporter *r)
{
	if (r->w.n)
		r->send(r->arg, &r->w);
	words_free(&r->w);
	r->w = (struct words){0};
	r->counts = 0;
}

static void put_run(struct reporter *r, const struct visit *v, uint32_t from, uint32_t end)
{
	const struct elsewhere_call *last = latest(v->calls, from, end);

	words_put(&r->w, (uint64_t)v->calls[from].rank << 32 | (end - from));
	words_put(&r->w, last->world);
	words_put(&r->w, r->clock->global(r->clock->arg, last->start));
}

static uint32_t put_runs(struct reporter *r, const struct visit *v)
{
	const uint32_t n = v->i->n;
	uint32_t runs = 0;

	if (v->i->asks)
		return 0;
	if (v->i->kind == COLLECTIVE_CHAIN) {
		for (uint32_t from = 0, end; from < n; from = end, runs++) {
			end = run_end(v->calls, from, n);
			put_run(r, v, from, end);
		}
		return runs;
	}
	if (v->i->kind != COLLECTIVE_FROM_ROOT) {
		put_run(r, v, 0, n);
		return 1;
	}
	for (uint32_t k = 0; k < n; k++)
		if (v->calls[k].rank == v->i->root) {
			put_run(r, v, k, k + 1);
			runs = 1;
		}
	return runs;
}

static void put_instance(struct reporter *r, const struct visit *v)
{
	size_t head;

	if (!r->w.n) {
		words_put(&r->w, HOME_VERSION);
		words_put(&r->w, r->clock->error_ns);
	}
	if (!r->counts) {
		words_put(&r->w, v->comm->id);
		words_put(&r->w, v->comm->job);
		r->counts = r->w.n;
		words_put(&r->w, (uint64_t)v->comm->size << 32);
		words_put(&r->w, v->comm->log2);
	}
	r->w.at[r->counts]++;
	head = r->w.n;
	words_put(&r->w, (uint64_t)v->i->ticket << 32 | (uint64_t)v->i->kind << 24);
	r->w.at[head] |= put_runs(r, v);
	if (r->w.n >= r->most)
		send_report(r);
}

void asking_report(const struct elsewhere *e, const struct asking_clock *c, int home, int agents,
	size_t most, void (*send)(void *arg, struct words *w), void *arg)
{
	struct reporter r = {.clock = c, .most = most, .send = send, .arg = arg};
	size_t n;
	const struct elsewhere_comm *comms = elsewhere_comms(e, &n);

	for (size_t i = 0; i < n; i++) {
		struct visit v;

		begin_visits(&v, &comms[i]);
		while (next_visit(&v))
			if (home_of(v.hash, agents) == home)
				put_instance(&r, &v);
		r.counts = 0;
	}
	send_report(&r);
}

void asking_homes(const struct elsewhere *e, int agents, bool *homes)
{
	size_t n;
	const struct elsewhere_comm *comms = elsewhere_comms(e, &n);

	for (size_t i = 0; i < n; i++) {
		struct visit v;

		begin_visits(&v, &comms[i]);
		while (next_visit(&v))
			homes[home_of(v.hash, agents)] = true;
	}
}

/* ---- answers ---------------------------------------------------------------------- */

struct counter {
	struct elsewhere *e;
	struct longest *longest;
	const struct asking_clock *clock;
	struct words_in *in; /* by agent */
	int agents;
	struct asking_sums *sums; /* of this communicator's log2 */
	uint64_t each;		  /* calls that one stands for */
};

/* For whom a call waited. */
struct awaited {
	uint32_t world;
	uint64_t start; /* when it came; ticks of this agent */
	bool here;
	bool alone; /* nobody on another node could have been the one */
};

static void begin_answers(struct counter *c, const struct words *answers)
{
	for (int i = 0; i < c->agents; i++)
		c->in[i] = (struct words_in){answers[i].at, answers[i].n, false};
}

static struct home_answer next_answer(struct counter *c, const struct visit *v)
{
	struct words_in *in = &c->in[home_of(v->hash, c->agents)];
	struct home_answer a = {.status = HOME_UNKNOWN};

	if (!in->bad)
		home_read_answer(in, &a);
	return a;
}

static uint32_t answers_of(const struct visit *v)
{
	uint32_t n = 0;

	if (v->i->kind != COLLECTIVE_CHAIN)
		return 1;
	for (uint32_t from = 0; from < v->i->n; n++)
		from = run_end(v->calls, from, v->i->n);
	return n;
}

static uint32_t greatest_log2(struct counter *c, const struct elsewhere_comm *comm)
{
	uint32_t log2 = comm->log2;
	struct visit v;

	begin_visits(&v, comm);
	while (next_visit(&v))
		for (uint32_t n = answers_of(&v); n; n--) {
			const uint32_t theirs = next_answer(c, &v).log2;

			log2 = theirs > log2 ? theirs : log2;
		}
	return log2;
}

/* One of this agent is known to the tick. */
static struct awaited awaited_in(
	const struct counter *c, const struct visit *v, const struct home_answer *a)
{
	for (uint32_t k = 0; k < v->i->n; k++)
		if (v->calls[k].world == a->world && a->world != UINT32_MAX)
			return (struct awaited){a->world, v->calls[k].start, true, false};
	return (struct awaited){a->world, c->clock->ticks(c->clock->arg, a->time), false, false};
}

/* An agent may say that one instance stands for 2^31, of calls that took as long as they like. */
#define TICKS_MOST ((uint64_t)1 << 62)

static uint64_t estimate(const struct counter *c, uint64_t ticks)
{
	return ticks < TICKS_MOST / c->each ? c->each * ticks : TICKS_MOST;
}

static void add_estimate(const struct counter *c, uint64_t *sum, uint64_t ticks)
{
	const uint64_t more = estimate(c, ticks);

	*sum = more < TICKS_MOST - *sum ? *sum + more : TICKS_MOST;
}

/* world: as an answer of another agent has it, which may say anything. */
static uint32_t late_rank(const struct counter *c, const struct elsewhere_comm *comm,
	struct traffic *p, uint32_t world)
{
	const uint64_t job = world & ELSEWHERE_CHILD ? comm->child_job : comm->job;
	const uint32_t rank = comm->child_job ? world & ~ELSEWHERE_CHILD : world;

	if (world == UINT32_MAX || rank >= PROFILE_UNRANKED)
		return UINT32_MAX;
	if (!comm->child_job)
		return world;
	return c->clock->late(c->clock->arg, p, job, rank);
}

/* Where one call stands for several nobody knows what else they have completed. */
static void add_wait(struct counter *c, const struct visit *v, const struct elsewhere_call *call,
	uint32_t world, uint64_t ticks, uint64_t error)
{
	const struct elsewhere_instance *i = v->i;
	struct traffic *p = elsewhere_whose(c->e, call);

	if (!p)
		return;
	world = late_rank(c, v->comm, p, world);
	if (!i->blocks && c->each == 1)
		longest_add(c->longest, p,
			&(struct longest_wait){.enter = call->enter,
				.path = call->path,
				.late = world,
				.kind = i->wait,
				.ticks = ticks,
				.error = error});
	else {
		traffic_wait_elsewhere(p, call->path,
			&(struct node_wait){.kind = i->wait,
				.late = world,
				.calls = c->each,
				.ticks = estimate(c, ticks),
				.error = estimate(c, error)});
		traffic_wait_at(p, call->path, call->enter, ticks);
	}
}

/* What a call waited for one that came then; not longer than itself. */
static uint64_t waited_until(const struct elsewhere_call *call, uint64_t start)
{
	const uint64_t until = (int64_t)(call->leave - start) < 0 ? call->leave : start;

	return (int64_t)(until - call->enter) > 0 ? until - call->enter : 0;
}

/* Nothing is known of others: it has waited for those of this node at least. last: of them, those
 * that it needs; or NULL. */
static void count_unknown(struct counter *c, const struct visit *v,
	const struct elsewhere_call *call, const struct elsewhere_call *last)
{
	const uint64_t waited = last ? waited_until(call, last->start) : 0;

	c->sums->unknown += c->each;
	if (!waited)
		return;
	c->sums->partly += c->each;
	add_estimate(c, &c->sums->partly_ticks, waited);
	add_wait(c, v, call, last->world, waited, 0);
}

/* last: as for count_unknown() */
static void count_wait(struct counter *c, const struct visit *v, const struct elsewhere_call *call,
	const struct awaited *on, const struct elsewhere_call *last)
{
	const uint64_t error = on->alone ? 0 : c->clock->error_ticks;
	const uint64_t waited = waited_until(call, on->start);
	struct asking_sums *s = c->sums;

	if (error == UINT64_MAX) {
		count_unknown(c, v, call, last);
		return;
	}
	if (!waited)
		return;
	if (!on->here && waited <= error) {
		s->below += c->each;
		add_estimate(c, &s->below_ticks, waited);
		return;
	}
	s->waited += c->each;
	add_estimate(c, &s->waited_ticks, waited);
	add_estimate(c, &s->error_ticks, error);
	add_wait(c, v, call, on->world, waited, error);
}

static const struct elsewhere_call *later_of(
	const struct elsewhere_call *a, const struct elsewhere_call *b)
{
	return !a || (int64_t)(b->start - a->start) > 0 ? b : a;
}

/*
 * Before a run come the ranks below it, and before a call the others of its run. below: the latest
 * of those of this node below the run, or NULL; returns that of those up to its end. What the first
 * ranks of all wait for needs no answer.
 */
static const struct elsewhere_call *count_run(struct counter *c, const struct visit *v,
	uint32_t from, uint32_t end, const struct elsewhere_call *below)
{
	struct home_answer a = next_answer(c, v);
	struct awaited on;
	bool any;

	if (!v->calls[from].rank)
		a.status = HOME_NOBODY;
	any = a.status == HOME_KNOWN;
	if (any)
		on = awaited_in(c, v, &a);
	for (uint32_t k = from; k < end; k++) {
		const struct elsewhere_call *call = &v->calls[k];

		if (a.status == HOME_UNKNOWN)
			count_unknown(c, v, call, below);
		else if (any)
			count_wait(c, v, call, &on, below);
		below = later_of(below, call);
		if (!any || (int64_t)(call->start - on.start) > 0)
			on = (struct awaited){
				call->world, call->start, true, a.status == HOME_NOBODY};
		any = true;
	}
	return below;
}

static void count_runs(struct counter *c, const struct visit *v)
{
	const struct elsewhere_call *below = NULL;

	for (uint32_t from = 0, end; from < v->i->n; from = end) {
		end = run_end(v->calls, from, v->i->n);
		below = count_run(c, v, from, end, below);
	}
}

static const struct elsewhere_call *root_of(const struct visit *v)
{
	return FIND(x, v->calls, v->i->n, x->rank == v->i->root);
}

static bool is_needy(const struct visit *v, const struct elsewhere_call *call)
{
	if (v->i->asks)
		return true;
	switch (v->i->kind) {
	case COLLECTIVE_FROM_ROOT:
		return call->rank != v->i->root;
	case COLLECTIVE_TO_ROOT:
		return call->rank == v->i->root;
	default:
		return true;
	}
}

/* Of those that they need the last one of this node, or NULL. */
static const struct elsewhere_call *last_here(const struct visit *v)
{
	if (v->i->asks)
		return NULL;
	return v->i->kind == COLLECTIVE_FROM_ROOT ? root_of(v) : latest(v->calls, 0, v->i->n);
}

/* All members wait for one, the last or the root. A root of this node needs no answer. */
static void count_together(struct counter *c, const struct visit *v)
{
	const bool from_root = v->i->kind == COLLECTIVE_FROM_ROOT;
	const struct elsewhere_call *last = last_here(v);
	const struct home_answer a = next_answer(c, v);
	const bool own_root = from_root && last, known = own_root || a.status == HOME_KNOWN;
	struct awaited on = {0};

	if (own_root)
		on = (struct awaited){last->world, last->start, true, true};
	else if (known)
		on = awaited_in(c, v, &a);
	else if (a.status == HOME_NOBODY)
		return;
	EACH(const struct elsewhere_call, call, v->calls, v->i->n) {
		if (!is_needy(v, call))
			continue;
		if (known)
			count_wait(c, v, call, &on, last);
		else
			count_unknown(c, v, call, last);
	}
}

static void count_instance(struct counter *c, const struct visit *v)
{
	c->sums->kept += v->i->n;
	if (v->i->kind == COLLECTIVE_CHAIN)
		count_runs(c, v);
	else
		count_together(c, v);
}

static void count_comm(struct counter *c, const struct elsewhere_comm *comm, uint32_t log2)
{
	struct visit v;

	c->each = (uint64_t)1 << log2;
	c->sums->calls += comm->ever;
	begin_visits(&v, comm);
	while (next_visit(&v)) {
		if (!(v.hash & (c->each - 1)) && !v.i->tells)
			count_instance(c, &v);
		else
			for (uint32_t n = answers_of(&v); n; n--)
				next_answer(c, &v);
	}
}

void asking_count(struct elsewhere *e, struct longest *longest, const struct asking_clock *clock,
	const struct words *answers, int agents, struct asking_sums *sums)
{
	size_t n;
	const struct elsewhere_comm *comms = elsewhere_comms(e, &n);
	uint32_t *log2 = xcalloc(n + 1, sizeof(*log2));
	struct counter c = {.e = e,
		.longest = longest,
		.clock = clock,
		.in = xcalloc((size_t)agents, sizeof(*c.in)),
		.agents = agents};

	sums[0].calls = sums[0].unknown = elsewhere_refused(e);
	begin_answers(&c, answers);
	for (size_t i = 0; i < n; i++)
		log2[i] = greatest_log2(&c, &comms[i]);
	begin_answers(&c, answers);
	for (size_t i = 0; i < n; i++) {
		c.sums = &sums[log2[i]];
		count_comm(&c, &comms[i], log2[i]);
	}
	free(log2);
	free(c.in);
}
