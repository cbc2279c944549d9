/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts with a command: vftr-node-agent [options] -- COMMAND [ARGS...] */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCH_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct agent;
struct conf;

/*
 * Lines on an agent's standard output, for the front (launch_distributed()). AGENTS_READY is of
 * agent 0: all agents have met.
 */
#define AGENTS_READY "vftr-agents-ready"
/* Before AGENTS_READY, if Slurm has started the agents; their nodes follow, as "node[1-3]". */
#define AGENTS_NODES "vftr-agents-nodes "
/* An agent has failed, with a message. */
#define AGENTS_FAILED "vftr-agents-failed"
/* The message with which --require-profile makes a run fail. */
#define REQUIRED_PROFILE                                                                           \
	"COMMAND has ended with status 0, but there is no profile of all of it, which "            \
	"--require-profile asks for"
/* At the end: no process has connected to any of the agents. */
#define AGENTS_UNTRACED "no process was traced"

enum preload {
	PRELOAD_NO,
	PRELOAD_YES,
	PRELOAD_AUTO /* where it may help: launch_settle_preload(); a missing library is no error */
};

struct launch {
	char **command; /* NULL-terminated */
	enum preload preload;
	bool attach_at_start;	    /* a preloaded process attaches at its start, not at an event */
	bool python;		    /* functions of Python are recorded */
	bool files;		    /* libvftrace-files.so is preloaded, too */
	bool memory;		    /* libvftrace-memory.so is */
	bool locks;		    /* libvftrace-locks.so is */
	bool lenient;		    /* --lenient, which the agents of other nodes get, too */
	bool require_profile;	    /* --require-profile: success without a profile is a failure */
	const char *agent_launcher; /* --agent-launcher, or NULL */
	const char *annotations;    /* value of the key "annotations" */
	const char *program;	    /* path of this executable */
	const char *started;	    /* how the run was started, for the agents of other nodes */
};

/* True if COMMAND starts processes on other nodes, too. */
bool launch_is_distributed(const struct launch *l);

/*
 * Decides about PRELOAD_AUTO: it becomes PRELOAD_NO for a program that is linked with our library
 * and needs no other one, and for a shell script, which may start such a program. Copies from the
 * configuration what processes have to know before they attach. With profile.sample CONF_AUTO,
 * instrumented programs attach at their first event, and so do the commands of a script, as most of
 * them are short.
 */
void launch_settle_preload(struct launch *l, const struct conf *conf);

/* True if COMMAND shows which MPI its processes use; a script does not. */
bool launch_names_mpi(const struct launch *l);

/*
 * Makes this process the supervisor, whose child COMMAND will be, and returns in another child,
 * the agent, which has yet to call supervised_run(). nodes: NULL, or a text in memory that both
 * share, to be filled before that: the nodes on which srun is to start the processes; "": those
 * that it chooses. bereaved and ctx as in supervisor.h. On an error prints it and exits with 125.
 */
void launch_supervised(const struct agent *a, const struct launch *l, const char *nodes,
	bool (*bereaved)(void *ctx), void *ctx);

/* Makes a summary when the agents of these hosts have ended: salvage_summary(), salvage.h. */
typedef bool launch_salvage(struct agent *a, const char *hosts, bool orphans);

/*
 * The front, for several nodes: starts the agents, then COMMAND, waits for both and makes
 * sure that there is a summary. Returns 0, 1 without a summary, or 125: COMMAND was not run. The
 * supervisor has COMMAND's status.
 */
int launch_distributed(struct agent *a, const struct launch *l, const char *config, char **set,
	int n_set, launch_salvage *salvage);

/* The value of LD_PRELOAD that launch_supervised() gives to COMMAND's processes, or NULL. */
const char *launch_preloads(void);

/*
 * Used by launch_supervised() and launch_distributed(). Sets our environment; *pass gets the
 * variables that a launcher must pass on. Sets *error if something is missing.
 */
struct arguments;
void launch_environment(
	const struct launch *l, const char *session, struct arguments *pass, char **error);
/*
 * Returns the pid of a child that runs argv, or -1 with an errno in *exec_error. The child gets the
 * signal when_we_die (0: none) when this process ends.
 */
pid_t launch_child(char *const *argv, int when_we_die, int *exec_error);
/* Executes argv in this process, with the signals of the start; returns an errno on failure. */
int launch_exec(char *const *argv);
/* To be called first in main. Remembers the signals, the limit of open files, and which of
 * standard input, output and error are closed (here they become /dev/null): children start so. */
void launch_remember(void);
/* True if this signal was ignored at that time. */
bool launch_ignored(int signal);
/* Closes the files that were open at that time, except standard input, output and error. */
void launch_close_inherited(void);

/* 0..255 for exit, 128+n for signal n. */
int launch_exit_status(int wait_status);
/* Of a command that cannot be executed, with this errno (0: not known): as shells have it. */
int launch_not_run_status(int error);

#endif
