/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of nodeagent/clock/sync.h, with clocks and a network made by dice. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/clock/sync.h"
#include "nodeagent/profile/profile.h"
#include "t/lib/suite.h"

#define S	   1000000000ll
#define US	   1000ll
#define PING_PONGS 16

static uint64_t dice = 1;

static double random_unit(void)
{
	dice = dice * 6364136223846793005u + 1442695040888963407u;
	return (double)(dice >> 11) * 0x1p-53;
}

/* What a node's clock shows at the true time t. */
struct model {
	double offset_s, ppm, wander_us, period_s;
	int64_t jump_at, jump; /* true time; how far */
};

static int64_t shows(const struct model *m, int64_t t)
{
	double wander =
		m->wander_us * 1e3 *
		sin(6.283185307179586 * (double)t * 1e-9 / (m->period_s ? m->period_s : 60));

	return t + (int64_t)llround(m->offset_s * 1e9 + (double)t * m->ppm * 1e-6 + wander) +
	       (m->jump && t >= m->jump_at ? m->jump : 0);
}

/* One way: never less than a minimum, sometimes much more. */
static int64_t way(int64_t least_ns, double busy)
{
	double x = (double)least_ns * (1 + 0.3 * random_unit());

	if (random_unit() < busy)
		x += 200e3 * random_unit();
	return (int64_t)x;
}

/* A burst at the true time *t. */
static bool burst(const struct model *asker, const struct model *other, int64_t *t, int64_t least,
	double busy, struct clock_sync_point *k, int64_t *round_trip)
{
	struct clock_sync_sample s[PING_PONGS];

	for (int i = 0; i < PING_PONGS; i++) {
		s[i].sent = shows(asker, *t);
		*t += way(least, busy);
		s[i].arrived = shows(other, *t);
		*t += 500;
		s[i].answered = shows(other, *t);
		*t += way(least, busy);
		s[i].back = shows(asker, *t);
		*t += 300;
	}
	return clock_sync_measure(s, PING_PONGS, k, round_trip);
}

/* As the agents do it: `asker` below `parent`, whose global time is given by `upper`. */
static void compare(struct clock_sync *c, const struct model *asker, const struct model *parent,
	const struct clock_sync *upper, int64_t t, int64_t least, double busy)
{
	struct clock_sync_point k;
	int64_t round_trip, error;

	ck_assert(burst(asker, parent, &t, least, busy, &k, &round_trip));
	k.offset += clock_sync_latest(upper, k.local + k.offset, &error);
	k.half_width += error;
	if (!c->round_trip || round_trip < c->round_trip)
		c->round_trip = round_trip;
	clock_sync_add(&c->sync_points, &k);
	c->bursts++;
}

static const struct clock_sync reference = {.reference = true};
static const struct model true_clock;

static int64_t off_by(
	const struct clock_sync *c, const struct model *m, const struct model *root, int64_t t)
{
	return llabs(clock_sync_global(c, shows(m, t)) - shows(root, t));
}

static const double schedule[] = {0.3, 1, 2, 4, 8, 16, 26, 36, 46, 56, 60};

static void run(struct clock_sync *c, const struct model *m, double busy)
{
	for (size_t i = 0; i < sizeof(schedule) / sizeof(schedule[0]); i++)
		compare(c, m, &true_clock, &reference, (int64_t)(schedule[i] * 1e9), 12 * US, busy);
	clock_sync_settle(c);
}

START_TEST(a_burst_contains_the_truth)
{
	for (int i = 0; i < 2000; i++) {
		struct model m = {
			.offset_s = 100 * random_unit() - 50, .ppm = 200 * random_unit() - 100};
		struct clock_sync_point k;
		int64_t t = (int64_t)(1e13 * random_unit()), trip, truth;

		ck_assert(burst(&m, &true_clock, &t, 10 * US, 0.3, &k, &trip));
		truth = (int64_t)(((double)k.local - m.offset_s * 1e9) / (1 + m.ppm * 1e-6));
		ck_assert_int_le(llabs(truth - k.local - k.offset), k.half_width + 2);
		ck_assert_int_le(k.half_width, trip / 2 + 300); /* a busy burst is long */
	}
}
END_TEST

