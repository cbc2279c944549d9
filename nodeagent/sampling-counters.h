/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters in the sampling file: those of hwprof at each event that is in the file,
 * and the user's at the times that the program gives. Both are nothing where the
 * thread has no lane.
 */
#ifndef VFTR_NODEAGENT_SAMPLING_COUNTERS_H
#define VFTR_NODEAGENT_SAMPLING_COUNTERS_H

#include <stdint.h>

struct sampling_lane;
struct user_counter;

/* All n counters of hwprof, as the thread had them at its event at ticks. */
void sampling_counters(struct sampling_lane *l, const uint64_t *values, uint32_t n, uint64_t ticks);
/* An int64_t, or the bits of a double. Times may go back. */
void sampling_user_counter(
	struct sampling_lane *l, struct user_counter *c, uint64_t ticks, uint64_t bits);

#endif
