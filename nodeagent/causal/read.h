/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for run.c, calls.c, messages.c, teams.c, holders.c, windows.c, locks.c,
 * files.c, probes.c and eager.c. */
#ifndef VFTR_NODEAGENT_CAUSAL_READ_H
#define VFTR_NODEAGENT_CAUSAL_READ_H

#include "nodeagent/base/map.h"
#include "nodeagent/causal/run.h"
#include "nodeagent/trace/read/file.h"

/* Whether a thread waits for others of its team of OpenMP in a function, or for a lock that another
 * one has. */
enum team_wait { NO_TEAM_WAIT, TEAM_BARRIER, TEAM_JOIN, TEAM_LOCK };

struct frame {
	uint32_t path;
	uint32_t called; /* its own, if it counts for its caller's */
	enum causal_work work;
	enum team_wait waits;
};

/* The files of MPI that a line has open, and the first of them. */
struct reader_file {
	uint32_t open;
	bool unclear; /* several were open at a time: it is not known which one a call is on */
	uint32_t comm;
	uint64_t ticket; /* of the call that has opened it */
	uint32_t calls;	 /* on it, of all members */
};

/* A rank while its file is read. */
struct reader_line {
	uint32_t track; /* of its thread; VFD_NONE: not known yet */
	bool begun, ended, left_init;
	bool has_init, has_session; /* it calls MPI_Init, MPI_Session_init */
	bool whole_life;	    /* its window is the life of the process */
	struct frame *frames;	    /* open calls */
	size_t n_frames, cap_frames;
	struct exposures *exposures; /* of its windows: replay/window/exposure.h */
	struct reader_team *team;    /* other threads of its process, or NULL */
	struct reader_file file;
	struct causal_message *parts; /* in partitions: sent when the last one is, at their enter */
	size_t n_parts, cap_parts;
	size_t call; /* frames when its call of MPI was entered + 1; 0: it is in none */
};

struct reader {
	struct causal_run *run;
	struct vfd_file *const *files;
	size_t n_files;
	const struct causal_progress *progress; /* or NULL */
	uint64_t seen;				/* events that reader_tell() was called for */
	uint32_t **line_of;			/* by file and process; CAUSAL_NONE */
	struct reader_line *lines;
	uint32_t ***path_of;	     /* by file, track and stack, + 1; 0: not known yet */
	struct map64 comm_of, pairs; /* pairs: of two lines -> a communicator of theirs */
	struct match_table starts;   /* of persistent calls: by line and communicator, and ticket */
	uint64_t members;	     /* of all communicators */
	bool has_epochs;	     /* there are calls on windows */
	bool has_starts;	     /* starts of persistent collective calls have numbers */
	struct reader_locks *locks;
	struct reader_holders *holders;
	struct reader_probes *probes;
};

/* The bound of the error of a file's clock, ns. */
int64_t reader_clock_error(const struct vfd_file *f);
/* The line of the process that a track of a file is of, or CAUSAL_NONE. */
uint32_t reader_line_of(const struct reader *r, uint32_t file, uint32_t track);
/* The line of a rank in the job of line `beside', or in this job, or CAUSAL_NONE. */
uint32_t reader_line_of_rank(const struct reader *r, uint32_t beside, uint32_t rank);
uint32_t reader_line_in_job(const struct reader *r, uint64_t job, uint32_t rank);
/* The line of the peer of a message, or of the root of a collective call, in whatever job, or
 * CAUSAL_NONE. */
uint32_t reader_peer(const struct reader *r, uint32_t line, const struct vfd_event *e);
/* causal_message.queue and takes of a receive. */
uint32_t reader_queue(const struct vfd_message *m);
uint32_t reader_takes(const struct vfd_message *m);

/* ---- calls.c: an enter, an exit or a gap of a track */
void reader_call(struct reader *r, uint32_t line, const struct vfd_event *e);
/* Before the events: finds out which lines have a window for their whole lives. */
void reader_find_windows(struct reader *r);
/* The window of the line begins with its process, whose first event is at t. */
void reader_begin_process(struct reader *r, uint32_t line, int64_t t);
/* The call path (run->paths) of a stack of a track; 0 for what is not defined. */
uint32_t reader_path(struct reader *r, uint32_t file, uint32_t track, uint32_t stack);
/* The function of a stack; NULL: it has none, or it is not defined. */
const struct vfd_function *reader_function(
	const struct reader *r, uint32_t file, uint32_t track, uint32_t stack);

