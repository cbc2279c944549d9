/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are switched off, because of overhead.budget_percent or by the user: their ids,
 * on the agent's page of the control segment, and the calls that were left out, on the
 * page of each ring that its thread writes. A function's number is the same in all
 * processes of an agent, and stays its own when the function is switched on again.
 */
#ifndef VFTR_SHM_SWITCHES_H
#define VFTR_SHM_SWITCHES_H

#include <stdint.h>

#define SWITCHES_MAX 56u

struct switches_shm {
	uint32_t n;		   /* numbers in use; stored behind their ids */
	uint32_t id[SWITCHES_MAX]; /* low half of the address, 0: not in this process */
	uint64_t on;		   /* bit i: function number i is on again */
};

/* By the function's number: calls that were not recorded, and how many of them are open. */
struct switched_shm {
	uint64_t calls[SWITCHES_MAX];
	uint32_t open[SWITCHES_MAX];
};

#endif
