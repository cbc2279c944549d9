/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads sampling files, vftr-vfd(5): complete ones, those of a crash, and those that
 * are still being written. The bytes are untrusted: damaged parts are noted and left
 * out, and never give a wrong index. Everything returned is owned by the file
 * and valid until vfd_close(). Times are ns since the start of the job, of all
 * its nodes, corrected by the file's clock sync points; an event before it is negative.
 */
#ifndef VFTR_NODEAGENT_TRACE_READ_FILE_H
#define VFTR_NODEAGENT_TRACE_READ_FILE_H

#include "nodeagent/trace/types.h"

struct map64;
struct vfd_file;

/* NULL and *error = "PATH: cause" (caller frees) if it is no sampling file or
 * nothing in it can be read. */
struct vfd_file *vfd_open(const char *path, char **error);
/* The same from memory, which must stay; name is for messages. */
struct vfd_file *vfd_open_bytes(const void *bytes, size_t n, const char *name, char **error);
void vfd_close(struct vfd_file *f);
/*
 * For files of one run, before they are read together: shifts the times of those without
 * sync points by the UNIX clocks, relative to the first file.
 */
void vfd_line_up(struct vfd_file *const *files, size_t n);

struct vfd_facts {
	const char *path, *host, *application, *writer;
	uint64_t bytes;			    /* of the file when it was opened */
	uint64_t blocks, samples, messages; /* readable; samples: enters and exits */
	uint64_t matches;		    /* records of MATCHES: senders of messages */
	uint64_t counts;		    /* records with values of counters */
	uint64_t launches;		    /* starts of activities on GPUs by calls */
	uint64_t unknown_blocks;	    /* of kinds that a later writer knows */
	uint64_t block_bytes[16];	    /* by enum vfd_kind, with headers */
	int64_t start_unix_ns;		    /* of the agent */
	int64_t job_unix_ns;		    /* of the job: time 0 */
	int64_t start, end;		    /* of the recording */
	int64_t interval_ns;		    /* 0: everything was recorded */
	uint64_t run;			    /* the number of the run; 0: not known */
	uint64_t max_size;		    /* 0: no limit */
	double ns_per_unit;
	bool closed;	   /* its writer has finished it */
	bool synchronised; /* there are clock sync points */
	bool thinned;	   /* calls were left out to keep max_size */
	uint64_t thinned_calls, lost_calls;
	int64_t clock_error_ns; /* greatest half width of its sync points */
};

const struct vfd_facts *vfd_facts(const struct vfd_file *f);

/* Bytes [from, to) are unreadable. why: a sentence. In the order of the file. */
struct vfd_damage {
	uint64_t from, to;
	const char *why;
};
const struct vfd_damage *vfd_damage(const struct vfd_file *f, size_t *n);

/* Arrays by number, track, function number. An element whose own number is VFD_NONE is undefined.
 */
const struct vfd_process *vfd_processes(const struct vfd_file *f, size_t *n);
const struct vfd_thread *vfd_threads(const struct vfd_file *f, size_t *n);
const struct vfd_function *vfd_functions(const struct vfd_file *f, size_t *n);
/* Stacks of one track, by number; [0] is the root. */
const struct vfd_stack *vfd_stacks(const struct vfd_file *f, uint32_t track, size_t *n);
/* All communicators, in no order; the one with a number, or NULL; the world rank of a rank in
 * one, or VFD_NONE. remote: the rank is of the remote group. */
const struct vfd_comm *vfd_comms(const struct vfd_file *f, size_t *n);
const struct vfd_comm *vfd_comm(const struct vfd_file *f, uint32_t number);
uint32_t vfd_comm_rank(const struct vfd_comm *c, uint32_t rank, bool remote);
/* Of a run's member number `at`, if its rank is not known, its number on the other side; VFD_NONE:
 * its rank is known. others: members before the run of which nothing is said. */
uint32_t vfd_run_other(const struct wire_run *run, uint64_t at, uint64_t others);
/* The rank in another job of a member that has none in the process's own, if a link of the
 * communicator tells it. rank: in the communicator, of its remote group if it has one. place: its
 * number on the other side. False: it is not known. */
bool vfd_comm_other(const struct vfd_file *f, const struct vfd_comm *c, uint32_t rank,
	uint64_t *job, uint32_t *world);
bool vfd_comm_other_at(const struct vfd_file *f, const struct vfd_comm *c, uint32_t place,
	uint64_t *job, uint32_t *world);
const struct vfd_object *vfd_object(
	const struct vfd_file *f, enum wire_object_kind kind, uint32_t number);

/* Rounds of a session, as many as *n says; the caller frees. */
struct vfd_round *vfd_rounds(const struct vfd_file *f, size_t *n);
/*
 * The time of a round in files of one run: from its begin, or the file's for round 1, to the
 * begin of the next one. False if there is no such round.
 */
struct vfd_span {
	bool from_set, to_set;
	int64_t from, to; /* [from, to) */
};
bool vfd_round_span(
	struct vfd_file *const *files, size_t n, uint64_t number, struct vfd_span *span);
/* Reads the number of a round from a command line; false after a message. */
bool vfd_round_number(const char *text, uint64_t *number);

/* What threads waited for each other, as many as *n says, in the order of their starts; their
 * tracks are of one process. Each takes 32 bytes; the caller frees. */
struct vfd_lock_wait *vfd_lock_waits(struct vfd_file *f, size_t *n);

/* By number; number 0: not defined. */
const struct vfd_counter *vfd_counters(const struct vfd_file *f, size_t *n);
const struct vfd_observable *vfd_observables(const struct vfd_file *f, size_t *n);