START_TEST(samples_that_make_no_sense_are_left_out)
{
	struct clock_sync_sample s[] = {
		{1000, 5000, 4000, 3000},		    /* answered before it arrived */
		{1000, 5000, 6000, 900},		    /* back before it was sent */
		{1000, 5000, 90000, 3000},		    /* took longer there than altogether */
		{0, INT64_MIN, INT64_MAX, 1000},	    /* so long that it looks like -1 ns */
		{INT64_MIN / 2, 0, 0, INT64_MAX / 2 + 100}, /* long ago */
		{10000, 52000, 52500, 14500},		    /* offset 40000, 2000 each way */
		{20000, 69000, 69500, 29500},		    /* slow */
	};
	struct clock_sync_point k;
	int64_t trip;

	ck_assert(!clock_sync_measure(s, 5, &k, &trip));
	ck_assert(!clock_sync_measure(s, 0, &k, &trip));
	ck_assert(clock_sync_measure(s, 7, &k, &trip));
	ck_assert_int_eq(trip, 4000);
	ck_assert_int_eq(k.offset, 40000);
	ck_assert_int_ge(k.half_width, 2000);
	ck_assert_int_le(k.half_width, 2010);
}
END_TEST

START_TEST(several_samples_narrow_the_range)
{
	/* one was quick to get there, the other quick to come back */
	struct clock_sync_sample s[] = {{0, 1000, 1000, 10000}, {20000, 29000, 29000, 30000}};
	struct clock_sync_point k;
	int64_t trip;

	ck_assert(clock_sync_measure(s, 2, &k, &trip));
	ck_assert_int_le(llabs(k.offset), 1);
	ck_assert_int_le(k.half_width, 1010);
}
END_TEST

START_TEST(slow_bursts_are_known)
{
	struct clock_sync c = {.round_trip = 20000};
	struct clock_sync fresh = {0};

	ck_assert(!clock_sync_is_slow(&c, 40000));
	ck_assert(clock_sync_is_slow(&c, 40001));
	ck_assert(!clock_sync_is_slow(&fresh, 1000000));
}
END_TEST

/* The row of tests: seconds apart, 50 ppm, wandering. */
START_TEST(the_bound_holds_at_all_times)
{
	static const struct model models[] = {
		{.offset_s = 3.25, .ppm = 50},
		{.offset_s = -1e6, .ppm = -50, .wander_us = 5, .period_s = 60},
		{.offset_s = 40, .ppm = 12, .wander_us = 20, .period_s = 200},
		{.offset_s = 0, .ppm = 0, .wander_us = 2, .period_s = 45},
	};

	for (int round = 0; round < 40; round++) {
		const struct model *m = &models[round % 4];
		struct clock_sync c = {0};
		struct profile_clock sum;

		run(&c, m, round % 2 ? 0.3 : 0);
		for (int64_t t = S / 2; t < 60 * S; t += 37 * S / 1000) {
			int64_t error;

			clock_sync_offset(&c, shows(m, t), &error);
			ck_assert_int_le(off_by(&c, m, &true_clock, t), error + 2);
		}
		clock_sync_sum(&c, &sum);
		ck_assert_uint_eq(sum.state, PROFILE_CLOCK_COMPARED);
		ck_assert_uint_le(sum.error_median_ns, 20 * US);
		ck_assert_uint_eq(sum.jumps, 0);
		clock_sync_clear(&c);
	}
}
END_TEST

/* The first burst and the last ones were missed: what is traced goes on without them. */
START_TEST(the_bound_is_that_of_all_that_is_traced)
{
	static const struct model models[] = {
		{.offset_s = 3.25, .ppm = 50}, {.offset_s = -7, .ppm = -80, .wander_us = 5}};

	for (int round = 0; round < 40; round++) {
		const struct model *m = &models[round % 2];
		struct clock_sync_point ends[2];
		struct profile_clock measured, traced;
		struct clock_sync c = {0};

		for (int i = 0; i < 1 + round % 4; i++) /* at 1, 2, 4, 8 s */
			compare(&c, m, &true_clock, &reference, (S << i) + US, 12 * US, 0.3);
		clock_sync_settle(&c);
		clock_sync_sum(&c, &measured);
		ck_assert_uint_eq(clock_sync_ends(&c, ends), 0);
		c.used_from = shows(m, S / 4);
		c.used_to = shows(m, 15 * S);
		clock_sync_sum(&c, &traced);
		ck_assert_uint_gt(traced.error_ns, measured.error_ns);
		for (int64_t t = S / 4; t <= 15 * S; t += S / 4)
			ck_assert_int_le(
				off_by(&c, m, &true_clock, t), (int64_t)traced.error_ns + 2);
		ck_assert_uint_eq(clock_sync_ends(&c, ends), 2);
		ck_assert_int_eq(ends[0].local, c.used_from);
		ck_assert_int_eq(ends[1].local, c.used_to);
		for (int i = 0; i < 2; i++)
			ck_assert_int_le(
				llabs(ends[i].local + ends[i].offset - (i ? 15 * S : S / 4)),
				ends[i].half_width + 2);
		clock_sync_clear(&c);
	}
}
END_TEST

