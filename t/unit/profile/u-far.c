/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of spawned jobs that nodes name before these have their numbers. */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "t/unit/profile/random-profile.h"
#include "t/unit/profile/same-profile.h"
#include "t/lib/suite.h"

enum { JOB = 77, UNKNOWN_JOB = 78 };

static uint32_t root_of(const struct profile *p)
{
	uint32_t i = 0;

	while (p->stacks[i].parent != PROFILE_NONE)
		i++;
	return i;
}

/* A node with so many processes in no job, which has waited for this rank only. */
static struct profile *node(struct dice *d, int k, uint32_t unranked, uint32_t late)
{
	struct profile *p = random_profile_with_waits(d, k, 20, UINT64_MAX);

	profile_drop_list(p, PROFILE_WAITS);
	profile_drop_list(p, PROFILE_CAUSES);
	if (p->unranked < unranked)
		p->unranked = unranked;
	*(struct profile_wait *)profile_add(p, PROFILE_WAITS) =
		(struct profile_wait){.stack = root_of(p),
			.kind = WAIT_LATE_SENDER,
			.late = late,
			.calls = 1,
			.ns = 1000};
	return p;
}

static const struct profile_wait *wait_for(const struct profile *p, uint32_t late)
{
	for (size_t i = 0; i < p->n_waits; i++)
		if (p->waits[i].late == late)
			return &p->waits[i];
	return NULL;
}

START_TEST(numbers_come_with_the_whole)
{
	const uint32_t far = rank_far(rank_id(JOB, 3));
	struct dice d = {.state = 5 + (uint64_t)_i};
	struct profile *parents = node(&d, 0, 2, far), *children = node(&d, 1, 4, far), *whole;
	uint32_t before;

	*(struct profile_far_rank *)profile_add(children, PROFILE_FAR_RANKS) =
		(struct profile_far_rank){far, PROFILE_UNRANKED + 3};
	assert_valid(parents);
	assert_valid(children);
	ck_assert(profile_has_far(parents));
	before = _i ? 0 : parents->unranked; /* those of the first one have the first numbers */
	whole = _i ? profile_merge(children, parents) : profile_merge(parents, children);
	assert_valid(whole);
	ck_assert_ptr_nonnull(wait_for(whole, far));
	profile_name_far(whole);
	assert_valid(whole);
	ck_assert(!profile_has_far(whole) && !whole->n_far_ranks);
	ck_assert_uint_eq(whole->n_waits, 1);
	ck_assert_uint_eq(whole->waits[0].late, PROFILE_UNRANKED + before + 3);
	ck_assert_uint_eq(whole->waits[0].ns, 2000);
	profile_free(whole);
}
END_TEST

static void name(struct profile *p, uint32_t far, uint32_t rank)
{
	*(struct profile_far_rank *)profile_add(p, PROFILE_FAR_RANKS) =
		(struct profile_far_rank){far, rank};
}

/* Of the same node, or of two. */
START_TEST(two_ranks_of_one_name_are_not_told_apart)
{
	const uint32_t far = rank_far(rank_id(JOB, 3));
	struct dice d = {.state = 5};
	struct profile *parents = node(&d, 0, 2, far), *children = node(&d, 1, 4, far), *whole;

	name(children, far, PROFILE_UNRANKED + 3);
	if (_i)
		name(parents, far, PROFILE_UNRANKED + 1);
	else
		name(children, far, PROFILE_UNRANKED + 2);
	profile_combine(children, PROFILE_FAR_RANKS);
	assert_valid(children);
	whole = profile_merge(children, parents);
	assert_valid(whole);
	profile_name_far(whole);
	ck_assert_uint_eq(whole->n_waits, 1);
	ck_assert_uint_eq(whole->waits[0].late, PROFILE_ELSEWHERE);
	ck_assert_uint_eq(whole->waits[0].ns, 2000);
	profile_free(whole);
}
END_TEST

