/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampling files in the formats of other viewers, and profiles as tables. A format is a row of
 * export_formats[] and a file NAME.c; it is given one event after the other, in the order of
 * time, and never keeps them: memory does not depend on how long the trace is, only on how many
 * threads, call paths and unfinished messages there are. The output has a temporary name until it
 * is complete. All functions are for one thread.
 */
#ifndef VFTR_NODEAGENT_EXPORT_EXPORT_H
#define VFTR_NODEAGENT_EXPORT_EXPORT_H

#include <stdio.h>

#include "mpi_id.h"
#include "nodeagent/base/map.h"
#include "nodeagent/trace/read/file.h"
#include "shm/construct.h"

#define EXPORT_NONE UINT32_MAX

/* A process. In the order of jobs and ranks; those without a rank are the last. */
struct export_process {
	/* number: in the file; VFD_NONE: the process of threads whose own one is damaged */
	uint32_t file, number;
	int32_t rank; /* in its job, or -1 */
	uint64_t job;
	int32_t shown; /* the number of this rank in all jobs, as logs have it; or -1 */
	const char *host;
	uint32_t node;			/* number of the host */
	uint32_t id;			/* the id of its first thread */
	char *name;			/* "rank 3 (node1, pid 17) heat" */
	uint32_t first_thread, threads; /* in threads[] */
};

/*
 * A thread. process: index into processes[]; number: in the process, as in struct vfd_thread; id:
 * from 1, each once in the trace, where a tid may come twice.
 */
struct export_thread {
	uint32_t file, track, process, number, id;
	uint64_t start, end; /* ns, as export_event.time; end: of the recording, if it was never
				seen to end */
	char *name;	     /* "thread 0", "thread 2 OpenMP 1", or "GPU 0 stream 1.7" */
	bool stream;	     /* of a GPU */
	uint32_t region;     /* of a stream: its name as a region, the root of its flame graph */
};

/* A function that is called; functions of the same kind, name and module are one. */
struct export_region {
	const char *name, *module; /* name: UTF-8; module: path or NULL */
	char *cleaned;		   /* the name, if it had to be made UTF-8 */
	char *file;		   /* where it begins in the source: UTF-8, or NULL */
	uint32_t line;		   /* in the file, from 1 */
	enum vfd_function_kind kind;
	enum mpi_family family;	  /* MPI */
	uint32_t mpi;		  /* MPI: index in vftr_mpi_names, if it is known */
	enum construct construct; /* OPENMP */
	bool on_gpu;		  /* it ran in a stream */
};

/* A counter; those of the same name, unit and kind, in several files and processes, are one. */
struct export_counter {
	const char *name, *unit; /* never NULL; unit "": a number */
	enum vfd_counter_kind kind;
};

/* A job of MPI: what ranks of the world are ranks of. */
struct export_job {
	uint64_t number;
	uint32_t size; /* ranks, or 0 */
};

/* A communicator; the parts of it in several files are one. */
struct export_comm {
	const struct vfd_comm *comm;
	const char *name; /* never NULL */
	uint32_t job;	  /* in jobs[], that its ranks are of; 0, too, if that is not known */
};

enum export_kind {
	EXPORT_ENTER,
	EXPORT_EXIT,	 /* of the last call of the thread that is still open */
	EXPORT_BEGIN,	 /* of a communication */
	EXPORT_END,	 /* the same communication again, when it ended */
	EXPORT_GAP,	 /* nothing was recorded since the thread's event before */
	EXPORT_THINNED,	 /* count calls were left out, to keep the size of the file */
	EXPORT_LOST,	 /* count calls were not recorded */
	EXPORT_COUNTERS, /* values; sums are those at the thread's next call or exit */
	EXPORT_FLOW	 /* only of a walk without calls: one end of an arrow */
};

struct export_message {
	struct vfd_message m; /* track: index into threads[] */
	uint64_t start, end;  /* ns, as export_event.time; start <= end */
	uint64_t flow;	      /* the same at both ends; 0: the other one is not known */
	uint32_t comm;	      /* in comms[], or EXPORT_NONE */
	uint32_t peer;	      /* m.peer as a rank of the communicator, or VFD_NONE */
	uint32_t region;      /* that posted it */
	uint64_t number;      /* of the communication in this walk, from 0; the same at BEGIN and
				 END */
};

struct export_counts {
	uint32_t n;
	const uint32_t *counters; /* indices into counters[] */
	const uint64_t *values;	  /* their bits, by the kind: unsigned, signed, double */
};

