/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of MPI_Probe() by number: the last ones are kept, and where numbers begin anew. */
#define MATCH_PROBES_MAX 4u
#include "nodeagent/match/probes.c"

#include "t/lib/suite.h"

static struct match_probes probes;

static uint32_t add(uint64_t enter, uint32_t before)
{
	return match_probes_add(&probes,
		&(struct match_probe){.enter = enter, .leave = enter + 5, .before = before});
}

START_TEST(the_last_ones_are_known)
{
	ck_assert_ptr_null(match_probes_find(&probes, 0));
	ck_assert_ptr_null(match_probes_find(&probes, 1));
	for (uint32_t i = 1; i <= 20; i++) {
		ck_assert_uint_eq(add(100 * i, i - 1), i);
		for (uint32_t k = 0; k <= 21; k++) {
			const struct match_probe *p = match_probes_find(&probes, k);

			ck_assert_int_eq(!!p, k && k <= i && i - k < 4);
			if (!p)
				continue;
			ck_assert_uint_eq(p->enter, 100 * k);
			ck_assert_uint_eq(p->leave, 100 * k + 5);
			ck_assert_uint_eq(p->before, k - 1);
		}
	}
	ck_assert_uint_eq(probes.n_at, 4);
	match_probes_free(&probes);
	ck_assert_ptr_null(match_probes_find(&probes, 20));
}
END_TEST

START_TEST(numbers_begin_anew)
{
	for (uint32_t i = 1; i <= 4; i++)
		add(i, 0);
	probes.last = UINT32_MAX;
	ck_assert_uint_eq(add(7, 0), 4);
	ck_assert_uint_eq(match_probes_find(&probes, 4)->enter, 7);
	ck_assert_ptr_null(match_probes_find(&probes, UINT32_MAX));
	ck_assert_uint_eq(add(8, 4), 5);
	ck_assert_uint_eq(match_probes_find(&probes, 5)->before, 4);
	ck_assert_ptr_null(match_probes_find(&probes, 1));
	match_probes_free(&probes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("match-probes");
	TCase *c = tcase_create("match-probes");

	tcase_add_test(c, the_last_ones_are_known);
	tcase_add_test(c, numbers_begin_anew);
	suite_add_tcase(s, c);
	return run_suite(s);
}
