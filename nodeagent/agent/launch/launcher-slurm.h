/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * srun: the nodes of its step, and options by which a step of agents gets the same ones. argv
 * begins with srun. Slurm's variables are read from the environment.
 */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCHER_SLURM_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCHER_SLURM_H

#include <stdbool.h>

#include "nodeagent/agent/launch/launcher.h"

/* True if this process belongs to a job of Slurm that has other nodes than this one. */
bool slurm_job_is_elsewhere(void);

/* True if the step may run on a node other than this one. */
bool slurm_is_distributed(char *const *argv);

/* NULL if agents can be started beside this step; else the end of a sentence with the reason,
 * which the caller frees. */
char *slurm_refusal(char *const *argv);

/* The options of a step with one agent per node of the job step in argv. */
void slurm_one_per_node(char *const *argv, struct arguments *out);

/* True if Slurm chooses the step's nodes among more: then the command gets those of the agents. */
bool slurm_chooses_nodes(char *const *argv);

/*
 * argv with options by which its step gets these variables ("NAME" or "NAME=VALUE") besides its
 * own ones, and runs on these nodes (NULL: those that Slurm chooses).
 */
void slurm_command(
	char *const *argv, char *const *variables, const char *nodes, struct arguments *out);

/* The MPI that --mpi is meant for: "openmpi" or "mpich". */
const char *slurm_mpi(char *const *argv);

/* True if a step of agents needs this variable ("NAME=VALUE") of the job's environment. */
bool slurm_agents_want(const char *variable);

/*
 * The number of nodes on which this process may start others: those of its step, else of its
 * job; 0 outside of jobs. *of: "step 12.0" or "job 12", or NULL; the caller frees.
 */
unsigned slurm_nodes(char **of);

#endif
