/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent that processes have started for themselves, within a step of Slurm's with a
 * control group of its own, is killed when the tasks of the step have ended. So the last of
 * them is held at its end until the files of this node are written: until the agent has ended.
 */
#ifndef VFTR_NODEAGENT_LAST_WORDS_H
#define VFTR_NODEAGENT_LAST_WORDS_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct process;

/* For WELCOME: how long a process waits for the answer to BYE, in ms; 0: there is none. */
uint32_t last_words_ms(const struct agent *a);

/* BYE has come. Answers, or holds the process. */
void last_words_bye(struct process *p);

/* Somebody else is there now, who will be held: lets the others go. */
void last_words_tick(struct agent *a);

/* Whether all that live are held; and whether more will not come: it is time to write. */
bool last_words_all_held(const struct agent *a);
bool last_words_complete(const struct agent *a);

#endif
