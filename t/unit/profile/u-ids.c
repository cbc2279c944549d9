/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers that users see: ids of call paths, in the order of first calls, and ranks. */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "t/lib/suite.h"
#include "t/unit/profile/random-profile.h"

static struct profile *p;
static uint32_t *id;

static void begin(void)
{
	p = profile_new();
	add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	id = NULL;
}

static void end(void)
{
	profile_free(p);
	free(id);
}

static void called(uint32_t parent, const char *name, int64_t first_ns, uint64_t hash)
{
	const uint32_t i = add_stack(p, parent, name, UINT64_MAX);

	p->stacks[i].first_ns = first_ns;
	p->stacks[i].hash = hash ? hash : p->stacks[i].hash;
}

/* In the order of add_stack(), whatever their hashes are. */
static void expect(const uint32_t *wanted)
{
	id = profile_ids(p);
	for (uint32_t i = 0; i < p->n_stacks; i++)
		ck_assert_msg(id[i] == wanted[i], "%s has %u", p->names[p->stacks[i].name], id[i]);
}

#define EXPECT(...) expect((const uint32_t[]){__VA_ARGS__})

START_TEST(by_time)
{
	p->stacks[0].first_ns = -5; /* before the clock of all nodes began */
	called(0, "late", 30, 0);
	called(0, "early", 10, 0);
	called(1, "middle", 20, 0);
	EXPECT(0, 3, 1, 2);
}
END_TEST

/* A coarse clock: callers first, then names, then positions. */
START_TEST(at_one_time)
{
	p->stacks[0].first_ns = 10;
	called(0, "m", 10, 0);
	called(1, "a", 10, 0);
	called(0, "b", 10, 0);
	called(0, "b", 10, 0);
	EXPECT(0, 3, 4, 1, 2);
}
END_TEST

START_TEST(not_known)
{
	called(0, "z", 0, 0);
	called(0, "y", 7, 0);
	called(0, "x", 0, 0);
	EXPECT(1, 2, 0, 3);
}
END_TEST

/* Those of a job, in a profile of some of its paths; two have one hash. */
START_TEST(in_a_job)
{
	static const struct profile_number job[] = {{1, 4}, {3, 2}, {7, 1}, {7, 3}, {9, 0}};
	uint64_t *in;

	p->stacks[0].hash = 1;
	called(0, "a", 4, 4);
	called(0, "b", 2, 7);
	called(0, "c", 1, 7);
	called(0, "d", 3, 9);
	in = profile_ids_in(p, job, ARRAY_SIZE(job));
	ck_assert_uint_eq(in[0], 4);
	ck_assert_uint_eq(in[1], UINT64_MAX);
	ck_assert_uint_eq(in[2], 1);
	ck_assert_uint_eq(in[3], 3);
	ck_assert_uint_eq(in[4], 0);
	free(in);
	/* the same in the job itself: of one hash those that come first have the lesser id */
	id = profile_ids(p);
	ck_assert_uint_lt(id[2], id[3]);
}
END_TEST

/* _i: the order in which nodes are merged. Few hashes, so that many are equal. */
START_TEST(whatever_the_order_of_nodes)
{
	struct profile_number *numbers[2];
	size_t n = 0;

	for (uint32_t way = 0; way < 2; way++) {
		struct profile *whole = NULL;

		for (uint32_t k = 0; k < 6; k++) {
			const uint32_t node = way ? 5 - k : k;
			struct dice d = {.state = 3 + node};

			whole = profile_merge(
				whole, random_profile(&d, node, 40, _i ? 0xff : UINT64_MAX));
		}
		numbers[way] = profile_numbers(whole);
		ck_assert(!way || n == whole->n_stacks);
		n = whole->n_stacks;
		profile_free(whole);
	}
	ck_assert_mem_eq(numbers[0], numbers[1], n * sizeof(*numbers[0]));
	free(numbers[0]);
	free(numbers[1]);
}
END_TEST

START_TEST(ranks_are_shown_and_found)
{
	static const uint32_t ranks[] = {0, 2, PROFILE_UNRANKED, PROFILE_UNRANKED + 1};

	for (uint32_t size = 0; size <= 3; size += 3) {
		p->world_size = size;
		p->unranked = 2;
		EACH(const uint32_t, rank, ranks, ARRAY_SIZE(ranks)) {
			const bool is_one = *rank < size || *rank >= PROFILE_UNRANKED;

			if (is_one)
				ck_assert_uint_eq(
					profile_rank_of(p, profile_rank_shown(p, *rank)), *rank);
		}
		ck_assert_uint_eq(profile_rank_shown(p, PROFILE_UNRANKED + 1), size + 1);
		ck_assert_uint_eq(profile_rank_of(p, size + 2), PROFILE_NONE);
		ck_assert_uint_eq(profile_rank_of(p, UINT32_MAX), PROFILE_NONE);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ids");
	TCase *c = tcase_create("ids");

	tcase_add_checked_fixture(c, begin, end);
	tcase_add_test(c, by_time);
	tcase_add_test(c, at_one_time);
	tcase_add_test(c, not_known);
	tcase_add_test(c, in_a_job);
	tcase_add_loop_test(c, whatever_the_order_of_nodes, 0, 2);
	tcase_add_test(c, ranks_are_shown_and_found);
	suite_add_tcase(s, c);
	return run_suite(s);
}
