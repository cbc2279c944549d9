/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths of few stack samples, of profiles made in memory: who has their time in the logs. */
#include <check.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/log/few-samples.h"
#include "nodeagent/report/report.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define PERIOD_NS 50000000u

static struct conf *conf;
static struct profile *p;
static struct report r;
static struct few_samples *few;

static void setup(void)
{
	conf = conf_default();
	conf->profile_table_min_samples = 5;
	p = profile_new();
}

static void teardown(void)
{
	profile_free(p);
	conf_free(conf);
}

static uint32_t path(uint32_t parent, uint64_t excl_ns)
{
	const uint32_t i = (uint32_t)p->n_stacks;

	*ADD_ELEMENT(p, stacks) = (struct profile_stack){
		.hash = i, .parent = parent, .name = i, .ranks = 1, .excl_ns = excl_ns};
	*ADD_ELEMENT(p, names) = xasprintf("f%u", i);
	return i;
}

static uint32_t exact(uint32_t parent, uint64_t calls, uint64_t excl_ns)
{
	const uint32_t i = path(parent, excl_ns);

	p->stacks[i].calls = calls;
	return i;
}

static uint32_t sampled(uint32_t parent, uint64_t own, uint64_t all)
{
	const uint32_t i = path(parent, own * PERIOD_NS);

	p->stacks[i].estimated = true;
	*ADD_ELEMENT(p, stack_samples) =
		(struct profile_stack_samples){.stack = i, .own = own, .all = all};
	return i;
}

static void make(void)
{
	report_init(&r, p, conf, NULL, 0);
	few = few_samples_new(&r);
}

static void done(void)
{
	free(few);
	report_done(&r);
}

/* Nothing is lost, nothing is counted twice. */
static void sums_hold(void)
{
	uint64_t shown_ns = 0, all_ns = 0, samples = 0, all = 0, folded_ns = 0;
	size_t folded = 0;

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		all_ns += p->stacks[i].excl_ns;
		if (few->rows[i].is_folded) {
			folded++;
			folded_ns += p->stacks[i].excl_ns;
			ck_assert_uint_eq(few->rows[i].excl_ns, 0);
			continue;
		}
		shown_ns += few->rows[i].excl_ns;
		samples += few->rows[i].samples;
		if (p->stacks[i].parent != PROFILE_NONE)
			ck_assert(!few->rows[p->stacks[i].parent].is_folded);
	}
	for (size_t i = 0; i < p->n_stack_samples; i++)
		all += p->stack_samples[i].own;
	ck_assert_uint_eq(shown_ns, all_ns);
	ck_assert_uint_eq(samples, all);
	ck_assert_uint_eq(few->n, folded);
	ck_assert_uint_eq(few->excl_ns, folded_ns);
}

START_TEST(few_are_with_the_nearest_caller_that_has_enough)
{
	const uint32_t init = exact(PROFILE_NONE, 1, 7), main_ = sampled(init, 0, 14),
		       often = sampled(main_, 6, 10), once = sampled(often, 1, 4),
		       below = sampled(once, 3, 3), other = sampled(main_, 4, 4);

	make();
	ck_assert(!few->rows[init].is_folded && !few->rows[main_].is_folded);
	ck_assert(!few->rows[often].is_folded);
	ck_assert(few->rows[once].is_folded && few->rows[below].is_folded);
	ck_assert(few->rows[other].is_folded);
	ck_assert_uint_eq(few->rows[often].excl_ns, 10 * PERIOD_NS);
	ck_assert_uint_eq(few->rows[often].samples, 10);
	ck_assert_uint_eq(few->rows[main_].excl_ns, 4 * PERIOD_NS);
	ck_assert_uint_eq(few->rows[init].excl_ns, 7);
	sums_hold();
	done();
}
END_TEST

START_TEST(what_is_exact_is_shown_with_all_its_callers)
{
	const uint32_t init = exact(PROFILE_NONE, 1, 7), main_ = sampled(init, 1, 2),
		       caller = sampled(main_, 1, 1), call = exact(caller, 3, 1000),
		       within = sampled(call, 1, 1);

	make();
	ck_assert(!few->rows[main_].is_folded && !few->rows[caller].is_folded);
	ck_assert(!few->rows[call].is_folded);
	ck_assert(few->rows[within].is_folded); /* its time is that of the call, again */
	ck_assert_uint_eq(few->rows[call].excl_ns, 1000 + PERIOD_NS);
	sums_hold();
	done();
}
END_TEST

START_TEST(zero_or_no_samples_at_all_show_all)
{
	const uint32_t init = exact(PROFILE_NONE, 1, 7);

	make();
	ck_assert_ptr_null(few);
	done();
	sampled(init, 1, 1);
	conf->profile_table_min_samples = 0;
	make();
	ck_assert_ptr_null(few);
	done();
	conf->profile_table_min_samples = 1;
	make();
	ck_assert_uint_eq(few->n, 0);
	sums_hold();
	done();
}
END_TEST

/* Trees of any form, exact nodes anywhere, numbers that no agent would write. */
START_TEST(sums_hold_in_any_tree)
{
	struct dice d = {(uint64_t)_i + 1};

	exact(PROFILE_NONE, 1, 3);
	for (uint32_t n = throw_dice(&d, 200); n; n--) {
		const uint32_t parent = throw_dice(&d, (uint32_t)p->n_stacks);

		if (throw_dice(&d, 4))
			sampled(parent, throw_dice(&d, 3), throw_dice(&d, 12));
		else
			exact(parent, throw_dice(&d, 2), throw_dice(&d, 1000));
	}
	make();
	if (few)
		sums_hold();
	done();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("few-samples");
	TCase *t = tcase_create("trees");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, few_are_with_the_nearest_caller_that_has_enough);
	tcase_add_test(t, what_is_exact_is_shown_with_all_its_callers);
	tcase_add_test(t, zero_or_no_samples_at_all_show_all);
	tcase_add_loop_test(t, sums_hold_in_any_tree, 0, 100);
	suite_add_tcase(s, t);
	return run_suite(s);
}
