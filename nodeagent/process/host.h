/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host whose processes are traced: the state that all of them share, and the services
 * that their readers need. Each agent (agent/roles/agent.h) has one, and says when to begin
 * and stop. For one thread.
 */
#ifndef VFTR_NODEAGENT_PROCESS_HOST_H
#define VFTR_NODEAGENT_PROCESS_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "nodeagent/base/result-files.h"
#include "nodeagent/clock/ticks.h"

/* Seconds until the next call of a tick function: nothing is due. */
#define NEVER_S 3600.0

struct machine;
struct overhead;
struct callers;
struct clock_sync;
struct collectives;
struct conf;
struct counter_watch;
struct gathering;
struct matching;
struct mismatches;
struct transport;
struct pids;
struct process;
struct process_observer;
struct ended_process;
struct attached;
struct ring_store;
struct recorder;
struct round_times;
struct sampler;
struct symcache;
struct sync;
struct warning_kind;

#define FUNCTION_SWITCHES_MAX 16u
#define FUNCTION_NAME_BYTES   256u

/* The user's last order about the functions of this name. */
struct function_switch {
	char name[FUNCTION_NAME_BYTES]; /* as it is shown, or the linker's; empty: all recording */
	uint64_t stamp;	    /* UNIX time in ns of the order; an older one changes nothing */
	uint32_t off;	    /* 1: not to be recorded */
	uint32_t functions; /* that are switched by it on this node */
};

/* The last request that what the flight recorder keeps is written, and what became of it. */
struct record_request {
	uint64_t stamp; /* UNIX time in ns, by which nodes know it; 0: there was none */
	enum request_state state;
	char file[FUNCTION_NAME_BYTES]; /* of this node, its end if it is long; or empty */
};

struct host {
	struct conf *conf;
	const char *output_directory; /* absolute */
	char *name;
	const struct machine *machine; /* the hardware of this host, or NULL */
	uint64_t run;		       /* a number for all files of this run; 0: not known */
	bool was_ended;		       /* from outside, while processes still ran or hung */
	bool no_exchange; /* at the end: no agent has anything for those of other nodes */

	/* by which its processes find the agent: rendezvous.h */
	char *session;
	char *socket_path;
	char *lock_path;
	int lock, listener;
	int epoll, signals;

	struct clocks clocks;
	struct symcache *symbols;
	double sources_s; /* that the search for source lines of functions may still take */
	struct counter_watch *counters; /* of hardware: counters.h */
	struct ring_store *rings;	/* rings.h */
	struct sync *sync;		/* waits in collective calls; with mpi.show_sync_time */

	struct process *processes; /* that have said HELLO, newest first */
	struct process *live;	   /* those that have not ended, or only just */
	struct callers *callers;   /* callers.h: before HELLO; NULL until the first came */
	bool callers_ended;	   /* some callers have ended */
	struct pids *pids;	   /* pids.h; NULL until a process has said HELLO */
	unsigned n_live, n_ever;
	unsigned n_refused;	 /* that connected, and no more: callers.c */
	unsigned lost_processes; /* processes that gave up before the agent answered */
	struct ended_process *ended_processes; /* ended.h; NULL until thousands have ended */
	struct mismatches *mismatches;	       /* regions.h: of those that were let go; or NULL */
	bool has_main_job;		       /* an MPI job: its ranks are those in the outputs */
	uint64_t main_job;		       /* that job, if so */
	char *mpi_library;		       /* as the first rank has called it, or NULL */
	/* children of forks that were announced, and that have connected */
	uint64_t forks_announced, children_seen;
	uint64_t n_taken_over;	    /* processes that had another agent before */
	uint64_t first_start_ticks; /* of all processes */
	struct round_times *rounds; /* of a session: rounds.h; NULL until one has begun */
	/* drain_off_cpu_tick(): when it may, and when it must look again */
	uint64_t off_cpu_least_ns, off_cpu_due_ns;
	uint64_t off_cpu_bytes; /* drained_bytes at the last look ... */
	unsigned off_cpu_vain;	/* ... and looks since they have changed */
	uint64_t heard_raw_ns;	/* earliest time of the events that are read now */

