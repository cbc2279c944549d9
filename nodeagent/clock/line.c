/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/clock/internal.h"

#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"

#define NEAR_NS	       250000000 /* of two sync points that are nearer, one is enough */
#define RATE_BASE_NS   32e9	 /* rates are taken over this time, if there are sync points */
#define WANDER_LEAST   1e-8	 /* change of a rate, per second, that no clock is free of */
#define WANDER_UNKNOWN 1e-7	 /* ... where there are too few sync points to see it */
#define WORSE	       2	 /* times the half width of others: a sync point may be left out */
#define LOOK_BESIDE    4

static double slope(const struct clock_sync_point *a, const struct clock_sync_point *b)
{
	return (double)(b->offset - a->offset) / (double)(b->local - a->local);
}

static double on_line(
	const struct clock_sync_point *a, const struct clock_sync_point *b, int64_t local)
{
	return (double)(local - a->local) * slope(a, b); /* plus a->offset */
}

/* Off a line through both ends, in the middle, if a rate changes by so much per second. */
static double sagitta(double per_s, double ns)
{
	return per_s * ns * 1e-9 * ns / 8;
}

static bool jumped(const struct clock_sync_point *a, const struct clock_sync_point *b)
{
	return fabs((double)(b->offset - a->offset)) - (double)(a->half_width + b->half_width) >
	       CLOCK_SYNC_RATE_MOST * (double)(b->local - a->local);
}

/*
 * How far sync point i lies off the line from one neighbour to another that is at least
 * a quarter as far away as the first (going `back` or not): with the rate changing
 * evenly, this is no less than what the segment to the first neighbour can be off.
 * Negative if there is no such sync point.
 */
static double bend(const struct clock_line *l, size_t i, size_t neighbour)
{
	const struct clock_sync_point *k = l->at;
	double span = fabs((double)(k[i].local - k[neighbour].local));
	bool back = neighbour > i;
	size_t other = i;

	do {
		if (back ? !other || l->jump[other] : other + 1 == l->n || l->jump[other + 1])
			return -1;
		other += back ? -1 : 1;
	} while (fabs((double)(k[other].local - k[i].local)) < span / 4);
	return fabs((double)(k[i].offset - k[other].offset) -
		    on_line(&k[other], &k[neighbour], k[i].local));
}

/* Off the line in the middle between sync points i and i + 1. */
static double wander(const struct clock_line *l, size_t i)
{
	double span = (double)(l->at[i + 1].local - l->at[i].local);
	double left = bend(l, i, i + 1), right = bend(l, i + 1, i);
	double most = left > right ? left : right;

	if (most < 0)
		return sagitta(WANDER_UNKNOWN, span);
	return most > sagitta(WANDER_LEAST, span) ? most : sagitta(WANDER_LEAST, span);
}

static int64_t between(const struct clock_line *l, size_t i, int64_t local, double *error)
{
	const struct clock_sync_point *a = &l->at[i], *b = a + 1;
	double x = (double)(local - a->local) / (double)(b->local - a->local);

	if (l->jump[i + 1]) {
		*error = fabs((double)(b->offset - a->offset)) +
			 (double)(a->half_width + b->half_width);
		return a->offset;
	}
	*error = (1 - x) * (double)a->half_width + x * (double)b->half_width +
		 4 * x * (1 - x) * wander(l, i);
	return a->offset + (int64_t)llround(on_line(a, b, local));
}

/* If the rate is not well known, that of most clocks is a better estimate. */
static void usual_rate(double *rate, double *unsure)
{
	double least = fmax(*rate - *unsure, -CLOCK_SYNC_RATE_USUAL);
	double most = fmin(*rate + *unsure, CLOCK_SYNC_RATE_USUAL);

	if (least > most)
		return; /* this one is known to be none of them */
	*rate = (least + most) / 2;
	*unsure = (most - least) / 2;
}

/* The offset beyond sync point `end`, by the rate between that and a point further inside. */
static int64_t beyond(
	const struct clock_line *l, size_t end, bool last, int64_t local, double *error)
{
	const struct clock_sync_point *k = &l->at[end];
	double far = fabs((double)(local - k->local)), base, rate, unsure;
	size_t from = end;

	for (;;) {
		if (last ? !from || l->jump[from] : from + 1 == l->n || l->jump[from + 1])
			break;
		from += last ? -1 : 1;
		if (fabs((double)(l->at[from].local - k->local)) >= RATE_BASE_NS)
			break;
	}
	*error = (double)k->half_width;
	if (from == end) {
		*error += far * CLOCK_SYNC_RATE_USUAL;
		return k->offset;
	}
	base = fabs((double)(l->at[from].local - k->local));
	rate = slope(k, &l->at[from]);
	unsure = (double)(k->half_width + l->at[from].half_width) / base;
	usual_rate(&rate, &unsure);
	/* the rate is that of half-way to `from`, and goes on changing */
	*error += far * unsure + WANDER_UNKNOWN * 1e-9 * far * (far + base) / 2;
	return k->offset + (int64_t)llround((double)(local - k->local) * rate);
}

