/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of ranks, where node profiles change after the run was read. */
#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/tool/show/flame.h"
#include "t/lib/suite.h"
#include "t/unit/profile/random-profile.h"

static char path[] = "/tmp/u-ranks.XXXXXX", *paths[] = {path};

/* A node with one process, and so many functions below main. */
static struct profile *node_with(uint32_t functions)
{
	struct dice d = {.state = 1};
	struct profile *p = profile_new();
	uint32_t parent = add_stack(p, PROFILE_NONE, "init", UINT64_MAX);

	p->ranks = p->threads = 1;
	throw_process(&d, ADD_ELEMENT(p, processes), 0);
	parent = add_stack(p, parent, "main", UINT64_MAX);
	for (uint32_t i = 0; i < functions; i++) {
		const char name[] = {'f', (char)('a' + i), '\0'};
		const uint32_t stack = add_stack(p, parent, name, UINT64_MAX);

		p->stacks[stack].excl_ns = p->stacks[stack].incl_ns = 1;
	}
	sort_random_stacks(p);
	return p;
}

/* The number of times, where a run with so many functions was read, and its file has `now'. */
static size_t times_of(uint32_t then, uint32_t now)
{
	struct profile *node = node_with(now);
	struct run run = {.paths = paths, .n_paths = 1, .p = node_with(then)};
	struct flame_time *times;
	size_t n;

	ck_assert_int_eq(vfp_write(node, path), 0);
	times = flame_ranks(&run, &n);
	ck_assert(!times == !n);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_lt(times[i].stack, run.p->n_stacks);
	free(times);
	profile_free(run.p);
	profile_free(node);
	return n;
}

START_TEST(as_it_was_read)
{
	ck_assert_uint_eq(times_of(5, 5), 5);
}
END_TEST

/* Not less than rounding may be in sums: only the call path itself tells. */
START_TEST(a_call_path_is_new)
{
	for (uint32_t n = 0; n < 12; n++)
		ck_assert_uint_eq(times_of(n, n + 1), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ranks");
	TCase *c = tcase_create("ranks");
	int status;

	close(mkstemp(path));
	tcase_add_test(c, as_it_was_read);
	tcase_add_test(c, a_call_path_is_new);
	suite_add_tcase(suite, c);
	status = run_suite(suite);
	unlink(path);
	return status;
}
