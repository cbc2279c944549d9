/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices of time, and time without a CPU, against sums that are added up tick by tick. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#define SLICES_MOST	  16u
#define SLICES_LOG2_LEAST 3u
#include "nodeagent/replay/tree/slices.c"

#include "nodeagent/replay/tree/off-cpu.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define BEGIN ((uint64_t)1 << 40)
#define END   4096u

static void expect_slices(const struct slices *s, const uint8_t *mpi)
{
	uint64_t begin, each;
	const size_t n = slices_count(s, &begin, &each);

	ck_assert_uint_eq(begin, BEGIN);
	ck_assert_uint_le(n, SLICES_MOST);
	for (size_t i = 0; i < SLICES_MOST; i++) {
		uint64_t wanted = 0;

		for (uint64_t t = i * each; t < (i + 1) * each && t < END; t++)
			wanted += mpi[t];
		ck_assert_uint_eq(slices_of(s, i, SLICE_MPI), wanted);
	}
}

START_TEST(each_tick_is_in_its_slice)
{
	static uint8_t mpi[END];
	struct slices *s = slices_new(BEGIN);
	struct dice d = {.state = 7};

	slices_add(s, SLICE_MPI, BEGIN - 10, 100, 1);
	for (uint64_t t = 0; t < END - 200;) {
		const uint64_t took = throw_dice(&d, 60);

		t += throw_dice(&d, 30);
		slices_add(s, SLICE_MPI, BEGIN + t, took, 1);
		memset(mpi + t, 1, took);
		t += took;
		expect_slices(s, mpi);
	}
	slices_free(s);
}
END_TEST

START_TEST(what_is_taken_back_is_gone)
{
	struct slices *s = slices_new(BEGIN);

	slices_add(s, SLICE_WAIT, BEGIN + 5, 100, 1);
	slices_add(s, SLICE_MPI, BEGIN + 900, 10, 1);
	slices_add(s, SLICE_WAIT, BEGIN + 5, 100, UINT64_MAX);
	for (size_t i = 0; i < SLICES_MOST; i++)
		ck_assert_uint_eq(slices_of(s, i, SLICE_WAIT), 0);
	slices_add(s, SLICE_WAIT, BEGIN + 5, 50, UINT64_MAX);
	ck_assert_uint_eq(slices_of(s, 0, SLICE_WAIT), 0);
	slices_free(s);
}
END_TEST

static uint64_t spread_sum(const struct slices *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < SLICES_MOST; i++)
		sum += slices_of(s, i, SLICE_READ);
	return sum;
}

START_TEST(bytes_are_spread_over_their_time)
{
	struct slices *s = slices_new(BEGIN);
	struct dice d = {.state = 3};
	uint64_t sum = 0;

	slices_spread(s, SLICE_READ, BEGIN + 4, 16, 1000); /* 4, 8 and 4 ticks of slices of 8 */
	ck_assert_uint_eq(slices_of(s, 0, SLICE_READ), 250);
	ck_assert_uint_eq(slices_of(s, 1, SLICE_READ), 500);
	ck_assert_uint_eq(slices_of(s, 2, SLICE_READ), 250);
	slices_spread(s, SLICE_READ, BEGIN + 8, 0, UINT32_MAX); /* more than there are ticks */
	ck_assert_uint_eq(slices_of(s, 1, SLICE_READ), 500 + (uint64_t)UINT32_MAX);
	slices_spread(s, SLICE_READ, BEGIN - 1, 10, 7);
	slices_spread(s, SLICE_READ, BEGIN + 5, UINT64_MAX, 7);
	sum = 1000 + (uint64_t)UINT32_MAX;
	ck_assert_uint_eq(spread_sum(s), sum);
	for (int i = 0; i < 1000; i++) { /* none is lost, also where slices are joined */
		const uint32_t bytes = throw_dice(&d, 1 << 20);

		slices_spread(
			s, SLICE_READ, BEGIN + throw_dice(&d, END), throw_dice(&d, 100), bytes);
		sum += bytes;
		ck_assert_uint_eq(spread_sum(s), sum);
	}
	slices_free(s);
}
END_TEST

START_TEST(no_times_are_too_many)
{
	struct slices *s = slices_new(0);

	slices_add(s, SLICE_MPI, UINT64_MAX / 2 - 10, 10, 1);
	slices_add(s, SLICE_MPI, 5, UINT64_MAX / 2, 1);
	slices_add(s, SLICE_MPI, 5, UINT64_MAX, 1);
	slices_spread(s, SLICE_READ, UINT64_MAX / 2, 0, UINT64_MAX);
	slices_spread(s, SLICE_READ, 5, UINT64_MAX / 2, UINT64_MAX);
	slices_free(s);
}
END_TEST

/* Off CPU in every third millisecond; long ago it is known less exactly. */
START_TEST(time_without_a_cpu_is_found_again)
{
	struct off_cpu *o = off_cpu_new();
	uint64_t off = 0, t = 0;

	ck_assert_uint_eq(off_cpu_between(o, 0, 100).ns, 0);
	for (; t < 5000; t++) {
		off_cpu_note(o, 1000 * t, (struct off_time){off, off / 4});
		off += t % 3 ? 0 : 1000;
	}
	ck_assert_uint_eq(off_cpu_between(o, 1000 * (t - 4), 1000 * (t - 1)).ns, 1000);
	ck_assert_uint_eq(off_cpu_between(o, 1000 * (t - 64), 1000 * (t - 1)).ns, 21000);
	ck_assert_uint_eq(off_cpu_between(o, 4998000, 4998500).ns, 500);
	ck_assert_uint_eq(off_cpu_between(o, 4998000, 4998500).queued_ns, 125);
	ck_assert_uint_eq(off_cpu_between(o, 4997000, 4998000).ns, 0);
	ck_assert_uint_eq(off_cpu_between(o, 0, 1000 * (t - 1)).ns, off);
	ck_assert_uint_eq(off_cpu_between(o, 4999000, 9999000).ns, 0);
	ck_assert_uint_eq(off_cpu_between(o, 500, 400).ns, 0);
	/* half of the time: to a part of it */
	ck_assert_uint_ge(off_cpu_between(o, 0, 2500000).ns, 700000);
	ck_assert_uint_le(off_cpu_between(o, 0, 2500000).ns, 950000);
	off_cpu_free(o);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {each_tick_is_in_its_slice, what_is_taken_back_is_gone,
		bytes_are_spread_over_their_time, no_times_are_too_many,
		time_without_a_cpu_is_found_again};
	Suite *s = suite_create("slices");
	TCase *c = tcase_create("slices");

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
