/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other agents of the session: the end of the job on all nodes, and the collation. While its
 * processes run, an agent seldom looks for messages of its peers; with a session or
 * agent.deadlock_s, agent 0 does so twice a second.
 */
#ifndef VFTR_NODEAGENT_AGENT_PEERS_H
#define VFTR_NODEAGENT_AGENT_PEERS_H

#include <stdbool.h>
#include <stddef.h>

struct agent;
struct profile;
struct profile_number;

/* proxy_shield() with the duties of an agent's proxy. */
void peers_shield(void);

/* Joins the other agents if this process was started as one of several. 0 or
 * -1 and *error. a->host.transport stays NULL for a single agent. Over TCP this only begins;
 * *contact is then this agent's contact (the caller frees), else NULL. */
int peers_join(struct agent *a, char **contact, char **error);

/* For an agent that must not take part: meets the others only to end all of them. */
void peers_refuse(struct agent *a);

/*
 * To be called repeatedly while processes are served; takes little time. Goes on joining the
 * others, and over TCP takes agent 0's order to stop the run. Returns the seconds until the next
 * call.
 */
double peers_attend(struct agent *a);

/* Gives up joining the others, as that has taken too long: this agent goes on alone. */
void peers_give_up(struct agent *a);

/*
 * To be called repeatedly while no process is attached here. local: this node
 * has had processes, and all have ended. waits: another agent of this node still has the
 * processes whose profile will be this node's (late-profiles.h). True when the job is over
 * everywhere; else *wait_s says when to ask again.
 */
bool peers_finished(struct agent *a, bool local, bool waits, double *wait_s);

/*
 * Sets a->host.clock to the comparisons of this node's clock, by which clock_sync_global()
 * makes global time of CLOCK_MONOTONIC_RAW; NULL if there are none, as on a single node.
 * last: the job is over everywhere; compares once more with the other nodes, for which all
 * agents call this.
 */
void peers_clock(struct agent *a, bool last);

/* Collates; *whole only on agent 0. Returns 0: if agents are missing, agent 0 prints that, and has
 * what came. */
int peers_collate(struct agent *a, const struct profile *node, struct profile **whole,
	struct profile_number **numbers, size_t *n_numbers);

/* Over TCP, before the collation: tells the others that this agent has come to its end. If it still
 * joins them, and has processes to tell of, this waits for that, a part of agent.deadline_s. */
void peers_stop(struct agent *a);

/* Puts lines about connections into the logs. */
void peers_notes(struct agent *a);

/* Tells the others that processes are attached (again), or that a command runs here that may start
 * some, unless its last message said so. */
void peers_busy(struct agent *a);

/*
 * After peers_collate(): returns agent 0's name of the job, and frees mine; returns mine at agent
 * 0, or if there was no answer. So the names of all files of a job begin in the same way, also if
 * nodes run different programs.
 */
char *peers_agree(struct agent *a, char *mine);
/* At agent 0, when the summary is written: the others, which wait for that in peers_collate(), get
 * this name of the job and their numbers. */
void peers_tell(struct agent *a, const char *name);

/* Leaves MPI. If that takes more than a few seconds, ends this process with status. */
void peers_leave(struct agent *a, int status);

#endif
