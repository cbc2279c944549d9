/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ticks to time. The rate is measured over the whole run, between pairs of
 * (ticks, CLOCK_MONOTONIC_RAW) read together.
 */
#ifndef VFTR_NODEAGENT_CLOCK_TICKS_H
#define VFTR_NODEAGENT_CLOCK_TICKS_H

#include <stdint.h>
#include "shm/clock.h"

struct clock_pair {
	uint64_t ticks, raw_ns;
};

struct clocks {
	enum clock_source source;
	struct clock_pair start;
	double ns_per_tick; /* 0 until clocks_calibrate() */
	double read_ns;	    /* time of one reading */
};

/* wanted: "auto", "tsc" or "raw" (clock.source). */
void clocks_init(struct clocks *c, const char *wanted);

/* Measures the rate from start until now; takes at least 5 ms from start. */
void clocks_calibrate(struct clocks *c);

/*
 * CLOCK_MONOTONIC_RAW as this node's agent and proxy see it: tests can shift it
 * with VFTR_TEST_CLOCK, vftr-internals(7).
 */
uint64_t clocks_raw_ns(void);

uint64_t clocks_ns(const struct clocks *c, uint64_t ticks);

/*
 * The cost of one hook, ns, from the measurement of its process, ps. If that is not
 * plausible, or the clock is a call (hooks then take the slow path), it is read_ns.
 */
double clocks_hook_ns(const struct clocks *c, uint64_t measured_ps);

/* The value of clocks_raw_ns() at these ticks; after clocks_calibrate(). */
int64_t clocks_raw_of(const struct clocks *c, uint64_t ticks);

static inline uint64_t clocks_ticks(const struct clocks *c)
{
	return c->source == CLOCK_SOURCE_RAW ? clock_raw_ns() : clock_counter();
}

#endif
