/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Causes of waits: what the late thread did meanwhile, by its call path. What one wait says is
 * an estimate of all of its kind: if there are too many waits for the time that this may take,
 * some are not looked at, nor are short ones, nor what is older than the calls that
 * replay/tree/activity.h keeps. At most CAUSE_PARTS call paths of the late thread are told apart
 * for one wait; the others count for their callers.
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
 * Counts what thread number `thread` of `late` did in [from, to], ticks, while the call of t at
 * the path number `path` (struct match_done) waited for it. *counted: what was counted, which may
 * be nothing.
 */
void traffic_cause(struct traffic *t, uint32_t path, enum wait_kind kind, struct traffic *late,
	uint32_t thread, uint64_t from, uint64_t to, struct cause_parts *counted);
/* The same of a rank of t's job on another node, from its history, whose paths are those of
 * causes_far(): the last ticks of that. */
void traffic_cause_far(struct traffic *t, uint32_t path, enum wait_kind kind, uint32_t rank,
	const struct history_part *history, size_t n, uint64_t ticks, struct cause_parts *counted);
/* A late process of another job as the `late` of a struct node_wait, beyond all ranks; UINT32_MAX:
 * it is not told. */
uint32_t traffic_late_job(struct traffic *t, struct traffic *late);
/* The process of such a number; NULL: it is none, or was forgotten. */
const struct traffic *traffic_late_process(const struct traffic *t, uint32_t late);
/* Takes it back: *counted as traffic_cause() of the same t has set it. */
void traffic_cause_back(struct traffic *t, const struct cause_parts *counted);

/* It was of a wait of this kind. */
void traffic_cause_is(struct traffic *t, struct cause_parts *counted, enum wait_kind kind);

/* What one late process did at one of its nodes while calls at one node waited for it. */
struct traffic_cause_row {
	enum wait_kind kind;
	const struct node *node;      /* of the calls that waited, in their tree; NULL: forgotten */
	const struct traffic *late;   /* NULL: its trees are no more, or it is on another node */
	const struct node *late_node; /* in its tree; NULL: forgotten */
	uint32_t far_rank, far_path;  /* on another node, in the job of that one; path 0: is not */
	uint64_t ticks;		      /* of these waits */
};
/* Row i, from 0, of the process that waited; false: there are no more. */
bool traffic_cause_row(const struct traffic *t, size_t i, struct traffic_cause_row *to);

#endif
