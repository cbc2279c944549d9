/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends histories (replay/comm/history.h) to agents whose processes have waited: what a sender did
 * before it sent, what a process did before it gave a lock of a window back. The agent of that
 * process sends each history once to an agent, before the first message that refers to it, and the
 * names of the call paths in it before the history.
 *
 * Words:
 *	PATH, number, parent, bytes, the name in words
 *	HISTORY, number, parts, of each 2 * path + 1 if it ends a window, and ns
 */
#ifndef VFTR_NODEAGENT_INTERNODE_FAR_CAUSES_H
#define VFTR_NODEAGENT_INTERNODE_FAR_CAUSES_H

#include <stddef.h>
#include <stdint.h>
#include "nodeagent/base/map.h"
#include "nodeagent/match/rank-set.h"

struct history_part;
struct host;
struct node;
struct process;

/* What one other agent was sent. Begins as zeros. */
struct far_telling {
	struct words words; /* that were not sent yet */
	struct map32 histories;
	struct map64 paths; /* node -> number */
};

/*
 * Sends a history of p, a process here, if it was not sent yet. Returns its number for the other
 * agent; 0: there is none.
 */
uint32_t far_tell(
	struct far_telling *f, const struct host *host, const struct process *p, uint32_t history);
/*
 * Sends a path in the trees of p, if it was not sent yet. Returns its number for the other agent;
 * 0: there is none.
 */
uint32_t far_tell_path(struct far_telling *f, const struct host *host, const struct process *p,
	const struct node *path);
void far_telling_free(struct far_telling *f);

/* What other agents have sent. Begins as zeros. */
struct far_heard {
	struct map32 histories, paths; /* of one agent, by its number -> ours */
	struct kept_history {
		size_t first;
		uint32_t n;
	} * kept;
	size_t n_kept, cap_kept;
	struct history_part *parts;
	size_t n_parts, cap_parts;
};

#ifndef FAR_PARTS_MAX
#define FAR_PARTS_MAX ((size_t)1 << 22) /* further histories are not kept */
#endif

/* To be called before the words of another agent, which has numbers of its own. */
void far_heard_next(struct far_heard *f);
/* NULL, or what is wrong; then the rest was not taken. */
const char *far_take(struct far_heard *f, struct host *host, const uint64_t *words, size_t n);
/* The number of a history for far_history(), or 0. */
uint32_t far_number(const struct far_heard *f, uint32_t told);
/* The number of a path in causes_far(), or 0. */
uint32_t far_path_number(const struct far_heard *f, uint32_t told);
/* A history of these parts; 0: there is no room. */
uint32_t far_keep(struct far_heard *f, const struct history_part *at, size_t n);
/* NULL: there is none. */
const struct history_part *far_history(const struct far_heard *f, uint32_t number, size_t *n);
void far_heard_free(struct far_heard *f);

#endif
