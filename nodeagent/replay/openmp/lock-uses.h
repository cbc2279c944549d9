/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of the C library in one process (shm/locks.h): how often and how long threads have waited
 * for each, and where those were that had it. What comes from the process is checked.
 */
#ifndef VFTR_NODEAGENT_REPLAY_OPENMP_LOCK_USES_H
#define VFTR_NODEAGENT_REPLAY_OPENMP_LOCK_USES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/locks.h"

#define LOCK_HOLDERS 256u /* paths of one lock, each of one thread, that are told apart */

struct lock_uses;

/*
 * Waits for a lock while a thread had it at this path; path: a number of traffic_path(), 0:
 * several.
 */
struct lock_holder {
	uint32_t path;
	uint64_t calls, ticks;
};

struct lock_use {
	uint32_t number;
	uint32_t kind; /* enum lock_kind */
	uint32_t nth; /* number among the locks of its kind, from 1; 0: not known, or the sum of all
			 others */
	uint64_t address; /* 0: the sum of all others of the kind */
	uint64_t calls, ticks, longest;
	uint32_t first; /* the path of the first wait that was read, or 0 */
	struct lock_holder *holders;
	size_t n_holders, cap_holders;
};

struct lock_uses *lock_uses_new(void);
void lock_uses_free(struct lock_uses *u);

/* Message of the process. False: it makes no sense. */
bool lock_uses_define(struct lock_uses *u, const struct wire_lock *m);

/* A thread has waited for a lock with this number. u may be NULL. */
void lock_uses_waited(struct lock_uses *u, uint32_t number, uint32_t path, uint64_t ticks);
/* Adds a part of a wait, during which a thread at this path had the lock. */
void lock_uses_held(
	struct lock_uses *u, uint32_t number, uint32_t path, uint64_t calls, uint64_t ticks);

/* The kind of the lock with this number; LOCK_KINDS_END: it is none of these. u may be NULL. */
enum lock_kind lock_uses_kind(const struct lock_uses *u, uint32_t number);

/* "mutex", of a kind below LOCK_KINDS_END. */
const char *lock_kind_name(enum lock_kind kind);

/* All *n of them. u may be NULL. */
const struct lock_use *lock_uses_all(const struct lock_uses *u, size_t *n);

#endif
