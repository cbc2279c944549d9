/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of the agents' tree as bytes: whatever is cut or changed, nothing beyond them is read.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/collate/tree.h"
#include "t/lib/suite.h"

enum { AGENTS = 3 };

static char *hosts[AGENTS] = {"a", "node-of-a-long-name", "z"};
static int ranks[AGENTS] = {2, 0, 1};

/* Agent 0's, which has the hosts of all. */
static struct collate_plan plan_of_root(void)
{
	return (struct collate_plan){.n = AGENTS,
		.position = 1,
		.parent = -1,
		.n_levels = 2,
		.n_children = 2,
		.child = {1, 2},
		.hosts = hosts,
		.ranks = ranks};
}

/* The caller frees. */
static char *packed_plan(struct collate_plan plan, size_t *bytes)
{
	return collate_plan_pack(&(struct transport){.size = AGENTS, .plan = &plan}, bytes);
}

static char *packed(size_t *bytes)
{
	return packed_plan(plan_of_root(), bytes);
}

/* From memory that ends with the bytes. */
static bool unpack(struct transport *t, const char *from, size_t bytes)
{
	char *exact = xmalloc(bytes + !bytes);
	bool is;

	memcpy(exact, from, bytes);
	is = collate_plan_unpack(t, exact, bytes);
	free(exact);
	return is;
}

START_TEST(a_plan_comes_back)
{
	struct transport t = {.size = AGENTS};
	size_t bytes;
	char *buf = packed(&bytes);

	ck_assert(unpack(&t, buf, bytes));
	for (int i = 0; i < AGENTS; i++) {
		ck_assert_int_eq(t.plan->ranks[i], ranks[i]);
		ck_assert_str_eq(t.plan->hosts[i], hosts[i]);
	}
	ck_assert_int_eq(t.plan->child[1], 2);
	collate_plan_free(t.plan);
	free(buf);
}
END_TEST

START_TEST(an_agent_without_hosts_has_a_plan_too)
{
	struct transport t = {.size = AGENTS};
	struct collate_plan plan = plan_of_root();
	size_t bytes;
	char *buf;

	plan.hosts = NULL;
	plan.parent = 0;
	buf = packed_plan(plan, &bytes);
	ck_assert_uint_eq(bytes, sizeof(plan));
	ck_assert(unpack(&t, buf, bytes));
	ck_assert_ptr_null(t.plan->hosts);
	collate_plan_free(t.plan);
	free(buf);
}
END_TEST

START_TEST(one_that_is_cut_is_none)
{
	const size_t head = sizeof(struct collate_plan), texts = head + sizeof(ranks);
	struct transport t = {.size = AGENTS};
	size_t bytes;
	char *buf = packed(&bytes);

	for (size_t n = 0; n < bytes; n++)
		if (n < head || (n > head && (n < texts || buf[n - 1])))
			ck_assert(!unpack(&t, buf, n));
	free(buf);
}
END_TEST

START_TEST(one_of_more_agents_than_there_are_is_none)
{
	struct transport t = {.size = AGENTS};
	struct collate_plan plan;
	size_t bytes;
	char *buf = packed(&bytes);

	memcpy(&plan, buf, sizeof(plan));
	plan.n = UINT32_MAX;
	memcpy(buf, &plan, sizeof(plan));
	ck_assert(!unpack(&t, buf, bytes));
	plan.n = AGENTS;
	plan.n_children = LEVELS_MAX + 1;
	memcpy(buf, &plan, sizeof(plan));
	ck_assert(!unpack(&t, buf, bytes));
	free(buf);
}
END_TEST

/* It does not fit the agents that there are. */
static void is_none(struct collate_plan plan, bool with_hosts)
{
	struct transport t = {.size = AGENTS};
	size_t bytes;
	char *buf;

	if (!with_hosts)
		plan.hosts = NULL;
	buf = packed_plan(plan, &bytes);
	ck_assert(!unpack(&t, buf, bytes));
	free(buf);
}

