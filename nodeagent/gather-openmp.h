/* SPDX-License-Identifier: BSD-3-Clause */
/* The teams of OpenMP of processes, as openmp[] and openmp_threads[] of a profile. */
#ifndef VFTR_NODEAGENT_GATHER_OPENMP_H
#define VFTR_NODEAGENT_GATHER_OPENMP_H

#include <stdint.h>

struct agent;
struct process;
struct profile;

/*
 * Adds those of p. place() is the union tree's node of a frame below a node
 * (PROFILE_NONE: the root); until gather_openmp_store() openmp[].stack are such nodes.
 */
void gather_openmp_add(struct agent *a, const struct process *p, uint32_t rank, struct profile *out,
	uint32_t (*place)(void *ctx, uint32_t parent, uint64_t key), void *ctx);
/* id: of each node, its index in stacks[]. */
void gather_openmp_store(struct profile *p, const uint32_t *id);

#endif
