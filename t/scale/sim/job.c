/* SPDX-License-Identifier: BSD-3-Clause */
#include "t/scale/sim/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/collate/tree.h"
#include "nodeagent/internode/directory.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/report/output.h"
#include "t/scale/sim/states.h"

#define START_S	  60.0 /* agent.start_s */
#define TELL_S	  5.0  /* agent/peers.c */
#define RUNTIME_S 10.0 /* of the job */
#define PART	  3    /* of the deadline, for the exchange of messages: internode/exchange.c */

static struct {
	const struct job *job;
	struct sim_agent *agents;
	struct profile *whole;
	int error;   /* of agent 0's collation */
	bool prunes; /* as agent 0 decides it: agent/job-end.h */
	bool failed, died;
} run;

static bool fail(const char *what, int agent)
{
	complain("%d agents, seed %llu: %s (agent %d)", run.job->shape.n,
		(unsigned long long)run.job->world.seed, what, agent);
	run.failed = true;
	return false;
}

/* Not 0. */
static uint64_t sum_of(const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	uint64_t sum = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ at[i]) * 0x100000001b3u;
	return sum ? sum : 1;
}

/* ---- what each agent does ----------------------------------------------------------- */

/*
 * The collation has its own copy by then, and thousands of others would not fit into this
 * process. To the agent it remains to the end.
 */
static void let_profile_go(struct sim_agent *a, int tag)
{
	if (tag != TAG_UP || !a->mine)
		return;
	world_pause();
	profile_free(a->mine);
	a->mine = NULL;
	world_resume();
}

static void make_profile(struct sim_agent *a)
{
	struct memory_account count = {0}, *before;

	world_pause();
	before = memory_use(&count);
	a->mine = node_profile(&run.job->shape, a->transport.rank);
	memory_use(before);
	world_resume();
	a->mine_bytes = count.now;
	memory_add(count.now);
}

static void ask_directory(struct sim_agent *a)
{
	const struct job_shape *s = &run.job->shape;
	struct directory_entry mine = {.n_here = s->ranks};
	struct directory d;

	mine.here = xcalloc(s->ranks, sizeof(*mine.here));
	for (uint32_t i = 0; i < s->ranks; i++)
		mine.here[i] = node_rank(s, a->transport.rank, i);
	mine.wanted = node_partners(s, a->transport.rank, &mine.n_wanted);
	directory_ask(&a->transport, &mine, run.job->deadline_s / PART / 2, &d);
	directory_free(&d);
	free(mine.here);
	free(mine.wanted);
}

static void write_summary(const struct profile *whole)
{
	struct conf *c = conf_default();
	char *error = NULL;

	if (output_summary(whole, c, run.job->write, "simulated", &error))
		fail(error ? error : "the summary cannot be written", 0);
	free(error);
	conf_free(c);
}

static void collate_one(struct sim_agent *a)
{
	struct profile *whole;
	struct profile_number *numbers;
	size_t n;
	int error;

	if (run.prunes)
		collate_prune(&a->transport, (uint64_t)run.job->prune, true, a->gone, a->n_gone);
	error = collate_run(&a->transport, a->mine, run.job->deadline_s, &whole, &numbers, &n);
	a->at_collated = transport_now();
	memory_add(-a->mine_bytes);
	world_pause();
	a->numbers = numbers ? sum_of(numbers, n * sizeof(*numbers)) : 0;
	profile_free(a->mine);
	a->mine = NULL;
	world_resume();
	free(numbers);
	if (a->transport.rank)
		return;
	run.error = error;
	if (run.job->write && whole)
		write_summary(whole);
	a->at_summary = transport_now();
	collate_tell(&a->transport, "simulated", TELL_S);
	run.whole = whole;
}

static void finish_agent(struct sim_agent *a)
{
	const struct job *j = run.job;

	a->at_end = transport_now();
	a->at_end_counts = a->transport.counts;
	if (states_end(a, j->shape.traffic != SHAPE_NONE, j->deadline_s + j->skew_s))
		ask_directory(a);
	a->at_directory = transport_now();
	make_profile(a);
	a->sends = let_profile_go;
	collate_one(a);
	collate_end(&a->transport, 0, j->deadline_s);
	a->at_bye = transport_now();
}

static void be_agent(struct sim_agent *a)
{
	const struct job *j = run.job;
	const double skew = j->skew_s * world_dice((uint64_t)a->transport.rank, 77, 1000) / 1000;
	int error;

	world_pause();
	a->host = node_host(a->transport.rank);
	world_resume();
	error = collate_start(&a->transport, a->host, START_S);
	if (error && !j->deaths && !j->world.delayed)
		fail(strerror(-error), a->transport.rank);
	a->at_end = transport_now();
	world_wait(a, RUNTIME_S + skew);
	finish_agent(a);
}

