/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What threads did before they sent messages to other nodes: whether the receiver has waited is
 * known there, when the job is over, and the calls that replay/tree/activity.h keeps are gone by
 * then. A history is a list of windows, the latest first: long stretches of one call path, and in
 * between some time of which a few call paths are told, the more the longer ago it is. Sends that
 * follow each other closely share one. The time that this may take and its memory are bounded: some
 * sends have none, and with many, every second one goes.
 */
#ifndef VFTR_NODEAGENT_REPLAY_COMM_HISTORY_H
#define VFTR_NODEAGENT_REPLAY_COMM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct histories;
struct traffic;
struct traffic_track;

/* Smaller in tests. */
#ifndef HISTORIES_PARTS_MAX
#define HISTORIES_PARTS_MAX ((size_t)1 << 20) /* of all histories, 16 B each */
#endif
#define HISTORY_PARTS 64 /* of one, at most */

struct history_part {
	uint64_t ticks;
	uint32_t path; /* its number, in the process */
	bool ends;     /* a window; parts of one are in no order */
};

/* One for an agent. */
struct histories *histories_new(void);
void histories_free(struct histories *h);
/* The process's trees are to be freed. */
void histories_forget(struct histories *h, const struct traffic *t);

/* What the track's thread did until `to`, ticks: a number; 0: nothing is known. */
uint32_t history_note(struct histories *h, struct traffic_track *l, uint64_t to);
/* The parts of a number, *n of them, until the next is noted; *whose: the process. NULL: it is
 * kept no more. */
const struct history_part *history_parts(
	const struct histories *h, uint32_t number, size_t *n, const struct traffic **whose);

/*
 * Shares out the last `ticks` of a history: calls part() with each path and its time, a path maybe
 * several times. What is older than the history is left out.
 */
void history_share(const struct history_part *at, size_t n, uint64_t ticks,
	void (*part)(void *arg, uint32_t path, uint64_t ticks), void *arg);

#endif
