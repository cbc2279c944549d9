/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histories: what threads did before they sent messages to other nodes. Whether the receiver has
 * waited is known on its node only, at the end of the job; by then the calls that
 * replay/tree/activity.h keeps are gone. A history is a list of windows of time, the latest first.
 * A window is a long stretch of one call path, or a time in which a few call paths have parts;
 * these windows are the longer, the longer ago they are. Sends that follow each other closely share
 * a history. Time and memory are bounded: some sends have no history, and with many, every second
 * one is dropped.
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
	bool ends;     /* the last part of a window; parts of one window are in no order */
};

/* An agent has one. */
struct histories *histories_new(void);
void histories_free(struct histories *h);
/* The process's trees are to be freed. */
void histories_forget(struct histories *h, const struct traffic *t);

/*
 * Notes what the track's thread did until `to`, ticks. Returns the number of the history; 0:
 * nothing is known.
 */
uint32_t history_note(struct histories *h, struct traffic_track *l, uint64_t to);
/*
 * The *n parts of the history with this number, valid until history_note(); *whose: its process.
 * NULL: it was dropped.
 */
const struct history_part *history_parts(
	const struct histories *h, uint32_t number, size_t *n, const struct traffic **whose);

/*
 * Shares out the last `ticks` of a history: calls part() with each path and its time, a path maybe
 * several times. What is older than the history is left out.
 */
void history_share(const struct history_part *at, size_t n, uint64_t ticks,
	void (*part)(void *arg, uint32_t path, uint64_t ticks), void *arg);

#endif
