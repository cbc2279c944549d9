/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are switched off, because of overhead.budget_percent or by the user. Their ids are
 * on the agent's page of the control segment; the calls that were left out are counted on the page
 * of each ring that its thread writes. A function's number is the same in all processes of an
 * agent, and the function keeps it when it is switched on again.
 *
 * A function that is off may also have its calls of the hooks taken out of the process's code
 * (overhead.remove_calls): then its calls are not even counted. The agent asks for that once it has
 * read everything that was recorded before the process took over the change (struct
 * switches_seen_shm), and no call of the function is open: then no record of it comes until it is
 * on again.
 *
 * A function that is off may be counted (control_agent_shm.counted): then its calls also are in the
 * ring, as COUNTED records (record.h), which the thread stores before whatever it records next.
 * Calls that are in `calls`, but in no such record yet, belong to the frame that is open: so each
 * call is counted once, wherever the thread is killed. If the hooks of such a function are taken
 * out, the hook at its start becomes a call of a few instructions that count.
 */
#ifndef VFTR_SHM_SWITCHES_H
#define VFTR_SHM_SWITCHES_H

#include <stdint.h>

#define SWITCHES_MAX 56u

struct switches_shm {
	uint32_t n;		   /* numbers in use; stored after their ids */
	uint32_t id[SWITCHES_MAX]; /* low half of the address, 0: not in this process */
	uint32_t version;	   /* counts changes of n and on; stored last */
	uint64_t on;		   /* bit i: function number i is on again */
	uint64_t removed;	   /* bit i: its calls of the hooks may be taken out of the code */
};

/* On the process's own page. */
struct switches_seen_shm {
	uint64_t taken;	  /* bit i: calls of function number i have been taken out of the code */
	uint32_t version; /* the last switches_shm.version that it has taken over; read it first */
};

/*
 * Of each function, by its number. calls: those that were not recorded; open: how many of them have
 * not returned. recorded: calls that are recorded and have not returned, if its hooks were taken
 * out once.
 */
struct switched_shm {
	uint64_t calls[SWITCHES_MAX];
	uint32_t open[SWITCHES_MAX];
	uint32_t recorded[SWITCHES_MAX];
	uint64_t told[SWITCHES_MAX]; /* of `calls`: those in COUNTED records */
	/* as the process knew them when the thread began; a child of fork() has its parent's */
	uint32_t id[SWITCHES_MAX];
};

#endif
