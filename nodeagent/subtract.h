/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process has done since an earlier profile of it. */
#ifndef VFTR_NODEAGENT_SUBTRACT_H
#define VFTR_NODEAGENT_SUBTRACT_H

struct profile;

/*
 * Takes off `now` what was in `before`, which may be NULL: nothing. Both are of one
 * process, and now is the later one. Stacks at which nothing more happened go, unless
 * others hang on them. What cannot be taken apart goes, too: times of single threads,
 * matched messages, counters of the program.
 */
void profile_subtract(struct profile *now, const struct profile *before);

#endif
