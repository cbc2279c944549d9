/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/clock/ticks.h"
#include "nodeagent/base/util.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIN_BASE_NS 5000000u
#define TRIES	    8

#define TEST_WANDER_PERIOD_S 20

uint64_t clocks_raw_ns(void)
{
	static enum { NOT_READ, AS_IT_IS, SHIFTED } how;
	static double offset_s, ppm, wander_us;
	uint64_t t = clock_raw_ns();

	if (how == NOT_READ) {
		const char *text = getenv("VFTR_TEST_CLOCK");

		how = text && sscanf(text, "%lf,%lf,%lf", &offset_s, &ppm, &wander_us) == 3
			      ? SHIFTED
			      : AS_IT_IS;
	}
	if (how == AS_IT_IS)
		return t;
	return t +
	       (uint64_t)(int64_t)(offset_s * 1e9 + ppm * 1e-6 * (double)t +
				   wander_us * 1e3 *
					   sin(2 * M_PI / TEST_WANDER_PERIOD_S * 1e-9 * (double)t));
}

/* Do all CPUs count alike, in all power states? The kernel knows. */
static int counter_is_invariant(void)
{
#if defined(__x86_64__)
	char line[8192];
	int good = 0;
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && !good && fgets(line, sizeof(line), f))
		good = !strncmp(line, "flags", 5) && strstr(line, " constant_tsc") &&
		       strstr(line, " nonstop_tsc");
	if (f)
		fclose(f);
	return good;
#elif defined(__aarch64__)
	return 1; /* the architecture says so */
#else
	return 0;
#endif
}

/* The pair with the least time between its two halves, of a few. */
static struct clock_pair read_pair(const struct clocks *c)
{
	struct clock_pair best = {0, 0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = clocks_ticks(c), raw = clocks_raw_ns(), after = clocks_ticks(c);

		if (after - before < least) {
			least = after - before;
			best.ticks = before + (after - before) / 2;
			best.raw_ns = raw;
		}
	}
	return best;
}

#define HOOK_NS_MOST 1e5 /* more is no measurement */
#define HOOK_PART    4	 /* nor is less than this part of a reading */

static double cost_of_reading(const struct clocks *c)
{
	enum { READS = 2000 };
	double best = 1e9;
	volatile uint64_t sink = 0;

	for (int i = 0; i < TRIES; i++) {
		uint64_t from = clock_raw_ns();

		for (int k = 0; k < READS; k++)
			sink = clocks_ticks(c);
		best = MIN(best, (double)(clock_raw_ns() - from) / READS);
	}
	(void)sink;
	return best;
}

void clocks_init(struct clocks *c, const char *wanted)
{
	int raw = !strcmp(wanted, "raw") || (strcmp(wanted, "tsc") && !counter_is_invariant());

	c->source = raw ? CLOCK_SOURCE_RAW : CLOCK_SOURCE_COUNTER;
	c->ns_per_tick = 0;
	c->start = read_pair(c);
	c->read_ns = cost_of_reading(c);
}

void clocks_calibrate(struct clocks *c)
{
	struct clock_pair now = read_pair(c);

	if (now.raw_ns - c->start.raw_ns < MIN_BASE_NS) {
		struct timespec rest = {0, (long)(MIN_BASE_NS - (now.raw_ns - c->start.raw_ns))};

		nanosleep(&rest, NULL);
		now = read_pair(c);
	}
	c->ns_per_tick =
		(double)(now.raw_ns - c->start.raw_ns) / (double)(now.ticks - c->start.ticks);
}

uint64_t clocks_ns(const struct clocks *c, uint64_t ticks)
{
	return (uint64_t)((double)ticks * c->ns_per_tick + 0.5);
}

/* A hook adds less than a reading: the work beside it goes on meanwhile. */
double clocks_hook_ns(const struct clocks *c, uint64_t measured_ps)
{
	double ns = 1e-3 * (double)measured_ps;

	if (c->source == CLOCK_SOURCE_RAW && ns < c->read_ns)
		return c->read_ns;
	return ns > c->read_ns / HOOK_PART && ns < HOOK_NS_MOST ? ns : c->read_ns;
}

int64_t clocks_raw_of(const struct clocks *c, uint64_t ticks)
{
	return (int64_t)c->start.raw_ns +
	       (int64_t)((double)(int64_t)(ticks - c->start.ticks) * c->ns_per_tick);
}
