/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the times of members of collective calls on several nodes. Each instance of a
 * communicator with such members has a home: the agent that its hash chooses. Each agent reports
 * its members to that agent, which answers for whom they waited. Both are arrays of words of 64
 * bits in the byte order of the machine, cut into messages of about a MiB; times are global ns.
 *
 * A report:
 *	version, the greatest error of the agent's clock (ns; UINT64_MAX: not known)
 *	for each communicator: id, job, size << 32 | n, log2 of one in how many instances it keeps
 *	  for each of its n instances: ticket << 32 | kind << 24 | runs
 *	    for each run: first rank << 32 | ranks, world rank of the latest, its time
 *
 * Runs are those that the kind of call (enum collective_kind) needs: of a scan each run of
 * successive ranks; from a root the root alone, and nothing where it is elsewhere; of others one,
 * with any first rank. One instance may come in several parts. The groups of an intercommunicator
 * are communicators of their own: members of a group that wait for the other one report no run
 * there. A world rank of the child job of two has ELSEWHERE_CHILD.
 *
 * An answer: version, the greatest error of all clocks; then for each instance, in the order of
 * the reports, or for each run of it where it is a scan:
 *	status << 40 | log2 << 32 | world rank of the one that was waited for, its time
 *
 * log2: the greatest of all agents that have reported the communicator here.
 */
#ifndef VFTR_NODEAGENT_INTERNODE_HOME_H
#define VFTR_NODEAGENT_INTERNODE_HOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeagent/match/rank-set.h"

#define HOME_VERSION 0x7666747268303031u /* first word of both */
#define HOMES_MAX    64			 /* agents that are homes */

#define HOME_ANSWER_WORDS 2

/*
 * Most of each that a home keeps; further ones are not compared. Half of each is divided among the
 * agents, so that none can take all.
 */
#ifndef HOME_INSTANCES_MAX
#define HOME_GROUPS_MAX	   ((size_t)1 << 20) /* communicators */
#define HOME_INSTANCES_MAX ((size_t)1 << 22)
#define HOME_RUNS_MAX	   ((size_t)1 << 22) /* of scans */
#define HOME_ASKS_MAX	   ((size_t)1 << 23) /* answers, to all agents */
#endif

enum home_status {
	HOME_UNKNOWN, /* a member that is needed has not reported, or reports disagree */
	HOME_NOBODY,  /* there is nobody to wait for */
	HOME_KNOWN,
	HOME_STATUS_KINDS
};

struct home_answer {
	enum home_status status;
	uint32_t log2;
	uint32_t world;
	uint64_t time;
};

struct home;

/* agents: their number; reports of others are refused. */
struct home *home_new(int agents);
void home_free(struct home *h);

/* A message of an agent: NULL, or a static text that says what is wrong; what came before counts.
 */
const char *home_take(struct home *h, int agent, const uint64_t *words, size_t n);

/*
 * The next message with answers for this agent, at most `most` words, appended to *w; false: there
 * is none left. After the last home_take().
 */
bool home_give(struct home *h, int agent, size_t most, struct words *w);

/* One answer out of a message, behind its first two words. */
void home_read_answer(struct words_in *in, struct home_answer *a);

/*
 * home_of(): the agent that is the home of instances with this hash (elsewhere_hash()). homes():
 * number of agents that are homes.
 */
int home_of(uint64_t hash, int agents);
int homes(int agents);
/* True if the agent is a home. */
bool home_is(int agent, int agents);

#endif
