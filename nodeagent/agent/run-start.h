/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a run was started, for its results: the command line, directory, time, batch job, tags, and
 * what the executables are. What is wrong with one of them is no error: then it is not known.
 */
#ifndef VFTR_NODEAGENT_AGENT_RUN_START_H
#define VFTR_NODEAGENT_AGENT_RUN_START_H

#include "nodeagent/process/observer.h"

struct agent;

/*
 * To be called once, with the configuration read. command: COMMAND, or NULL: the first process
 * that is traced tells its own. told: run_start_text() of the process that started this agent, or
 * NULL: this is the one that the user has started.
 */
void run_start_begin(struct agent *a, char *const *command, const char *told);
/* All but the tags, which are in the configuration, as a word that no shell changes. The caller
 * frees. */
char *run_start_text(const struct agent *a);

/* Looks at processes when they begin; puts all of it into the node's profile. */
extern const struct process_observer run_start_observer;

#endif
