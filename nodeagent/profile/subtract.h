/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The difference to an earlier profile: first for each process, then, when these have been
 * merged, for data that only the whole node has.
 */
#ifndef VFTR_NODEAGENT_PROFILE_SUBTRACT_H
#define VFTR_NODEAGENT_PROFILE_SUBTRACT_H

struct profile;

/*
 * Subtracts `before` (may be NULL: nothing) from `now`. Both are of one process, and now is
 * the later one. Drops the lists of single threads and those of profile_subtract_node(). If
 * before is given, keeps only the root and stacks that have new calls, lost calls or time, or
 * were waited for, and those above them.
 */
void profile_subtract(struct profile *now, const struct profile *before);

/*
 * round: the differences of all processes, merged; now, before (may be NULL): profiles of the
 * node. Moves the differences of threads one by one, places of OpenMP, counters of the program,
 * GPUs and their transfers to round, with ranks as in now. Afterwards now may only be freed.
 */
void profile_subtract_node(
	struct profile *round, struct profile *now, const struct profile *before);

/* subtract.c: the part for GPUs. */
void profile_subtract_devices(
	struct profile *round, struct profile *now, const struct profile *before);

#endif