/* As the proxy does it, when its agent was killed. */
static void be_proxy(struct sim_agent *a)
{
	struct transport *p = &a->transport;

	p->plan = NULL; /* what the agent had is lost */
	if (!p->rank || !a->plan || !collate_plan_unpack(p, a->plan, a->plan_bytes)) {
		a->dead = DEATH_OF_NODE; /* it ends at once, and its connections with it */
		return;
	}
	p->plan->complete = a->complete;
	if (!a->collated) {
		states_gone(a);
		directory_gone(p);
	}
	collate_take_over(p, a->host, a->collated);
}

/* ---- what must be ------------------------------------------------------------------------ */

static struct profile *missing_node(int node)
{
	struct profile *p = profile_new();

	p->n_agents = 1;
	p->agents = xcalloc(1, sizeof(*p->agents));
	p->agents[0].host = node_host(node);
	p->agents[0].missing = true;
	return p;
}

struct seat {
	int node;
	char *host;
	bool missing;
};

ORDER_BY(seat_cmp, struct seat, ALPHABETIC(host))

static struct seat *seats_of(const struct profile *whole)
{
	const int n = run.job->shape.n;
	struct seat *seats = xcalloc((size_t)n, sizeof(*seats));

	for (int i = 0; i < n; i++)
		seats[i] = (struct seat){.node = i, .host = node_host(i)};
	qsort(seats, (size_t)n, sizeof(*seats), seat_cmp);
	for (size_t k = 0; k < whole->n_agents; k++) {
		struct seat key = {.host = whole->agents[k].host}, *seat;

		seat = bsearch(&key, seats, (size_t)n, sizeof(*seats), seat_cmp);
		if (seat)
			seat->missing = whole->agents[k].missing;
		else
			fail("the summary names a host that is none", 0);
	}
	return seats;
}

/* One after the other in the order of their hosts: another tree than that of the agents. */
static struct profile *merge_all(const struct seat *seats)
{
	struct profile *all = NULL, *one;

	for (int i = 0; i < run.job->shape.n; i++) {
		if (seats[i].missing) {
			one = missing_node(seats[i].node);
		} else {
			one = node_profile(&run.job->shape, seats[i].node);
			profile_drop_processes(one);
			one->calls += run.job->wrong;
		}
		all = profile_merge(all, one);
	}
	if (run.prunes)
		prune_job(all, (uint64_t)run.job->prune);
	return all;
}

static void check_bytes(const struct seat *seats, uint64_t sum)
{
	struct profile *all = merge_all(seats);
	unsigned char *buf;
	size_t bytes;

	/* who has died since the call paths were counted had some, too */
	if (all->n_pruned && run.whole->n_pruned && run.died)
		all->pruned->paths = run.whole->pruned->paths;
	if (vfp_encode(all, &buf, &bytes))
		die(125, "out of memory");
	if (sum_of(buf, bytes) != sum)
		fail("the summary is not that of all node profiles in one process", 0);
	free(buf);
	profile_free(all);
}

/* The exchange, the collation, its end, and some time for a dead agent (collate.c). */
static double latest(void)
{
	return RUNTIME_S + run.job->skew_s + 3 * run.job->deadline_s + 40;
}

/* Each agent has the numbers of its own call paths, and no others. */
static void check_numbers(void)
{
	struct profile_number *all = profile_numbers(run.whole);
	struct profile_number *own = xcalloc(run.whole->n_stacks + 1, sizeof(*own));

	for (int i = 0; i < run.job->shape.n; i++) {
		const struct sim_agent *a = &run.agents[i];
		struct profile *p = a->numbers ? node_profile(&run.job->shape, i) : NULL;
		size_t n = 0, at = 0;

		for (size_t k = 0; p && k < run.whole->n_stacks; k++) {
			while (at < p->n_stacks && p->stacks[at].hash < all[k].hash)
				at++;
			if (at < p->n_stacks && p->stacks[at].hash == all[k].hash)
				own[n++] = all[k];
		}
		if (p && a->numbers != sum_of(own, n * sizeof(*own)))
			fail("the numbers of call paths are not those of the summary", i);
		profile_free(p);
	}
	free(own);
	free(all);
}

