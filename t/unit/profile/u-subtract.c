/* SPDX-License-Identifier: BSD-3-Clause */
/* What was taken off and what is left is what there was; nothing of what others know is harmed. */
#include "nodeagent/profile/subtract.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"
#include "t/unit/profile/random-profile.h"
#include "t/lib/suite.h"

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
	struct profile *now = random_profile_with_waits(&d, 1, 40, UINT64_MAX),
		       *before = earlier(now, &d);
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
	struct profile *now = random_profile_with_waits(&d, 1, 40, UINT64_MAX);
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
	struct profile *now = random_profile_with_waits(&d, 1, 40, UINT64_MAX),
		       *before = profile_copy(now);

	profile_subtract(now, before);
	ck_assert_uint_le(now->n_stacks, 1);
	ck_assert_uint_eq(now->n_sources, before->n_sources); /* they stay true */
	ck_assert_str_eq(now->sources[0].file, "/src/foo.c");
	ck_assert_uint_eq(now->n_messages + now->n_pairs + now->n_files + now->n_counts, 0);
	ck_assert_uint_eq(now->calls, 0);
	ck_assert_ptr_null(profile_valid(now));
	profile_free(now);
	profile_free(before);
}
END_TEST

/* ---- what only the node can say -------------------------------------------------- */

static uint64_t thread_sums(const struct profile *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->n_ended_threads; i++)
		sum += p->ended_threads[i].calls + p->ended_threads[i].sends;
	for (size_t i = 0; i < p->n_thread_stacks; i++)
		sum += p->thread_stacks[i].calls;
	for (size_t i = 0; i < p->n_user_counters; i++)
		sum += p->user_counters[i].values;
	return sum;
}

/* Two processes with some threads; each stack has a time, that it is not dropped. */
static struct profile *with_threads(struct dice *d)
{
	struct profile *p = random_profile_with_waits(d, 1, 40, UINT64_MAX);

	profile_drop_processes(p);
	for (size_t i = 0; i < p->n_user_counters; i++)
		free(p->user_counters[i].name);
	free(p->user_counters);
	p->n_user_counters = 0;
	p->processes = xcalloc(2, sizeof(*p->processes));
	p->n_processes = 2;
	p->ended_threads = xcalloc(6, sizeof(*p->ended_threads));
	p->thread_stacks = xcalloc(6 * p->n_stacks, sizeof(*p->thread_stacks));
	p->user_counters = xcalloc(2, sizeof(*p->user_counters));
	for (uint32_t i = 0; i < 2; i++) {
		p->processes[i] = (struct profile_process){
			.rank = i, .pid = (int)(70 + i), .executable = xstrdup("x")};
		p->user_counters[p->n_user_counters++] = (struct profile_user_counter){
			.rank = i, .values = 10 + throw_dice(d, 9), .name = xstrdup("load\n")};
	}
	for (uint32_t i = 0; i < 6; i++) {
		p->ended_threads[p->n_ended_threads++] = (struct profile_thread){.rank = i / 3,
			.number = i % 3,
			.threads = 1,
			.alive_ns = 1000000,
			.calls = 10 + throw_dice(d, 100),
			.records = 10,
			.sends = throw_dice(d, 7),
			.name = xstrdup("t")};
		for (uint32_t k = 0; k < p->n_stacks; k++)
			if (throw_dice(d, 2))
				p->thread_stacks[p->n_thread_stacks++] =
					(struct profile_thread_stack){.thread = i,
						.stack = k,
						.calls = 4 + throw_dice(d, 9),
						.incl_ns = 100,
						.excl_ns = 10 + throw_dice(d, 50)};
	}
	return p;
}

/* As it was some time ago, when the ranks were the other way round, and one thread had ended. */
static struct profile *threads_earlier(const struct profile *now, struct dice *d)
{
	struct profile *p = profile_copy(now);

	for (uint32_t i = 0; i < 2; i++)
		p->processes[i].pid = (int)(71 - i);
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].calls = p->stacks[i].incl_ns = p->stacks[i].excl_ns = 0;
	for (size_t i = 0; i < 6; i++) {
		const struct profile_thread *t = &now->ended_threads[(i + 3) % 6];

		p->ended_threads[i].calls = i == 1 ? t->calls : t->calls / 2;
		p->ended_threads[i].sends = i == 1 ? t->sends : t->sends / 3;
		p->ended_threads[i].records = i == 1 ? t->records : 1;
		p->ended_threads[i].alive_ns = i == 1 ? t->alive_ns - 7 : 30;
	}
	p->n_thread_stacks = 0;
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < now->n_thread_stacks; k++) {
			struct profile_thread_stack s = now->thread_stacks[k];

			if (s.thread != (i + 3) % 6 || (i != 1 && throw_dice(d, 3)))
				continue;
			s.thread = (uint32_t)i;
			s.calls = i == 1 ? s.calls : s.calls / 2;
			s.incl_ns = i == 1 ? s.incl_ns : 9;
			s.excl_ns = i == 1 ? s.excl_ns : 9;
			p->thread_stacks[p->n_thread_stacks++] = s;
		}
	for (size_t i = 0; i < 2; i++)
		p->user_counters[i].values = now->user_counters[1 - i].values / 2;
	return p;
}

START_TEST(threads_and_counters)
{
	struct dice d = dice_of(_i);
	struct profile *now = with_threads(&d), *before = threads_earlier(now, &d);
	struct profile *round = profile_copy(now);
	uint64_t sum = thread_sums(now);
	const char *why;

	profile_subtract(round, before);
	ck_assert_uint_eq(thread_sums(round), 0);
	profile_subtract_node(round, now, before);
	ck_assert_uint_eq(thread_sums(round) + thread_sums(before), sum);
	ck_assert_uint_eq(round->n_ended_threads, 5);
	for (size_t i = 0; i < round->n_ended_threads; i++)
		ck_assert(round->ended_threads[i].rank != 1 || round->ended_threads[i].number != 1);
	ck_assert_uint_eq(round->n_user_counters, 2);
	for (size_t i = 0; i < round->n_thread_ranges; i++)
		ck_assert_uint_le(round->thread_ranges[i].min_ns, round->thread_ranges[i].max_ns);
	why = profile_valid(round);
	ck_assert_msg(!why, "%s", why);
	profile_free(round);
	profile_free(now);
	profile_free(before);
}
END_TEST

START_TEST(threads_and_nothing_before)
{
	struct dice d = dice_of(_i);
	struct profile *now = with_threads(&d), *round = profile_copy(now);
	uint64_t sum = thread_sums(now);

	profile_subtract(round, NULL);
	profile_subtract_node(round, now, NULL);
	ck_assert_uint_eq(thread_sums(round), sum);
	ck_assert_ptr_null(profile_valid(round));
	profile_free(round);
	profile_free(now);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("subtract");
	TCase *c = tcase_create("subtract");

	tcase_add_loop_test(c, sums, 0, SEEDS);
	tcase_add_loop_test(c, nothing_before, 0, 20);
	tcase_add_loop_test(c, the_same, 0, 20);
	tcase_add_loop_test(c, threads_and_counters, 0, 20);
	tcase_add_loop_test(c, threads_and_nothing_before, 0, 5);
	suite_add_tcase(s, c);
	return run_suite(s);
}
