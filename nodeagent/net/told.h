/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last message to agent 0 of each agent in a part of the tree, by tag: from these the agent
 * that passes messages on (route.h) knows what the agents above wait for. A message is final, or
 * open: then more is to come from that agent. Agents are numbers from 0 here; number 0 passes the
 * messages on.
 */
#ifndef VFTR_NODEAGENT_NET_TOLD_H
#define VFTR_NODEAGENT_NET_TOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct told; /* of one tag */

#define TOLD_TAGS_MOST 16

/* Zeros are an empty list. */
struct told_tags {
	struct told *at[TOLD_TAGS_MOST];
	size_t n;
};

/*
 * The state of a tag, owned by the list. agents: their number, the same in each call. NULL: there
 * are too many tags; all functions below take NULL as a tag without messages.
 */
struct told *told_tag(struct told_tags *tags, int tag, int agents);
void told_clear(struct told_tags *tags);

/* Whether a message is new; numbers of an agent's messages rise. */
enum told_word {
	TOLD_OLD, /* this message came before, or a later one of the agent did */
	TOLD_NEW,
	TOLD_AGAIN, /* it is new, and both this and the one before are final */
};
enum told_word told_came(struct told *t, int agent, uint64_t number, bool final);
/* The last message of this agent was passed on. */
void told_went(struct told *t, int agent, bool final);

/*
 * True if no more messages have to come: from the agents that had an open message, if there are
 * any, else from all. is_gone: tells that an agent will send nothing any more.
 */
bool told_by_all(const struct told *t, bool (*is_gone)(void *arg, int agent), void *arg);
/*
 * True if an open message was passed on, and no later one of the same agent is here: the agents
 * above wait for that agent, whatever else they receive.
 */
bool told_of_open(const struct told *t, bool (*is_gone)(void *arg, int agent), void *arg);

#endif