/* One end of the arrow from a call to what it has started on a GPU. */
struct export_flow {
	bool out; /* the end at the call; else at what it started */
	enum vfd_launch_kind kind;
	uint64_t flow;			  /* the same at both ends */
	uint64_t bytes;			  /* copied or set */
	const struct export_thread *from; /* of the call */
};

/* An event; what it points to is valid while the format is given it. */
struct export_event {
	enum export_kind kind;
	uint64_t time; /* ns since the start of the trace, never less than of the event before */
	const struct export_thread *thread;
	uint32_t region; /* ENTER, EXIT */
	bool sampled; /* ENTER: time is the begin of a gap, the call was later: trace/read/file.h */
	uint32_t stack;			      /* ENTER: for export_caller() */
	uint64_t count;			      /* THINNED, LOST: calls */
	const struct export_message *message; /* BEGIN, END */
	const struct export_counts *counts;   /* COUNTERS */
	const struct export_flow *flows;      /* ENTER: those that begin or end there; FLOW: one */
	size_t n_flows;
};

struct export_options {
	const char *ranks, *output, *base; /* or NULL */
	struct vfd_span span;
	bool sum, mangled, quiet; /* quiet: only what is wrong is said */
	bool may_be_empty;	  /* speedscope: a result without calls is no error */
	bool damage_told;	  /* by an earlier run */
	size_t *n_left_out;	  /* is set to the number of processes that the format has no place
				   * for; or NULL */
	FILE *into;		  /* gets the output in place of a file, and stays open; or NULL */
	size_t bytes_most;	  /* into: writing ends soon after so many bytes, as if there
				   * were no more events; 0: no limit */
};

struct exporter {
	const struct export_options *options;
	struct vfd_file **files;
	size_t n_files;
	const char *base; /* name of the run */
	struct export_process *processes;
	struct export_thread *threads;
	struct export_region *regions;
	struct export_comm *comms;
	struct export_counter *counters;
	struct export_job *jobs; /* by number; with ranks that are left out */
	const char **hosts;
	size_t n_processes, n_threads, n_regions, n_comms, n_counters, n_jobs, n_hosts;
	size_t n_left_out; /* processes that the format has no place for */
	uint64_t duration; /* ns */
	int64_t start_unix_ns;

	FILE *out;	     /* the file, for formats that write one */
	char *path;	     /* the folder, for formats that fill one */
	char *error;	     /* the first one, a sentence; NULL: none */
	bool full;	     /* more than options->bytes_most were written */
	unsigned steps;	     /* of the progress bar: number of walks in all ... */
	unsigned steps_done; /* ... and of those that have ended */
	double shown;	     /* when the bar was last drawn, monotonic time, s; < 0: no bar */

	/* model.c's own */
	uint32_t **thread_of;		   /* by file and track; EXPORT_NONE: left out */
	uint32_t **region_of;		   /* by file and function */
	uint32_t **counter_of;		   /* by file and number */
	uint32_t region_init, region_lost; /* of a thread's outermost frame; of what is damaged */
	struct map64 comm_of, region_hash; /* by id, by hash of what makes them one */
	int64_t origin;			   /* the reader's time of our 0 */
	size_t cap_processes, cap_regions, cap_comms, cap_counters, cap_hosts;
};

struct export_format {
	const char *name, *suffix, *text;
	bool folder;	/* the output is a folder */
	bool by_thread; /* it wants all of one thread, then all of the next one */
	unsigned walks; /* through the files, if not by_thread */
	/* Returns the format's state; NULL only after export_fail(). */
	void *(*begin)(struct exporter *x);
	/* Takes an event. NULL: begin() has written all. */
	void (*event)(void *state, const struct export_event *e);
	/* Frees the state. good: all events were given, and the output can be completed. */
	void (*end)(void *state, bool good);
	/*
	 * Of a format for profiles, in place of these three: makes the file `to' out of a
	 * profile's JSON, vftr-profile(5); from: the path of that, for messages. Returns NULL, or
	 * what went wrong (caller frees). After a signal (export_stopped()) it makes nothing and
	 * returns NULL.
	 */
	char *(*convert)(FILE *json, const char *from, const char *to);
	bool binary; /* no text: bytes go to standard output as they are, control characters, too */
};

extern const struct export_format export_formats[];
extern const size_t export_n_formats;

/* ---- export.c */

/*
 * Exports the n files, which are of one run; base: its name. Returns 0: done; 1: done, without
 * what is damaged in the files; 2: there is no output. complain() has printed the reasons. A
 * SIGINT, SIGTERM or SIGHUP meanwhile ends it without output, and is raised again before it
 * returns.
 */