START_TEST(rate_and_offset_come_out)
{
	struct model m = {.offset_s = 7, .ppm = 50};
	struct clock_sync c = {0};
	struct profile_clock sum;
	double ppm;

	run(&c, &m, 0.2);
	clock_sync_sum(&c, &sum);
	ppm = 1e6 * (double)(sum.offset_end_ns - sum.offset_ns) / (double)(sum.to_ns - sum.from_ns);
	ck_assert_double_eq_tol(ppm, -50, 0.5);
	ck_assert_int_lt(llabs(sum.offset_ns + 7 * S + 15 * US), 30 * US);
	ck_assert_uint_eq(sum.bursts, sizeof(schedule) / sizeof(schedule[0]));
	clock_sync_clear(&c);
}
END_TEST

START_TEST(time_never_runs_backwards)
{
	struct model m = {.offset_s = 1, .ppm = -400, .wander_us = 30, .period_s = 20};
	struct clock_sync c = {0};
	int64_t before = INT64_MIN;

	run(&c, &m, 0.5);
	for (int64_t local = 0; local < 70 * S; local += 1000 * US + 7) {
		int64_t global = clock_sync_global(&c, local);

		ck_assert_int_gt(global, before);
		if (before != INT64_MIN) {
			ck_assert_int_ge(global - before, (int64_t)((1000 * US + 7) * 0.999));
			ck_assert_int_le(global - before, (int64_t)((1000 * US + 7) * 1.001) + 1);
		}
		before = global;
	}
	clock_sync_clear(&c);
}
END_TEST

START_TEST(down_a_tree_the_bounds_add_up)
{
	/* 0 <- 1 <- 2 <- 3, and 3 is checked against 1 */
	static const struct model node[4] = {{0}, {.offset_s = 2, .ppm = 30},
		{.offset_s = -5, .ppm = -20, .wander_us = 3},
		{.offset_s = 1000, .ppm = 50, .wander_us = 3, .period_s = 100}};
	struct clock_sync c[4] = {{.reference = true}};
	struct profile_clock sum[4];

	for (size_t i = 0; i < sizeof(schedule) / sizeof(schedule[0]); i++) {
		int64_t t = (int64_t)(schedule[i] * 1e9), trip, error, global;
		struct clock_sync_point k;

		for (int n = 1; n < 4; n++, t += 20 * S / 1000)
			compare(&c[n], &node[n], &node[n - 1], &c[n - 1], t, 8 * US, 0.2);
		ck_assert(burst(&node[3], &node[1], &t, 8 * US, 0.2, &k, &trip));
		global = clock_sync_latest(&c[1], k.local + k.offset, &error);
		k.offset += global;
		k.half_width += error;
		clock_sync_add(&c[3].checks, &k);
	}
	for (int n = 0; n < 4; n++) {
		clock_sync_settle(&c[n]);
		clock_sync_sum(&c[n], &sum[n]);
	}
	ck_assert_uint_eq(sum[0].state, PROFILE_CLOCK_REFERENCE);
	for (int n = 1; n < 4; n++)
		for (int64_t t = S; t < 60 * S; t += 41 * S / 1000) {
			int64_t error;

			clock_sync_offset(&c[n], shows(&node[n], t), &error);
			ck_assert_int_le(off_by(&c[n], &node[n], &node[0], t), error + 2);
		}
	ck_assert_uint_gt(sum[2].error_median_ns, sum[1].error_median_ns);
	ck_assert_uint_gt(sum[3].error_median_ns, sum[2].error_median_ns);
	ck_assert_uint_eq(sum[3].checks, sizeof(schedule) / sizeof(schedule[0]));
	ck_assert_uint_eq(sum[3].checks_beyond, 0);
	ck_assert_uint_gt(sum[3].check_max_ns, 0);
	ck_assert_uint_ge(sum[3].check_max_ns, sum[3].check_rms_ns);
	for (int n = 0; n < 4; n++)
		clock_sync_clear(&c[n]);
}
END_TEST

