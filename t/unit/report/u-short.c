/* SPDX-License-Identifier: BSD-3-Clause */
/* Short functions of profiles made in memory: which of them a compiler is to leave out. */
#include "t/unit/report/output-files.h"

#include "nodeagent/report/report.h"
#include "nodeagent/report/short.h"
#include "t/lib/suite.h"

static struct report r;
static struct short_functions s;

/* A path whose calls take 1 us each by themselves. */
static uint32_t add(uint32_t parent, const char *name, uint64_t calls)
{
	const uint32_t i = add_stack(p, parent, name, UINT64_MAX);

	p->stacks[i].calls = calls;
	p->stacks[i].excl_ns = calls * 1000;
	p->calls += calls;
	return i;
}

/* Hooks take 1 us in each call of the program, which has so much CPU time. */
static void make(uint64_t cpu_ms)
{
	sort_random_stacks(p);
	p->ranks = p->threads = 1;
	p->hook_ns_total = p->calls * 1000;
	p->cpu = (struct profile_cpu){.ns = cpu_ms * MS, .wall_ns = cpu_ms * MS};
	report_init(&r, p, conf, NULL, 0);
	s = short_functions(&r);
	short_functions_keep_costly(&r, &s);
}

static char *left_out(void)
{
	char *names = xstrdup("");

	for (size_t i = 0; i < s.n; i++)
		names = xappend(names, "%s ", r.shown[s.names[i]]);
	return names;
}

static void are(const char *wanted)
{
	char *names = left_out();

	ck_assert_str_eq(names, wanted);
	free(names);
}

static void end(void)
{
	short_functions_free(&s);
	report_done(&r);
	teardown();
}

/* 1000 calls take 1 ms in hooks */
START_TEST(those_whose_hooks_cost)
{
	const uint32_t init = add(PROFILE_NONE, "init", 0);

	add(init, "costly", 2000);
	add(init, "cheap", 900);
	make(100);
	are("costly ");
	ck_assert_uint_eq(s.all_calls, 2000);
}
END_TEST

START_TEST(none_where_hooks_cost_little)
{
	const uint32_t step = add(add(PROFILE_NONE, "init", 0), "step", 2000);

	add(step, "leaf", 2000);
	make(1000);
	are("");
}
END_TEST

/* What calls MPI, or what stays, is the structure of the program. */
START_TEST(no_caller_of_what_stays)
{
	const uint32_t init = add(PROFILE_NONE, "init", 0);
	const uint32_t step = add(init, "step", 3000);

	add(add(init, "exchange", 2500), "MPI_Isend", 2500);
	add(step, "cheap", 10);
	add(step, "leaf", 2000);
	add(add(init, "outer", 1900), "inner", 1800);
	make(100);
	are("leaf outer inner ");
}
END_TEST

START_TEST(what_calls_itself)
{
	add(add(add(PROFILE_NONE, "init", 0), "fib", 2000), "fib", 3000);
	make(100);
	are("fib ");
}
END_TEST

/* Iterations are calls of a function: without it they are lost. */
START_TEST(not_the_main_loop)
{
	const uint32_t init = add(PROFILE_NONE, "init", 0);

	add(init, "step", 3000);
	add(init, "other", 2000);
	for (uint64_t i = 0; i < 12; i++)
		*ADD_ELEMENT(p, iterations) =
			(struct profile_iteration){.stack = find_stack(p, "step<init"),
				.run = i,
				.ranks = 1,
				.calls = 1,
				.ns = MS,
				.least_ns = MS,
				.most_ns = MS,
				.most_at = i,
				.busy_ns = MS};
	make(100);
	are("other ");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {those_whose_hooks_cost, none_where_hooks_cost_little,
		no_caller_of_what_stays, what_calls_itself, not_the_main_loop};
	Suite *suite = suite_create("short");
	TCase *c = tcase_create("short");

	tcase_add_checked_fixture(c, setup_files, end);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
