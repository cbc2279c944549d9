/* SPDX-License-Identifier: BSD-3-Clause */
/* The tree of agents, for each number of them up to 5 000. */
#include "nodeagent/net/tree.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#include "t/lib/suite.h"

#define AGENTS_MOST 5000

static int log2_up(int n)
{
	int k = 0;

	while ((1 << k) < n)
		k++;
	return k;
}

/* Ranks below rank, itself included, that are reached from it; children are told apart by bits. */
static int count_below(int size, int rank, bool *reached)
{
	int n = 1, child;

	ck_assert(!reached[rank]);
	reached[rank] = true;
	for (int k = 0; (child = tree_child(size, rank, k)) >= 0; k++) {
		ck_assert_int_lt(child, size);
		ck_assert_int_eq(tree_parent(child), rank);
		n += count_below(size, child, reached);
	}
	ck_assert_int_eq(n, tree_end(size, rank) - rank);
	return n;
}

START_TEST(each_agent_is_reached_once)
{
	bool *reached = malloc(AGENTS_MOST * sizeof(*reached));

	for (int size = 1; size <= AGENTS_MOST; size++) {
		for (int i = 0; i < size; i++)
			reached[i] = false;
		ck_assert_int_eq(count_below(size, 0, reached), size);
	}
	free(reached);
}
END_TEST

START_TEST(the_tree_is_flat_and_narrow)
{
	for (int size = 1; size <= AGENTS_MOST; size++) {
		const int most = log2_up(size);
		int children = 0;

		while (tree_child(size, 0, children) >= 0)
			children++;
		ck_assert_int_eq(children, most);
		for (int rank = 1; rank < size; rank++) {
			int depth = 0;

			for (int at = rank; at; at = tree_parent(at))
				depth++;
			ck_assert_int_le(depth, most);
		}
	}
}
END_TEST

START_TEST(the_way_down_is_the_way_up)
{
	for (int to = 1; to < AGENTS_MOST; to++)
		for (int at = to; at; at = tree_parent(at)) {
			const int before = tree_parent(at);

			ck_assert_int_eq(tree_towards(before, to), at);
			ck_assert_int_lt(to, tree_end(AGENTS_MOST, before));
			ck_assert_int_ge(to, at);
		}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tree of agents");
	TCase *c = tcase_create("arithmetic");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, each_agent_is_reached_once);
	tcase_add_test(c, the_tree_is_flat_and_narrow);
	tcase_add_test(c, the_way_down_is_the_way_up);
	suite_add_tcase(s, c);
	return run_suite(s);
}
