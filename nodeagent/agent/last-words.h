/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent that processes have started for themselves, in a Slurm step with a control group of
 * its own, is killed when the tasks of the step have ended. So the last process is held at its
 * end until the files of this node are written, that is until the agent has ended.
 */
#ifndef VFTR_NODEAGENT_AGENT_LAST_WORDS_H
#define VFTR_NODEAGENT_AGENT_LAST_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/process/observer.h"

struct agent;

/* For host.last_words_ms, before the first process comes. */
uint32_t last_words_ms(const struct agent *a);

extern const struct process_observer last_words_observer;

/* Lets held processes go if another one lives now, which will be held. */
void last_words_tick(struct agent *a);

/* When rings were just read: in a step, writes what is known for processes that are in MPI_Abort.
 */
void last_words_abort(struct agent *a);

/*
 * last_words_all_held(): all living processes are held. last_words_complete(): also, no other
 * process will come, so that the files can be written.
 */
bool last_words_all_held(const struct agent *a);
bool last_words_complete(const struct agent *a);

#endif
