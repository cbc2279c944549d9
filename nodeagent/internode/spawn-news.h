/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What agents tell each other of jobs that others have spawned, or met by a port
 * (replay/jobs/spawns.h), in words of
 * 64 bits; times are global ns. The agent of a spawned job's rank 0 tells all others of the job;
 * the one of the root, which alone knows what that has used when, finds the communicator that leads
 * there, and tells the others.
 *
 *	JOB, job, ranks, global time of its first process, its root's name: space, rank
 *	LINK, or LINK_OF_SPAWNED if others have spawned the parents, or LINK_OF_OTHER if they are
 *	of a job whose ranks are not in the outputs; communicator, job of the parents, job of the
 *	children, parents << 32 | children; runs of parents, which are ranks in their job:
 *	first << 32 | ranks, stride
 *	SIDE, communicator, job, port, ranks << 32 | ranks of the other side; runs as above: of a
 *	communicator by MPI_Comm_accept or _connect, told by the agent of its root
 *	MET, communicator, job, those of the other side: it can have met no other one
 *	SIDE_ENDED, communicator, job: it has met nobody
 */
#ifndef VFTR_NODEAGENT_INTERNODE_SPAWN_NEWS_H
#define VFTR_NODEAGENT_INTERNODE_SPAWN_NEWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct host;

/* True if there is something to tell. */
bool spawn_news_any(const struct host *host);
/* Jobs and communicators of which others may know what this agent does not. */
size_t spawn_news_awaited(const struct host *host);
/*
 * The next message, of at most `most` words, which are at least 16. Returns their number; 0: there
 * is none. A link with more runs of parents than fit is not told. timed: also messages with times,
 * which need host->clock.
 */
size_t spawn_news_next(struct host *host, bool timed, uint64_t *words, size_t most);
/* A message with times, which needs host->clock when it is taken. */
bool spawn_news_has_times(const uint64_t *words, size_t n);
/* A message of another agent. NULL, or a static text that says what is wrong. */
const char *spawn_news_take(struct host *host, const uint64_t *words, size_t n);

#endif
