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
 * Takes the processes with these pids ("12,345"), and warns of those that it may not take.
 * children: also takes their children, present and later ones. Returns 0, also where it has taken
 * none (host->n_live), then with *error (the caller frees) if that is for want of descriptors or
 * memory; or -1 with *error if the kernel allows no samples.
 */
int attach_begin(struct host *host, const char *pids, bool children, char **error);

/*
 * Takes new children, and ends processes that run another program. Returns the seconds until the
 * next call.
 */
double attach_tick(struct host *host);

/* Ends all processes of the host, which run on. */
void attach_end(struct host *host);

/* Seconds since attach_begin(). */
double attach_age_s(const struct host *host);

/*
 * The words of the command line of the first of these pids, and NULL behind them. The caller owns
 * them, and keeps them until the program ends.
 */
char *const *attach_words(const char *pids);

#endif
