/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware counters of hwprof.counters: found by their names once, written to the control page
 * of each process. And sums of their states over threads.
 */
#ifndef VFTR_NODEAGENT_PROCESS_COUNTER_COUNTERS_H
#define VFTR_NODEAGENT_PROCESS_COUNTER_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/segment.h"

struct conf;

struct counter_sum {
	uint64_t enabled_ns, running_ns; /* over threads */
	uint64_t threads, failed;
	uint32_t ways;
	bool user_only; /* the kernel's part is not allowed here */
	int error;	/* the first */
	char *why;	/* the reason in words, if it was never tried */
};

struct counter_watch {
	struct counters_shm wanted; /* n = 0: none */
	struct counter_sum of[COUNTERS_MAX];
};

/* The counters of a configuration; one that cannot be counted here has COUNTER_NONE. */
struct counter_watch *counters_new(const struct conf *c);

/* Writes the counters that a process is to read to *to; with energy, which is that of the
 * machine, for one process at a time only. */
void counters_ask(const struct counter_watch *w, struct counters_shm *to, bool energy);
bool counters_read_energy(const struct counters_shm *s);

/* To be called after a thread's end: adds the states of its counters. */
void counters_note(struct counter_watch *w, struct ring_producer_shm *ring);
/*
 * Sentence i, from 0, on what is wrong with the counts, without its full stop, or "". The
 * caller frees it; NULL: there are no more.
 */
char *counters_trouble(const struct counter_watch *w, const struct conf *c, unsigned i);

#endif
