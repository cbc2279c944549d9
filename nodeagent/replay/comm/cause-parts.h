/* SPDX-License-Identifier: BSD-3-Clause */
/* A part of causes.h, for those who only keep it. */
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
