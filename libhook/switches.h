/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that the agent has switched off (shm/switches.h), and on again. Their calls are
 * counted in the ring's page and not recorded, and no clock is read. A call that was
 * recorded before gets its exit recorded, too: of a function's open calls on a thread, the
 * outer ones are recorded, and the inner ones are not.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_H
#define VFTR_LIBHOOK_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/record.h"

struct thread;

#pragma GCC visibility push(hidden)

/* Takes over the agent's page; called by any thread as it publishes a block, without the lock.
 * Does nothing if another thread is in it. */
void vftr_switches_follow(void);
/* After attaching: forgets the parent's switches if the agent is another one, which knows fewer. */
void vftr_switches_attach(void);
/* A thread has got its ring. */
void vftr_switches_begin(struct thread *t);
/* shared: children of vfork() use the thread's memory, so nothing is counted in its ring's page. */
void vftr_switches_share(struct thread *t, bool shared);

/* At most so many functions were called since their last COUNTED record; 0 without a ring. */
unsigned vftr_counts_due(const struct thread *t);
/*
 * Makes the COUNTED record of the next of these functions; *number is 0 at the first call. False:
 * there are no more.
 */
bool vftr_counts_next(struct thread *t, uint32_t *number, uint64_t word[COUNTED_WORDS]);
/* To be called when that record has been stored. */
void vftr_counts_told(struct thread *t, const uint64_t word[COUNTED_WORDS]);
/* Id of function `number` if it is counted, else 0. */
uint32_t vftr_switches_id(uint32_t number);

/* Forgets switched-off functions of unloaded code. */
void vftr_switches_unloaded(uint64_t low, uint64_t high);

/* True if the program has sleds (switches/sleds.h): the first call looks at its file. */
bool vftr_sleds_are_there(void);
/*
 * True if they can be changed. The first call judges each of them and gets memory near the
 * program's code.
 */
bool vftr_sleds_prepare(void);
/* Changes them, once; does nothing if there are none. If the system refuses, those left stay. */
void vftr_sleds_change(void);

#pragma GCC visibility pop

#endif
