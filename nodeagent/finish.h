/* SPDX-License-Identifier: BSD-3-Clause */
/* The end: profiles are gathered, collated with the other agents, and written. */
#ifndef VFTR_NODEAGENT_FINISH_H
#define VFTR_NODEAGENT_FINISH_H

struct agent;
struct profile;

/*
 * Closes all books and writes this node's files; with other agents it collates,
 * and agent 0 writes the summary. 0, or 1 if a file could not be written (said
 * on stderr). Nothing is written if no process was traced.
 */
int agent_finish(struct agent *a);

/*
 * In a copy of the agent (interim.h): the same without the other agents. Processes
 * that run are shown as running; without other nodes the summary is written, too.
 */
int agent_write_so_far(struct agent *a);

/* The first half of it: all processes are taken as ended. How many were running. */
unsigned agent_close_copy(struct agent *a);

/* The files of a round (rounds.h), from the profile of this node; 0, or 1: said. */
int agent_write_round(struct agent *a, const struct profile *node, unsigned round);
/*
 * The node profile that it has written of this application. NULL: there is none, or it
 * cannot be read: then *error says why, and the caller frees it.
 */
struct profile *agent_read_round(
	const struct agent *a, const struct profile *like, unsigned round, char **error);

#endif
