/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has been done since an earlier profile: first by each process, then, when these
 * have been merged, what only the whole node can say.
 */
#ifndef VFTR_NODEAGENT_SUBTRACT_H
#define VFTR_NODEAGENT_SUBTRACT_H

struct profile;

/*
 * Takes off `now` what was in `before`, which may be NULL: nothing. Both are of one
 * process, and now is the later one. Stacks at which nothing more happened go, unless
 * others hang on them; and what profile_subtract_node() knows better.
 */
void profile_subtract(struct profile *now, const struct profile *before);

/*
 * round: what was left of all processes, merged; now, before: all of the node, at these
 * times. Threads one by one, counters of the program, GPUs and what went between them go to
 * round, with ranks as in now, less what was before (NULL: nothing). now is to be freed only.
 */
void profile_subtract_node(
	struct profile *round, struct profile *now, const struct profile *before);

/* subtract.c: of those the GPUs. */
void profile_subtract_devices(
	struct profile *round, struct profile *now, const struct profile *before);

#endif
