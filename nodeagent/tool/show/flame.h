/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusive times of all call paths of a run for flame graphs: folded stacks, speedscope. */
#ifndef VFTR_NODEAGENT_TOOL_SHOW_FLAME_H
#define VFTR_NODEAGENT_TOOL_SHOW_FLAME_H

#include <stdint.h>
#include <stdio.h>

#include "nodeagent/tool/show/run.h"

/* The exclusive time of a rank at a call path of the run's profile. */
struct flame_time {
	uint32_t rank, stack; /* rank: as printed */
	uint64_t ns;
};

/*
 * ranks.c: the *n times of all ranks, where the node profiles tell them: if each has one process,
 * or the profiles of all threads (profile_table.threads = all). By rank, then stack; their sum at
 * each call path is that of the run. NULL: they are not known. The caller frees.
 */
struct flame_time *flame_ranks(const struct run *run, size_t *n);

struct flame {
	const struct run *run;
	const struct flame_time *times; /* by rank, or NULL: those of the profile */
	size_t n;
};

/* The number of call paths of the run whose time is an estimate. */
size_t flame_estimated(const struct run *run);

/* Writes lines "rank 3;init;main;work 1234", without rank if times is NULL; ns. */
void flame_folded(const struct flame *flame, FILE *f);
/* Writes speedscope's JSON: a sampled profile per rank, or one for all if times is NULL; ns. */
void flame_speedscope(const struct flame *flame, FILE *f);

#endif