int export_run(const struct export_format *format, const struct export_options *o,
	struct vfd_file **files, size_t n, const char *base);

/* The same of a profile's JSON, by convert(); from: its path, for messages. Returns 0 or 2. */
int export_convert(
	const struct export_format *format, FILE *json, const char *from, const char *output);

/* Sets x->error to one sentence, unless it is set; walks end then. */
void export_fail(struct exporter *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- walk.c */

struct export_walk {
	const struct export_thread *thread; /* only this one; NULL: all */
	bool no_calls, no_messages;
};
/* Calls event() for each event. It ends early after an error or a signal, and if x is full. */
void export_walk(struct exporter *x, const struct export_walk *w,
	void (*event)(void *ctx, const struct export_event *e), void *ctx);
/* A handler of signals, after which walks end soon. export_stopped(): that signal, or 0. */
void export_stop(int signal);
int export_stopped(void);
/* False: there was an error, or a signal. For loops without a walk. */
bool export_goes_on(struct exporter *x);
/*
 * Draws the bar on stderr, if that is a terminal and the bar is older than 0.1 s. part: of this
 * step, 0 to 1.
 */
void export_progress(struct exporter *x, double part);

/* ---- model.c */

/* Fills processes[] to jobs[] of x from its files; x->options chooses ranks. */
void export_model_new(struct exporter *x);
void export_model_free(struct exporter *x);
/* NULL: the thread is left out. */
const struct export_thread *export_thread_of(
	const struct exporter *x, uint32_t file, uint32_t track);
/* The region of a stack of a thread: region_init of stack 0, region_lost where it is damaged. */
uint32_t export_region_of(const struct exporter *x, uint32_t file, uint32_t track, uint32_t stack);
/*
 * The stack that has called this stack of the thread; sets *region to its region. VFD_NONE: it has
 * no caller but init; then *region stays as it is. The first frame of a thread may have callers
 * that stand on another thread (OpenMP).
 */
uint32_t export_caller(
	const struct exporter *x, const struct export_thread *t, uint32_t stack, uint32_t *region);
/* A reader's time as that of events, ns; 0 if it is before the start of the trace. */
uint64_t export_time(const struct exporter *x, int64_t ns);
/* Sets *to to a message of a file; m.track stays the file's, and number is 0. */
void export_message_of(const struct exporter *x, uint32_t file, const struct vfd_message *m,
	struct export_message *to);

/* The communicator, in comms[], of a message of a file, or EXPORT_NONE. */
uint32_t export_comm_number(const struct exporter *x, uint32_t file, const struct vfd_message *m);

/* A copy with U+FFFD for each byte that is no UTF-8 (caller frees); NULL: there is no such byte. */
char *export_cleaned(const char *name);

/* ---- jobs.c */

/* Fills jobs[], and the job of each of comms[]; reads messages if there are several jobs. */
void export_find_jobs(struct exporter *x);
/* The process, in processes[], that is a rank of a job, or EXPORT_NONE. */
uint32_t export_process_of(const struct exporter *x, uint32_t job, int64_t rank);

/* ---- sources.c */

/* Sets r->file, which r owns, and r->line from a function of r, if r has no file. */
void export_find_source(struct export_region *r, const struct vfd_function *fn);

/* ---- counters.c */

#define EXPORT_COUNTS_MOST 64u

/* Adds the counters of a file to x->counters. */
void export_add_counters(struct exporter *x, uint32_t file);
/*
 * Sets *to to the values of `counts', which stay the reader's; to->counters is `counters', which
 * has room for EXPORT_COUNTS_MOST.
 */
void export_counts_of(const struct exporter *x, uint32_t file, const struct vfd_counts *counts,
	uint32_t *counters, struct export_counts *to);
/* The value of a real counter; 0 if it is infinite or NAN. */
double export_real(uint64_t value);

/* ---- text.c: words for messages */

/* "send", "receive", "MPI_Bcast", "write" ...; static. */
const char *export_message_name(const struct export_message *m);
/*
 * For formats that show a communication once. e: BEGIN or END. True at the end of a receive, and
 * at the begin of any other.
 */
bool export_shows_message(const struct export_event *e);
/* "calls lost": a static text for GAP, THINNED and LOST. */
const char *export_mark_name(enum export_kind kind);
/* "exact" ...: how a receive was matched, static; NULL of what is no receive. */
const char *export_match_name(const struct export_message *m);
/* A JSON string with its quotes. Caller frees. */
char *export_quoted(const char *text);

#endif
