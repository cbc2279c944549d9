/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of this folder only. */
#ifndef VFTR_NODEAGENT_RECORDER_INTERNAL_H
#define VFTR_NODEAGENT_RECORDER_INTERNAL_H

#include <regex.h>
#include "nodeagent/base/map.h"
#include "nodeagent/recorder/recorder.h"
#include "nodeagent/replay/sampled.h"
#include "shm/counters.h"

/* A pair that the matcher has found; the receive may come a moment later. */
struct sampled_match {
	uint64_t comm, proc_id; /* of the receiver */
	uint32_t ticket, sender_ticket, sender_thread;
	uint32_t start; /* partitioned: of both sides */
	enum vfd_match match;
	bool partitioned;
};
#define SAMPLED_MATCHES 1024u

/* A function that has been named, and may have a source line in the end. */
struct recorder_named {
	const char *name; /* symcache_name() */
	uint32_t number;
};

struct thread_ring;

struct recorder {
	struct host *host;
	struct vfd_writer *writer; /* NULL: could not be opened, or is closed */
	char *path;
	dev_t device; /* of the file, by which it is known under any name */
	ino_t inode;
	bool replaced;	 /* another run's file has its name */
	int reserve;	 /* recorder_reserve() */
	off_t cut_bytes; /* by recorder_make_room() */
	regex_t precise;
	bool has_precise;
	regex_t loop; /* iterations.of */
	bool has_loop;
	uint64_t interval;	       /* ticks */
	uint64_t next_flush;	       /* CLOCK_MONOTONIC_RAW in ns */
	uint64_t drained;	       /* agent->drained_bytes at the last flush */
	uint32_t *mpi;		       /* as recorder_process.functions, +1, or 0 */
	struct map64 comms;	       /* identity -> number */
	struct map64 proc_ids;	       /* of the matcher -> number of the process */
	struct map64 pids;	       /* -> number of the newest process that had it */
	struct sampled_match *matches; /* room for SAMPLED_MATCHES; not written yet */
	uint32_t n_matches;
	uint32_t counters[COUNTERS_MAX], n_counters; /* of hwprof; 0: not defined yet */
	struct recorder_named *named;
	size_t n_named, cap_named;
	struct vfd_written written;
	struct flight *flight; /* with sampling.keep, when path is NULL; else NULL */
	char *base;	       /* of the names of files */
};

/* A function that has been used, and is named at the end. */
struct sampled_function {
	uint64_t key;
	uint32_t number;
	bool precise;
};

/* The track of a thread in the file; track is NULL after its end. */
struct sampled_thread {
	struct vfd_track *track;
	uint32_t number;
};

struct recorder_process {
	struct recorder *recorder;
	struct process *process;
	uint32_t number; /* in the file */
	bool has_rank;
	struct map64 functions; /* by key: number << 1 | precise */
	struct sampled_function *unnamed;
	size_t n_unnamed, cap_unnamed;
	struct sampled_thread *threads; /* by number */
	size_t n_threads, cap_threads;
	struct map64 objects; /* kind and number -> number in the file */
};

/* define.c: number of the function with this key, which is defined if need be. */
uint32_t recorder_function(struct recorder_process *s, uint64_t key);
/* At the end: writes where the functions begin. */
void recorder_sources(struct recorder *s);
/* The process is rank `rank` of `size` in a job. */
void recorder_process_rank(struct process *p, int rank, int size, uint64_t job);

/* Names all functions that are used by now. */
void recorder_name_functions(struct recorder *s);

/*
 * recorder.c, for a file of kept events. recorder_complete(): writes names, ranks and matches that
 * are known, before the events. recorder_tell_clock(): writes the clock, after all else.
 */
void recorder_complete(struct recorder *s);
void recorder_tell_clock(struct recorder *s);

/* room.c: an open file without a name, closed to give what it takes back for the results; -1: none.
 */
int recorder_reserve(const char *directory);

/* slow.c: the calls of the main loop of this thread are watched, if it is a first one. */
void recorder_watch_slow(struct thread_ring *t);

/* flight.c */
/* A file also has what is recorded in this time after its event. */
#define RECORDER_AFTER_NS 500000000u
struct flight *flight_new(void);
/* Seconds until the next call. */
double flight_tick(struct recorder *s);
/*
 * To be called before the writer is closed: writes the file of an event that waits, in `seconds' at
 * most.
 */
void flight_end(struct recorder *s, double seconds);
/* Gives the files their final names; s->base is the old one. 0, or 1 after a message. */
int flight_rename(struct recorder *s, const char *base);

/* The state that a request would get now: DUE, or why no file is written for it. */
enum request_state flight_refusal(const struct host *host);
bool flight_has_files(const struct flight *f);
/* True if there is a file of the event, or one is being written. */
bool flight_has(const struct host *host, const struct flight_event *e);
/*
 * If a file for a request is due or being written, makes it that of the request with this stamp,
 * too, of which recorder_event_news() then tells, and returns true.
 */
bool flight_join(struct host *host, uint64_t stamp);
/* The path of the file that is due or being written; NULL: there is none. The caller frees. */
char *flight_path(const struct recorder *s);

/* request.c: sets the state of the last request. */
void recorder_request_is(struct host *host, enum request_state state);
/* Another agent has told of a request. */
void recorder_request_elsewhere(struct host *host, const struct flight_event *e);

/* The process has said HELLO. */
void recorder_process_begin(struct process *p);

/* counters.c: as in struct sampled_numbers; process is a struct recorder_process. */
const uint32_t *recorder_counters(void *process, uint32_t n);
uint32_t recorder_user_counter(void *process, const struct user_counter *c);

/* message.c: a process_observer.thread_waited. */
void recorder_thread_waited(struct process *p, const struct thread_wait *w);
/* message.c: listens to the communication of the process from now on. */
void recorder_listen(struct recorder_process *s);
/* recorder_listen_matches(): keeps all matches of the node from now on. recorder_notify_matches():
 * writes those that are kept. */
void recorder_listen_matches(struct recorder *s);
void recorder_notify_matches(struct recorder *s);

#endif
