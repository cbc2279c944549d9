/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent of a node: what its parts share. One thread runs everything; the
 * parts are loop (events), process (one traced process), drain + replay
 * (records), gather (profiles), finish (files, collation).
 */
#ifndef VFTR_NODEAGENT_AGENT_H
#define VFTR_NODEAGENT_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "nodeagent/clocks.h"

/* Seconds, where somebody is asked when to be called again: nothing is due. */
#define NEVER_S 3600.0

struct budget;
struct callers;
struct clock_sync;
struct conf;
struct counter_watch;
struct in_step;
struct gathering;
struct matching;
struct peer;
struct pids;
struct profile;
struct process;
struct process_past;
struct ring_store;
struct sampling;
struct symcache;
struct sync;
struct warning_kind;

struct agent {
	struct conf *conf;
	const char *output_directory; /* absolute */
	char *session;
	char *socket_path;
	char *lock_path;
	char *host;
	uint64_t run; /* a number for all files of this run; 0: not known */
	int lock, listener, epoll, signals;
	struct clocks clocks;
	struct symcache *symbols;
	struct counter_watch *counters; /* of hardware: counters.h */
	struct budget *budget;		/* budget.h; NULL until it looks */
	struct process *processes;	/* that have said HELLO, newest first */
	struct process *live;		/* of those, who have not ended, or only just */
	struct callers *callers;	/* callers.h: before HELLO; NULL until the first came */
	bool callers_ended;		/* some of them */
	struct pids *pids;		/* pids.h; NULL until a process has said HELLO */
	unsigned n_live, n_ever;
	unsigned lost_processes;    /* that have given up before the agent could answer */
	struct process_past *past;  /* process-past.h; NULL until thousands have ended */
	struct gathering *gathered; /* gather.h: the books of those that were let go, or NULL */
	bool has_main_job;	    /* of MPI: whose ranks the outputs number ... */
	uint64_t main_job;	    /* ... and which */
	/* children of forks that were announced, and that have connected */
	uint64_t forks_announced, children_seen;
	uint64_t first_start_ticks; /* of all processes */
	uint64_t heard_raw_ns;	    /* what is heard of now has happened since */
	struct sync *sync;	    /* who waits in collective calls; with mpi.show_sync_time */
	struct sampling *sampling;  /* sampling.h; NULL without sampling.active */
	struct matching *matching;  /* matching.h; NULL until a process has a rank */
	char *contact;		    /* how other agents reach this one (contact.h), or NULL */
	struct peer *peer;	    /* the other agents, or NULL */
	struct clock_sync *clock;   /* against the others' (siblings_clock()), or NULL */
	struct profile *adopted;    /* left by agents that processes started (adopt.h) */
	int64_t start_s;	    /* UNIX time */
	double start_exact_s;	    /* the same */

	/* what it costs */
	uint64_t start_raw_ns, drained_bytes, wakeups;
	struct ring_store *rings; /* ring-store.h */
	char *place;
	double spent_s; /* CPU time of copies that wrote results (interim.h) */

	pid_t interim;	      /* one that is writing, or 0 */
	uint64_t interim_due; /* raw ns */

	/* when to stop */
	bool embedded;	      /* started by a traced process */
	bool quiet;	      /* no line about where the files are */
	bool told_to_stop;    /* a signal, or the command ended */
	bool at_once;	      /* ... and live processes are not waited for */
	bool in_company;      /* no command, not embedded: a launcher may have started others */
	bool sibling;	      /* started by the agent that runs the command, with others */
	bool orphaned;	      /* ... but our launcher is gone: there is nobody to collate with */
	bool several;	      /* joins others over TCP (--peers, --listen, --expect) */
	bool joining;	      /* ... who are not all known yet: peer is NULL */
	bool news;	      /* ... of whom the courier has some (courier_bell()) */
	unsigned expect;      /* processes that have to come, on all nodes (--expect) */
	bool abort_on_death;  /* of a process in a session: the others are to end, too */
	double within_s;      /* so long they are waited for; 0: for ever */
	bool partial;	      /* of those, or of their data, something is missing */
	struct in_step *step; /* in-step.h; NULL: another form */
	pid_t command;	      /* of the everyday form, 0: none or ended */
	int command_status;   /* as from waitpid() */
	uint64_t quiet_since; /* raw ns; 0: processes are attached */
	uint64_t stop_since;  /* raw ns of told_to_stop with processes alive */
	uint32_t refused_version; /* of the library of a process that was told so, or 0 */
	char **warnings;	  /* warn.c */
	size_t n_warnings, cap_warnings;
	struct warning_kind *warning_kinds;
	size_t n_warning_kinds, cap_warning_kinds;
	unsigned more_warnings; /* that are not in the list */
	unsigned unkept_said;	/* of kinds that are not, on standard error */
};

/* Present time in the ticks that records carry. */
static inline uint64_t agent_ticks(const struct agent *a)
{
	return clocks_ticks(&a->clocks);
}

/* A sentence for the logs. Also on stderr if it is urgent. */
void agent_warn(struct agent *a, bool urgent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Forgets all of them: where one run follows another in one process. */
void agent_warnings_free(struct agent *a);

/* loop.c: serve until it is time to stop. */
void agent_serve(struct agent *a);
/* Watch a descriptor; the tag says what it is (loop.c). */
/* Exit status where COMMAND was not run, as of env(1), nice(1) and timeout(1). */
#define OWN_FAILURE 125

enum watch_kind {
	WATCH_LISTENER,
	WATCH_SIGNALS,
	WATCH_SOCKET,
	WATCH_PIDFD,
	WATCH_BELL,
	WATCH_SUPERVISOR,
	WATCH_COMMAND,
	WATCH_STEP
};
int agent_watch(struct agent *a, int fd, enum watch_kind kind, struct process *p);
/* What the agent cannot be without; where that fails it ends with a sentence. */
void agent_must_watch(struct agent *a, int fd, enum watch_kind kind);
/* No more events of *fd, which copies of the agent may still have open; closes it, sets it to -1.
 */
void agent_close(struct agent *a, int *fd);

#endif
