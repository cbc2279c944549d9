/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/clock/sync.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/clock/internal.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"

#define ALIKE	  1.2 /* round trips within this of the least are used */
#define SLOW	  2   /* times the least: the network was busy */
#define TAIL	  8   /* sync points for the present time */
#define SUM_TIMES 1000

bool clock_sync_is_time(int64_t ns)
{
	return ns > -CLOCK_SYNC_TIME_MOST && ns < CLOCK_SYNC_TIME_MOST;
}

/* The round trip without the server's own time; INT64_MAX if the times make no sense. */
static int64_t trip_of(const struct clock_sync_sample *s)
{
	int64_t trip;

	if (!clock_sync_is_time(s->sent) || !clock_sync_is_time(s->arrived) ||
		!clock_sync_is_time(s->answered) || !clock_sync_is_time(s->back))
		return INT64_MAX;
	trip = s->back - s->sent - (s->answered - s->arrived);
	return s->answered < s->arrived || s->back < s->sent || trip < 0 ? INT64_MAX : trip;
}

bool clock_sync_measure(const struct clock_sync_sample *s, size_t n, struct clock_sync_point *k,
	int64_t *round_trip)
{
	int64_t least = INT64_MAX, low = INT64_MIN, high = INT64_MAX, first = 0, last = 0;
	size_t best = n;

	for (size_t i = 0; i < n; i++)
		if (trip_of(&s[i]) < least) {
			least = trip_of(&s[i]);
			best = i;
		}
	if (best == n)
		return false;
	first = last = s[best].sent;
	for (size_t i = 0; i < n; i++) {
		if ((double)trip_of(&s[i]) > ALIKE * (double)least)
			continue;
		/* the other clock's `arrived` is after our `sent`, its `answered` before our
		 * `back` */
		high = MIN(high, s[i].arrived - s[i].sent);
		low = MAX(low, s[i].answered - s[i].back);
		first = s[i].sent < first ? s[i].sent : first;
		last = s[i].sent > last ? s[i].sent : last;
	}
	k->local = s[best].sent + (s[best].back - s[best].sent) / 2;
	k->offset = low + (high - low) / 2;
	k->half_width = (high > low ? (high - low + 1) / 2 : 0) + 1 +
			(int64_t)((double)(last - first) * CLOCK_SYNC_RATE_USUAL);
	*round_trip = least;
	return true;
}

bool clock_sync_is_slow(const struct clock_sync *c, int64_t round_trip)
{
	return c->round_trip && round_trip > SLOW * c->round_trip;
}

void clock_sync_add(struct clock_sync_points *k, const struct clock_sync_point *sync_point)
{
	if (k->n && sync_point->local <= k->at[k->n - 1].local)
		return;
	*APPEND(k->at, k->n, k->cap) = *sync_point;
}

void clock_sync_settle(struct clock_sync *c)
{
	clock_line_make(&c->line, &c->jump, &c->sync_points);
}

int64_t clock_sync_offset(const struct clock_sync *c, int64_t local, int64_t *error)
{
	struct clock_line line = {c->line.at, c->jump, c->line.n};

	if (!c->reference)
		return clock_line_offset(&line, local, error);
	if (error)
		*error = 0;
	return 0;
}

int64_t clock_sync_global(const struct clock_sync *c, int64_t local)
{
	return local + clock_sync_offset(c, local, NULL);
}

size_t clock_sync_ends(const struct clock_sync *c, struct clock_sync_point ends[2])
{
	const struct clock_sync_point *k = c->line.at;
	size_t n = 0;

	if (!c->line.n || !c->used_to)
		return 0;
	if (c->used_from < k[0].local)
		ends[n++].local = c->used_from;
	if (c->used_to > k[c->line.n - 1].local)
		ends[n++].local = c->used_to;
	for (size_t i = 0; i < n; i++)
		ends[i].offset = clock_sync_offset(c, ends[i].local, &ends[i].half_width);
	return n;
}

int64_t clock_sync_latest(const struct clock_sync *c, int64_t local, int64_t *error)
{
	size_t n = c->sync_points.n < TAIL ? c->sync_points.n : TAIL;
	struct clock_sync tail = {.reference = c->reference,
		.sync_points = {n ? c->sync_points.at + c->sync_points.n - n : NULL, n, n}};
	int64_t offset;

	clock_sync_settle(&tail);
	offset = clock_sync_offset(&tail, local, error);
	free(tail.line.at);
	free(tail.jump);
	return offset;
}

/* Sums */

ORDER_BY(by_size, int64_t, ORDER(*x, *y))

