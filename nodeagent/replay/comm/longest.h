/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waits of calls that complete several operations. Such a call, as MPI_Waitall(), waits for the
 * latest of the ranks that its operations need. So one wait is counted for the call, the longest,
 * whatever the kinds of the operations are and in whatever order their waits become known. The last
 * LONGEST_MAX calls that have waited are kept; for older ones the wait of each operation counts.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_LONGEST_H
#define VFTR_NODEAGENT_REPLAY_COMM_LONGEST_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/replay/comm/cause-parts.h"

struct longest;
struct traffic;

#ifndef LONGEST_MAX
#define LONGEST_MAX (1u << 16) /* calls, about 200 B each */
#endif

/* What a caller of longest_add() counts beside traffic_wait(). */
struct longest_about {
	uint64_t from, to;
	uint32_t from_thread, to_thread;
	uint32_t caller; /* the thread whose call it is */
	uint64_t posted;
	uint32_t history; /* of the sender, if it is on another node: internode/far-causes.h */
};

struct longest_wait {
	uint64_t enter; /* of the call */
	uint32_t path;	/* its number: traffic_wait() */
	uint32_t late;	/* rank that it waited for */
	enum wait_kind kind;
	uint64_t ticks; /* not 0 */
	uint64_t error; /* ticks: that of the clocks in it, at most */
	struct longest_about about;
	struct cause_parts
		causes; /* of the wait; the caller of longest_add() sets these in its result */
};

/* A wait without an error and causes; the other members are to be set. What is not used of the
 * causes is not: that takes as long as all the rest. */
static inline void longest_begin(struct longest_wait *w, enum wait_kind kind, uint64_t ticks)
{
	w->kind = kind;
	w->ticks = ticks;
	w->error = 0;
	w->causes.n = 0;
}

/* Copies a wait, without the unused causes: most waits have none. */
static inline void longest_copy(struct longest_wait *to, const struct longest_wait *from)
{
	memcpy(to, from, offsetof(struct longest_wait, causes.at));
	for (uint32_t i = 0; i < from->causes.n; i++)
		to->causes.at[i] = from->causes.at[i];
}

/* Counts the wait of a call of process t (calls is 1), or takes it back (-1 modulo 2^64). */
typedef void longest_count(struct traffic *t, const struct longest_wait *w, uint64_t calls);
struct longest *longest_new(longest_count *count);
void longest_free(struct longest *l);

/*
 * Sets the function that is told each wait that is taken back, as its call has waited longer for
 * somebody else. There is one such function at most.
 */
void longest_listen(
	struct longest *l, void (*taken_back)(void *arg, const struct longest_wait *w), void *arg);

/*
 * Adds the wait of a call of process t for what one of its operations needs. If the call has waited
 * at least as long for another operation, returns NULL. Else counts the wait in t (if t is NULL,
 * only keeps it), takes back the one that was counted for that call before, and returns the kept
 * wait, without causes; it is valid until the next call.
 */
struct longest_wait *longest_add(
	struct longest *l, struct traffic *t, const struct longest_wait *w);

/*
 * The kept wait of the call of t at this path that began at `enter', valid until the next call;
 * NULL: there is none.
 */
struct longest_wait *longest_of_call(
	const struct longest *l, const struct traffic *t, uint32_t path, uint64_t enter);

#endif
