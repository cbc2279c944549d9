/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to the agent, for attach.c and the child of a fork. */
#ifndef VFTR_LIBHOOK_FIND_AGENT_H
#define VFTR_LIBHOOK_FIND_AGENT_H

#include <stdbool.h>
#include "libhook/patience.h"

/* Errors of vftr_find_agent() beside those of the system. */
#define NOT_OUR_DIRECTORY 10001 /* others may enter the runtime directory */
#define NOT_A_SESSION	  10002 /* VFTR_SESSION cannot be the name of a file */

#pragma GCC visibility push(hidden)

/*
 * Connects to the agent of our session. Returns the descriptor, or -errno; -ETIMEDOUT: the
 * agent did not accept us before our patience ended (patience.h); -EPERM: the agent is another
 * user's; -ECHILD: there is none, and process 1 cannot start one; -ECANCELED: there is no agent
 * for us, and nothing more is to be said. If there is no agent, one is started, unless VFTR_AGENT
 * is "off". The caller holds vftr_process_lock().
 */
int vftr_find_agent(struct patience *patience);

/* Connects to the agent of the session that the process was attached to. Does not wait; starts
 * none. The descriptor, or -errno; -EALREADY: the agent that the process had lives, and has hung
 * up. The caller holds vftr_process_lock(). */
int vftr_find_successor(void);
/* The process at the other end of a connection; 0: not known. */
int vftr_agent_pid(int fd);

/*
 * To be called before the process has an agent: chooses the agent that gave this contact
 * (shm/session.h), if it is on this host. VFTR_SESSION has precedence, and a child of fork() stays
 * with its parent's agent.
 */
void vftr_find_agent_of(const char *contact);

/* True if this -errno says that no agent listens there. */
bool vftr_nobody_there(int error);

/*
 * Child of fork(): connects without saying more, so that the agent knows of us
 * before our first event and waits for it. Does not wait, and may fail.
 */
void vftr_agent_expect(void);

#pragma GCC visibility pop

#endif
