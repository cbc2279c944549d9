/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of standard sends for their receivers. Such a message may be sent at once (eagerly): then
 * the call took long for another reason, and has not waited. A message whose send ended before its
 * receive was posted was sent at once; all messages that are not longer are taken to be, too. Which
 * ones are longer is known when the job is over. Messages within a node and between nodes have
 * limits of their own.
 *
 * Until then waits are kept with the lengths of their messages. Calls that completed one send are
 * added to rows by call path, late rank and length. Calls that completed several operations are
 * kept one by one, as such a call counts for the operation that it has waited for longest
 * (replay/comm/longest.h).
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
#define UNPROVEN_ROWS_MAX  4096u /* call paths by late rank and length, 56 B each */
#define UNPROVEN_CALLS_MAX 4096u /* that completed several operations, 760 B each */
#endif

/* What a standard send was, beside its wait. */
struct unproven_send {
	uint64_t source, bytes; /* source: the id of a process here */
	bool far;		/* to another node */
};

struct unproven *unproven_new(void);
/* Counts the waits for messages that were not sent at once; frees u, which may be NULL. */
void unproven_end(struct unproven *u, struct matching *m);

/* A message of this length was sent at once. */
void unproven_at_once(struct unproven *u, bool far, uint64_t bytes);
/* True if a message of this length may have been sent at once. */
bool unproven_is_at_once(const struct unproven *u, bool far, uint64_t bytes);

/* Adds `calls' calls that completed nothing else; w: the sum of their waits. */
void unproven_add(struct unproven *u, const struct unproven_send *s, const struct longest_wait *w,
	uint64_t calls);
/*
 * Adds the wait of a call that completed several operations. w is copied, with its causes, which
 * are looked up if the late process is on this node. A longer wait of the same call replaces it.
 */
void unproven_add_among(struct unproven *u, struct matching *m, const struct unproven_send *s,
	const struct longest_wait *w);

#endif
