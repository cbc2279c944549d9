/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Late receivers on other nodes. The agent of the sender sends with each send by which call it was
 * completed (match/wire.h). The agent of the receiver, which pairs sends and receives, answers with
 * the waits of those calls, as late-receivers.c has them, and with the length of the longest
 * message that was sent at once. Waits that are no longer than the error of both clocks are left
 * out.
 *
 * Words of an answer:
 *	AT_ONCE, bytes
 *	SUM, source, destination, mode<<32 | path, bytes, calls, ns, n, DID	calls that completed
 *										one send
 *	CALL, source, destination, mode<<32 | number, bytes, ns, n, DID		one that completed
 *										several
 * DID: what the receiver did meanwhile, n times path, ns; paths were told before: far-causes.h
 */
#ifndef VFTR_NODEAGENT_INTERNODE_FAR_RECEIVERS_H
#define VFTR_NODEAGENT_INTERNODE_FAR_RECEIVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/match/match.h"
#include "nodeagent/match/rank-set.h"

struct far_telling;
struct histories;
struct matching;

/* Smaller in tests. */
#ifndef FAR_SUMS_MAX
#define FAR_SUMS_MAX  4096u	 /* in an answer: call paths by destination and length */
#define FAR_CALLS_MAX (1u << 18) /* the same: calls that completed several; 48 B each */
#endif
#define FAR_DIDS	 6u /* call paths of a receiver that are told apart for a wait or a sum */
#define FAR_ANSWER_WORDS (8u + 2u * FAR_DIDS)

/* ---- the agent of the senders -------------------------------------------------------------- */

/* Calls that completed several operations, of which one other agent was told. Begins as zeros. */
struct far_calls {
	struct far_call {
		uint64_t source, enter, leave;
		uint32_t path;
	} * at;
	size_t n, cap;
};

/*
 * Prepares *told for another agent: it has global times but for the call that completed it, which
 * is taken from s.
 */
void far_calls_tell(struct far_calls *f, const struct matching *m, struct match_send *told,
	const struct match_send *s);
/* Takes the answer, or a part of it. NULL, or what is wrong; then the rest was not taken. */
const char *far_calls_answer(
	const struct far_calls *f, struct matching *m, const uint64_t *words, size_t n);
void far_calls_free(struct far_calls *f);

/* ---- the agent of the receivers ------------------------------------------------------------ */

/* The answer to one other agent about its sends. Begins as zeros. */
struct far_receivers {
	bool some_at_once;
	uint64_t at_once;     /* bytes */
	struct far_sum *sums; /* FAR_SUMS_MAX, or NULL */
	struct far_wait {
		uint64_t source, destination, bytes, ticks;
		uint32_t mode, number;
		uint32_t history; /* of the receiver, or 0 */
	} * calls;
	size_t n_calls, cap_calls;
};

/* The pair is exact; error: of the clocks, ticks; all: those of this agent, or NULL. */
void far_receiver_found(struct far_receivers *f, const struct match_send *s,
	const struct match_receive *r, uint64_t error, const struct histories *all);
/*
 * Writes the answer to *to, and to paths->words what must be sent before it. f is empty afterwards.
 */
void far_receivers_put(struct far_receivers *f, const struct matching *m, struct far_telling *paths,
	struct words *to);
/*
 * The number of words, at most `most`, that can be sent as one part of the answer, from word `at'
 * on: far_calls_answer() takes complete rows only. At least one if most is FAR_ANSWER_WORDS.
 */
size_t far_answer_part(const struct words *of, size_t at, size_t most);
void far_receivers_free(struct far_receivers *f);

#endif
