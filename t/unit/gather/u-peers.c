/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of jobs beside the main one are found by their ranks there, and by their traffic. */
#include <check.h>

#include "nodeagent/base/util.h"
#include "nodeagent/gather/internal.h"
#include "nodeagent/process/process.h"
#include "t/lib/suite.h"

#define JOBS 2000
#define SIZE 4

static struct host host;
static struct process all[JOBS * SIZE];
static char traffics[JOBS * SIZE]; /* addresses, as nobody looks into them */
static struct gather_peers peers;

static struct traffic *traffic_of(size_t i)
{
	return (struct traffic *)(void *)&traffics[i];
}

static void setup(void)
{
	host = (struct host){.processes = NULL};
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		all[i] = (struct process){.host = &host,
			.greeted = true,
			.ended = true,
			.job = 7 + i / SIZE,
			.job_rank = (int)(i % SIZE),
			.rank = (int)(PROFILE_UNRANKED + i),
			.traffic = traffic_of(i),
			.next = host.processes};
		host.processes = &all[i];
	}
}

static struct gather_from from(size_t i)
{
	return (struct gather_from){.host = &host, .p = &all[i], .peers = &peers};
}

START_TEST(each_has_those_of_its_job)
{
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const struct gather_from f = from(i);

		for (uint32_t k = 0; k < SIZE; k++)
			ck_assert_uint_eq(
				gather_peer(&f, k), PROFILE_UNRANKED + i / SIZE * SIZE + k);
		ck_assert_uint_eq(gather_peer(&f, SIZE), PROFILE_ELSEWHERE);
		ck_assert_ptr_eq(gather_process_with(&f, traffic_of(i)), &all[i]);
	}
	gather_peers_free(&peers);
	ck_assert(!peers.made);
}
END_TEST

START_TEST(those_of_the_main_job_and_the_living_are_none)
{
	const struct gather_from f = from(2);

	all[0].main_job = true;
	all[1].ended = false;
	ck_assert_uint_eq(gather_peer(&f, 0), PROFILE_ELSEWHERE);
	ck_assert_uint_eq(gather_peer(&f, 1), PROFILE_ELSEWHERE);
	ck_assert_uint_eq(gather_peer(&f, 3), PROFILE_UNRANKED + 3);
	ck_assert_ptr_eq(gather_process_with(&f, traffic_of(0)), &all[0]);
	ck_assert_ptr_null(gather_process_with(&f, traffic_of(1)));
	ck_assert_ptr_null(gather_process_with(&f, NULL));
	gather_peers_free(&peers);
}
END_TEST

START_TEST(of_two_with_one_rank_it_is_the_newer)
{
	const struct gather_from f = from(0);

	all[6].job = all[1].job;
	all[6].job_rank = 1;
	ck_assert_uint_eq(gather_peer(&f, 1), PROFILE_UNRANKED + 6);
	gather_peers_free(&peers);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("peers");
	TCase *c = tcase_create("peers");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, each_has_those_of_its_job);
	tcase_add_test(c, those_of_the_main_job_and_the_living_are_none);
	tcase_add_test(c, of_two_with_one_rank_it_is_the_newer);
	suite_add_tcase(s, c);
	return run_suite(s);
}
