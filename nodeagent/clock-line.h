/* SPDX-License-Identifier: BSD-3-Clause */
/* The broken line through knots of a clock, and how far off it the truth may be. */
#ifndef VFTR_NODEAGENT_CLOCK_LINE_H
#define VFTR_NODEAGENT_CLOCK_LINE_H

#include "nodeagent/clock-sync.h"

/* Two running clocks whose rates nobody has compared yet. */
#define CLOCK_SYNC_RATE_USUAL 100e-6

struct clock_line {
	const struct clock_sync_knot *at;
	const bool *jump; /* the clock jumped between the knot before and this one */
	size_t n;
};

/* *line and *jump are made anew (freed before, the caller frees). */
void clock_line_make(
	struct clock_sync_knots *line, bool **jump, const struct clock_sync_knots *measured);

/* As clock_sync_offset(). */
int64_t clock_line_offset(const struct clock_line *l, int64_t local, int64_t *error);

#endif
