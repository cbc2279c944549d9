/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that run already and are seen from outside. Each becomes a process of the host that
 * has no socket; its threads have a ring that stays empty (process/threads.h), and stack/ opens
 * events for them. They are not stopped, get no signal and run no code of ours.
 */
#ifndef VFTR_NODEAGENT_ATTACH_ATTACH_H
#define VFTR_NODEAGENT_ATTACH_ATTACH_H

#include <stdbool.h>

struct host;

/* Processes at a time. */
#define ATTACH_MOST 4096u

/*
 * Takes those of these pids ("12,345") that it may, and warns of the others; with their children,
 * those that come later, too, if that is wanted. 0, or -1 and *error (the caller frees) if there
 * is none.
 */
int attach_begin(struct host *host, const char *pids, bool children, char **error);

/* Takes children, and ends processes that run another program. Seconds until the next call. */
double attach_tick(struct host *host);

/* Seconds since attach_begin(). */
double attach_age_s(const struct host *host);

/* The words of the command line of the first of these pids, NULL behind them; the caller's, who
 * keeps them to the end of the program. */
char *const *attach_words(const char *pids);

#endif
