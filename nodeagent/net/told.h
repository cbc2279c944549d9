/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the agents of one part of the tree have said last to agent 0, by tag: so that whoever passes
 * their words on (route.h) knows what those above wait for. A word is final, or open: more is to
 * come from this agent. Agents are numbers from 0 here, the first one passes on.
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

/* For so many agents, each time the same number; the list owns it. NULL: there are too many tags;
 * all functions take that for one of which nothing is known. */
struct told *told_tag(struct told_tags *tags, int tag, int agents);
void told_clear(struct told_tags *tags);

/* A word of this agent is here; its words have numbers that rise. */
enum told_word {
	TOLD_OLD, /* it came before, or a later one did */
	TOLD_NEW,
	TOLD_AGAIN, /* a new one; this and the one before are final */
};
enum told_word told_came(struct told *t, int agent, uint64_t number, bool final);
/* ... and has been passed on. */
void told_went(struct told *t, int agent, bool final);

/* True if nothing more is to come: from those who had an open word, where there are such, else from
 * all. is_gone: nothing comes from this agent any more. */
bool told_by_all(const struct told *t, bool (*is_gone)(void *arg, int agent), void *arg);
/* True if an open word was passed on, and nothing of the same agent waits to be passed on: those
 * above wait for that agent, whatever else they hear. */
bool told_of_open(const struct told *t, bool (*is_gone)(void *arg, int agent), void *arg);

#endif
