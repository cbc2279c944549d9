/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The in-step form: a launcher starts this program in place of each process of the job. On
 * each node the first of these tasks becomes the parent of its program and of the node's
 * agent, and ends when both have ended; the others become their programs. So nothing runs
 * beside the job, and nothing of it when the launcher's step is over.
 *
 *	task 0: parent --+-- COMMAND		task n: COMMAND
 *			 +-- proxy -- agent
 *
 * An agent that is to be attached to processes that run has no COMMAND: it is task 0 itself.
 *
 * Agents of several nodes meet by a folder in the output directory (meet.c) and talk
 * over TCP. in-step.c: in each task, before COMMAND. parent.c: the parent.
 * agent.c: in the agent.
 */
#ifndef VFTR_NODEAGENT_AGENT_STEP_IN_STEP_H
#define VFTR_NODEAGENT_AGENT_STEP_IN_STEP_H

#include <stdbool.h>

struct agent;
struct launch;
struct profile;

/* True if this process is one of several tasks of a launcher, and COMMAND is no launcher. */
bool in_step_wanted(const struct launch *l);

/*
 * In each task, with configuration and output directory known. Returns in the process that
 * is to be the node's agent, with a->host.session and a->step set, a->several if there are other
 * nodes, and without l->command. All others become COMMAND, or exit with its status; or, if
 * there can be no agent, with 125 after a message. Without l->command, as of an agent that is to be
 * attached, the first task of each node is the agent, and the others exit with 0. With a->several
 * the caller calls peers_shield() next.
 */
void in_step_start(struct agent *a, struct launch *l, const char *session);

/*
 * The functions below are called by the agent. in_step_link(): the descriptor to watch as
 * WATCH_STEP. in_step_ready(): processes can connect; save(a, wait) writes the results so far, and
 * with `wait' returns when they are written. in_step_tick(): to be called repeatedly, and when the
 * descriptor can be read; sets a->told_to_stop when all tasks of this node have ended, and begins
 * to join the other agents; returns the seconds until the next call.
 */
int in_step_link(const struct agent *a);
void in_step_ready(struct agent *a, void (*save)(struct agent *a, bool wait));
double in_step_tick(struct agent *a);

/* True while the other agents are not known, so that this one cannot join them. */
bool in_step_meets(const struct agent *a);

/* To be called when SIGTERM comes: the launcher will end the step, and COMMAND before that. */
void in_step_hurry(struct agent *a);

/* A process is about to abort the job, and waits: writes the results so far, the first time. */
void in_step_abort(struct agent *a);

/* Reads messages of the parent; to be called now and then while files are written. */
void in_step_hear(struct agent *a);

/* Before the files are written: makes the parent wait. After that: lets it go. */
void in_step_writes(struct agent *a);
void in_step_end(struct agent *a);

/*
 * A text that is the same in the agents of all nodes of this step; NULL: there is none, or no other
 * agent.
 */
const char *in_step_common(const struct agent *a);

/* True if the launcher does not tell the number of tasks. s may be NULL. */
struct in_step;
bool in_step_may_have_others(const struct in_step *s);

/* At agent 0: marks the nodes of the step that have sent no agent as missing. */
void in_step_name_missing(const struct agent *a, struct profile *whole);

#endif
