/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the sampling file of a node: events from the replays of threads, and messages of
 * processes, go to trace/write/writer.h, with the file's numbers for processes, threads,
 * functions, call paths and communicators.
 *
 * Without sampling.active host->recorder is NULL, and all functions do nothing; but a request is
 * refused (recorder_request()). A file that cannot be written gives one warning, and the profile is
 * made as without it. All functions are called by the agent's main thread.
 */
#ifndef VFTR_NODEAGENT_RECORDER_RECORDER_H
#define VFTR_NODEAGENT_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/base/result-files.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/trace/write/writer.h"

struct host;

/* ---- the file: host->recorder ------------------------------------------------ */

/* True if the disk is behind, and rings should not be read for a while. */
bool recorder_is_behind(const struct host *host);
/* If the disk is behind: sleeps until it is not, at most a millisecond. */
void recorder_wait(struct host *host);
/*
 * Called by the agent's loop: starts the writing of all data once a second, and goes on with the
 * flight recorder's file. Returns the seconds until the next call; NEVER_S: nothing is due.
 */
double recorder_tick(struct host *host);
/*
 * After the end of all processes: closes the file, which may wait for the disk. Errors
 * are warnings.
 */
void recorder_close(struct host *host);
/*
 * room.c: results could not be written as the disk is full. Cuts the end of the closed file off
 * and returns a sentence on that, which the caller frees: try again. NULL: nothing has changed, as
 * files lack, not bytes, or enough was cut.
 */
char *recorder_make_room(struct host *host);
/* Gives the closed file, or all files of the flight recorder, the name with this base. 0, or 1
 * after a message on stderr. */
int recorder_rename(struct host *host, const char *base);

/* The numbers of the closed file, for the log; path NULL: there is none, as with sampling.keep. */
struct recorder_sum {
	const char *path; /* owned by the recorder */
	struct vfd_written written;
};
struct recorder_sum recorder_sum(const struct host *host);

/* True if there is a sampling file, or with sampling.keep one of an event. */
bool recorder_has_files(const struct host *host);

/* ---- the flight recorder: sampling.keep -------------------------------------- */

/*
 * True if a file would be written for an event of this kind now. If not, the caller need not make
 * the text for recorder_event().
 */
bool recorder_awaits(const struct host *host, enum result_event kind);
struct flight_event {
	enum result_event kind;
	bool of_pid;	 /* number is a pid; else a rank, an iteration or a count */
	uint64_t number; /* SLOW: of the iteration; DEATH: of the rank, or the pid; SIGNAL, REQUEST:
			    how many there have been */
	uint64_t stamp;	 /* of a REQUEST, as in host->request */
};
/*
 * An event has happened here: if sampling.when names its kind, writes the kept events to a file.
 * Numbers signals and requests itself. what: a text for the log. Returns false if the event gets no
 * file of its own; it may be in one that is being written.
 */
bool recorder_event(struct host *host, struct flight_event e, const char *what);
/* The same for an event that another agent has told of. */
void recorder_event_elsewhere(struct host *host, struct flight_event e);
/*
 * A viewer asks that the kept events are written. host->request has the state of the request.
 * stamp: UNIX time in ns; a request that is not newer than the last one is ignored.
 */
void recorder_request(struct host *host, uint64_t stamp);
/*
 * Sets *e to the event of this node that the other agents have to hear of, once; false: there is
 * none.
 */
bool recorder_event_news(struct host *host, struct flight_event *e);

/* A round of a session has begun (rounds.h). */
void recorder_round(const struct host *host, uint32_t number, uint64_t ticks);

/* ---- processes: process->sampled ---------------------------------------------- */

/* The file begins with the first process that says HELLO. */
extern const struct process_observer recorder_observer;

#endif
