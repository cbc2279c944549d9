/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits cost an agent, within bounds that vftr-cost(7) gives: memory of a thread, and
 * 20 000 collective calls a second. */
#include <check.h>
#include <math.h>

#include "nodeagent/gather/gather.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/replay/tree/activity.h"
#include "t/bench/waits.h"
#include "t/lib/suite.h"

#define THREAD_BYTES (256.0 * 1024)
#define PER_S	     20000

#ifdef __SANITIZE_ADDRESS__
#define COUNTS_MEMORY false /* malloc() tells nothing */
#else
#define COUNTS_MEMORY true
#endif

/* 64 ranks with 64 KiB in their rings, late by up to 0.1 ms, so that causes are looked for. */
START_TEST(a_thread_takes_at_most_256_KiB)
{
	const struct scene s = {"", false, 64, 64, 400, 20, 200000, 100000, 64 << 10, 0};
	const double more = measure_apart(&s, true).bytes - measure_apart(&s, false).bytes;

	ck_assert_double_le(more, THREAD_BYTES);
	if (COUNTS_MEMORY)
		ck_assert_double_gt(more, ACTIVITY_CALLS * sizeof(struct activity_call));
}
END_TEST

static struct profile *profile_of(const struct scene *s)
{
	for (int r = 0; r < s->here; r++)
		detach(&apps[r]);
	gather_ranks(host);
	return gather(host, NULL);
}

/* Of each call all ranks but the last one wait. */
START_TEST(of_20000_calls_a_second_on_a_node_each_is_compared)
{
	const struct scene s = {
		"", false, 16, 16, 800, 24, 1000000000 / PER_S, 20000, 128 << 10, 0};
	const uint64_t waits = (uint64_t)s.calls * (s.rounds + 1) * (unsigned)(s.here - 1);
	const struct cost c = measure(&s, true);
	struct profile *p;
	uint64_t found = 0;

	ck_assert_uint_eq(c.dropped, 0);
	ck_assert_double_lt(c.share, 1); /* of a CPU: some 0.1 */
	p = profile_of(&s);
	ck_assert_uint_eq(p->n_sampled, 0);
	for (size_t i = 0; i < p->n_waits; i++)
		found += p->waits[i].calls;
	ck_assert_uint_le(found, waits);
	ck_assert_uint_ge(found, waits - waits / 1000); /* two may be the last in one ns */
	profile_free(p);
}
END_TEST

/* ns: what all ranks wait, each for the last one, by the dice of measure(). */
static double all_waits(const struct scene *s)
{
	static uint32_t last[RANKS_MOST * 4];
	struct dice d = {.state = 5};
	double sum = 0;

	ck_assert_uint_le(s->calls, ARRAY_SIZE(last));
	for (unsigned look = 0; look <= s->rounds; look++) {
		memset(last, 0, sizeof(last));
		for (int r = 0; r < s->here; r++)
			for (unsigned i = 0; i < s->calls; i++) {
				const uint32_t late = throw_dice(&d, s->late);

				sum -= late;
				last[i] = late > last[i] ? late : last[i];
			}
		for (unsigned i = 0; i < s->calls; i++)
			sum += (double)s->here * last[i];
	}
	return sum;
}

static uint64_t calls_of(const struct profile *p, const char *name)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		if (!strcmp(p->names[p->stacks[i].name], name))
			calls += p->stacks[i].calls;
	return calls;
}

/* With 256 ranks some stand for all; the calls are counted all the same. */
START_TEST(of_20000_calls_a_second_of_256_ranks_some_stand_for_all)
{
	const struct scene s = {
		"", false, 256, 256, 200, 15, 1000000000 / PER_S, 20000, 64 << 10, 0};
	const uint64_t arrivals = (uint64_t)s.calls * (s.rounds + 1) * (unsigned)s.here;
	const struct cost c = measure(&s, true);
	const double truth = all_waits(&s);
	double ns = 0, error = 0, calls = 0;
	uint64_t made = 0, kept = 0;
	struct profile *p = profile_of(&s);

	ck_assert_uint_eq(c.dropped, 0);
	ck_assert_uint_eq(calls_of(p, "MPI_Allreduce"), arrivals);
	ck_assert_uint_eq(p->sampled[p->n_sampled - 1].log2, 2);
	for (size_t i = 0; i < p->n_sampled; i++) {
		made += p->sampled[i].calls;
		kept += p->sampled[i].kept;
	}
	ck_assert_uint_eq(made, arrivals);
	ck_assert_uint_lt(kept, arrivals / 3 * 2);
	for (size_t i = 0; i < p->n_waits; i++) {
		ns += (double)p->waits[i].ns;
		error += (double)p->waits[i].error_ns;
		calls += (double)p->waits[i].calls;
	}
	ck_assert_double_gt(error, 0);
	ck_assert_double_le(fabs(ns - truth), error);
	ck_assert_double_le(fabs(ns - truth), 0.05 * truth);
	ck_assert_double_le(fabs(calls - (double)arrivals), 0.05 * (double)arrivals);
	profile_free(p);
}
END_TEST

/* For a minute, with members on another node: one in 2^n is kept, and it is said in how many. */
START_TEST(of_20000_calls_a_second_between_nodes_some_stand_for_all)
{
	const struct scene s = {"", false, 2, 4, 4000, 300, 1000000000 / PER_S, 20000, 1 << 20, 0};
	const struct cost c = measure(&s, true);
	const double stands_for = (double)c.kept * c.one_in;

	ck_assert_double_lt(c.share, 0.5); /* of a CPU: some 0.01 */
	ck_assert_uint_ge(c.one_in, 2);
	ck_assert_uint_eq(c.dropped, 0);
	ck_assert_double_ge(stands_for, 0.98 * (double)c.instances);
	ck_assert_double_le(stands_for, 1.02 * (double)c.instances);
	/* for one that is kept: a report of 4 words or an answer of 2 */
	ck_assert_double_le(c.told_per_s * (double)c.instances / PER_S, 24.1 * (double)c.kept);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("u-waits-cost");
	TCase *t = tcase_create("cost");

	dir = ".";
	tcase_add_test(t, a_thread_takes_at_most_256_KiB);
	tcase_add_test(t, of_20000_calls_a_second_on_a_node_each_is_compared);
	tcase_add_test(t, of_20000_calls_a_second_of_256_ranks_some_stand_for_all);
	tcase_add_test(t, of_20000_calls_a_second_between_nodes_some_stand_for_all);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	return run_suite(s);
}
