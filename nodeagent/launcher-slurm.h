/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srun: on which nodes its step will run, and how a step of agents comes to the same ones.
 * argv begins with srun. What Slurm's variables say is read from the environment.
 */
#ifndef VFTR_NODEAGENT_LAUNCHER_SLURM_H
#define VFTR_NODEAGENT_LAUNCHER_SLURM_H

#include <stdbool.h>

#include "nodeagent/launcher.h"

/* This process belongs to a job of Slurm, one of whose nodes is not this one. */
bool slurm_job_is_elsewhere(void);

/* Is there a node other than this one that the step may run on? */
bool slurm_is_distributed(char *const *argv);

/* Why no agents can be put beside this step, as the end of a sentence; NULL: they can. The
 * caller frees. */
char *slurm_refusal(char *const *argv);

/* The options of a step with one agent per node of the job step in argv. */
void slurm_one_per_node(char *const *argv, struct arguments *out);

/* Does Slurm choose the nodes of the step among more? Then the command is told the agents'. */
bool slurm_chooses_nodes(char *const *argv);

/*
 * argv, whose step gets these variables ("NAME" or "NAME=VALUE") whatever it says of others,
 * and runs on these nodes (NULL: where Slurm wants).
 */
void slurm_command(
	char *const *argv, char *const *variables, const char *nodes, struct arguments *out);

/* Whose programs --mpi is meant for: "openmpi" or "mpich". */
const char *slurm_mpi(char *const *argv);

/* Does a step of agents want this variable ("NAME=VALUE") of the job's environment? */
bool slurm_agents_want(const char *variable);

/*
 * How many nodes this process may start others on: those of its step, else of its job; 0
 * outside of jobs. *of: "step 12.0" or "job 12", a text that lives until the next call.
 */
unsigned slurm_nodes(const char **of);

#endif
