/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time without a CPU of the first thread of a process: it slept, was stopped, or waited for a
 * CPU. That is the time that has passed, less the CPU time of the thread. The part for which it
 * waited for a CPU is known where the kernel has it: its file schedstat, which is read only after
 * the time without a CPU has grown. For one thread of the agent.
 */
#ifndef VFTR_NODEAGENT_PROCESS_CPU_OFF_CLOCK_H
#define VFTR_NODEAGENT_PROCESS_CPU_OFF_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Begins with zeros. */
struct off_clock {
	bool begun;
	bool of_thread;	  /* the process has several threads: CPU time is read from `file`, up to 10
			     ms old */
	clockid_t clock;  /* else: of the CPU time of the process */
	int file;	  /* schedstat of the thread; -1: it cannot be read */
	bool knows_queue; /* the time for which it waited for a CPU; also after off_clock_end() */
	uint64_t wall, cpu;   /* ns: time and CPU time when that was first read */
	uint64_t before, off; /* ns without a CPU, from the beginning until then, and until now */
	/* the same of ns for which it waited for a CPU, and what the file had at `wall' */
	uint64_t queued_before, queued, queue;
};

/*
 * Sets *ns to the time without a CPU since the first call, and *queued_ns to the part of it for
 * which it waited for a CPU, or 0 (knows_queue); they never fall. A wait for a CPU is counted when
 * it has ended. several: the process has more than one thread by now. Returns false, without both,
 * if they cannot be told at this moment.
 */
bool off_clock_read(struct off_clock *c, int pid, bool several, uint64_t *ns, uint64_t *queued_ns);
void off_clock_end(struct off_clock *c);

#endif
