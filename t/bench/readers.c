/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * readers DIRECTORY [MOST]: full rings, read by 1, 2, 4 ... MOST threads of an agent: millions of
 * records per second, and ns of CPU for each, the best of some rounds. Threads share a process, or
 * each has one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "nodeagent/readers/readers.h"
#include "t/lib/traced.h"

#define RINGS	   64u
#define RING_BYTES (1u << 20)
#define ROUNDS	   6u

static struct app apps[RINGS];

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void fill(struct app *p)
{
	struct dice d = {.state = 5}, loop = {.state = 7};
	const uint64_t until = p->ring.producer->head + RING_BYTES - 16 * BLOCK_BYTES;

	p->events = 0;
	while (p->ring.producer->head < until) {
		if (!throw_dice(&loop, 8))
			d = (struct dice){.state = 5}; /* about what it did before */
		functions(p, &d, 0);
	}
}

static void begin(const char *directory, unsigned readers, bool one_process)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", readers);
	prepare(directory, RING_BYTES);
	set("agent.readers", text);
	set("include_cxx_prelude", "true"); /* there is no main */
	for (unsigned i = 0; i < RINGS; i++) {
		if (i && one_process) {
			attach_thread(&apps[i], &apps[0]);
			continue;
		}
		attach(&apps[i], first_ticks(), -1, 0);
	}
}

static void finish(bool one_process)
{
	host->live = NULL;
	for (unsigned i = 0; i < RINGS; i++) {
		if (i && one_process)
			vftr_segment_unmap_ring(&apps[i].ring);
		else
			detach(&apps[i]);
	}
}

/* Of one round. */
struct cost {
	double per_us, cpu_ns; /* records; for each */
};

static struct cost read_full(struct readers *r)
{
	uint64_t events = 0, wall, used;

	for (unsigned i = 0; i < RINGS; i++) {
		fill(&apps[i]);
		events += apps[i].events;
	}
	wall = clock_raw_ns();
	used = cpu_ns();
	if (!readers_drain(r))
		die(99, "nothing read");
	used = cpu_ns() - used;
	wall = clock_raw_ns() - wall;
	return (struct cost){1e3 * (double)events / (double)wall, (double)used / (double)events};
}

static void measure(const char *directory, unsigned n, bool one_process)
{
	struct cost best = {0, 1e9};
	struct readers *r;

	begin(directory, n, one_process);
	r = readers_new(host, NULL);
	for (unsigned k = 0; k < ROUNDS; k++) {
		const struct cost c = read_full(r);

		best.per_us = c.per_us > best.per_us ? c.per_us : best.per_us;
		best.cpu_ns = c.cpu_ns < best.cpu_ns ? c.cpu_ns : best.cpu_ns;
	}
	printf("%-9s readers %2u million_per_s %6.1f ns_of_cpu_each %5.2f\n",
		one_process ? "threads" : "processes", n, best.per_us, best.cpu_ns);
	readers_free(r);
	finish(one_process);
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	const unsigned most = argc > 2 ? (unsigned)atoi(argv[2]) : 2;

	if (argc < 2)
		die(2, "usage: readers DIRECTORY [MOST]");
	for (int one_process = 0; one_process < 2; one_process++)
		for (unsigned n = 1; n <= most; n *= 2)
			measure(argv[1], n, one_process);
	return 0;
}