START_TEST(a_wrong_clock_is_found_by_the_check)
{
	struct model m = {.offset_s = 1};
	struct clock_sync c = {0};
	struct clock_sync_point k = {
		.local = 20 * S, .offset = -S + 500 * US, .half_width = 10 * US};
	struct profile_clock sum;

	run(&c, &m, 0);
	clock_sync_add(&c.checks, &k);
	clock_sync_sum(&c, &sum);
	ck_assert_uint_eq(sum.checks_beyond, 1);
	ck_assert_uint_ge(sum.check_max_ns, 480 * US);
	clock_sync_clear(&c);
}
END_TEST

START_TEST(wander_widens_the_bound)
{
	struct model calm = {.ppm = 5}, wild = {.ppm = 5, .wander_us = 200, .period_s = 30};
	struct clock_sync a = {0}, b = {0};
	struct profile_clock quiet, restless;

	run(&a, &calm, 0);
	run(&b, &wild, 0);
	clock_sync_sum(&a, &quiet);
	clock_sync_sum(&b, &restless);
	ck_assert_uint_lt(quiet.error_ns, 20 * US);
	ck_assert_uint_gt(restless.error_ns, 100 * US);
	clock_sync_clear(&a);
	clock_sync_clear(&b);
}
END_TEST

START_TEST(a_jump_is_found_and_nothing_is_drawn_across_it)
{
	struct model m = {.offset_s = 1, .ppm = 20, .jump_at = 30 * S, .jump = -3 * S};
	struct clock_sync c = {0};
	struct profile_clock sum;

	run(&c, &m, 0.1);
	clock_sync_sum(&c, &sum);
	ck_assert_uint_eq(sum.jumps, 1);
	ck_assert_uint_ge(sum.error_ns, 2 * S);
	for (int64_t t = S; t < 25 * S; t += S)
		ck_assert_int_le(off_by(&c, &m, &true_clock, t), 20 * US);
	for (int64_t t = 37 * S; t < 60 * S; t += S)
		ck_assert_int_le(off_by(&c, &m, &true_clock, t), 20 * US);
	clock_sync_clear(&c);
}
END_TEST

START_TEST(poor_sync_points_are_left_out)
{
	struct clock_sync c = {0};
	int64_t error;

	for (int i = 0; i < 12; i++) {
		bool poor = i == 0 || i == 5 || i == 6 || i == 11;
		struct clock_sync_point k = {.local = i * 10 * S,
			.offset = poor ? 300 * US : 0,
			.half_width = poor ? 400 * US : 10 * US};

		clock_sync_add(&c.sync_points, &k);
	}
	clock_sync_settle(&c);
	ck_assert_uint_eq(c.line.n, 8);
	for (int i = 0; i < 12; i++) {
		ck_assert_int_eq(clock_sync_offset(&c, i * 10 * S, &error), 0);
		ck_assert_int_lt(error, 100 * US);
	}
	clock_sync_clear(&c);
}
END_TEST

START_TEST(a_poor_sync_point_that_contradicts_stays)
{
	struct clock_sync c = {0};

	for (int i = 0; i < 9; i++) {
		struct clock_sync_point k = {.local = i * 10 * S,
			.offset = i == 4 ? 500 * US : 0,
			.half_width = i == 4 ? 300 * US : 10 * US};

		clock_sync_add(&c.sync_points, &k);
	}
	clock_sync_settle(&c);
	ck_assert_uint_eq(c.line.n, 9);
	clock_sync_clear(&c);
}
END_TEST

START_TEST(of_near_sync_points_the_best_stays)
{
	struct clock_sync c = {0};
	struct clock_sync_point k[] = {{S, 0, 10 * US}, {S + S / 10, 8 * US, 5 * US},
		{S + S / 5, 0, 9 * US}, {3 * S, 0, US}};

	for (int i = 0; i < 4; i++)
		clock_sync_add(&c.sync_points, &k[i]);
	clock_sync_add(&c.sync_points, &k[1]); /* not in order */
	ck_assert_uint_eq(c.sync_points.n, 4);
	clock_sync_settle(&c);
	ck_assert_uint_eq(c.line.n, 2);
	ck_assert_int_eq(c.line.at[0].local, k[1].local);
	clock_sync_clear(&c);
}
END_TEST

