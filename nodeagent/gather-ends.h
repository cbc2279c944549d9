/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks that ended badly: ends[] of a profile. */
#ifndef VFTR_NODEAGENT_GATHER_ENDS_H
#define VFTR_NODEAGENT_GATHER_ENDS_H

struct agent;
struct process;
struct profile;

/* A process that has ended: appended, if it is a rank and ended badly. */
void gather_ends_add(const struct agent *a, const struct process *p, struct profile *out);
/* When all are there; the agent's clock is settled by then. */
void gather_ends_store(const struct agent *a, struct profile *out);

#endif