	/* the observers of processes (observer.h), ended by NULL; or NULL: there are none */
	const struct process_observer *const *observers;
	/* Keeps results of another run that are in the way of a sampling file, and others from
	 * coming there until the end; agent/results/older-results.h has both. NULL: nobody does. */
	int (*keep_older)(struct host *host, const char *base);
	void (*keep_end)(struct host *host, int *lock);
	int results_lock; /* a descriptor while files are written, or -1 */
	/* True while the sampling file is written more slowly than rings are read; or NULL. */
	bool (*is_behind)(const struct host *host);
	uint32_t
		last_words_ms; /* longest wait of a process for the answer to BYE; 0: it does not */

	/* what rooms above keep here; NULL: not in use */
	struct function_switch switches[FUNCTION_SWITCHES_MAX]; /* agent/overhead.h */
	size_t n_switches;
	struct function_switch pause;	 /* live/exchange/pause.c; off: recording is paused */
	struct record_request request;	 /* recorder/request.c */
	struct sampler *samplers;	 /* live/sample/sample.h */
	struct overhead *overhead;	 /* agent/overhead.h; NULL until it begins */
	struct gathering *gathered;	 /* gather.h: numbers of processes that were let go */
	struct recorder *recorder;	 /* recorder/recorder.h; with sampling.active */
	struct matching *matching;	 /* matching.h; NULL until a process has a rank */
	struct filter *filter;		 /* filter/filter.h; NULL until the first thread */
	struct stacks *stacks;		 /* stack/stack.h; NULL until a process is sampled */
	struct attached *attached;	 /* attach/attach.h; NULL: processes connect themselves */
	struct collectives *collectives; /* collectives.h; NULL until they were compared */

	/* the other hosts */
	struct transport *transport; /* their agents, or NULL */
	struct clock_sync *clock;    /* against theirs (peers_clock()), or NULL */

	/* what the agent costs, and since when */
	int64_t start_s;      /* UNIX time */
	double start_exact_s; /* the same */
	bool by_process;      /* a process that had found no agent has started this one */
	uint64_t start_raw_ns, drained_bytes, wakeups;
	char *affinity; /* the CPUs of the agent (affinity.h) */
	double spent_s; /* CPU time of copies that wrote results (snapshot.h) */

	uint32_t refused_version; /* of the library of a process that was refused, or 0 */

	char **warnings; /* warnings.c */
	size_t n_warnings, cap_warnings;
	struct warning_kind *warning_kinds;
	size_t n_warning_kinds, cap_warning_kinds;
	unsigned more_warnings; /* number of those that are not in warnings[] */
	unsigned unkept_said;	/* of kinds not in warning_kinds[]: printed on standard error */
};

/* Present time in the ticks that records carry. */
static inline uint64_t host_ticks(const struct host *host)
{
	return clocks_ticks(&host->clocks);
}

/* warnings.c: a sentence for the logs. Also on stderr if it is urgent. */
void host_warn(struct host *host, bool urgent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * The time of day of a UNIX time in ns, as text for a warning: all nodes print the same for one
 * order.
 */
#define HOST_CLOCK_BYTES 16
void host_clock_text(char text[HOST_CLOCK_BYTES], uint64_t stamp);
/* Frees all warnings: for several runs in one process (tests). */
void host_warnings_free(struct host *host);

/* The path of this host's result of that kind, or of the job's; base: result_base(). The caller
 * frees. */
static inline char *host_result(const struct host *host, const char *base, enum result_kind kind)
{
	const bool of_job =
		kind == RESULT_SUMMARY || kind == RESULT_PROFILE || kind == RESULT_REPORT;
	const struct result r = {base, kind, of_job ? NULL : host->name, NULL};

	return result_path(result_layout(host->conf), host->output_directory, &r);
}

/* The object of an event. */
enum watch_kind {
	WATCH_LISTENER,
	WATCH_SIGNALS,
	WATCH_SOCKET,
	WATCH_PIDFD,
	WATCH_BELL, /* proxy_bell() */
	WATCH_SUPERVISOR,
	WATCH_COMMAND,
	WATCH_STEP
};

/* watch.c: events of fd come to the agent's loop, with kind and process (aligned to 8 bytes at
 * least). 0, or -errno. */
int host_watch(struct host *host, int fd, enum watch_kind kind, struct process *p);
/* No more events of *fd, which copies of the agent may still have open; closes it, sets it to -1.
 */
void host_close(struct host *host, int *fd);

#endif