START_TEST(one_of_another_number_of_agents_is_none)
{
	char *four[AGENTS + 1] = {"a", "b", "c", "d"};
	int ranks_of_four[AGENTS + 1] = {0, 1, 2, 0};
	struct collate_plan plan = plan_of_root();

	plan.hosts = four;
	plan.ranks = ranks_of_four;
	plan.n = AGENTS + 1;
	is_none(plan, true);
	plan.n = AGENTS - 1;
	is_none(plan, true);
	plan.parent = 0;
	is_none(plan, false);
	plan.n = AGENTS + 1;
	is_none(plan, false);
}
END_TEST

START_TEST(one_with_an_agent_that_is_none_is_none)
{
	static const int wrong[] = {AGENTS, -2, INT32_MIN, INT32_MAX};
	int ranks_with_wrong[AGENTS] = {2, 0, 1};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct collate_plan plan = plan_of_root();

		plan.parent = wrong[i];
		is_none(plan, true);
		plan.parent = -1;
		plan.child[1] = wrong[i];
		is_none(plan, true);
		plan.child[1] = 2;
		plan.ranks = ranks_with_wrong;
		ranks_with_wrong[1] = wrong[i];
		is_none(plan, true);
	}
}
END_TEST

START_TEST(one_of_a_position_beyond_its_end_is_none)
{
	struct collate_plan plan = plan_of_root();

	plan.position = AGENTS;
	is_none(plan, true);
}
END_TEST

START_TEST(a_root_without_hosts_is_none)
{
	is_none(plan_of_root(), false);
}
END_TEST

START_TEST(one_of_levels_beyond_the_most_is_none)
{
	struct collate_plan plan = plan_of_root();

	plan.n_levels = UINT32_MAX;
	is_none(plan, true);
	plan.n_levels = 2;
	plan.level = LEVELS_MAX + 1;
	is_none(plan, true);
}
END_TEST

/* Addresses in the bytes are the sender's: they are neither read nor freed. */
START_TEST(another_one_takes_the_place)
{
	struct transport t = {.size = AGENTS};
	struct collate_plan plan = plan_of_root(), *last;

	plan.parent = 0;
	plan.hosts = (char **)16;
	plan.ranks = (int *)16;
	plan.direct = (bool *)16;
	plan.down = (void *)16;
	plan.own.hash = (uint64_t *)16;
	plan.keys[0].hash = (uint64_t *)16;
	for (plan.run = 1; plan.run < 3; plan.run++) {
		ck_assert(collate_plan_replace(&t, &plan, sizeof(plan)));
		ck_assert_uint_eq(t.plan->run, plan.run);
	}
	last = t.plan;
	ck_assert(!collate_plan_replace(&t, &plan, sizeof(plan) - 1));
	plan.n_children = UINT32_MAX;
	ck_assert(!collate_plan_replace(&t, &plan, sizeof(plan)));
	ck_assert_ptr_eq(t.plan, last);
	collate_plan_free(t.plan);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("plan");
	TCase *c = tcase_create("plan");

	tcase_add_test(c, a_plan_comes_back);
	tcase_add_test(c, an_agent_without_hosts_has_a_plan_too);
	tcase_add_test(c, one_that_is_cut_is_none);
	tcase_add_test(c, one_of_more_agents_than_there_are_is_none);
	tcase_add_test(c, one_of_another_number_of_agents_is_none);
	tcase_add_test(c, one_with_an_agent_that_is_none_is_none);
	tcase_add_test(c, one_of_a_position_beyond_its_end_is_none);
	tcase_add_test(c, a_root_without_hosts_is_none);
	tcase_add_test(c, one_of_levels_beyond_the_most_is_none);
	tcase_add_test(c, another_one_takes_the_place);
	suite_add_tcase(s, c);
	return run_suite(s);
}
