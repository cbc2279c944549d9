/* SPDX-License-Identifier: BSD-3-Clause */
/* What was taken off and what is left is what there was; nothing of what others know is harmed. */
#include "nodeagent/subtract.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile.h"
#include "t/random-profile.h"
#include "t/suite.h"

#define SEEDS 40

static struct dice dice_of(int seed)
{
	struct dice d = {0};

	d.state = (uint64_t)seed * 0x9e3779b97f4a7c15u + 1;
	return d;
}

/* As it was some time ago. */
static struct profile *earlier(const struct profile *now, struct dice *d)
{
	struct profile *p = profile_copy(now);

	for (size_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack *s = &p->stacks[i];
		uint64_t all = throw_dice(d, 3);

		s->calls = all ? s->calls : s->calls / 3;
		s->incl_ns = all ? s->incl_ns : s->incl_ns / 3;
		s->excl_ns = all ? s->excl_ns : s->excl_ns / 3;
		s->lost_calls = all ? s->lost_calls : 0;
	}
	for (size_t i = 0; i < p->n_messages; i++)
		p->messages[i].bytes_sent /= 1 + throw_dice(d, 2);
	for (size_t i = 0; i < p->n_pairs; i++)
		p->pairs[i].sends /= 1 + throw_dice(d, 3);
	p->calls /= 2;
	return p;
}

static uint64_t stack_calls(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		sum += p->stacks[i].calls + p->stacks[i].incl_ns + p->stacks[i].excl_ns;
	return sum;
}

static uint64_t sent(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_messages; i++)
		sum += p->messages[i].bytes_sent;
	for (size_t i = 0; i < p->n_pairs; i++)
		sum += p->pairs[i].sends;
	return sum;
}

START_TEST(sums)
{
	struct dice d = dice_of(_i);
	struct profile *now = random_profile(&d, 1, 40, UINT64_MAX), *before = earlier(now, &d);
	uint64_t calls = stack_calls(now), bytes = sent(now);
	const char *why;

	profile_subtract(now, before);
	ck_assert_uint_eq(stack_calls(now) + stack_calls(before), calls);
	/* what had a stack at which nothing happened is gone with it: there is none here */
	ck_assert_uint_le(sent(now) + sent(before), bytes);
	why = profile_valid(now);
	ck_assert_msg(!why, "%s", why);
	profile_free(now);
	profile_free(before);
}
END_TEST

START_TEST(nothing_before)
{
	struct dice d = dice_of(_i);
	struct profile *now = random_profile(&d, 1, 40, UINT64_MAX);
	uint64_t calls = stack_calls(now), n = now->n_stacks;
	const char *why;

	profile_subtract(now, NULL);
	ck_assert_uint_eq(stack_calls(now), calls);
	ck_assert_uint_eq(now->n_stacks, n);
	ck_assert_uint_eq(now->n_user_counters, 0);
	why = profile_valid(now);
	ck_assert_msg(!why, "%s", why);
	profile_free(now);
}
END_TEST

/* Nothing more happened: only the root is left. */
START_TEST(the_same)
{
	struct dice d = dice_of(_i);
	struct profile *now = random_profile(&d, 1, 40, UINT64_MAX), *before = profile_copy(now);

	profile_subtract(now, before);
	ck_assert_uint_le(now->n_stacks, 1);
	ck_assert_uint_eq(now->n_messages + now->n_pairs + now->n_files + now->n_counts, 0);
	ck_assert_uint_eq(now->calls, 0);
	ck_assert_ptr_null(profile_valid(now));
	profile_free(now);
	profile_free(before);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("subtract");
	TCase *c = tcase_create("subtract");

	tcase_add_loop_test(c, sums, 0, SEEDS);
	tcase_add_loop_test(c, nothing_before, 0, 20);
	tcase_add_loop_test(c, the_same, 0, 20);
	suite_add_tcase(s, c);
	return run_suite(s);
}
