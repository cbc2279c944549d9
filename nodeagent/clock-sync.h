/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One node's clock against the clock of agent 0's node, the global one: the
 * arithmetic. A burst of ping-pongs with a node whose global time is known gives
 * a knot; between knots the offset lies on straight lines. Every knot has a half
 * width that holds for certain; the bound between knots adds how far the clock may
 * wander off the line, judged by how far each knot lies off the line between its
 * neighbours. All times are ns of CLOCK_MONOTONIC_RAW (clocks_raw_ns()); offset is
 * global minus local.
 */
#ifndef VFTR_NODEAGENT_CLOCK_SYNC_H
#define VFTR_NODEAGENT_CLOCK_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_clock;

/* Two clocks that differ by more in rate are not running: one of them has jumped. */
#define CLOCK_SYNC_RATE_MOST 500e-6

struct clock_sync_knot {
	int64_t local, offset, half_width;
};

/* One ping-pong: who asks has `sent` and `back`, the other side `arrived`, `answered`. */
struct clock_sync_sample {
	int64_t sent, arrived, answered, back;
};

struct clock_sync_knots {
	struct clock_sync_knot *at; /* by local, ascending */
	size_t n, cap;
};

struct clock_sync {
	bool reference;			/* this is the global clock itself */
	struct clock_sync_knots knots;	/* as measured */
	struct clock_sync_knots checks; /* measured with nodes that are not this one's parent */
	struct clock_sync_knots line;	/* made of knots by clock_sync_settle() */
	bool *jump;			/* by knot of the line: the clock jumped before it */
	int64_t start;			/* of the job, global; 0: not known */
	int64_t round_trip;		/* least of all bursts, 0: none yet */
	uint64_t bursts, dropped, missed;
};

/*
 * The other side's clock minus ours, from the samples of one burst whose round
 * trip is within 1.2 of the least, which is *round_trip. False if no sample makes
 * sense.
 */
bool clock_sync_measure(const struct clock_sync_sample *s, size_t n, struct clock_sync_knot *k,
	int64_t *round_trip);

/* Whether a burst is worth repeating: more than twice the least round trip. */
bool clock_sync_is_slow(const struct clock_sync *c, int64_t round_trip);

/* Takes a knot; one that is not later than the last is left out. */
void clock_sync_add(struct clock_sync_knots *k, const struct clock_sync_knot *knot);

/*
 * Makes the line of the knots: of those that are near to each other the best stays;
 * those that others know better than themselves go; jumps are found. To be called
 * before the functions below, and again after more knots.
 */
void clock_sync_settle(struct clock_sync *c);

/*
 * Offset at a local time, by interpolation, or beyond the ends by extrapolation.
 * *error (may be NULL) is the bound; INT64_MAX if nothing is known.
 */
int64_t clock_sync_offset(const struct clock_sync *c, int64_t local, int64_t *error);

/* local in global time; never decreases where the clock did not jump. */
int64_t clock_sync_global(const struct clock_sync *c, int64_t local);

/* The same as clock_sync_offset() from the last few knots only; needs no settling. */
int64_t clock_sync_latest(const struct clock_sync *c, int64_t local, int64_t *error);

/* Sums for the summary; c is settled. */
void clock_sync_sum(const struct clock_sync *c, struct profile_clock *sum);

/* As bytes, and back (false if they make no sense; c is then empty). Settled by neither. */
void *clock_sync_pack(const struct clock_sync *c, size_t *bytes);
bool clock_sync_unpack(struct clock_sync *c, const void *buf, size_t bytes);

/* What c points to; c is then empty. */
void clock_sync_clear(struct clock_sync *c);

#endif
