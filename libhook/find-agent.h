/* SPDX-License-Identifier: BSD-3-Clause */
/* The way to the agent, for attach.c and the child of a fork. */
#ifndef VFTR_LIBHOOK_FIND_AGENT_H
#define VFTR_LIBHOOK_FIND_AGENT_H

#include <stdbool.h>
#include "libhook/patience.h"

/* Errors of find_agent() beside those of the system. */
#define NOT_OUR_DIRECTORY 10001 /* the runtime directory: session.c has the rules */
#define NOT_A_SESSION	  10002 /* VFTR_SESSION is no file's name */

#pragma GCC visibility push(hidden)

/*
 * Descriptor of a connection to the agent of our session, which is started if
 * there is none and that is wanted, or -errno. With the lock held. -ETIMEDOUT: it does
 * not let us in, and all patience is gone.
 */
int find_agent(struct patience *patience);

/*
 * Before a process has an agent: it is to be the one that gave this contact (shm/session.h), if
 * that is on this host. VFTR_SESSION is stronger, and a child of fork() follows its parent.
 */
void find_agent_of(const char *contact);

/* Does this -errno say that no agent listens there? */
bool nobody_there(int error);

/*
 * Child of fork(): connects without saying more, so that the agent knows of us
 * before our first event and waits for it. Does not wait, and may fail.
 */
void agent_expect(void);

#pragma GCC visibility pop

#endif
