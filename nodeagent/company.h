/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent that is started together with others: what it tells the front, the agent that
 * runs the command and waits for all of them (distributed.c), on its standard output.
 */
#ifndef VFTR_NODEAGENT_COMPANY_H
#define VFTR_NODEAGENT_COMPANY_H

struct agent;

/*
 * Before the others are met. From here on the front is told when this process ends. Exits
 * with a sentence where a launcher has started several that can never meet.
 */
void company_expect(const struct agent *a);

/*
 * This agent cannot be one of them: says why, sees to it that the others end, too, at once,
 * and exits.
 */
void company_refuse(struct agent *a, const char *why) __attribute__((noreturn));

/* All are there: the front may run the command. */
void company_met(const struct agent *a);

#endif
