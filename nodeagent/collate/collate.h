/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From one profile per node to one of the job. Between agents: up a tree to
 * agent 0 by messages, then the global stack ids down. From files: the same
 * merging, of all BASE_HOST.vfp in a directory. Nodes are merged in the
 * sequence of their host names in both, so both give the same.
 */
#ifndef VFTR_NODEAGENT_COLLATE_COLLATE_H
#define VFTR_NODEAGENT_COLLATE_COLLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/base/result-files.h"

struct transport;
struct profile;
struct profile_number;

/*
 * At the start of all agents: exchanges their host names and plans the tree.
 * deadline_s from now, and up to 2 s more for the plan; 0 or -errno: then there is no plan.
 * transport may be NULL. host must be the name that agents[0].host of this agent's profile will
 * have.
 */
int collate_start(struct transport *transport, const char *host, double deadline_s);

/* At agent 0, after collate_start(): host of the i-th agent by host names, or NULL after the last.
 */
const char *collate_host(const struct transport *transport, unsigned i);
/* Host of the agent with this rank; agents other than 0 know that of agent 0 only. NULL: unknown.
 */
const char *collate_host_of(const struct transport *transport, int rank);

/*
 * Collates. Each agent calls it at the end, within half of deadline_s of the others; it takes up to
 * 1.25 * deadline_s. mine is only read. Agent 0 gets *whole (without processes[]), made of the
 * profiles that came; agents that died or did not answer are marked as missing in it. Every agent
 * gets *numbers: the ids in the job of the stacks of mine (profile/ids.h), NULL if they did not
 * come; their memory does not grow with the job. Others than agent 0 get them when that calls
 * collate_tell(), for which they wait up to 30 s more. The caller frees both. Returns 0, or
 * -EOWNERDEAD (at agent 0) if agents have died, -ETIMEDOUT if some did not answer, -ECONNRESET if
 * this agent is cut off from all others, which may have written node profiles all the same,
 * -ENOTCONN if there is no plan: then agent 0 has a copy of its own as *whole, and nobody has
 * numbers. transport NULL: this is the only agent; *whole is a copy of mine. Copies have their
 * processes[].
 */
int collate_run(struct transport *transport, const struct profile *mine, double deadline_s,
	struct profile **whole, struct profile_number **numbers, size_t *n_numbers);

/* To be called before collate_run() by an agent that ends by itself, while the job goes on: it does
 * not wait longer for numbers than for anything else. */
void collate_unasked(struct transport *transport);

/*
 * To be called before collate_run(): of a job with more than `from' call paths (PRUNE_NEVER: of
 * none) those with little time are added up (profile/prune.h), by agent 0. asks: all agents tell
 * each other first what their call paths weigh, so that this is done before they are sent, which
 * takes a fifth of the deadline at most; the same everywhere, as far as agents are told. gone: n
 * agents of which nothing comes, the same everywhere; must live until collate_run() returns.
 */
void collate_prune(
	struct transport *transport, uint64_t from, bool asks, const uint32_t *gone, size_t n);

/*
 * At agent 0, after collate_run(), when the summary is written: gives all others their numbers, and
 * the job's name, which is not sent if it has 256 characters or more. Takes at most `seconds`.
 */
void collate_tell(struct transport *transport, const char *name, double seconds);
/* At others, after collate_run(): that name, "" if there is none; valid until collate_end(). */
const char *collate_name(const struct transport *transport);

/*
 * At the very end, when this agent has written all its files: waits until
 * agent 0 has written the summary (launchers kill the rest of a job when a
 * process ends before the others), for 30 s more than deadline_s at most, then leaves MPI and frees
 * transport with its plan. Ends the process with status if MPI does not return. transport NULL:
 * does nothing.
 */
void collate_end(struct transport *transport, int status, double deadline_s);

/* Node profile files of one run: same directory, same BASE. */
struct collate_files {
	enum result_layout layout;
	char *base; /* result_base() */
	char **paths;
	size_t n;
	struct result_seen seen;
};

/*
 * All node profiles in dir, of both layouts, grouped by BASE, sorted. 0 or -errno with *error,
 * a sentence (caller frees).
 */
int collate_find(const char *dir, struct collate_files **sets, size_t *n, char **error);
/*
 * Adds a path, which it takes over, to the files of this base; NULL: of the path's own one. A file
 * that is there already stays once; complain() tells of the first one.
 */
void collate_files_add(struct collate_files **sets, size_t *n, const char *base, char *path);
void collate_files_free(struct collate_files *sets, size_t n);

/*
 * A summary, BASE_all.json or profile.json, in which call paths with little time are added up
 * (profile/prune.h), is the list of the node profiles that have all: those of its agents, beside
 * it. -1 with *error, a sentence (caller frees): it cannot be read. complain() names each of them
 * that is not there; n_missing counts these. Where nothing is added up there are none.
 * collate_summary_free() in any case.
 */
struct collate_summary {
	bool pruned;
	char **paths;
	size_t n, n_missing;
};
int collate_summary(const char *path, struct collate_summary *s, char **error);
void collate_summary_free(struct collate_summary *s);

/* What the name of a node profile's path begins with, and its layout; the caller frees. */
char *collate_base(const char *path, enum result_layout *layout);

/*
 * Reads and merges files. NULL if none could be read. *n_bad counts files that
 * could not; each is named by complain(). done(i, ctx), if not NULL, is told after each file that i
 * are read; it begins again from 1 if names of files do not tell the sequence of hosts.
 */
struct profile *collate_read(
	char **paths, size_t n, size_t *n_bad, void (*done)(size_t, void *), void *ctx);

#endif
