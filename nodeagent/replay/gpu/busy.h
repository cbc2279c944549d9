/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Busy time: the length of the union of intervals, which come in nearly any order.
 * Old intervals are folded into a sum; an interval that comes later for such an old
 * time counts in full, also where it overlaps.
 */
#ifndef VFTR_NODEAGENT_REPLAY_GPU_BUSY_H
#define VFTR_NODEAGENT_REPLAY_GPU_BUSY_H

#include <stddef.h>
#include <stdint.h>

struct gpu_interval {
	uint64_t from, to;
};

struct gpu_busy {
	struct gpu_interval *at; /* sorted, and they do not touch */
	size_t n, cap;
	size_t most;	 /* with so many, the older half is folded; 0: 4096 */
	uint64_t folded; /* length of intervals that are not in at[] any more */
};

void gpu_busy_add(struct gpu_busy *b, uint64_t from, uint64_t to);
uint64_t gpu_busy_length(const struct gpu_busy *b);
void gpu_busy_free(struct gpu_busy *b);

#endif
