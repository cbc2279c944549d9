/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of all files with results, in both layouts (output.layout): those of Vftrace, where
 * each begins with the program's name, and those of a folder that has one run only.
 */
#ifndef VFTR_NODEAGENT_BASE_RESULT_FILES_H
#define VFTR_NODEAGENT_BASE_RESULT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include "nodeagent/base/map.h"

struct conf;

enum result_layout { LAYOUT_VFTRACE, LAYOUT_RUN };

enum result_kind {
	RESULT_SUMMARY,	     /* BASE_all.log, or summary.log */
	RESULT_PROFILE,	     /* BASE_all.json, or profile.json */
	RESULT_REPORT,	     /* BASE_all.html, or report.html */
	RESULT_NODE_LOG,     /* BASE_node_HOST.log, or node-HOST.log */
	RESULT_RANK_LOG,     /* BASE_RANK.log, or rank-RANK.log */
	RESULT_NODE_PROFILE, /* BASE_HOST.vfp, or HOST.vfp */
	RESULT_SAMPLES,	     /* BASE_HOST.vfd, or HOST.vfd; of an event BASE_HOST_EVENT.vfd ... */
	RESULT_STACKS,	     /* stacks_HOST.log, or stacks-HOST.log */
	RESULT_KINDS
};

/*
 * Events for which the flight recorder writes a file. EVENT in the file's name is the name of the
 * event, with a number or other word behind it: "slow137".
 */
enum result_event { EVENT_SLOW, EVENT_DEATH, EVENT_SIGNAL, EVENT_REQUEST, RESULT_EVENTS };
extern const char *const result_events[RESULT_EVENTS];
/*
 * The state of an EVENT_REQUEST on a node: X(STATE, name in JSON, why nothing is written, or NULL).
 * Agents send each other the numbers.
 */
#define REQUEST_STATES(X)                                                                          \
	X(DUE, "due", NULL)                                                                        \
	X(WRITTEN, "written", NULL)                                                                \
	X(NOT_KEPT, "not_kept",                                                                    \
		"the agent keeps nothing: sampling.keep=TIME sets how much, see vftr-config(5)")   \
	X(NOT_WANTED, "not_wanted", "sampling.when does not have the word `request'")              \
	X(UNDER_WAY, "under_way",                                                                  \
		"the file of another event is being written, which has the same")                  \
	X(FULL, "full", "the files would be larger than sampling.max_size")                        \
	X(FAILED, "failed", "the file cannot be written, as the agent's log says")

enum request_state {
#define REQUEST_STATE(state, name, why) REQUEST_##state,
	REQUEST_STATES(REQUEST_STATE)
#undef REQUEST_STATE
		REQUEST_STATES_END
};

/* The event in the name of a sampling file, with the rest of the name; "": it is of none. */
const char *result_event_in(const char *name);
/* True if `who' of a result is that host, or an event on it. */
bool result_is_of(const char *who, const char *host);

/* A file. base: result_base(). who: the host or the rank, NULL where there is none. part: of a
 * summary or rank log, the table that has a file of its own; NULL: the log itself. */
struct result {
	const char *base;
	enum result_kind kind;
	const char *who, *part;
};

enum result_layout result_layout(const struct conf *c);

/* The number that the batch system has given to this job, or "", fit for the name of a file; the
 * caller frees. */
char *batch_job(void);

/*
 * What the names of a run begin with: in Vftrace's layout the given name, in a folder of its own
 * nothing; round: of a session, from 1, or 0: all of the run. The caller frees.
 */
char *result_base(enum result_layout layout, const char *name, unsigned round);
/* True if it is that of a single round. */
bool result_is_round(const char *base);

/* DIR/NAME, and NAME alone. The caller frees. */
char *result_path(enum result_layout layout, const char *dir, const struct result *r);
char *result_name(enum result_layout layout, const struct result *r);

/*
 * The reverse. True: `name' (without folder) is that of a result; host names are taken to have no
 * underscore. Free it with result_parsed_free().
 */
struct result_parsed {
	enum result_layout layout;
	enum result_kind kind;
	char *base, *who; /* who: NULL where there is none */
	bool part;
};
bool result_parse(const char *name, struct result_parsed *to);
void result_parsed_free(struct result_parsed *r);

/*
 * The path of the only file of that kind in a folder, of either layout and no single round; the
 * caller frees. NULL: there are none, or *n of them.
 */
char *result_find(const char *dir, enum result_kind kind, size_t *n);

/* Files that were named, each of which is to count once. Begins as zeros. */
struct result_seen {
	struct match_table files; /* by device and inode */
	size_t n_repeated;
};

/*
 * True if this file was asked for before, under this name or another one; complain() tells of the
 * first such file. False, too, of what is not there.
 */
bool result_is_repeated(struct result_seen *seen, const char *path);
void result_seen_free(struct result_seen *seen);

#endif
