/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which collective calls are compared. The members on this node may have up to
 * SAMPLING_PER_S arrivals in calls that are compared, per second of the times in their records.
 * With more arrivals one call in 2, 4, 8 and so on is compared; with fewer, more calls again.
 *
 * Rings are read one after the other, and all members must have the same calls compared. So a
 * decision holds for a communicator from the first ticket on with which no member has come.
 */
#ifndef VFTR_NODEAGENT_REPLAY_SAMPLING_H
#define VFTR_NODEAGENT_REPLAY_SAMPLING_H

#include <stdint.h>

struct clocks;
struct sampling;

#define SAMPLING_PER_S	   2000000.0
#define SAMPLING_WINDOW_NS 30e6 /* of which the rate is */
#define SAMPLING_CALM	   8	/* windows with room before more calls are compared */
#define SAMPLING_ROOM	   0.75 /* of SAMPLING_PER_S that may be used then */
#define SAMPLING_LOG2_MAX  10u
/* Decisions that are kept for a communicator; the oldest one also holds for all tickets before. */
#define SAMPLING_CHANGES 8u
/* Communicators that are kept though no process has them, as they may come again. */
#define SAMPLING_GONE 1024u

/* A communicator, for all processes that have it. */
struct sampled_comm {
	uint64_t id, job;
	uint32_t next; /* the ticket after the greatest so far */
	uint32_t refs;
	uint32_t gone_at; /* 1 + its index among those that no process has, or 0 */
	uint32_t most;	  /* the greatest log2 so far */
	uint64_t skipped; /* arrivals that were not compared, of which others are to be told */
	uint32_t n;	  /* of changes, the latest last; 0: no call has come */
	struct sampling_change {
		uint32_t from, log2;
	} changes[SAMPLING_CHANGES];
};

/*
 * Arrivals at calls of which one in 2^log2 is compared: all of them, and those in compared calls.
 */
struct sampling_count {
	uint64_t all, compared;
};

/* One per agent. clocks: calibrated when there is something to measure; outlives it. per_s:
 * SAMPLING_PER_S, or less in tests. */
struct sampling *sampling_new(struct clocks *clocks, double per_s);
void sampling_free(struct sampling *s);

/* The communicator with this id in this job. To be let go as often as it was held. */
struct sampled_comm *sampling_hold(struct sampling *s, uint64_t id, uint64_t job);
void sampling_let_go(struct sampling *s, struct sampled_comm *c);

/*
 * The first arrival with this ticket, at these ticks; members: number of arrivals that will have
 * it.
 */
void sampling_first(struct sampling *s, struct sampled_comm *c, uint32_t ticket, uint64_t ticks,
	uint32_t members);
/*
 * An arrival, with parameters as of sampling_first(). Returns n: one in 2^n of such calls is
 * compared.
 */
static inline uint32_t sampling_log2(struct sampling *s, struct sampled_comm *c, uint32_t ticket,
	uint64_t ticks, uint32_t members)
{
	uint32_t i;

	if (!c->n || (int32_t)(ticket - c->next) >= 0)
		sampling_first(s, c, ticket, ticks, members);
	for (i = c->n - 1; i && (int32_t)(ticket - c->changes[i].from) < 0; i--)
		;
	return c->changes[i].log2;
}

/* By log2, SAMPLING_LOG2_MAX + 1 of them; the caller adds to them. */
struct sampling_count *sampling_counts(struct sampling *s);

#endif
