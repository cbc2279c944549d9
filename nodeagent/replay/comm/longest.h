/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls that complete several operations have waited for. Such a call, as MPI_Waitall(), waits
 * for the last of those that its operations need, so it counts once, for that one, whatever
 * the kinds of the operations are, and in whatever order it is learnt what each of them needed.
 * That is known of the last LONGEST_MAX calls that have waited; of older ones each operation
 * counts.
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
	struct cause_parts causes; /* of it; whoever adds it sets these in what is kept */
};

/* Without what is beyond the causes that it has: most waits have none. */
static inline void longest_copy(struct longest_wait *to, const struct longest_wait *from)
{
	memcpy(to, from, offsetof(struct longest_wait, causes.at));
	for (uint32_t i = 0; i < from->causes.n; i++)
		to->causes.at[i] = from->causes.at[i];
}

/* Counts in t what its call has waited; calls: 1, or -1 modulo 2^64, then it counts no more. */
typedef void longest_count(struct traffic *t, const struct longest_wait *w, uint64_t calls);
struct longest *longest_new(longest_count *count);
void longest_free(struct longest *l);

/* Called with what is taken back, as its call has waited longer for somebody else. One at most. */
void longest_listen(
	struct longest *l, void (*taken_back)(void *arg, const struct longest_wait *w), void *arg);

/*
 * A call of process t has waited for what one of its operations needs. NULL: it has waited at
 * least as long for another one. Otherwise it counts in t, or only here if t is NULL, and what was
 * counted for that call before is taken back. Result: what is kept, without causes, until the
 * next call.
 */
struct longest_wait *longest_add(
	struct longest *l, struct traffic *t, const struct longest_wait *w);

/* What is kept of the call of t at this path that began then, until the next call; NULL: nothing.
 */
struct longest_wait *longest_of_call(
	const struct longest *l, const struct traffic *t, uint32_t path, uint64_t enter);

#endif
