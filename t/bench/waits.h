/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For measurements of what waits cost an agent (waits.c, t/unit/agent/u-waits-cost.c): ranks that
 * come late at random to messages or collective calls, between two calls of functions, and an
 * agent in this process that reads their rings one after the other, as agents do.
 */
#ifndef VFTR_T_BENCH_WAITS_H
#define VFTR_T_BENCH_WAITS_H

#include <malloc.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "nodeagent/internode/asking.h"
#include "nodeagent/internode/home.h"
#include "nodeagent/replay/comm/elsewhere.h"
#include "nodeagent/replay/comm/sync.h"
#include "t/lib/traced.h"

#define RANKS_MOST 256
#define EPOCHS	   40 /* of record times, before now: longer than a scene lasts */
#define AGENTS	   2  /* of a scene with ranks on other nodes */

struct scene {
	const char *name;
	bool messages;	 /* from rank 0 to rank 1; else collective calls of all ranks */
	int here, all;	 /* ranks: the others are on other nodes */
	unsigned calls;	 /* of each rank, between two looks of the agent */
	unsigned rounds; /* looks */
	uint32_t gap;	 /* from one call to the next, ns */
	uint32_t late;	 /* that a rank comes, at most, ns */
	uint64_t ring_bytes;
	int first; /* world rank of the first one here */
};

struct cost {
	double ns;	    /* of CPU time for each message or arrival */
	double bytes;	    /* of the agent's memory for each thread */
	double share;	    /* of a CPU */
	double per_s;	    /* messages, or collective calls, for each second of CPU time */
	double told_per_s;  /* bytes for another agent when all is over, by the time of the job */
	uint64_t kept;	    /* instances with members elsewhere ... */
	uint32_t one_in;    /* ... of which one in so many is kept */
	uint64_t dropped;   /* sync_dropped() */
	uint64_t instances; /* that were made */
};

static const char *dir;
static struct app apps[RANKS_MOST];

/* ---- one measurement ----------------------------------------------------------------------- */

/* The time of a call, all of which is within one epoch of record times. */
static inline uint64_t time_of_next(uint64_t last, const struct scene *s)
{
	const uint64_t next = last + s->gap, end = next + s->gap;

	return next >> RECORD_TIME_BITS == end >> RECORD_TIME_BITS
		       ? next
		       : end >> RECORD_TIME_BITS << RECORD_TIME_BITS;
}

static inline void call_function(struct app *p, uint32_t id)
{
	room(p);
	frame(p, 0, id);
	frame(p, RECORD_EXIT, id);
}

static inline void be_late(struct app *p, const struct scene *s, struct dice *d, uint64_t t)
{
	const uint64_t enter = t + throw_dice(d, s->late), leave = t + s->late + TICKS;

	if (t >> RECORD_TIME_BITS != p->ticks >> RECORD_TIME_BITS) {
		p->ticks = t;
		publish(p);
	}
	call_function(p, CODE + 16);
	call_function(p, CODE + 32);
	if (s->messages)
		blocking(p, p == apps, enter, leave);
	else
		together(p, enter, leave);
}

/* All calls between two looks; returns the time of the last one. */
static inline uint64_t fill(const struct scene *s, struct dice *d, uint64_t t)
{
	uint64_t last = t;

	for (int r = 0; r < s->here; r++) {
		last = t;
		for (unsigned i = 0; i < s->calls; i++) {
			last = time_of_next(last, s);
			be_late(&apps[r], s, d, last);
		}
		publish(&apps[r]);
	}
	return last;
}

static inline double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double look(const struct scene *s)
{
	const double begin = cpu_s();

	for (int r = 0; r < s->here; r++)
		drained(&apps[r]);
	return cpu_s() - begin;
}

static inline size_t memory(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static inline void count_words(void *arg, struct words *w)
{
	*(size_t *)arg += w->n;
}

/* ns of the one clock of all agents */
static inline uint64_t same_time(const void *arg, uint64_t ticks)
{
	(void)arg;
	return ticks;
}

/* Of calls with members elsewhere: what is kept, and what the agents tell each other of it. */
static inline void count_kept(const struct scene *s, struct cost *cost)
{
	const struct elsewhere *e = host->sync ? sync_elsewhere(host->sync) : NULL;
	const struct asking_clock clock = {.global = same_time, .ticks = same_time};
	size_t n = 0, report = 0;
	const struct elsewhere_comm *c = e ? elsewhere_comms(e, &n) : NULL;

	cost->one_in = 1;
	if (!n)
		return;
	cost->kept = c->n_instances;
	cost->one_in = 1u << c->log2;
	asking_report(e, &clock, 1, AGENTS, (size_t)1 << 17, count_words, &report);
	/* to the other one; and to that its answers, for half of what it keeps */
	cost->told_per_s = 8 * ((double)report + HOME_ANSWER_WORDS * (double)c->n_instances / 2) /
			   (1e-9 * s->gap * (double)cost->instances);
}

static inline void begin(const struct scene *s, bool waits)
{
	uint64_t t;

	prepare(dir, s->ring_bytes);
	t = first_ticks() - ((uint64_t)EPOCHS << RECORD_TIME_BITS);
	set("mpi.waits", waits ? "true" : "false");
	for (int r = 0; r < s->here; r++)
		attach(&apps[r], t, s->first + r, s->all);
}

static inline struct cost measure(const struct scene *s, bool waits)
{
	struct dice d = {.state = 5};
	struct cost cost = {.instances = (uint64_t)s->calls * (s->rounds + 1)};
	double sum = 0, n = s->rounds * (double)s->calls;
	uint64_t t;

	begin(s, waits);
	if (s->all > s->here && waits)
		sync_begin_elsewhere(host->sync, ELSEWHERE_BYTES_MAX);
	t = fill(s, &d, apps[0].ticks);
	cost.bytes = (double)memory();
	look(s);
	for (unsigned i = 0; i < s->rounds; i++) {
		t = fill(s, &d, t);
		sum += look(s);
	}
	cost.bytes = ((double)memory() - cost.bytes) / s->here;
	cost.ns = 1e9 * sum / (n * (s->messages ? 1 : s->here));
	cost.share = sum / (n * 1e-9 * s->gap);
	cost.per_s = n / sum;
	cost.dropped = host->sync ? sync_dropped(host->sync) : 0;
	count_kept(s, &cost);
	return cost;
}

/* In a process of its own, so that all begin with the same memory. */
static inline struct cost measure_apart(const struct scene *s, bool waits)
{
	struct cost cost;
	int pair[2], status;
	pid_t child;

	fflush(stdout);
	if (pipe(pair) || (child = fork()) < 0)
		die(99, "a process cannot be started: %m");
	if (!child) {
		cost = measure(s, waits);
		_exit(write(pair[1], &cost, sizeof(cost)) != sizeof(cost));
	}
	close(pair[1]);
	if (read(pair[0], &cost, sizeof(cost)) != sizeof(cost))
		die(99, "%s: no measurement", s->name);
	close(pair[0]);
	waitpid(child, &status, 0);
	return cost;
}

#endif
