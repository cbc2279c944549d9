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

struct node;
struct traffic;

#define CAUSE_PARTS 4

/* What was counted for one wait, so that it can be taken back. */
struct cause_parts {
	uint32_t n;
	struct {
		uint32_t row;
		uint64_t ticks;
	} at[CAUSE_PARTS];
};

/* The same for thread `thread` of late. */
void traffic_cause(struct traffic *t, uint32_t path, enum wait_kind kind, struct traffic *late,
	uint32_t thread, uint64_t from, uint64_t to, struct cause_parts *counted);
void traffic_cause_back(struct traffic *t, const struct cause_parts *counted);

/* Row i of a process; false: there is none. node: NULL if its trees are no more. */
struct traffic_cause_row {
	enum wait_kind kind;
	const struct node *node; /* of the call that waited, in the process's tree */
	const struct traffic *late;
	const struct node *late_node;
	uint64_t ticks;
};
bool traffic_cause_row(const struct traffic *t, size_t i, struct traffic_cause_row *to);

#endif
