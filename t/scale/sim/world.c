/* SPDX-License-Identifier: BSD-3-Clause */
#include "t/scale/sim/world.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "nodeagent/base/util.h"
#include "nodeagent/net/tree.h"

#define LOOKS	    1000
#define STACK_BYTES ((size_t)1 << 20) /* of address space; what is used is less */

static struct {
	struct world_settings set;
	struct sim_agent *agents;
	void (*body)(struct sim_agent *a), (*successor)(struct sim_agent *a);
	int *least; /* a tree of who is to run first: leaves from `leaves` on, the root is 1 */
	int leaves;
	ucontext_t scheduler;
	struct sim_agent *runs; /* or NULL */
	double since;		/* CPU time when its clock was right last */
	double look_s;		/* of that, what it takes to ask for CPU time */
	struct memory_account *paused;
	bool pause;
	int left;
} w;

struct sim_agent *world_agent(int rank)
{
	return &w.agents[rank];
}

const struct world_settings *world_settings(void)
{
	return &w.set;
}

uint32_t world_dice(uint64_t a, uint64_t b, uint32_t sides)
{
	uint64_t x = w.set.seed * 0x9e3779b97f4a7c15u + a;

	for (int i = 0; i < 2; i++) {
		x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9u;
		x = (x ^ x >> 29) * 0x94d049bb133111ebu + b;
	}
	return (uint32_t)((x ^ x >> 32) >> 8) % sides;
}

/* ---- clocks ----------------------------------------------------------------------------- */

static double cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A real agent asks for the time of day, which takes less by far. */
static double time_to_look(void)
{
	double least = 1;

	for (int i = 0; i < LOOKS; i++) {
		const double begin = cpu_now(), took = cpu_now() - begin;

		least = MIN(least, took);
	}
	return least;
}

static void settle(struct sim_agent *a)
{
	double now;

	if (w.set.cpu <= 0)
		return;
	now = cpu_now();
	if (!w.pause)
		a->clock += MAX(now - w.since - w.look_s, 0) * w.set.cpu;
	w.since = now;
}

/* Of nodeagent/net/transport.h: the clock of the agent that runs. */
double transport_now(void)
{
	if (!w.runs)
		return 0;
	settle(w.runs);
	return w.runs->clock;
}

void world_pause(void)
{
	if (w.runs)
		settle(w.runs);
	w.pause = true;
	w.paused = memory_use(NULL);
}

void world_resume(void)
{
	memory_use(w.paused);
	if (w.runs)
		settle(w.runs);
	w.pause = false;
}

/* ---- who runs ----------------------------------------------------------------------------- */

static int earlier(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return w.agents[b].wake < w.agents[a].wake ? b : a; /* equal: the lower rank */
}

static void set_wake(struct sim_agent *a, double wake)
{
	a->wake = wake;
	for (int i = (w.leaves + a->transport.rank) / 2; i >= 1; i /= 2)
		w.least[i] = earlier(w.least[2 * i], w.least[2 * i + 1]);
}

/* Until its turn comes. */
static void give_way(struct sim_agent *a, double wake)
{
	set_wake(a, wake);
	swapcontext(&a->context, &w.scheduler);
}

void world_catch_up(struct sim_agent *a)
{
	settle(a);
	if (w.agents[w.least[1]].wake < a->clock ||
		(a->death == DEATH_OF_NODE && a->clock >= a->dies))
		give_way(a, a->clock);
}

void world_wake(struct sim_agent *a, double at)
{
	if (a->sleeps && at < a->wake)
		set_wake(a, at);
}

void world_sleep(struct sim_agent *a, double until, double looked)
{
	double wake = until;

	for (const struct letter *l = a->inbox; l; l = l->next) {
		const double at = l->complete < WORLD_NEVER ? l->complete : l->arrives;

		if (at > looked && at < wake)
			wake = at;
	}
	if (a->death && a->dies < wake)
		wake = a->dies;
	a->sleeps = true;
	give_way(a, wake > a->clock ? wake : a->clock);
	a->sleeps = false;
}

