/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other agents of the session: when the job is over on all nodes, and the
 * collation. An agent whose processes run never looks at its siblings.
 */
#ifndef VFTR_NODEAGENT_SIBLINGS_H
#define VFTR_NODEAGENT_SIBLINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;
struct profile;

/* Joins the other agents if this process was started as one of several. 0 or
 * -1 and *error. a->peer stays NULL for a single agent. */
int siblings_join(struct agent *a, char **error);

/*
 * Asked again and again while no process is attached here. local: this node
 * has had processes, and all have ended. True when the job is over everywhere;
 * else *wait_s says when to ask again.
 */
bool siblings_finished(struct agent *a, bool local, double *wait_s);

/* Collation; *whole only on agent 0. 0, or 1 after saying what failed. */
int siblings_collate(struct agent *a, const struct profile *node, struct profile **whole,
	uint64_t **hashes, size_t *n_hashes);

/* Processes are attached (again): the others should know, if they were told
 * otherwise. */
void siblings_busy(struct agent *a);

/*
 * Agent 0 names the job; the others learn it, so that all files of a job begin
 * alike also where nodes run different programs. mine is freed and replaced by
 * what counts; without an answer it stays.
 */
char *siblings_agree(struct agent *a, char *mine);

/* Leaves MPI within a few seconds, or ends this process with status. */
void siblings_leave(struct agent *a, int status);

#endif
