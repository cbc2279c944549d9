/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication of processes on its way into a profile; used by gather.c. */
#ifndef VFTR_NODEAGENT_GATHER_MPI_H
#define VFTR_NODEAGENT_GATHER_MPI_H

#include <stdint.h>

struct agent;
struct calltree;
struct gather_mpi;
struct process;
struct profile;
struct profile_list;

struct gather_mpi *gather_mpi_new(struct agent *a);

/* A process with its tree, whose node i is node place[i] of the union tree. */
void gather_mpi_add(struct gather_mpi *g, const struct process *p, uint32_t rank,
	struct calltree *tree, const uint32_t *place);

/* All of it goes to out; node i of the union tree is stack[i]. Frees g. */
void gather_mpi_store(struct gather_mpi *g, struct profile *out, const uint32_t *stack);

/* A list of p, in any order and with repeated keys: sorted, each key once, added up. */
void gather_combine(struct profile *p, const struct profile_list *l);

#endif
