/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overhead.remove_calls: when a process may take the hooks of a function that is off out of its
 * code (shm/switches.h). It may some time after it shut its gate, if no call of the function is
 * open in all that its threads have recorded, published or not: later calls are not recorded. Calls
 * of others must be recorded meanwhile: by these the process hears of the function being on again.
 *
 * A thread that had read the gate before it was shut, and did not run for all that time, still
 * stores one enter. Its exit is lost with the hook, and the frame ends with the one around it.
 */
#ifndef VFTR_NODEAGENT_AGENT_OVERHEAD_REMOVAL_H
#define VFTR_NODEAGENT_AGENT_OVERHEAD_REMOVAL_H

#include <stdint.h>

#include "shm/switches.h"

struct process;

/* By the function's number. Zeroed at first. */
struct removal {
	uint64_t off, removed;		   /* bits, of the last look */
	uint64_t records;		   /* that were stored by then; 0: not known */
	uint32_t version[SWITCHES_MAX];	   /* of the page, by which the function is off */
	uint64_t seen_ticks[SWITCHES_MAX]; /* the process was seen to know that; 0: not yet */
};

/*
 * Of the functions that are off (bits) by the version of the page that is to be published now,
 * those whose hooks may go; a bit goes with that of off. The process's page has their ids. now:
 * present ticks.
 */
uint64_t removal_look(
	struct removal *r, struct process *p, uint64_t off, uint32_t version, uint64_t now);

#endif
