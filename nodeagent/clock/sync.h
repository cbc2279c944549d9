/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One node's clock against the clock of agent 0's node, the global one: the
 * arithmetic. A burst of ping-pongs with a node whose global time is known gives
 * a sync point; between sync points the offset lies on straight lines. Every sync point has a half
 * width that holds for certain; the bound between sync points adds how far the clock may
 * wander off the line, judged by how far each sync point lies off the line between its
 * neighbours. All times are ns of CLOCK_MONOTONIC_RAW (clocks_raw_ns()); offset is
 * global minus local.
 */
#ifndef VFTR_NODEAGENT_CLOCK_SYNC_H
#define VFTR_NODEAGENT_CLOCK_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct profile_clock;

/* Two sync points with a greater difference in rate: one of the clocks has jumped. */
#define CLOCK_SYNC_RATE_MOST 500e-6

/* ns, 36 years: greater times and offsets make no sense; sums of a few of them do not overflow. */
#define CLOCK_SYNC_TIME_MOST (INT64_MAX / 8)

struct clock_sync_point {
	int64_t local, offset, half_width;
};

/* One ping-pong, ns: `sent` and `back` by the asker's clock, the other two by the server's. */
struct clock_sync_sample {
	int64_t sent, arrived, answered, back;
};

struct clock_sync_points {
	struct clock_sync_point *at; /* by local, ascending */
	size_t n, cap;
};

struct clock_sync {
	bool reference;			      /* this is the global clock itself */
	struct clock_sync_points sync_points; /* as measured */
	struct clock_sync_points checks; /* measured with nodes that are not this one's parent */
	struct clock_sync_points line;	 /* made of sync points by clock_sync_settle() */
	bool *jump;			 /* by index in line: the clock jumped before that point */
	int64_t used_from, used_to;	 /* traced time, by the local clock; 0: not known */
	int64_t start;			 /* of the job, global; 0: not known */
	int64_t round_trip;		 /* least of all bursts, 0: none yet */
	uint64_t bursts, dropped, missed;
};

/* True for a time, offset or bound of less than CLOCK_SYNC_TIME_MOST, on either side of 0. */
bool clock_sync_is_time(int64_t ns);

/*
 * *k: the other side's clock minus ours, from those of the n samples of one burst whose round trip
 * is at most 1.2 times the least, which is *round_trip, ns. False if no sample makes sense.
 */
bool clock_sync_measure(const struct clock_sync_sample *s, size_t n, struct clock_sync_point *k,
	int64_t *round_trip);

/* True if a burst took more than twice the least round trip: repeat it. */
bool clock_sync_is_slow(const struct clock_sync *c, int64_t round_trip);

/* Takes a sync point; one that is not later than the last is left out. */
void clock_sync_add(struct clock_sync_points *k, const struct clock_sync_point *sync_point);

/*
 * Makes the line from the sync points: of those near to each other it keeps the best; it
 * leaves out those for which others give a narrower bound; it finds jumps. To be called
 * before the functions below, but for clock_sync_latest(), and again after more sync points.
 */
void clock_sync_settle(struct clock_sync *c);

/*
 * Offset at a local time, by interpolation, or beyond the ends by extrapolation.
 * *error (may be NULL) is the bound; INT64_MAX if nothing is known.
 */
int64_t clock_sync_offset(const struct clock_sync *c, int64_t local, int64_t *error);

/*
 * Points for the begin and the end of the traced time, if they lie outside of the line's sync
 * points, as a burst was missed. Returns their number: 0 to 2.
 */
size_t clock_sync_ends(const struct clock_sync *c, struct clock_sync_point ends[2]);

/* Converts local to global time; never decreases, except where the clock jumped. */
int64_t clock_sync_global(const struct clock_sync *c, int64_t local);

/* clock_sync_offset() from the last few sync points only; needs no clock_sync_settle(). */
int64_t clock_sync_latest(const struct clock_sync *c, int64_t local, int64_t *error);

/* Sums for the summary; c is settled. The greatest error is also that of what is traced. */
void clock_sync_sum(const struct clock_sync *c, struct profile_clock *sum);

/* To bytes, and back (false if they make no sense; c is then empty). Neither calls settle. */
void *clock_sync_pack(const struct clock_sync *c, size_t *bytes);
bool clock_sync_unpack(struct clock_sync *c, const void *buf, size_t bytes);

/* Frees the memory of c, which is empty then. */
void clock_sync_clear(struct clock_sync *c);

#endif
