/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Causes of waits: what the late thread did during a wait, by its call path. Some waits are not
 * looked at: short ones, those that are older than the calls that replay/tree/activity.h keeps, and
 * some if there are more than the agent has time for. The others stand for all waits of their kind.
 * At most CAUSE_PARTS call paths of the late thread are told apart for one wait; the others count
 * for their callers.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_CAUSES_H
#define VFTR_NODEAGENT_REPLAY_COMM_CAUSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/replay/comm/cause-parts.h"

struct causes;
struct far_paths;
struct histories;
struct history_part;
struct node;
struct traffic;

/* Histories of sends to other nodes; NULL: there is one agent only. */
struct histories *causes_histories(struct causes *c);
/* The call paths of late ranks on other nodes. */
struct far_paths *causes_far(struct causes *c);

/*
 * Counts what thread number `thread` of process `late` did in [from, to], ticks, while a call of
 * process t at the path number `path` (struct match_done) waited for it. Sets *counted to what was
 * counted, which may be nothing.
 */
void traffic_cause(struct traffic *t, uint32_t path, enum wait_kind kind, struct traffic *late,
	uint32_t thread, uint64_t from, uint64_t to, struct cause_parts *counted);
/*
 * The same for a late rank on another node, in the job of t or traffic_late_far(): counts the last
 * `ticks` of its history, whose paths are those of causes_far().
 */
void traffic_cause_far(struct traffic *t, uint32_t path, enum wait_kind kind, uint32_t rank,
	const struct history_part *history, size_t n, uint64_t ticks, struct cause_parts *counted);
/*
 * A number, greater than any rank, that stands for a late process of another job in node_wait.late;
 * UINT32_MAX: causes of waits are not kept.
 */
uint32_t traffic_late_job(struct traffic *t, struct traffic *late);
/*
 * The process that traffic_late_job() has given this number; NULL: there is none, or it was
 * forgotten.
 */
const struct traffic *traffic_late_process(const struct traffic *t, uint32_t late);
/*
 * The same for a rank of another job on another node, by its name in profiles: a rank of the main
 * job, or rank_far(). Of too many: UINT32_MAX. is_far(): whether it is such a number.
 */
#ifndef FAR_LATE_MAX
#define FAR_LATE_MAX (1u << 20)
#endif
uint32_t traffic_late_far(struct traffic *t, uint32_t name);
bool traffic_late_is_far(const struct traffic *t, uint32_t late, uint32_t *name);
/* Takes back what traffic_cause() for the same t has counted; *counted: as it was set there. */
void traffic_cause_back(struct traffic *t, const struct cause_parts *counted);

/* Changes the kind of the wait for which *counted was counted. */
void traffic_cause_is(struct traffic *t, struct cause_parts *counted, enum wait_kind kind);

/* What one late process did at one of its nodes while calls at one node waited for it. */
struct traffic_cause_row {
	enum wait_kind kind;
	const struct node *node;      /* of the calls that waited, in their tree; NULL: forgotten */
	const struct traffic *late;   /* NULL: its trees are no more, or it is on another node */
	const struct node *late_node; /* in its tree; NULL: forgotten */
	/* of a late rank on another node, in the job of the one that waited, or the number of
	 * traffic_late_far(); path 0: it is on this node */
	uint32_t far_rank, far_path;
	uint64_t ticks; /* of these waits */
};
/* Row i, from 0, of the process that waited; false: there are no more. */
bool traffic_cause_row(const struct traffic *t, size_t i, struct traffic_cause_row *to);

#endif
