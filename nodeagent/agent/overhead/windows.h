/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When functions that are counted are timed again for a while, so that estimates follow a program
 * whose calls become longer or shorter. All are timed at once: a timed call among counted ones
 * costs more than others. Such windows take at most a twentieth of the CPU time.
 */
#ifndef VFTR_NODEAGENT_AGENT_OVERHEAD_WINDOWS_H
#define VFTR_NODEAGENT_AGENT_OVERHEAD_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_CPU_NS 20e6 /* of CPU time, that a window takes at least */

/* Zeroed at first. */
struct windows {
	uint64_t open;	     /* bits of functions that are timed meanwhile; 0: no window */
	bool heard;	     /* a process knows */
	bool due;	     /* the next look is to come soon */
	unsigned looks;	     /* soon after a window: hooks may go again */
	uint64_t changed_ns; /* when the last one opened or closed; 0: never */
	double cpu_ns;	     /* since then */
	double took_ns;	     /* the last one, of CPU time */
};

/*
 * One look of the agent, after so much CPU time of its processes; now_ns: a clock's. may: bits that
 * are counted now; heard: a process has recorded by the switches of the last look. Returns open.
 */
uint64_t windows_look(struct windows *w, uint64_t may, bool heard, double cpu_ns, uint64_t now_ns);

#endif