START_TEST(beyond_the_ends_the_bound_grows)
{
	struct model m = {.offset_s = 1, .ppm = 50};
	struct clock_sync c = {0}, one = {0}, none = {0};
	int64_t inside, after, later, error;

	run(&c, &m, 0);
	clock_sync_offset(&c, shows(&m, 60 * S), &inside);
	clock_sync_offset(&c, shows(&m, 70 * S), &after);
	clock_sync_offset(&c, shows(&m, 600 * S), &later);
	ck_assert_int_lt(inside, after);
	ck_assert_int_lt(after, later);
	ck_assert_int_le(off_by(&c, &m, &true_clock, 70 * S), after);
	ck_assert_int_le(off_by(&c, &m, &true_clock, 600 * S), later);
	clock_sync_add(&one.sync_points, &c.sync_points.at[0]);
	clock_sync_settle(&one);
	clock_sync_offset(&one, shows(&m, 10 * S), &error);
	ck_assert_int_ge(error, 500 * US);
	clock_sync_settle(&none);
	ck_assert_int_eq(clock_sync_offset(&none, 5, &error), 0);
	ck_assert_int_eq(error, INT64_MAX);
	clock_sync_clear(&c);
	clock_sync_clear(&one);
	clock_sync_clear(&none);
}
END_TEST

/* Two poor sync points near each other make a slope that no clock has. */
START_TEST(beyond_poor_sync_points_the_rate_is_a_usual_one)
{
	const struct clock_sync_point k[] = {{.local = S, .offset = 50 * US, .half_width = 60 * US},
		{.local = S + S / 4, .offset = -50 * US, .half_width = 60 * US}};
	struct clock_sync c = {0};
	int64_t error, offset;

	for (size_t i = 0; i < sizeof(k) / sizeof(k[0]); i++)
		clock_sync_add(&c.sync_points, &k[i]);
	clock_sync_settle(&c);
	for (int s = 2; s < 10; s++) {
		offset = clock_sync_offset(&c, s * S, &error);
		ck_assert_int_le(llabs(offset), error); /* the truth is 0 */
	}
	clock_sync_clear(&c);
}
END_TEST

START_TEST(packing_keeps_everything)
{
	struct model m = {.offset_s = 1, .ppm = 50};
	struct clock_sync c = {.dropped = 3, .missed = 4}, copy;
	struct profile_clock a, b;
	size_t bytes;
	char *buf;

	run(&c, &m, 0.2);
	clock_sync_add(&c.checks, &c.sync_points.at[3]);
	buf = clock_sync_pack(&c, &bytes);
	ck_assert(clock_sync_unpack(&copy, buf, bytes));
	clock_sync_settle(&copy);
	clock_sync_sum(&c, &a);
	clock_sync_sum(&copy, &b);
	ck_assert_mem_eq(&a, &b, sizeof(a));
	clock_sync_clear(&copy);
	for (size_t i = 0; i < 4 * sizeof(uint64_t); i++) {
		struct clock_sync bad;

		ck_assert(!clock_sync_unpack(&bad, buf, i));
		clock_sync_clear(&bad);
	}
	memset(buf + 4 * sizeof(uint64_t), 0xff, 2 * sizeof(uint64_t));
	ck_assert(!clock_sync_unpack(&copy, buf, bytes) || !copy.sync_points.n);
	free(buf);
	clock_sync_clear(&c);
	clock_sync_clear(&copy);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clock-sync");
	TCase *t = tcase_create("clock-sync");

	tcase_add_test(t, a_burst_contains_the_truth);
	tcase_add_test(t, samples_that_make_no_sense_are_left_out);
	tcase_add_test(t, several_samples_narrow_the_range);
	tcase_add_test(t, slow_bursts_are_known);
	tcase_add_test(t, the_bound_holds_at_all_times);
	tcase_add_test(t, the_bound_is_that_of_all_that_is_traced);
	tcase_add_test(t, rate_and_offset_come_out);
	tcase_add_test(t, time_never_runs_backwards);
	tcase_add_test(t, down_a_tree_the_bounds_add_up);
	tcase_add_test(t, a_wrong_clock_is_found_by_the_check);
	tcase_add_test(t, wander_widens_the_bound);
	tcase_add_test(t, a_jump_is_found_and_nothing_is_drawn_across_it);
	tcase_add_test(t, poor_sync_points_are_left_out);
	tcase_add_test(t, a_poor_sync_point_that_contradicts_stays);
	tcase_add_test(t, of_near_sync_points_the_best_stays);
	tcase_add_test(t, beyond_the_ends_the_bound_grows);
	tcase_add_test(t, beyond_poor_sync_points_the_rate_is_a_usual_one);
	tcase_add_test(t, packing_keeps_everything);
	suite_add_tcase(s, t);
	return run_suite(s);
}
