/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the sampling file of a node: events from the replays of threads, and messages of
 * processes, go to trace/write/writer.h, with the file's numbers for processes, threads,
 * functions, call paths and communicators.
 *
 * Without sampling.active none of these objects exists: all functions then take NULL
 * and do nothing. A file that cannot be written gives one warning, and the profile is
 * made as without it.
 */
#ifndef VFTR_NODEAGENT_RECORDER_RECORDER_H
#define VFTR_NODEAGENT_RECORDER_RECORDER_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/base/result-files.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/trace/write/writer.h"

struct host;
struct process;
struct recorder;
struct recorder_process;

/* ---- the file: host->recorder ------------------------------------------------ */

/* True if the disk is behind, and rings should not be read for a while. */
bool recorder_is_behind(const struct host *host);
/* If the disk is behind: sleeps until it is not, at most a millisecond. */
void recorder_wait(struct host *host);
/*
 * Called by the agent's loop: starts the writing of all data once a second. Returns the
 * seconds until the next call; NEVER_S: nothing is due.
 */
double recorder_tick(struct host *host);
/*
 * After the end of all processes: closes the file, which may wait for the disk. Errors
 * are warnings.
 */
void recorder_close(struct host *host);
/* Gives the closed file its name. 0, or 1 after a message on stderr. */
int recorder_rename(struct host *host, const char *base);

/* The numbers of the closed file, for the log; path NULL: there is none. */
struct recorder_sum {
	const char *path; /* owned by the recorder */
	struct vfd_written written;
};
struct recorder_sum recorder_sum(const struct host *host);

/* ---- the flight recorder: sampling.keep -------------------------------------- */

/* True if one of that kind would be written now: the text for the log may be made then. */
bool recorder_awaits(const struct host *host, enum result_event kind);
/* number: of the iteration, of the rank or process that died; of signals and requests of_pid is
 * false, and the number is how many there have been. stamp: of a request, as in host->request. */
struct flight_event {
	enum result_event kind;
	bool of_pid;
	uint64_t number, stamp;
};
/*
 * Something has happened here, for which what is kept is to be written if sampling.when names it;
 * signals and requests are numbered. what: for the log. False: no file of its own is written for
 * it; one may be on its way that has it, too.
 */
bool recorder_event(struct host *host, struct flight_event e, const char *what);
/* The same, as another agent has said. */
void recorder_event_elsewhere(struct host *host, struct flight_event e);
/* A viewer asks that what is kept is written; host->request says what becomes of it, at once and
 * later. stamp: UNIX time in ns; an older one than that of the last request is passed over. */
void recorder_request(struct host *host, uint64_t stamp);
/* Once for each event here that is written: the other agents are to hear of it. */
bool recorder_event_news(struct host *host, struct flight_event *e);

/* A round of a session has begun (rounds.h). */
void recorder_round(const struct host *host, uint32_t number, uint64_t ticks);

/* ---- processes: process->sampled ---------------------------------------------- */

/* The file begins with the first process that says HELLO. */
extern const struct process_observer recorder_observer;

#endif
