/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of windows with members on other nodes: when this node's processes had them, kept until
 * the job is over, when agents tell each other (internode/lock-exchange.h). Memory is bounded: of
 * a job that makes more of them, the first ones are kept.
 */
#ifndef VFTR_NODEAGENT_REPLAY_WINDOW_FAR_LOCKS_H
#define VFTR_NODEAGENT_REPLAY_WINDOW_FAR_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/replay/window/lock-epoch.h"

struct traffic;

/* Smaller in tests. */
#ifndef FAR_LOCKS_MAX
#define FAR_LOCKS_MAX	    65536u /* epochs, 192 B each */
#define FAR_LOCK_GROUPS_MAX 256u   /* communicators of windows */
#define FAR_LOCK_RANKS_MAX  65536u /* of all of them */
#define FAR_LOCK_LOOKS_MAX  (1u << 26)
#endif

struct far_lock {
	struct lock_epoch is;  /* window: the same number in all agents */
	struct traffic *whose; /* NULL: forgotten */
	uint32_t group;	       /* index */
	uint32_t world;	       /* rank in its job */
	uint32_t history; /* of its thread until the lock was given back: replay/comm/history.h */
};

/* The communicator of a window. */
struct far_lock_comm {
	uint64_t id, job; /* job: whose ranks its members are */
	uint32_t size;
	const void *comm;
	uint32_t (*world)(const void *comm, uint32_t rank); /* its rank in the job */
};

struct far_locks;

struct far_locks *far_locks_new(void);
void far_locks_free(struct far_locks *f);

/* like: without group, and with the window as its processes know it. */
void far_locks_add(
	struct far_locks *f, const struct far_lock *like, const struct far_lock_comm *of);
/* The process's trees are to be freed. */
void far_locks_forget(struct far_locks *f, const struct traffic *t);

/* All that are kept, in any order. */
const struct far_lock *far_locks_all(const struct far_locks *f, size_t *n);

/* The members of the communicators of windows: ranks of a job. */
void far_locks_members(const struct far_locks *f,
	void (*tell)(void *arg, uint64_t job, uint32_t world), void *arg);
/* Whether a rank of a job is a member of a group. */
bool far_locks_has(const struct far_locks *f, uint32_t group, uint64_t job, uint32_t world);
/* The job whose ranks the members of a group are. */
uint64_t far_locks_job(const struct far_locks *f, uint32_t group);

/*
 * What epochs here have waited for one of another node; times in ticks of this agent, which may be
 * wrong by `error`. Calls waited() as lock_epoch_compare() does; a is in a struct far_lock.
 */
void far_locks_compare(struct far_locks *f, const struct lock_epoch *other, uint64_t error,
	void (*waited)(void *arg, const struct lock_epoch *a, const struct lock_call *call,
		const struct lock_epoch *b),
	void *arg);

#endif