/*
 * For files of one run, before they are read together: numbers the ranks of all its MPI jobs as
 * logs do it. vfd_rank_number(): the number of a process, -1 of one that is in no job; before that,
 * and in a run of one job, its world rank.
 */
void vfd_number_ranks(struct vfd_file *const *files, size_t n);
int32_t vfd_rank_number(const struct vfd_file *f, uint32_t process);
/* Adds those jobs of which one of the files tells that ranks of another one have spawned them. */
void vfd_spawned_jobs(struct vfd_file *const *files, size_t n, struct map64 *jobs);
/* World rank of a track's process, or -1. */
int vfd_rank(const struct vfd_file *f, uint32_t track);
/*
 * Name of a function: as recorded, else by the symbols of its module if that is still the
 * same file, else "module+0xaddress"; shortened, if that was asked for. Never NULL. Of a
 * stack: of its function; "init" for the root, "(lost)" if it is not defined.
 */
const char *vfd_function_name(struct vfd_file *f, uint32_t function);
const char *vfd_stack_name(struct vfd_file *f, uint32_t track, uint32_t stack);
bool vfd_stack_precise(const struct vfd_file *f, uint32_t track, uint32_t stack);
/*
 * For files of one run that are read together: from now on functions have the short names of
 * symbols/names.h, each another one. Names that were given out before are no longer valid.
 */
void vfd_shorten_names(struct vfd_file *const *files, size_t n);
/* "foo<bar<main<init"; stars: with '*' behind precise functions. Caller frees. */
char *vfd_stack_path(struct vfd_file *f, uint32_t track, uint32_t stack, bool stars);

/* A predefined datatype of MPI: rows of mpi/generate/types.tab. */
struct vfd_mpitype {
	const char *name;
	uint32_t bytes; /* on this machine, without padding */
	int classic;	/* number in files of version 3 of Vftrace, or -1 */
};

/* By its number in messages. Never NULL: derived ones have 1 byte and no number. */
const struct vfd_mpitype *vfd_mpitype(uint32_t type);
/* The name of the one with a number in files of Vftrace. */
const char *vfd_mpitype_classic(int number);

/*
 * The same number for both ends of a message, in whatever file they are, or 0: its
 * match is VFD_MATCH_NONE. Other messages have other numbers (64-bit hash).
 */
uint64_t vfd_message_flow(const struct vfd_file *f, const struct vfd_message *m);
/* The same for a launch: no message or launch of any file has the same. */
uint64_t vfd_launch_flow(const struct vfd_file *f, const struct vfd_launch *l);

enum vfd_event_kind {
	VFD_ENTER,
	VFD_EXIT,
	VFD_MESSAGE,  /* at its start; see message->end */
	VFD_GAP,      /* nothing was recorded since the track's event before */
	VFD_THINNING, /* from here on calls shorter than count ns, or below depth, are left out */
	VFD_THINNED,  /* count calls were left out of this track since the last such event */
	VFD_LOST,     /* count calls below the open frame were not recorded */
	VFD_COUNTERS, /* values at this time: sums stand right before the ENTER or EXIT of the
			 track at which they were read */
	VFD_LAUNCH,   /* the call that enters in this track at this time starts an activity */
	VFD_STARTED,  /* the activity that enters in this track at this time: see launch */
	VFD_SAMPLED,  /* raw only: this stack ran at a random instant since the track's event
			 before */
	VFD_EVENT_KINDS
};

struct vfd_event {
	enum vfd_event_kind kind;
	bool implied;  /* ENTER, EXIT: was not recorded, follows from other events */
	bool sampled;  /* implied, and the file has an interval: the time is the begin of the
			  gap, so that on average each stack has the time it took */
	uint32_t file; /* index in the files of the cursor */
	uint32_t track;
	uint32_t
		stack; /* ENTER, EXIT, MESSAGE: its own; COUNTERS: 0; else the innermost open one */
	uint32_t depth; /* THINNING */
	int64_t time;
	uint64_t count;
	const struct vfd_message *message; /* valid until the next call, as is */
	const struct vfd_counts *counts;   /* COUNTERS */
	const struct vfd_launch *launch;   /* LAUNCH, STARTED */
};

struct vfd_filter {
	const char *ranks; /* vfd_rank_number(), as "0,2-5"; NULL: all processes, ranks or not */
	uint32_t track;	   /* VFD_NONE: all */
	bool from_set, to_set;
	int64_t from, to;	      /* [from, to) */
	bool raw;		      /* recorded events only, without implied ones;
					 else enters and exits are balanced: each EXIT is of the last ENTER of
					 its track that is still open, and none stays open */
	bool no_samples, no_messages; /* no_samples: no counters either; no_messages: no
					 launches either */
	bool process_set;
	uint32_t process; /* number in the file: only its tracks */
};

struct vfd_cursor;

/* All events of the files in the order of time; those of one track with equal
 * time stay in their order, and the ends of launches stand before the calls that they
 * belong to. filter NULL: everything. Memory: a few KiB per track, 24 bytes per message, and
 * 88 per launch. The files must stay open. */
struct vfd_cursor *vfd_cursor_new(
	struct vfd_file *const *files, size_t n, const struct vfd_filter *filter);
bool vfd_next(struct vfd_cursor *c, struct vfd_event *e);
/* The share of its blocks that it has read, 0 to 1. */
double vfd_cursor_progress(const struct vfd_cursor *c);
void vfd_cursor_free(struct vfd_cursor *c);

#endif
