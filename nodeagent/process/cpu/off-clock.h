/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the first thread of a process had no CPU until now: it slept, was stopped, or waited for
 * one. That is the time that has passed, less its CPU time. For one thread.
 */
#ifndef VFTR_NODEAGENT_PROCESS_CPU_OFF_CLOCK_H
#define VFTR_NODEAGENT_PROCESS_CPU_OFF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Begins with zeros. */
struct off_clock {
	bool begun;
	bool of_thread; /* there are several threads: by `file`, which is behind by up to a tick */
	clockid_t clock;
	int file;	      /* of_thread; -1: it cannot be read */
	uint64_t wall, cpu;   /* ns, when it began to be read from there ... */
	uint64_t before, off; /* ... and what it had been off until then, and until now */
};

/* several: it has more than one thread by now. False: nothing can be said now. *ns never falls. */
bool off_clock_read(struct off_clock *c, int pid, bool several, uint64_t *ns);
void off_clock_end(struct off_clock *c);

#endif
