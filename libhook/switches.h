/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the agent has switched off (shm/switches.h), and on again. Their calls are
 * counted in the ring's page and not recorded, and no clock is read. A call that was
 * recorded before gets its exit recorded, too: of a function's open calls on a thread, the
 * outer ones are recorded, and the inner ones are not.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_H
#define VFTR_LIBHOOK_SWITCHES_H

#include <stdint.h>

struct thread;

#pragma GCC visibility push(hidden)

/* Takes over the agent's page; called by any thread as it publishes a block, without the lock. */
void vftr_switches_follow(void);
/* After attaching: forgets the parent's switches, unless the agent is the same. */
void vftr_switches_attach(void);
/* A thread has got its ring. */
void vftr_switches_begin(struct thread *t);
/* Forgets switched-off functions of unloaded code. */
void vftr_switches_unloaded(uint64_t low, uint64_t high);

#pragma GCC visibility pop

#endif
