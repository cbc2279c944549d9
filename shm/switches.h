/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are switched off, because of overhead.budget_percent or by the user: their ids,
 * on the agent's page of the control segment, and the calls that were left out, on the
 * page of each ring that its thread writes. A function's number is the same in all
 * processes of an agent, and stays its own when the function is switched on again.
 *
 * A function that is off may also have its calls of the hooks taken out of the process's code
 * (overhead.remove_calls): then its calls are not even counted. The agent asks for that when it
 * has read all that was recorded before the process followed (struct switches_seen_shm), and
 * found no call of the function open: so no record of it is to come until it is on again.
 *
 * A function that is off may be counted (control_agent_shm.counted): then its calls also are in the
 * ring, as COUNTED records (record.h), which the thread stores before whatever it records next.
 * What `calls` has more than the last such record belongs to the frame that is open: so no call is
 * lost, nor there twice, wherever the thread was killed. If its hooks are taken out, the one at its
 * start is not left out but calls a few instructions that count.
 */
#ifndef VFTR_SHM_SWITCHES_H
#define VFTR_SHM_SWITCHES_H

#include <stdint.h>

#define SWITCHES_MAX 56u

struct switches_shm {
	uint32_t n;		   /* numbers in use; stored behind their ids */
	uint32_t id[SWITCHES_MAX]; /* low half of the address, 0: not in this process */
	uint32_t version;	   /* counts changes of n and on; stored last */
	uint64_t on;		   /* bit i: function number i is on again */
	uint64_t removed;	   /* bit i: its calls of the hooks may be taken out of the code */
};

/* On the process's own page. */
struct switches_seen_shm {
	uint64_t taken;	  /* bit i: calls of function number i have been taken out of the code */
	uint32_t version; /* of the above that it has taken over; read before the rest of it */
};

/*
 * By the function's number: calls that were not recorded, and how many of them are open. recorded:
 * of a function whose calls were taken out once, the recorded calls that are open.
 */
struct switched_shm {
	uint64_t calls[SWITCHES_MAX];
	uint32_t open[SWITCHES_MAX];
	uint32_t recorded[SWITCHES_MAX];
	uint64_t told[SWITCHES_MAX]; /* of these calls, those of COUNTED records; for the thread */
	/* as the process knew them when the thread began: a child of fork() from its parent */
	uint32_t id[SWITCHES_MAX];
};

#endif
