/* SPDX-License-Identifier: BSD-3-Clause */
/* struct cause_parts of causes.h, for modules that keep one without calling causes.h. */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_CAUSE_PARTS_H
#define VFTR_NODEAGENT_REPLAY_COMM_CAUSE_PARTS_H

#include <stdint.h>

#define CAUSE_PARTS 4

/* Smaller in tests. */
#ifndef CAUSE_TICKS_LEAST
#define CAUSE_TICKS_LEAST 32768u /* shorter waits are not looked at */
#endif

/* What was counted for one wait, so that it can be taken back. */
struct cause_parts {
	uint32_t n;
	struct {
		uint32_t row;
		uint64_t ticks;
	} at[CAUSE_PARTS];
};

#endif
