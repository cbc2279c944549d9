/* SPDX-License-Identifier: BSD-3-Clause */
/* From the call trees of processes to a profile: names, ranks, numbers. */
#ifndef VFTR_NODEAGENT_GATHER_H
#define VFTR_NODEAGENT_GATHER_H

#include <stdint.h>

struct agent;
struct process;
struct profile;

struct gathering;

/*
 * Adds the books of an ended process, which has its rank, to those of the whole,
 * agent.gathered: gather(a, NULL) needs it no more.
 */
void gather_let_go(struct agent *a, const struct process *p);

/*
 * Gives each process that greeted its rank for the outputs: the one MPI told,
 * else the launcher's if nobody else has it, else PROFILE_UNRANKED + k in the
 * order of their start. Call once, before gather().
 */
void gather_ranks(struct agent *a);

/* Profile of all finished processes, once, or of `only` one. Never NULL. */
struct profile *gather(struct agent *a, const struct process *only);

#endif
