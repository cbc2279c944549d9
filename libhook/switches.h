/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the agent has switched off (shm/switches.h). Their calls are
 * counted in the ring's page and not recorded; the exit of a call that was recorded
 * before still is: the calls of a function that are open on a thread are first
 * recorded ones and then, inside of these, unrecorded ones. No clock is read.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_H
#define VFTR_LIBHOOK_SWITCHES_H

#include <stdint.h>

struct thread;

#pragma GCC visibility push(hidden)

/* Follows the agent's page: while a block is published, any thread, without the lock. */
void switches_follow(void);
/* A process has attached: what it has from its parent holds for the same agent only. */
void switches_attach(void);
/* A thread has got its ring. */
void switches_begin(struct thread *t);
/* Code that is not there any more is not off. */
void switches_unloaded(uint64_t low, uint64_t high);

#pragma GCC visibility pop

#endif
