/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows of time in which functions that are counted are timed, so that the estimates of their
 * times follow a program whose calls become longer or shorter. All such functions are timed in the
 * same window: a timed call among counted ones takes longer than among timed ones. Windows take at
 * most a twentieth of the CPU time.
 */
#ifndef VFTR_NODEAGENT_AGENT_OVERHEAD_WINDOWS_H
#define VFTR_NODEAGENT_AGENT_OVERHEAD_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_CPU_NS 20e6 /* least CPU time in a window */

/* Zeroed at first. */
struct windows {
	uint64_t open;	     /* bits of functions that are timed in it; 0: no window is open */
	bool heard;	     /* a process has recorded since the open window began */
	bool due;	     /* the next look is to come soon */
	unsigned looks;	     /* that come soon, after a window: hooks may be removed again */
	uint64_t changed_ns; /* when the last one opened or closed; 0: never */
	double cpu_ns;	     /* CPU time since then */
	double took_ns;	     /* CPU time in the last window */
};

/*
 * One look of the agent. may: bits of functions that are counted now. heard: a process has recorded
 * with the switches of the last look. cpu_ns: CPU time of the processes since then; now_ns: present
 * time of a clock that does not jump. Returns w->open.
 */
uint64_t windows_look(struct windows *w, uint64_t may, bool heard, double cpu_ns, uint64_t now_ns);

#endif