/* ---- teams.c: a call of another thread of the process */
void reader_team_call(struct reader *r, uint32_t line, const struct vfd_event *e);
/*
 * reader_team_wait(): from t on the line's thread waits for others of its team, or for a lock, in
 * this path. reader_team_over(): it does not any more. In between no other call of this thread
 * comes.
 */
void reader_team_wait(
	struct reader *r, uint32_t line, int64_t t, enum team_wait how, uint32_t path);
void reader_team_over(struct reader *r, uint32_t line, int64_t t);
/* Tells what the line has done in the wait until t, which goes on. */
void reader_team_again(struct reader *r, uint32_t line, int64_t t);
/* From t on track `holder` has what `track` waits for; CAUSAL_NONE: nobody has. */
void reader_team_held(struct reader *r, uint32_t line, uint32_t track, uint32_t holder, int64_t t);
/* The call path in which a thread is now; 0: not known. */
uint32_t reader_team_path(struct reader *r, uint32_t line, uint32_t track);
enum team_wait reader_team_wait_of(const struct vfd_function *f);
void reader_team_free(struct reader_team *m);

/* ---- holders.c: threads that waited for each other */
struct reader_holders *reader_holders_new(struct reader *r);
void reader_holders_free(struct reader_holders *h);
/* Tells all waits, and parts of them, that begin or end by t. To be called before the events of
 * that time are. */
void reader_holders_until(struct reader *r, int64_t t);

/* ---- messages.c: a message, a collective call, or a call on a window */
void reader_message(struct reader *r, uint32_t line, const struct vfd_event *e);
/*
 * Tells the messages that the line has sent in partitions until t and that were not told yet. To be
 * called behind the call that ended at t.
 */
void reader_parts(struct reader *r, uint32_t line, int64_t t);
/* The communicator of the window that e is on, or CAUSAL_NONE. */
uint32_t reader_window_comm(struct reader *r, uint32_t line, const struct vfd_event *e);
/* The mode of a send that was posted in this stack. */
enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_BUFFERED };
enum send_mode reader_send_mode(
	const struct reader *r, uint32_t file, uint32_t track, uint32_t stack);

/* ---- windows.c: a call on a window */
void reader_epoch(struct reader *r, uint32_t line, const struct vfd_event *e);
/* False: its times make no sense, or its ranks are those of a session. */
bool reader_has_call(const struct reader *r, uint32_t line, const struct vfd_event *e);
/* A communicator of two lines: the same one each time. */
uint32_t reader_pair_comm(struct reader *r, uint32_t a, uint32_t b);

/* ---- locks.c */
struct reader_locks *reader_locks_new(void);
void reader_locks_free(struct reader_locks *l);
/*
 * First pass: reader_lock() for each call on a window, then reader_locks_end(). Second pass:
 * reader_lock_meets() for each call on a lock tells which calls wait for each other.
 */
void reader_lock(struct reader *r, const struct vfd_event *e);
void reader_locks_end(struct reader_locks *l);
void reader_lock_meets(struct reader *r, uint32_t line, const struct vfd_message *m);

/* ---- files.c: a call that opens a file; a call of MPI that a line enters */
void reader_file_opened(struct reader *r, uint32_t line, const struct causal_collective *m);
void reader_file_call(struct reader *r, uint32_t line, const struct vfd_function *f, int64_t enter);

/* ---- probes.c */
struct reader_probes *reader_probes_new(uint32_t lines);
void reader_probes_free(struct reader_probes *p);
/* True if the files may have calls of MPI_Probe(). */
bool reader_has_probes(const struct reader *r);
/*
 * First pass, if reader_has_probes(): reader_probe_entered() for each call, reader_probe_received()
 * for each message. Second pass: reader_probe() for each call of MPI that a line enters.
 */
void reader_probe_entered(struct reader *r, const struct vfd_event *e);
void reader_probe_received(struct reader *r, const struct vfd_event *e);
void reader_probe(struct reader *r, uint32_t line, const struct vfd_function *f, int64_t enter);

/* ---- eager.c: the first pass over all events, for causal_set_eager(), has_starts, locks.c and
 * probes.c */
void reader_look_ahead(struct reader *r);

struct vfd_cursor;

/* To be called for each event of a cursor whose end is this part of all that is done; it begins
 * with the part before it. */
void reader_tell(struct reader *r, const struct vfd_cursor *cursor, double before, double at_end);
#define LOOKED_AHEAD 0.2 /* parts that are done when everything has been looked at, and read */
#define ALL_READ     0.8

#endif
