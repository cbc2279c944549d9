/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of an agent, besides the services for processes (process/host.h): who started it,
 * which agents belong to it, and when it stops. One thread uses it.
 */
#ifndef VFTR_NODEAGENT_AGENT_ROLES_AGENT_H
#define VFTR_NODEAGENT_AGENT_ROLES_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "nodeagent/process/host.h"

struct affinity;
struct readers;
struct deadlock;
struct in_step;
struct late_search;
struct live;
struct metrics;
struct profile;
struct rounds;
struct run_start;
struct sessions;
struct siblings;

/* The way in which an agent was started, which decides when it ends: agent/over.c. */
enum agent_form {
	FORM_SIDECAR,  /* by a user or a launcher, for the processes of this node */
	FORM_COMMAND,  /* by a user, to run COMMAND */
	FORM_EMBEDDED, /* by a process that found no agent */
	FORM_SIBLING,  /* by the agent that runs COMMAND, one on each node */
	FORM_STEP,     /* by a task of a launcher: step/in-step.h */
	FORM_ATTACH,   /* by a user, to look at processes that run already: attach/attach.h */
	FORMS
};

#define COPIES_MOST 16

struct agent {
	struct host host;
	enum agent_form form;
	char *contact;		      /* how other agents reach this one (contact.h), or NULL */
	struct siblings *siblings;    /* their last states (peers.c), or NULL */
	struct affinity *affinity;    /* on which CPUs (affinity.h) */
	struct readers *readers;      /* by how many threads (readers.h); NULL: before and after */
	struct deadlock *deadlock;    /* what was seen last (deadlock.h) */
	struct sessions *sessions;    /* of processes without MPI (session.h) */
	struct metrics *metrics;      /* a file for Prometheus (live/metrics), or NULL */
	struct live *live;	      /* for viewers (live/exchange); NULL: none yet */
	double jobs_next;	      /* s: jobs_tick(), where clocks were not compared yet */
	uint64_t back_raw_ns;	      /* when the loop was last awake; 0: it has not begun */
	struct run_start *start;      /* how the run was started (run-start.h), or NULL */
	struct late_search *late;     /* for agents that processes started (late-profiles.h) */
	struct profile *late_profile; /* which those have left, or NULL */

	struct rounds *rounds;	   /* of a session (rounds.h); NULL until one has begun */
	pid_t copies[COPIES_MOST]; /* children that write (snapshot.h), one after the other */
	unsigned n_copies;
	uint64_t snapshot_due; /* raw ns */
	pid_t standby;	       /* a copy that sleeps (standby.h), or 0 ... */
	pid_t standby_before;  /* ... and the one that it replaces, until that has ended, or 0 */
	uint64_t standby_due;  /* raw ns; 0: not yet */

	/* when to stop */
	char *folder_link;   /* to the folder of the run (run-folder.h), or NULL */
	bool quiet;	     /* no line about where the files are */
	bool told_to_stop;   /* by a signal, or as the command has ended */
	bool at_once;	     /* told to stop without waiting for live processes */
	bool orphaned;	     /* our launcher, or agent 0, is gone: nobody to collate with */
	bool several;	     /* it joins other agents over TCP (--peers, --listen, --expect) */
	bool joining;	     /* it does not know all of them yet: host.transport is NULL */
	bool have_met;	     /* all of them have met, or will never */
	bool news;	     /* the proxy has messages of them (proxy_bell()) */
	unsigned expect;     /* processes that have to come, on all nodes (--expect) */
	bool abort_on_death; /* if a process of a session dies, the others are to end, too */
	double within_s;     /* longest wait for the expected ones; 0: for ever */
	bool partial; /* of what --expect asks for, agents, processes or records are missing */
	bool nothing_traced;  /* in the results of the job there is no call and no stack sample */
	struct in_step *step; /* of FORM_STEP, else NULL */
	pid_t command;	      /* COMMAND, 0: none or ended */
	int command_status;   /* as from waitpid() */
	int asked_to_end;     /* the last signal that came and may end the processes; 0: none */
	uint64_t asked_at;    /* raw ns: when one was looked at last; 0: never */
	char *standstill;     /* as a signal that ends came (standstill.h), or NULL */
	bool has_deadlock;    /* standstill tells of one */
	uint64_t quiet_since; /* raw ns; 0: processes are attached */
	uint64_t stop_since;  /* raw ns of told_to_stop with processes alive */
};

/* The agent of this host. */
static inline struct agent *agent_of(struct host *host)
{
	return (struct agent *)(void *)((char *)host - offsetof(struct agent, host));
}

/* Exit status where COMMAND was not run, as of env(1), nice(1) and timeout(1). */
#define OWN_FAILURE 125

#endif
