/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides in agent 0 when a job is over on all of its nodes: by the last state of each agent,
 * and the time without processes. Independent of the network; `now` is in seconds of one
 * clock that does not jump.
 */
#ifndef VFTR_NODEAGENT_AGENT_JOB_END_H
#define VFTR_NODEAGENT_AGENT_JOB_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	JOB_BUSY,  /* processes are attached, or may still come from a command */
	JOB_IDLE,  /* no process has come */
	JOB_DONE,  /* all processes have ended */
	JOB_GONE,  /* the agent is gone */
	JOB_WAITS, /* it waits for another agent of its node, to take its profile (late-profiles.h)
		    */
};

/* The state of an agent, as bytes of a message. */
struct job_state {
	int what;  /* JOB_BUSY ... */
	int ended; /* ranks that ended on this node */
	int world; /* ranks of the job, 0 if unknown */
	int ever;  /* processes that have attached on this node */
	int sends; /* 1: it has something for agents of other nodes (matching_has_news()) */
	int paths; /* call paths of its processes that have ended, those of several for each */
};

/* Other conditions of the end. */
struct job_rule {
	bool all_must_end; /* each agent knows when its processes have ended */
	bool all_speak;	   /* each agent says its state as soon as it is there, also an idle one */
	unsigned expect;   /* processes that have to come, on all nodes; 0: any */
	double within_s;   /* longest wait for them; 0: for ever */
};

struct job_end;

/* For so many agents, all of them idle at first. */
struct job_end *job_end_new(int agents, double now);
/* May be NULL. */
void job_end_free(struct job_end *j);

/*
 * Takes a message about agent `who`. It is a struct job_state, or one byte (the agent is gone), or
 * empty (the agent was taken for gone, and is back). An agent that is back has its last state
 * again, also one that came while it was taken for gone: states and the message of its death do not
 * come by the same way. A message of another size is ignored. Returns true if the agent is gone.
 */
bool job_end_take(struct job_end *j, int who, const void *buf, size_t bytes);

/*
 * Returns true if the job is over. The time without processes begins with the first call at which
 * no node is busy and at least one has had processes.
 */
bool job_end_reached(struct job_end *j, const struct job_rule *rule, double now);
/* Makes the time without processes begin anew with the next call. */
void job_end_restart(struct job_end *j);
/* The agents that are gone; *n: how many. The caller frees. */
uint32_t *job_end_gone(const struct job_end *j, size_t *n);
/*
 * Call paths of all agents, those of several processes for each: the job may have fewer, or more,
 * of processes that were let go before.
 */
uint64_t job_end_paths(const struct job_end *j);
/* True if an agent has something for others, or may have, as it is busy or gone. */
bool job_end_exchange(const struct job_end *j);

#endif
