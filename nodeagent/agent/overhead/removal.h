/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.remove_calls: decides when a process may remove the hooks of a function that is off from
 * its code (shm/switches.h). Two conditions must hold. No call of the function is open in what the
 * threads have recorded, published or not, since the process has read that the function is off:
 * calls that begin later are not recorded. And other functions are still recorded: at their hooks
 * the process reads that the function is on again.
 *
 * One case is left: a thread that has read its switch just before the function was switched off,
 * and has not run since, still stores one enter. The exit is lost with the hook; the frame ends
 * with the frame around it.
 */
#ifndef VFTR_NODEAGENT_AGENT_OVERHEAD_REMOVAL_H
#define VFTR_NODEAGENT_AGENT_OVERHEAD_REMOVAL_H

#include <stdint.h>

#include "shm/switches.h"

struct process;

/* What is known of a process. Bit i and index i stand for function number i. Begins as zeros. */
struct removal {
	uint64_t off, removed; /* bits: at the last look; hooks that may go */
	uint64_t records;      /* that the threads had stored at the last look; 0: not known */
	uint32_t version[SWITCHES_MAX];	   /* of the page with which the function went off */
	uint64_t seen_ticks[SWITCHES_MAX]; /* when the process was first seen to have read it; 0:
					      not yet */
};

/*
 * To be called before the agent publishes this version of the page, in which the functions `off`
 * (bits) are off; the page has their ids. Returns the bits of those whose hooks may be removed. A
 * function that is on again loses its bit. now: present ticks.
 */
uint64_t removal_look(
	struct removal *r, struct process *p, uint64_t off, uint32_t version, uint64_t now);

#endif
