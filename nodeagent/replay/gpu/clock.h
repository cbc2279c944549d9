/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The GPU's clock (ns, as the vendor's library gives it) against this node's
 * ticks. Both were read together now and then; between two such pairs time is
 * on the line through them, before and after, at the same rate. The error of a
 * pair is at most the time of reading both.
 */
#ifndef VFTR_NODEAGENT_REPLAY_GPU_CLOCK_H
#define VFTR_NODEAGENT_REPLAY_GPU_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct clocks;

struct gpu_clock {
	bool known;
	uint64_t ticks, ns; /* the latest pair */
	double ticks_per_ns;
	uint64_t first_ticks, first_ns;
	uint64_t error; /* ticks: the greatest bound of a pair */
	uint64_t pairs;
};

void gpu_clock_pair(
	struct gpu_clock *g, struct clocks *c, uint64_t ticks, uint64_t width, uint64_t gpu_ns);
/* Ticks of a time of the GPU; never below 0. */
uint64_t gpu_clock_ticks(const struct gpu_clock *g, uint64_t gpu_ns);

#endif