void world_wait(struct sim_agent *a, double until)
{
	struct transport *p = &a->transport;
	size_t bytes;
	void *buf;
	int who;

	/* of a tag that nobody uses; messages along the tree go on meanwhile */
	while (transport_now() < until)
		if (!p->receive(p, TRANSPORT_ANY, TRANSPORT_TAG_MAX, &buf, &bytes, &who, until))
			free(buf);
}

static void run_one(unsigned high, unsigned low)
{
	struct sim_agent *a = (struct sim_agent *)((uintptr_t)high << 32 | low);

	(a->dead ? w.successor : w.body)(a);
	settle(a);
	a->ended = true;
	w.left--;
	set_wake(a, WORLD_NEVER);
	if (a->transport.rank) /* may wait for that: transport.c */
		world_wake(world_agent(tree_parent(a->transport.rank)), a->clock + w.set.latency_s);
	swapcontext(&a->context, &w.scheduler);
}

static void make_coroutine(struct sim_agent *a)
{
	const uintptr_t at = (uintptr_t)a;

	getcontext(&a->context);
	a->context.uc_stack.ss_sp = a->stack;
	a->context.uc_stack.ss_size = STACK_BYTES;
	a->context.uc_link = NULL;
	makecontext(&a->context, (void (*)(void))(void *)run_one, 2, (unsigned)(at >> 32),
		(unsigned)at);
}

/* What it had is lost, and with it, in this process, its memory. */
static void die_now(struct sim_agent *a)
{
	a->dead = a->death;
	a->death = DEATH_NONE;
	a->sleeps = false;
	a->memory.now = 0;
	if (a->dead == DEATH_OF_AGENT) {
		make_coroutine(a);
		set_wake(a, a->clock);
		return;
	}
	transport_sim_forget(a);
	a->ended = true;
	w.left--;
	set_wake(a, WORLD_NEVER);
}

int world_run(double latest)
{
	while (w.left > 0) {
		struct sim_agent *a = &w.agents[w.least[1]];

		if (a->wake > latest)
			return a->transport.rank;
		if (a->clock < a->wake)
			a->clock = a->wake;
		/* a proxy is in the middle of nothing when its agent only waits */
		if (a->death && a->clock >= a->dies && (a->death == DEATH_OF_NODE || a->sleeps)) {
			die_now(a);
			continue;
		}
		set_wake(a, WORLD_NEVER);
		w.runs = a;
		w.since = w.set.cpu > 0 ? cpu_now() : 0;
		memory_use(&a->memory);
		swapcontext(&w.scheduler, &a->context);
		memory_use(NULL);
		w.runs = NULL;
	}
	return -1;
}

struct sim_agent *world_begin(const struct world_settings *s, void (*body)(struct sim_agent *a),
	void (*successor)(struct sim_agent *a))
{
	w.set = *s;
	w.body = body;
	w.successor = successor;
	w.left = s->n;
	w.look_s = time_to_look();
	w.agents = xcalloc((size_t)s->n, sizeof(*w.agents));
	for (w.leaves = 1; w.leaves < s->n;)
		w.leaves *= 2;
	w.least = xcalloc(2 * (size_t)w.leaves, sizeof(*w.least));
	for (int i = 0; i < 2 * w.leaves; i++)
		w.least[i] = i >= w.leaves && i - w.leaves < s->n ? i - w.leaves : -1;
	for (int i = 0; i < s->n; i++) {
		struct sim_agent *a = &w.agents[i];

		a->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (a->stack == MAP_FAILED)
			die(125, "no memory for the stack of agent %d of %d", i, s->n);
		transport_sim_open(a, i, s->n);
		make_coroutine(a);
	}
	for (int i = w.leaves - 1; i >= 1; i--)
		w.least[i] = earlier(w.least[2 * i], w.least[2 * i + 1]);
	return w.agents;
}

void world_end(void)
{
	for (int i = 0; i < w.set.n; i++) {
		transport_sim_forget(&w.agents[i]);
		munmap(w.agents[i].stack, STACK_BYTES);
	}
	free(w.agents);
	free(w.least);
}
