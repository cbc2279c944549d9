/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent with a command is three processes. The supervisor is the one whose pid the caller
 * has: it does nothing but wait for the two others and pass signals on. COMMAND and the
 * agent (or the front of several nodes' agents) are its children, so that its status is
 * COMMAND's whatever happens to the agent. supervisor.c is the supervisor's side,
 * supervised.c the agent's.
 */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_SUPERVISOR_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

struct agent;

struct supervision {
	/* COMMAND, in the supervisor, when it is to run with our environment. */
	char *const *(*command)(void);
	/* Longest time without a sign of the agent, at the start and at the end. After it, COMMAND
	 * is run without the agent, or the supervisor ends before the agent; a message says so. */
	double patience_s;
	/* Called in a new child, after COMMAND, if a signal ended the agent while COMMAND ran:
	 * makes a summary of what other agents have, or returns false. May be NULL. */
	bool (*bereaved)(void *ctx);
	void *ctx;
	/* If COMMAND has ended with 0 and the agent not, the status is 125, with a message. */
	bool require_profile;
};

/* A packet between the two. */
enum supervision_kind {
	SUPERVISION_RUN,     /* from the agent: start COMMAND */
	SUPERVISION_STARTED, /* value: its pid; with its pidfd, if the kernel has them */
	SUPERVISION_ENDED,   /* value: as from waitpid() */
	SUPERVISION_SIGNAL,  /* before ENDED: this signal has come, which may end COMMAND */
	SUPERVISION_HURRY,   /* after ENDED: SIGTERM or a signal like it has come */
	SUPERVISION_REPLACE, /* from a copy of the agent, which was killed; value: its pid */
	SUPERVISION_WRITTEN, /* from that copy: the results are there, as it has said */
};

struct supervision_message {
	int32_t kind, value;
};

/*
 * Forks. Returns 0 in the child, which becomes the agent, in a process group of its own
 * and without standard input: it calls supervised_run() when processes can connect, or
 * exits, and then its status is the supervisor's and COMMAND is not run. -1 and errno: nothing
 * was done. The parent does not return: it exits with COMMAND's status as the shell's, or
 * 126 or 127 where COMMAND cannot be executed (and says why).
 * To be called before any thread is created, after launch_remember().
 */
int supervise(const struct supervision *s);

/* In the child: the last part of supervise(). */
void supervised_begin(int link);

/*
 * The agent's side: has the supervisor start COMMAND, and sets a->command. 0, or -1: COMMAND
 * cannot be run; the supervisor has printed why, and the agent ends without a message.
 */
int supervised_run(struct agent *a);

/*
 * Descriptors to watch (-1: none), and the functions to call when they can be read. Then
 * a->command is 0 and a->command_status set if COMMAND has ended.
 */
int supervised_link(void);
int supervised_end(void);
void supervised_news(struct agent *a);
void supervised_ended(struct agent *a);

/* True while the agent has a supervisor, which tells it to end: signals do not. */
bool supervised_is(void);

/* In a copy of the agent, which was killed: from now on it is the one that the supervisor waits for
 * and tells when COMMAND ends, also if that was told before. */
void supervised_replace(void);
/* In the same: it has written the results, and said so. */
void supervised_has_written(void);

/* In a process between the two, as a proxy: closes the link, which is for the agent alone. */
void supervised_leave(void);

/* Without a supervisor and where the kernel has no pidfds: finds out whether COMMAND lives. */
void supervised_look(struct agent *a);

#endif
