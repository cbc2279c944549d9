/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of the in-step form. */
#ifndef VFTR_NODEAGENT_AGENT_STEP_INTERNAL_H
#define VFTR_NODEAGENT_AGENT_STEP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nodeagent/net/tcp/tcp.h"
#include "nodeagent/agent/step/step.h"

/* Packets between parent and agent. */
enum in_step_kind {
	IN_STEP_READY,	/* from the agent: start COMMAND */
	IN_STEP_ENDED,	/* to the agent; value: status as from waitpid() */
	IN_STEP_WAIT,	/* from the agent: wait so many seconds more */
	IN_STEP_LET_GO, /* from the agent: do not wait */
	IN_STEP_HURRY,	/* to the agent: the step is going to be ended */
};

struct in_step_message {
	int32_t kind, value;
};

/* A task of this node, from the list. */
struct task {
	int pid, rank;
	int pidfd; /* -1: ended, or the kernel has none */
	bool ended;
};

/* The meeting of the agents of several nodes: meet.c. */
struct meeting {
	char *folder, *secret;
	bool lead;
	unsigned announced; /* tasks of this node, as our contact says */
	char *contact;	    /* NULL: not listening yet */
	bool joined;	    /* the proxy has begun to join */
	uint64_t since;	    /* raw ns */
	char *error;
};

struct agent;

struct in_step {
	struct step step;
	int link; /* to the parent, or to the agent; -1 */
	pid_t parent;
	char *list;  /* path of the tasks' list */
	char *first; /* path of the file that names the first task, or NULL */
	struct task *tasks;
	size_t n_tasks, cap_tasks;
	long list_read;	       /* bytes of it */
	uint64_t list_read_at; /* raw ns */
	bool complete;	       /* all tasks of this node are in the list */
	bool own_ended;	       /* COMMAND of the parent */
	int own_status;
	uint64_t own_ended_at, ready_at, hurried_at, all_ended_at; /* raw ns */
	uint64_t told_at; /* raw ns, when the parent was last told to wait */
	bool let_go;
	bool aborted; /* results were written for a process in MPI_Abort */
	void (*save)(struct agent *a, bool wait); /* results so far */
	struct tcp_options tcp;
	struct meeting meeting;
};

struct launch;

/* in-step.c: the list of tasks. */
#define IN_STEP_FAILED "failed\n" /* a line of it: there will be no agent */
void in_step_append(const char *list, const char *line);

/* leftovers.c: removes files of steps in this folder that are over without having removed them. */
void in_step_sweep(const char *runtime_dir);

/* parent.c: runs COMMAND when the agent is ready; ends with COMMAND's status. */
_Noreturn void in_step_parent(
	const struct in_step *s, const struct launch *l, const char *session, pid_t agent);

/* meet.c. prepare: sets the options that the proxy needs from the start. */
void meeting_prepare(struct agent *a, struct in_step *s);
/* Goes on with the meeting, and sets meeting->joined. Returns the seconds until the next call. */
double meeting_tick(struct agent *a, struct in_step *s);
/* Removes the files of the meeting. */
void meeting_end(const struct in_step *s);

#endif
