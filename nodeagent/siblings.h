/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other agents of the session: when the job is over on all nodes, and the
 * collation. Without a session or agent.deadlock_s, an agent whose processes run hardly looks at
 * its siblings: agent 0 does twice a second.
 */
#ifndef VFTR_NODEAGENT_SIBLINGS_H
#define VFTR_NODEAGENT_SIBLINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct agent;
struct profile;

/* Joins the other agents if this process was started as one of several. 0 or
 * -1 and *error. a->peer stays NULL for a single agent. Over TCP this only begins;
 * *contact is then how this agent can be reached (the caller frees), else NULL. */
int siblings_join(struct agent *a, char **contact, char **error);

/* Meets the others only to end them all, where this one must not be one of them. */
void siblings_refuse(struct agent *a);

/*
 * To be called again and again while processes are served; does little. Goes on joining,
 * and over TCP hears agent 0 say that the run is to stop. Seconds until the next call.
 */
double siblings_attend(struct agent *a);

/* Joining has taken too long; this agent is alone. */
void siblings_give_up(struct agent *a);

/*
 * Asked again and again while no process is attached here. local: this node
 * has had processes, and all have ended. True when the job is over everywhere;
 * else *wait_s says when to ask again.
 */
bool siblings_finished(struct agent *a, bool local, double *wait_s);

/*
 * Puts into a->clock what is known of this node's clock: for global time,
 * clock_sync_global() of CLOCK_MONOTONIC_RAW. NULL, also on a single node, if
 * nothing is known. At the end, when the job is over everywhere, `last`: after a
 * last comparison with the other nodes, for which all agents call this.
 */
void siblings_clock(struct agent *a, bool last);

/* Collation; *whole only on agent 0. 0, or 1 after saying what failed. */
int siblings_collate(struct agent *a, const struct profile *node, struct profile **whole,
	uint64_t **hashes, size_t *n_hashes);

/* Over TCP, before the collation: the others learn that this agent has come to its end. */
void siblings_stop(struct agent *a);

/* What happened to connections, for the logs. */
void siblings_notes(struct agent *a);

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