int64_t clock_line_offset(const struct clock_line *l, int64_t local, int64_t *error)
{
	double bound = 0;
	int64_t offset;
	size_t low;

	if (!l->n) {
		if (error)
			*error = INT64_MAX;
		return 0;
	}
	/* the last sync point that is not later */
	low = LOWER_BOUND(i, 1, l->n, l->at[i].local <= local) - 1;
	if (local < l->at[0].local)
		offset = beyond(l, 0, false, local, &bound);
	else if (low + 1 == l->n)
		offset = beyond(l, low, true, local, &bound);
	else
		offset = between(l, low, local, &bound);
	if (error)
		*error = bound < 0x1p62 ? (int64_t)ceil(bound) : INT64_MAX;
	return offset;
}

/* Making the line */

static void mark_jumps(struct clock_line *l, bool *jump)
{
	for (size_t i = 0; i < l->n; i++)
		jump[i] = i && jumped(&l->at[i - 1], &l->at[i]);
}

/* The better one of each two that are near; a jump between them must not be lost. */
static size_t drop_near(struct clock_sync_point *k, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (!kept || k[i].local - k[kept - 1].local >= NEAR_NS ||
			jumped(&k[kept - 1], &k[i]))
			k[kept++] = k[i];
		else if (k[i].half_width < k[kept - 1].half_width)
			k[kept - 1] = k[i];
	}
	return kept;
}

/* Adds those of the two next sync points of the same piece that are better than sync point i. */
static size_t better_beside(
	const struct clock_line *l, size_t i, bool back, struct clock_sync_point *to)
{
	size_t at = i, n = 0;

	for (int steps = 0; steps < LOOK_BESIDE && n < 2; steps++) {
		if (back ? !at || l->jump[at] : at + 1 == l->n || l->jump[at + 1])
			break;
		at += back ? -1 : 1;
		if (l->at[at].half_width * WORSE < l->at[i].half_width)
			to[n++] = l->at[at];
	}
	return n;
}

/* True if the line through better sync points, with its bound, lies in the range of sync point i.
 */
static bool is_known_better(const struct clock_line *l, size_t i)
{
	struct clock_sync_point around[4], nearest;
	static const bool no_jump[4];
	struct clock_line rest = {around, no_jump, 0};
	int64_t offset, error;

	rest.n = better_beside(l, i, true, around);
	if (rest.n == 2) { /* found from the nearest on */
		nearest = around[0];
		around[0] = around[1];
		around[1] = nearest;
	}
	rest.n += better_beside(l, i, false, around + rest.n);
	if (rest.n < 2)
		return false;
	offset = clock_line_offset(&rest, l->at[i].local, &error);
	return error + llabs(offset - l->at[i].offset) <= l->at[i].half_width;
}

static size_t drop_poor(const struct clock_line *l, struct clock_sync_point *k, bool *jump)
{
	bool *poor = xcalloc(l->n, sizeof(*poor)), jump_before = false;
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++)
		poor[i] = is_known_better(l, i);
	for (size_t i = 0; i < l->n; i++) {
		jump_before |= jump[i];
		if (poor[i])
			continue;
		k[kept] = k[i];
		jump[kept++] = jump_before;
		jump_before = false;
	}
	free(poor);
	return kept;
}

void clock_line_make(
	struct clock_sync_points *line, bool **jump, const struct clock_sync_points *measured)
{
	struct clock_line l;

	free(line->at);
	free(*jump);
	line->cap = measured->n;
	line->at = xcalloc(measured->n, sizeof(*line->at));
	*jump = xcalloc(measured->n, sizeof(**jump));
	for (size_t i = 0; i < measured->n; i++)
		line->at[i] = measured->at[i];
	line->n = drop_near(line->at, measured->n);
	l = (struct clock_line){line->at, *jump, line->n};
	mark_jumps(&l, *jump);
	line->n = drop_poor(&l, line->at, *jump);
}
