/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the user's in many processes: whatever the order of merging, the same processes are
 * kept and the others have the same sums, to the last bit; the extremes of all are there.
 */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "nodeagent/base/user-value.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/exact-sum.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"
#include "t/unit/profile/same-profile.h"

enum { RANKS = 200, MOST = 60, EXTREMES = 3, TREES = 20, MANY = 1000 };

static struct dice dice;

/* ---- sums -------------------------------------------------------------------------------- */

/* Of any size, but for infinite ones. */
static double any_real(void)
{
	const double part = (double)throw_dice(&dice, 1u << 30) / 3.0 - (1u << 28);

	return ldexp(part, (int)throw_dice(&dice, 2000) - 1050);
}

static double near_one(void)
{
	return (double)throw_dice(&dice, 1u << 30) / 1e9 - 0.5;
}

static struct exact_sum sum_in_tree(const double *x, size_t n)
{
	const size_t half = n > 1 ? 1 + throw_dice(&dice, (uint32_t)n - 1) : 0;
	struct exact_sum sum = {.top = 0}, second;

	if (n == 1) {
		exact_sum_put(&sum, x[0]);
		return sum;
	}
	sum = sum_in_tree(x + half, n - half);
	second = sum_in_tree(x, half);
	exact_sum_add(&sum, &second);
	return sum;
}

START_TEST(sums_in_any_order)
{
	double x[MANY];
	struct exact_sum sum = {.top = 0}, other;
	long double about = 0;

	dice = (struct dice){.state = 4 + (uint64_t)_i};
	for (size_t i = 0; i < MANY; i++) {
		x[i] = _i % 2 ? any_real() : near_one();
		about += (long double)x[i];
		exact_sum_put(&sum, x[i]);
	}
	ck_assert_uint_lt(sum.top, EXACT_SUM_TOPS);
	ck_assert_double_le(
		fabs(exact_sum_value(&sum) - (double)about), 1e-13 * fabs((double)about));
	for (int i = 0; i < TREES; i++) {
		other = sum_in_tree(x, MANY);
		ck_assert_mem_eq(&sum.part, &other.part, sizeof(sum.part));
		ck_assert_uint_eq(sum.top, other.top);
	}
}
END_TEST

START_TEST(sums_of_one)
{
	static const double of[] = {0.0, -0.0, 1.0, -1.0, 0.1, 1e300, -DBL_MAX, DBL_MAX, DBL_MIN,
		4.9e-324, -4.9e-324, 1099511627776.0, 1e-310};

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		struct exact_sum sum = {.top = 0};

		exact_sum_put(&sum, of[i]);
		ck_assert_double_eq(exact_sum_value(&sum), of[i]);
		ck_assert_uint_lt(sum.top, EXACT_SUM_TOPS);
		exact_sum_put(&sum, -of[i]);
		ck_assert_double_eq(exact_sum_value(&sum), 0.0);
		exact_sum_put(&sum, NAN);
		ck_assert_double_eq(exact_sum_value(&sum), 0.0);
	}
}
END_TEST

/* ---- counters ----------------------------------------------------------------------------- */

static void add_counter(struct profile *p, uint32_t rank, uint32_t number)
{
	struct profile_user_counter *c = profile_add(p, PROFILE_USER_COUNTERS);

	*c = (struct profile_user_counter){.rank = rank,
		.real = number % 2,
		.values = 1 + throw_dice(&dice, 3),
		.last_ns = 5,
		.name = xasprintf("counter %u\nB", number / 3)};
	for (uint64_t i = 0; i < c->values; i++) {
		const uint64_t now =
			c->real ? user_value_bits(throw_dice(&dice, 2) ? any_real() : near_one())
				: throw_dice(&dice, 40) - UINT64_C(20);
		const double value = c->real ? user_value_real(now) : (double)(int64_t)now;
		const bool real = c->real;

		if (!i || user_value_less(real, (union user_value){.bits = now},
				  (union user_value){.bits = c->min}))
			c->min = now;
		if (!i || user_value_less(real, (union user_value){.bits = c->max},
				  (union user_value){.bits = now}))
			c->max = now;
		c->last = now;
		c->sum = user_value_bits(user_value_real(c->sum) + value);
	}
}

static struct profile *rank_of(uint32_t rank, uint32_t counters)
{
	struct profile *p = profile_new();

	*ADD_ELEMENT(p, stacks) = (struct profile_stack){.hash = 1, .parent = PROFILE_NONE};
	*ADD_ELEMENT(p, names) = xstrdup("init");
	p->ranks = 1;
	p->world_size = UINT16_MAX;
	for (uint32_t i = 0; i < counters; i++)
		if (throw_dice(&dice, 8))
			add_counter(p, rank, i);
	profile_combine(p, PROFILE_USER_COUNTERS);
	return p;
}