static void sum_errors(const struct clock_sync *c, struct profile_clock *sum)
{
	int64_t error[SUM_TIMES + 1], worst = 0;
	double span = (double)(sum->to_ns - sum->from_ns);
	struct clock_sync_point ends[2];

	for (size_t i = 0; i <= SUM_TIMES; i++) {
		int64_t local = sum->from_ns + (int64_t)(span * ((double)i / SUM_TIMES));

		clock_sync_offset(c, local, &error[i]);
		worst = error[i] > worst ? error[i] : worst;
	}
	for (size_t i = 0; i < c->line.n; i++) {
		int64_t at = c->line.at[i].local, half, before;

		clock_sync_offset(c, at, &half);
		clock_sync_offset(c, i ? at - (at - c->line.at[i - 1].local) / 2 : at, &before);
		worst = half > worst ? half : worst;
		worst = before > worst ? before : worst;
	}
	for (size_t i = clock_sync_ends(c, ends); i--;)
		worst = ends[i].half_width > worst ? ends[i].half_width : worst;
	qsort(error, ARRAY_SIZE(error), sizeof(error[0]), by_size);
	sum->error_ns = (uint64_t)worst;
	sum->error_median_ns = (uint64_t)error[SUM_TIMES / 2];
}

static void sum_checks(const struct clock_sync *c, struct profile_clock *sum)
{
	double squares = 0;

	EACH(const struct clock_sync_point, k, c->checks.at, c->checks.n) {
		int64_t error, off = k->offset - clock_sync_offset(c, k->local, &error);
		uint64_t size = off < 0 ? -(uint64_t)off : (uint64_t)off;

		sum->checks++;
		sum->checks_beyond +=
			error != INT64_MAX && size > (uint64_t)error + (uint64_t)k->half_width;
		squares += (double)size * (double)size;
		sum->check_max_ns = MAX(sum->check_max_ns, size);
	}
	if (sum->checks)
		sum->check_rms_ns = (uint64_t)llround(sqrt(squares / (double)sum->checks));
}

void clock_sync_sum(const struct clock_sync *c, struct profile_clock *sum)
{
	memset(sum, 0, sizeof(*sum));
	sum->bursts = c->bursts;
	sum->dropped = c->dropped;
	sum->missed = c->missed;
	sum->round_trip_ns = (uint64_t)c->round_trip;
	if (c->reference) {
		sum->state = PROFILE_CLOCK_REFERENCE;
	} else if (c->line.n) {
		/* the ends of what was measured, also where the line leaves sync points out */
		sum->state = PROFILE_CLOCK_COMPARED;
		sum->from_ns = c->sync_points.at[0].local;
		sum->to_ns = c->sync_points.at[c->sync_points.n - 1].local;
		sum->offset_ns = clock_sync_offset(c, sum->from_ns, NULL);
		sum->offset_end_ns = clock_sync_offset(c, sum->to_ns, NULL);
		sum_errors(c, sum);
		sum_checks(c, sum);
	}
	for (size_t i = 0; i < c->line.n; i++)
		sum->jumps += c->jump[i];
}

/* As bytes */

struct packed {
	uint64_t reference, bursts, dropped, missed, n_sync_points, n_checks;
	int64_t round_trip, start;
};

void *clock_sync_pack(const struct clock_sync *c, size_t *bytes)
{
	struct packed head = {c->reference, c->bursts, c->dropped, c->missed, c->sync_points.n,
		c->checks.n, c->round_trip, c->start};
	size_t sync_points = c->sync_points.n * sizeof(*c->sync_points.at),
	       checks = c->checks.n * sizeof(*c->checks.at);
	char *buf = xmalloc(sizeof(head) + sync_points + checks);

	memcpy(buf, &head, sizeof(head));
	if (sync_points)
		memcpy(buf + sizeof(head), c->sync_points.at, sync_points);
	if (checks)
		memcpy(buf + sizeof(head) + sync_points, c->checks.at, checks);
	*bytes = sizeof(head) + sync_points + checks;
	return buf;
}

static void unpack_sync_points(struct clock_sync_points *to, const char *from, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct clock_sync_point k;

		memcpy(&k, from + i * sizeof(k), sizeof(k));
		clock_sync_add(to, &k);
	}
}

bool clock_sync_unpack(struct clock_sync *c, const void *buf, size_t bytes)
{
	struct packed head;
	uint64_t most;

	memset(c, 0, sizeof(*c));
	if (bytes < sizeof(head))
		return false;
	memcpy(&head, buf, sizeof(head));
	most = (bytes - sizeof(head)) / sizeof(struct clock_sync_point);
	if (head.n_sync_points > most || head.n_checks > most - head.n_sync_points)
		return false;
	c->reference = head.reference;
	c->bursts = head.bursts;
	c->dropped = head.dropped;
	c->missed = head.missed;
	c->round_trip = head.round_trip;
	c->start = head.start;
	unpack_sync_points(&c->sync_points, (const char *)buf + sizeof(head), head.n_sync_points);
	unpack_sync_points(&c->checks,
		(const char *)buf + sizeof(head) +
			head.n_sync_points * sizeof(struct clock_sync_point),
		head.n_checks);
	return true;
}

void clock_sync_clear(struct clock_sync *c)
{
	free(c->sync_points.at);
	free(c->checks.at);
	free(c->line.at);
	free(c->jump);
	memset(c, 0, sizeof(*c));
}