/* Who lives is in the summary, and who is missing has died. */
static void check_agents(const struct seat *seats, struct job_result *r)
{
	for (int i = 0; i < run.job->shape.n; i++) {
		const struct sim_agent *a = &run.agents[seats[i].node];

		r->missing += seats[i].missing;
		if (seats[i].missing && !a->dead)
			fail("a living agent is missing", seats[i].node);
		if (!a->dead && !a->numbers)
			fail("an agent has not got the numbers of its call paths", seats[i].node);
	}
	if ((run.error == 0) != (r->missing == 0))
		fail("agent 0 was told that nothing is missing, or that something is", 0);
}

ORDER_BY(memory_cmp, double, ORDER(*x, *y))

static double median_memory(int n)
{
	double *mb = xcalloc((size_t)n, sizeof(*mb)), half;

	for (int i = 0; i < n; i++)
		mb[i] = (double)run.agents[i].memory.most / 1e6;
	qsort(mb, (size_t)n, sizeof(*mb), memory_cmp);
	half = mb[(n - 1) / 2];
	free(mb);
	return half;
}

static void measure(struct job_result *r)
{
	const struct sim_agent *root = &run.agents[0];
	const struct transport_counts *c = &root->transport.counts, *e = &root->at_end_counts;
	const double end = RUNTIME_S + run.job->skew_s;

	r->n = run.job->shape.n;
	r->directory_s = root->at_directory - end;
	r->collated_s = root->at_collated - end;
	r->summary_s = root->at_summary - end;
	r->end_s = root->at_bye - end;
	r->messages = c->sent + c->received - e->sent - e->received;
	r->bytes = c->sent_bytes + c->received_bytes - e->sent_bytes - e->received_bytes;
	r->half_mb = median_memory(r->n);
	r->root_mb = (double)root->memory.most / 1e6;
	for (int i = 0; i < r->n; i++) {
		const struct sim_agent *a = &run.agents[i];

		r->died += a->dead != DEATH_NONE;
		if (i && (double)a->memory.most / 1e6 > r->most_mb)
			r->most_mb = (double)a->memory.most / 1e6;
		if (a->at_bye - end > r->last_end_s)
			r->last_end_s = a->at_bye - end;
	}
}

static void check_all(struct job_result *r)
{
	struct seat *seats = seats_of(run.whole);
	unsigned char *buf;
	size_t bytes;

	r->stacks = (double)run.whole->n_stacks;
	r->places = (double)run.whole->n_rank_ranges;
	check_agents(seats, r);
	run.died = r->missing;
	if (run.job->check) {
		if (vfp_encode(run.whole, &buf, &bytes))
			die(125, "out of memory");
		r->sum = sum_of(buf, bytes);
		free(buf);
		check_bytes(seats, r->sum);
		check_numbers();
	}
	for (int i = 0; i < r->n; i++)
		free(seats[i].host);
	free(seats);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* At any time from the last half of the run to the end of the collation; i: the number of deaths
 * before. */
static void choose_death(struct sim_agent *a, uint64_t i)
{
	a->death = i % 2 ? DEATH_OF_AGENT : DEATH_OF_NODE;
	a->dies = RUNTIME_S / 2 +
		  (RUNTIME_S / 2 + run.job->skew_s + 1) * world_dice(i, 6, 100000) / 100000;
}

static void choose_deaths(void)
{
	const struct job *j = run.job;

	for (int i = 0; i < j->deaths && i < j->shape.n - 1; i++) {
		struct sim_agent *a =
			&run.agents[1 + world_dice((uint64_t)i, 5, (uint32_t)j->shape.n - 1)];

		choose_death(a, (uint64_t)i);
	}
	if (j->rootless)
		choose_death(&run.agents[0], (uint64_t)j->deaths);
}

bool job_run(const struct job *j, struct job_result *r)
{
	int waits;

	run.job = j;
	run.whole = NULL;
	run.failed = false;
	run.prunes = j->prune >= 0 && (uint64_t)j->shape.n * j->shape.stacks > (uint64_t)j->prune;
	*r = (struct job_result){.n = j->shape.n};
	run.agents = world_begin(&j->world, be_agent, be_proxy);
	choose_deaths();
	waits = world_run(latest());
	if (waits >= 0)
		fail("an agent waits long after its deadline", waits);
	if (!run.whole && !j->rootless)
		fail("there is no summary", 0);
	measure(r);
	if (run.whole && !j->rootless)
		check_all(r);
	profile_free(run.whole);
	for (int i = 0; i < r->n; i++) {
		free(run.agents[i].host);
		free(run.agents[i].plan);
		free(run.agents[i].gone);
		profile_free(run.agents[i].mine);
	}
	world_end();
	return !run.failed;
}