START_TEST(names_are_checked)
{
	const uint32_t far = rank_far(rank_id(JOB, 3));
	struct dice d = {.state = 5};
	struct profile *p = node(&d, 0, 2, far);

	name(p, far, PROFILE_UNRANKED + 1);
	assert_valid(p);
	p->far_ranks[0].rank = far;
	ck_assert_ptr_nonnull(profile_valid(p));
	p->far_ranks[0] = (struct profile_far_rank){7, PROFILE_UNRANKED + 1};
	ck_assert_ptr_nonnull(profile_valid(p));
	profile_free(p);
}
END_TEST

START_TEST(of_a_node_that_is_missing)
{
	struct dice d = {.state = 9};
	struct profile *p = node(&d, 0, 2, rank_far(rank_id(UNKNOWN_JOB, 3)));

	profile_name_far(p);
	assert_valid(p);
	ck_assert_uint_eq(p->n_waits, 1);
	ck_assert_uint_eq(p->waits[0].late, PROFILE_ELSEWHERE);
	profile_free(p);
}
END_TEST

/* All ranks of a run without MPI are here: its records are not even sorted anew. */
START_TEST(without_mpi_nothing_is_far)
{
	struct profile *p = profile_new();

	p->ranks = p->unranked = 2;
	for (uint32_t i = 0; i < 2; i++)
		*(struct profile_wait_pair *)profile_add(p, PROFILE_WAIT_PAIRS) =
			(struct profile_wait_pair){
				.rank = PROFILE_UNRANKED + 1 - i, .late = PROFILE_UNRANKED};
	ck_assert(!profile_has_far(p));
	profile_name_far(p);
	ck_assert_uint_eq(p->wait_pairs[0].rank, PROFILE_UNRANKED + 1);
	profile_free(p);
}
END_TEST

/* Nor is what is of this node alone changed where a wait is for another one. */
START_TEST(parts_without_lists_stay)
{
	struct profile *p = profile_new();

	*(struct profile_wait_pair *)profile_add(p, PROFILE_WAIT_PAIRS) =
		(struct profile_wait_pair){.late = rank_far(rank_id(JOB, 3))};
	*(struct profile_pair *)profile_add(p, PROFILE_PAIRS) =
		(struct profile_pair){.from = PROFILE_UNRANKED, .to = rank_far(rank_id(JOB, 3))};
	ck_assert(profile_has_far(p));
	profile_name_far(p);
	ck_assert_uint_eq(p->wait_pairs[0].late, PROFILE_ELSEWHERE);
	ck_assert_uint_eq(p->pairs[0].to, PROFILE_FAR);
	ck_assert_uint_eq(p->cpu.least_rank, 0);
	ck_assert_uint_eq(p->matching.worst_from, 0);
	profile_free(p);
}
END_TEST

START_TEST(no_name_is_a_number)
{
	struct dice d = {.state = 3};

	for (int i = 0; i < 100000; i++) {
		const uint64_t job = (uint64_t)throw_dice(&d, UINT32_MAX) << 32 | (uint64_t)i;

		ck_assert(rank_is_far(rank_far(rank_id(job, throw_dice(&d, 1000)))));
	}
	ck_assert(!rank_is_far(PROFILE_ELSEWHERE) && !rank_is_far(PROFILE_NONE));
	ck_assert(!rank_is_far(PROFILE_UNRANKED) && !rank_is_far(0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("far");
	TCase *c = tcase_create("far");

	tcase_add_loop_test(c, numbers_come_with_the_whole, 0, 2);
	tcase_add_loop_test(c, two_ranks_of_one_name_are_not_told_apart, 0, 2);
	tcase_add_test(c, names_are_checked);
	tcase_add_test(c, of_a_node_that_is_missing);
	tcase_add_test(c, without_mpi_nothing_is_far);
	tcase_add_test(c, parts_without_lists_stay);
	tcase_add_test(c, no_name_is_a_number);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