static void put(struct profile *to, const struct profile *from)
{
	EACH(const struct profile_user_counter, c, from->user_counters, from->n_user_counters) {
		struct profile_user_counter *copy = profile_add(to, PROFILE_USER_COUNTERS);

		*copy = *c;
		copy->name = xstrdup(c->name);
	}
	EACH(const struct profile_user_rest, r, from->user_rests, from->n_user_rests) {
		struct profile_user_rest *copy = profile_add(to, PROFILE_USER_RESTS);

		*copy = *r;
		copy->name = xstrdup(r->name);
	}
	profile_combine(to, PROFILE_USER_COUNTERS);
	profile_combine(to, PROFILE_USER_RESTS);
}

static struct profile *merged(struct profile **ranks, size_t n, uint64_t most, size_t names)
{
	const size_t half = n > 1 ? 1 + throw_dice(&dice, (uint32_t)n - 1) : 0;
	const bool swap = throw_dice(&dice, 2);
	struct profile *both = profile_new(), *parts[2];

	if (n == 1) {
		put(both, ranks[0]);
	} else {
		parts[swap] = merged(ranks, half, most, names);
		parts[!swap] = merged(ranks + half, n - half, most, names);
		for (int i = 0; i < 2; i++) {
			put(both, parts[i]);
			profile_free(parts[i]);
		}
	}
	profile_user_counters_limit(both, most, EXTREMES, names);
	return both;
}

static uint64_t entries_of(const struct profile *p)
{
	uint64_t n = p->n_user_counters;

	for (size_t i = 0; i < p->n_user_rests; i++)
		n += p->user_rests[i].ranks;
	return n;
}

static uint64_t values_of(const struct profile *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->n_user_counters; i++)
		n += p->user_counters[i].values;
	for (size_t i = 0; i < p->n_user_rests; i++)
		n += p->user_rests[i].values;
	return n;
}

/* The greatest value of the first counter is one of a process that was kept. */
static uint64_t greatest_of(const struct profile *p)
{
	uint64_t most = 0;

	EACH(const struct profile_user_counter, c, p->user_counters, p->n_user_counters)
		if (!c->real && !strcmp(c->name, "counter 0\nB"))
			most = MAX(most, c->max + 100);
	return most;
}

static const struct {
	uint32_t counters;
	size_t names, kept; /* at most */
} rows[] = {
	{1, 9, 2 * 3 * EXTREMES},
	{7, 99, 5 * 2 * 2 * 3 * EXTREMES},
	{7, 2, 2 * 2 * 3 * EXTREMES},
	{40, 7, 7 * 2 * 3 * EXTREMES},
};

START_TEST(any_order_gives_the_same)
{
	const size_t names = rows[_i].names;
	struct profile *ranks[RANKS], *all, *once, *other;

	dice = (struct dice){.state = 77 + (uint64_t)_i};
	for (uint32_t i = 0; i < RANKS; i++)
		ranks[i] = rank_of(i, rows[_i].counters);
	all = merged(ranks, RANKS, UINT64_MAX, names);
	once = merged(ranks, RANKS, UINT64_MAX, names);
	profile_user_counters_limit(once, MOST, EXTREMES, names);
	ck_assert_uint_le(once->n_user_counters, rows[_i].kept);
	ck_assert_uint_le(once->n_user_rests, names + 1);
	ck_assert_uint_eq(entries_of(all), entries_of(once));
	ck_assert_uint_eq(values_of(all), values_of(once));
	ck_assert_uint_eq(greatest_of(all), greatest_of(once));
	for (int i = 0; i < TREES; i++) {
		other = merged(ranks, RANKS, MOST, names);
		assert_same(once, other);
		profile_free(other);
	}
	profile_free(all);
	profile_free(once);
	for (int i = 0; i < RANKS; i++)
		profile_free(ranks[i]);
}
END_TEST

/* By profile_merge(), and a name of its own for each rank. */
START_TEST(merging_limits)
{
	const uint32_t n = PROFILE_RANKS_MAX / 64 + 2;
	struct profile *whole = NULL;

	dice = (struct dice){.state = 3};
	for (uint32_t i = 0; i < n; i++) {
		struct profile *p = rank_of(64 * i, 0);

		for (uint32_t k = 0; k < 64; k++)
			add_counter(p, 64 * i + k, 3 * (_i ? 64 * i + k : 0));
		profile_combine(p, PROFILE_USER_COUNTERS);
		assert_valid(p);
		whole = profile_merge(whole, p);
	}
	assert_valid(whole);
	ck_assert_uint_eq(entries_of(whole), 64 * n);
	ck_assert_uint_le(whole->n_user_counters, PROFILE_COUNTER_NAMES);
	ck_assert_uint_eq(whole->n_user_rests, 1);
	ck_assert_int_eq(whole->user_rests[0].name[0] != '\0', !_i);
	whole->user_rests[0].sum.top = EXACT_SUM_TOPS;
	ck_assert_ptr_nonnull(profile_valid(whole));
	profile_free(whole);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("counters limit");
	Suite *s = suite_create("counters limit");

	tcase_add_loop_test(t, sums_in_any_order, 0, 8);
	tcase_add_test(t, sums_of_one);
	tcase_add_loop_test(t, any_order_gives_the_same, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(t, merging_limits, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
