/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hardware counters that hwprof.counters asks for: resolved once, told to
 * each process on its control page, and what became of them in its threads.
 */
#ifndef VFTR_NODEAGENT_COUNTERS_H
#define VFTR_NODEAGENT_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/segment.h"

struct agent;
struct calltree;
struct conf;
struct process;
struct profile;

struct counter_sum {
	uint64_t enabled_ns, running_ns; /* over threads */
	uint64_t threads, failed;
	uint32_t ways;
	bool user_only; /* the kernel's part is not allowed here */
	int error;	/* the first */
	char *why;	/* ... or in words, if it was never tried */
};

struct counter_watch {
	struct counters_shm wanted; /* n = 0: none */
	struct counter_sum of[COUNTERS_MAX];
};

/* Of the configuration; what cannot be counted here has COUNTER_NONE. */
struct counter_watch *counters_new(const struct conf *c);

/* Tells a process what to read. Energy is the machine's: one process at a time reads it. */
void counters_ask(const struct agent *a, struct process *p);

/* A thread has ended: how its counters went. */
void counters_note(struct counter_watch *w, struct ring_producer_shm *ring);
/* One sentence about all that were not counted, or not all the time. */
void counters_warn(struct agent *a);

/* gather.c: the counters by number; those of a tree whose node i is place[i] of the
 * union tree; and once they are all there, by stack. */
void counters_gather(const struct agent *a, struct profile *out);
void counters_gather_tree(struct profile *out, struct calltree *tree, const uint32_t *place);
void counters_gather_store(struct profile *out, const uint32_t *id);

#endif
