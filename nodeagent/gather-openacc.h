/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of OpenACC on their way into a profile; used by gather.c. */
#ifndef VFTR_NODEAGENT_GATHER_OPENACC_H
#define VFTR_NODEAGENT_GATHER_OPENACC_H

#include <stdint.h>

struct agent;
struct calltree;
struct process;
struct profile;

/* Those of a process, whose tree's node i is place[i] of the union tree; all have names. */
void gather_openacc_tree(struct agent *a, const struct process *p, struct calltree *tree,
	const uint32_t *place, struct profile *out);

/* Node i of the union tree is stack id[i]. */
void gather_openacc_store(struct profile *p, const uint32_t *id);

#endif
