/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session is a name below the runtime directory: NAME.sock, where processes
 * find the agent, and NAME.lock, which says that there is one: its first line is the
 * agent's process, the second how long its processes wait for it, in ms.
 */
#ifndef VFTR_NODEAGENT_PROCESS_RENDEZVOUS_H
#define VFTR_NODEAGENT_PROCESS_RENDEZVOUS_H

struct host;

/*
 * Takes the lock of host->session and listens on its socket. 0; 1 if another
 * agent has the session (its pid is in *error); -1 and *error.
 */
int session_open(struct host *host, char **error);
/* Writes our pid into the lock file, again after a fork. */
void session_sign(struct host *host);

/* Removes the files of all sessions whose agent was killed; session_open() does so, too. */
void session_sweep(void);

/* Removes the mark of processes that have given up (libhook/patience.h), as the agent works. */
void session_lives(const struct host *host);
/* Number of processes that gave up without reaching the agent (lost-PID); counted once. */
unsigned session_unseen(const struct host *host);

/* Closes the socket and gives up the lock; removes the files of both. */
void session_close(struct host *host);

/*
 * Frees the name for another agent while this one still writes its files: until
 * session_release() or its death it holds the lock as NAME.writes-PID.lock, by which an
 * agent that waits for those files (late-profiles.h) knows that they will come.
 */
void session_leave(struct host *host);
void session_release(struct host *host);

/* Accepts a connection: its descriptor, or -errno. *pid: of the other side, 0 if not visible. */
int session_accept(struct host *host, int *pid);

#endif
