/* SPDX-License-Identifier: BSD-3-Clause */
/* The broken line through sync points of a clock, and the bound of its error. */
#ifndef VFTR_NODEAGENT_CLOCK_LINE_H
#define VFTR_NODEAGENT_CLOCK_LINE_H

#include "nodeagent/clock/sync.h"

/* Usual difference in rate of two clocks that were not compared yet. */
#define CLOCK_SYNC_RATE_USUAL 100e-6

struct clock_line {
	const struct clock_sync_point *at;
	const bool *jump; /* the clock jumped between the sync point before and this one */
	size_t n;
};

/* Makes *line and *jump from `measured`; frees the old ones; the caller frees. */
void clock_line_make(
	struct clock_sync_points *line, bool **jump, const struct clock_sync_points *measured);

/* As clock_sync_offset(). */
int64_t clock_line_offset(const struct clock_line *l, int64_t local, int64_t *error);

#endif
