/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agent's side of home.h: reports what its members did in collective calls with members on
 * other nodes, and counts what they waited by the answers. Nothing here sends or waits.
 */
#ifndef VFTR_NODEAGENT_INTERNODE_ASKING_H
#define VFTR_NODEAGENT_INTERNODE_ASKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/match/rank-set.h"

struct elsewhere;
struct longest;
struct traffic;

/* The one clock of all agents. */
struct asking_clock {
	uint64_t (*global)(const void *arg, uint64_t ticks); /* ns */
	uint64_t (*ticks)(const void *arg, uint64_t global);
	const void *arg;
	/* what stands for that rank of another job in waits of t (node_wait.late) */
	uint32_t (*late)(const void *arg, struct traffic *t, uint64_t job, uint32_t rank);
	uint64_t error_ns;    /* the greatest of this agent's; UINT64_MAX: not known */
	uint64_t error_ticks; /* that of the difference to any other one; UINT64_MAX: not known */
};

/* Calls of collectives with members on other nodes, by what is known of their waits, on
 * communicators of which one in 2^n instances was kept: estimated from those, if n > 0. Times in
 * ticks. */
struct asking_sums {
	uint64_t calls;	  /* that were made */
	uint64_t kept;	  /* of `calls', those in kept instances */
	uint64_t unknown; /* of which a needed member, or a clock, is not known */
	/*
	 * of `unknown': those that have waited at least partly_ticks for members of their own node
	 */
	uint64_t partly, partly_ticks;
	uint64_t waited, waited_ticks, error_ticks; /* that have waited for another rank */
	uint64_t below, below_ticks; /* that have waited for a rank on another node no longer than
					the error of the clocks */
};

/*
 * The reports for this home, in messages of about `most` words; send() gets each one and may take
 * it (w->at NULL then). None if it is to have none.
 */
void asking_report(const struct elsewhere *e, const struct asking_clock *c, int home, int agents,
	size_t most, void (*send)(void *arg, struct words *w), void *arg);

/* Sets homes[i] for each agent i to which this one has reports. */
void asking_homes(const struct elsewhere *e, int agents, bool *homes);

/*
 * Counts the waits by the answers of the homes. answers: by agent, without the first two words of
 * each message; where answers are missing, only members on this node are known. longest: the waits
 * so far of calls that complete several operations. sums: ELSEWHERE_LOG2_MAX + 1 of them, by n,
 * zeros at first.
 */
void asking_count(struct elsewhere *e, struct longest *longest, const struct asking_clock *c,
	const struct words *answers, int agents, struct asking_sums *sums);

#endif
