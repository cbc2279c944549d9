/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of standard sends for their receivers. Such a send may have been sent at once, and then its
 * call took long for another reason. Those that ended before their receives were posted were,
 * and so all are taken to be that are not longer; what is longer is known when the job is over.
 * Messages between nodes go another way than those within one, and are told apart.
 *
 * Until then waits are kept by their lengths: those of calls that completed nothing else in rows
 * that are sums; and of calls that completed several operations one by one, as such a call counts
 * for the operation that it waited for longest (replay/comm/longest.h).
 */
#ifndef VFTR_NODEAGENT_INTERNODE_UNPROVEN_H
#define VFTR_NODEAGENT_INTERNODE_UNPROVEN_H

#include <stdbool.h>
#include <stdint.h>

struct longest_wait;
struct matching;
struct unproven;

/* Smaller in tests. */
#ifndef UNPROVEN_ROWS_MAX
#define UNPROVEN_ROWS_MAX  4096u /* call paths by late rank and length, 64 B each */
#define UNPROVEN_CALLS_MAX 4096u /* that completed several operations, about 700 B each */
#endif

/* What a standard send was, beside its wait. */
struct unproven_send {
	uint64_t source, bytes; /* source: the id of a process here */
	bool far;		/* to another node */
};

struct unproven *unproven_new(void);
/* Those that are known now count; frees u, which may be NULL. */
void unproven_end(struct unproven *u, struct matching *m);

/* One of this length was sent at once. */
void unproven_at_once(struct unproven *u, bool far, uint64_t bytes);
/* True if one of this length may have been. */
bool unproven_is_at_once(const struct unproven *u, bool far, uint64_t bytes);

/* So many calls that completed nothing else, of which w is the sum of all waits. */
void unproven_add(struct unproven *u, const struct unproven_send *s, const struct longest_wait *w,
	uint64_t calls);
/* One that completed several operations. Copies w, with its causes, which are counted then, unless
 * another one of that call says more; looks for them if they are on this node. */
void unproven_add_among(struct unproven *u, struct matching *m, const struct unproven_send *s,
	const struct longest_wait *w);

#endif
