/* SPDX-License-Identifier: BSD-3-Clause */
/* The small parts of sampling files: varints, checksums, the rules of sampling and thinning. */
#include <check.h>
#include <math.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/block.h"
#include "nodeagent/trace/write/sample.h"
#include "nodeagent/trace/varint.h"
#include "t/lib/suite.h"

START_TEST(varints)
{
	unsigned char buf[32];

	for (int bits = 0; bits <= 64; bits++)
		for (int k = -2; k <= 2; k++) {
			uint64_t value = (bits == 64 ? 0 : (uint64_t)1 << bits) + (uint64_t)k;
			unsigned used = value ? 64 - (unsigned)__builtin_clzll(value) : 1;
			unsigned char *end = varint_put(buf, value);
			struct varint_reader r = {buf, end, false};

			ck_assert_int_eq(end - buf, used > 56 ? 9 : (used + 6) / 7);
			ck_assert_uint_eq(varint_get(&r), value);
			ck_assert(r.at == end && !r.bad);
			for (long n = 0; n < end - buf; n++) {
				r = (struct varint_reader){buf, buf + n, false};
				varint_get(&r);
				ck_assert(r.bad && r.at == r.end);
			}
			ck_assert_int_eq(unzigzag(zigzag((int64_t)value)), (int64_t)value);
		}
}
END_TEST

START_TEST(checksums)
{
	unsigned char buf[5000]; /* longer than three stripes */

	ck_assert_uint_eq(vfd_crc(0, "123456789", 9), 0xe3069283u);
	ck_assert_uint_eq(vfd_crc_portable(0, "123456789", 9), 0xe3069283u);
	for (size_t n = 0; n < sizeof(buf); n++) {
		buf[n] = (unsigned char)(n * 2654435761u >> 13);
		ck_assert_uint_eq(vfd_crc(0, buf, n), vfd_crc_portable(0, buf, n));
		ck_assert_uint_eq(vfd_crc(vfd_crc(0, buf, n / 3), buf + n / 3, n - n / 3),
			vfd_crc(0, buf, n));
	}
}
END_TEST

START_TEST(the_sampling_rule)
{
	struct vfd_sampler s = {.interval = 10}, all = {0};

	ck_assert(vfd_sampled(&s, 5, false)); /* the first */
	ck_assert(!vfd_sampled(&s, 14, false));
	ck_assert(!vfd_sampled(&s, 15, false));
	ck_assert(vfd_sampled(&s, 15, true));  /* precise ones always ... */
	ck_assert(vfd_sampled(&s, 16, false)); /* ... and they starve nobody */
	ck_assert(!vfd_sampled(&s, 20, false));
	for (uint64_t t = 0; t < 10; t++)
		ck_assert(vfd_sampled(&all, t, false));
}
END_TEST

/* Whatever the rhythm, what was drawn has the share of the time that it took. */
START_TEST(a_window_draws_evenly)
{
	static const unsigned took[] = {1, 300, 20, 1000, 7, 60};
	uint64_t drawn[ARRAY_SIZE(took)] = {0}, windows = 0, time = 0, sum = 0;
	struct vfd_window w = {.random = 88172645463325252u};
	size_t ran = 0, picked = 0;

	for (size_t i = 0; i < ARRAY_SIZE(took); i++)
		sum += took[i];
	ck_assert(!vfd_window_has(&w));
	for (vfd_window_open(&w, 0); windows < 20000; ran = (ran + 1) % ARRAY_SIZE(took)) {
		time += took[ran];
		if (vfd_window_pass(&w, time))
			picked = ran;
		if (time - w.begin != 3 * sum)
			continue;
		ck_assert(vfd_window_has(&w));
		drawn[picked]++;
		windows++;
		vfd_window_open(&w, time);
	}
	for (size_t i = 0; i < ARRAY_SIZE(took); i++) {
		const double p = (double)took[i] / (double)sum, n = (double)windows;

		ck_assert_double_eq_tol((double)drawn[i], n * p, 4 * sqrt(n * p * (1 - p)));
	}
}
END_TEST

START_TEST(thinning_levels)
{
	ck_assert_uint_eq(vfd_thinning_level(1u << 30, 0), 0);
	ck_assert_uint_eq(vfd_thinning_level(0, 1000), 0);
	ck_assert_uint_eq(vfd_thinning_level(499, 1000), 0);
	ck_assert_uint_eq(vfd_thinning_level(500, 1000), 1);
	ck_assert_uint_eq(vfd_thinning_level(750, 1000), 2);
	ck_assert_uint_eq(vfd_thinning_level(900, 1000), 3);
	ck_assert_uint_eq(vfd_thinning_level(5000, 1000), VFD_THINNING_ALL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-parts");
	TCase *t = tcase_create("all");

	tcase_add_test(t, varints);
	tcase_add_test(t, checksums);
	tcase_add_test(t, the_sampling_rule);
	tcase_add_test(t, a_window_draws_evenly);
	tcase_add_test(t, thinning_levels);
	suite_add_tcase(s, t);
	return run_suite(s);
}
