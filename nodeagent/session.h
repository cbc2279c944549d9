/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session is a name below the runtime directory: NAME.sock, where processes
 * find the agent, and NAME.lock, which says that there is one: its first line is the
 * agent's process, the second how long its processes wait for it, in ms.
 */
#ifndef VFTR_NODEAGENT_SESSION_H
#define VFTR_NODEAGENT_SESSION_H

struct agent;

/*
 * As shm/runtime-dir.h says, made if need be; if it is another one than usual, that is said
 * once. It must be a directory of ours that nobody else may enter. NULL and *error
 * (a sentence) otherwise. The caller frees both.
 */
char *runtime_directory(char **error);

/*
 * Takes the lock of a->session and listens on its socket. 0; 1 if another
 * agent has the session (its pid is in *error); -1 and *error.
 */
int session_open(struct agent *a, char **error);
/* Writes our pid into the lock file, again after a fork. */
void session_sign(struct agent *a);

/* Removes the files of all sessions whose agent was killed; session_open() does so, too. */
void session_sweep(void);

/* The agent is at work: the mark of those who have waited in vain (libhook/patience.h) goes. */
void session_lives(const struct agent *a);
/* How many processes have not even been let in; counted once. */
unsigned session_unseen(const struct agent *a);

/* Removes both files. */
void session_close(struct agent *a);

/* A connection that waits, or -errno. *pid is the peer's, 0 if it is not visible. */
int session_accept(struct agent *a, int *pid);

#endif
