/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that do jobs together with the one that gives them: team_run() returns when all are done.
 * Between two calls they sleep. They block all signals, and run where and as nice as the thread
 * that makes them, until team_follow().
 *
 * All functions are for the thread that has made the team, which makes no other one. In a child of
 * fork() there are no threads: there team_run() does all jobs itself.
 */
#ifndef VFTR_NODEAGENT_READERS_TEAM_H
#define VFTR_NODEAGENT_READERS_TEAM_H

#include <stddef.h>

#define TEAM_MOST 64u /* threads, with the one that gives jobs */

struct team;

/* Of one, which needs no thread. */
struct team *team_new(void);
/* Ends its threads, which have nothing to do. NULL: nothing. */
void team_free(struct team *t);

/*
 * From now on as many take part as `wanted', at most TEAM_MOST; threads are made if need be, and
 * others go on to sleep. 0, or -errno of pthread_create(): then fewer take part.
 */
int team_resize(struct team *t, unsigned wanted);
/* How many take part, at least 1. */
unsigned team_size(const struct team *t);

/*
 * Calls job(ctx, i) for each i below n, at any time and in any thread, each once. If no more than a
 * few of them are started again and again, most jobs are done where they were the last time.
 */
typedef void team_job(void *ctx, size_t i);
void team_run(struct team *t, size_t n, team_job *job, void *ctx);

/* All threads run on the CPUs of the calling one from now on, and as nice. */
void team_follow(const struct team *t);

#endif
