/* SPDX-License-Identifier: BSD-3-Clause */
/* What agents tell each other of spawned jobs, and what none of ours says. */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/internode/spawn-news.c"
#include "conf/conf.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

enum { PARENT = 7, CHILD = 8, COMM = 100, SINCE = 5000, MOST = 256 };

/* One tick is 1 ns here and 2 ns there. */
static struct host here = {.clocks.ns_per_tick = 1}, there = {.clocks.ns_per_tick = 2};
static const struct spawn_name root = {5, 1};
static uint64_t words[MOST];
static size_t n;

static void setup(void)
{
	here.sync = sync_new();
	there.sync = sync_new();
}

static void teardown(void)
{
	sync_free(here.sync);
	sync_free(there.sync);
	host_warnings_free(&here);
}

static void uses(uint32_t *parents, uint32_t n_parents)
{
	spawns_add_comm(sync_spawns(here.sync),
		&(struct spawn_link){.comm = COMM,
			.parent_job = PARENT,
			.parents = parents,
			.n_parents = n_parents,
			.n_children = 2},
		2 * SINCE, &root);
}

/* Parents p on this node have spawned a job that another one has told of. */
static const struct spawn_link *pass_on(uint32_t *parents, uint32_t n_parents)
{
	spawns_add_job(sync_spawns(there.sync), CHILD, 2, SINCE / 2, &root);
	spawns_tell_job(sync_spawns(there.sync), CHILD);
	n = spawn_news_next(&there, true, words, MOST);
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_eq(spawn_news_next(&there, true, words + n, MOST - n), 0);
	ck_assert_ptr_null(spawn_news_take(&here, words, n));
	uses(parents, n_parents);
	n = spawn_news_next(&here, true, words, MOST);
	if (!n)
		return NULL;
	ck_assert_uint_eq(spawn_news_next(&here, true, words + n, MOST - n), 0);
	ck_assert_ptr_null(spawn_news_take(&there, words, n));
	return spawns_of_job(sync_spawns(there.sync), CHILD);
}

START_TEST(a_job_and_where_it_belongs)
{
	uint32_t parents[] = {4, 5, 6, 2, 9, 16, 0};
	const struct spawn_link *l = pass_on(parents, ARRAY_SIZE(parents));

	ck_assert_ptr_nonnull(l);
	ck_assert(l->comm == COMM && l->parent_job == PARENT && l->n_children == 2);
	ck_assert_uint_eq(l->n_parents, ARRAY_SIZE(parents));
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++)
		ck_assert_uint_eq(l->parents[i], parents[i]);
	ck_assert(!spawn_news_any(&here) && !spawn_news_awaited(&here));
}
END_TEST

/* Others do not tell it again when its first process comes. */
START_TEST(an_agent_without_processes_keeps_what_it_hears)
{
	here.conf = conf_default();
	sync_free(here.sync);
	here.sync = NULL;
	spawns_add_job(sync_spawns(there.sync), CHILD, 2, SINCE / 2, &root);
	spawns_tell_job(sync_spawns(there.sync), CHILD);
	n = spawn_news_next(&there, true, words, MOST);
	ck_assert_ptr_null(spawn_news_take(&here, words, n));
	ck_assert_uint_eq(spawn_news_awaited(&here), 1);
	conf_free(here.conf);
	here.conf = NULL;
}
END_TEST

START_TEST(parents_of_another_job)
{
	uint32_t parents[] = {4, 5};
	const struct spawn_link *l;

	spawns_set_main(sync_spawns(here.sync), _i ? PARENT : PARENT + 1);
	l = pass_on(parents, 2);
	ck_assert_ptr_nonnull(l);
	ck_assert_int_eq(l->parents_other, !_i);
	ck_assert_uint_eq(spawns_name(sync_spawns(there.sync), rank_id(PARENT, 5)),
		_i ? 5 : PROFILE_ELSEWHERE);
}
END_TEST

static void tell_each_other(struct host *from, struct host *to)
{
	while ((n = spawn_news_next(from, false, words, MOST)))
		ck_assert_ptr_null(spawn_news_take(to, words, n));
}

/* On each side a third rank is not a member. */
START_TEST(jobs_that_have_met_by_a_port)
{
	uint32_t parents[] = {4, 5, 9}, children[] = {1, 0};
	const struct spawn_link a = {.comm = COMM,
					.parent_job = PARENT,
					.parents = parents,
					.n_parents = 3,
					.n_children = 2},
				b = {.comm = COMM + 1,
					.parent_job = CHILD,
					.parents = children,
					.n_parents = 2,
					.n_children = 3},
				*l;

	spawns_add_port(sync_spawns(here.sync), 77, &a);
	tell_each_other(&here, &there);
	spawns_add_port(sync_spawns(there.sync), 77, &b);
	ck_assert_uint_eq(spawn_news_awaited(&here), 1);
	tell_each_other(&there, &here);
	tell_each_other(&here, &there);
	ck_assert(!spawn_news_any(&here) && !spawn_news_awaited(&here));
	ck_assert(!spawn_news_any(&there) && !spawn_news_awaited(&there));
	for (int i = 0; i < 2; i++) {
		l = spawns_of_port(sync_spawns((i ? &here : &there)->sync), CHILD, COMM + 1);
		ck_assert_ptr_nonnull(l);
		ck_assert(l->parent_job == PARENT && l->child_job == CHILD && l->comm == COMM);
		ck_assert(l->parents[2] == 9 && spawn_child(l, 0) == 1);
	}
}
END_TEST

START_TEST(a_side_that_has_ended)
{
	uint32_t own[] = {4};

	spawns_add_port(sync_spawns(here.sync), 77,
		&(struct spawn_link){.comm = COMM,
			.parent_job = PARENT,
			.parents = own,
			.n_parents = 1,
			.n_children = 1});
	spawns_end_port(sync_spawns(here.sync), PARENT, COMM);
	tell_each_other(&here, &there);
	spawns_add_port(sync_spawns(there.sync), 77,
		&(struct spawn_link){.comm = COMM,
			.parent_job = CHILD,
			.parents = own,
			.n_parents = 1,
			.n_children = 1});
	tell_each_other(&there, &here);
	ck_assert_ptr_null(spawns_of_port(sync_spawns(there.sync), CHILD, COMM));
	ck_assert(!spawn_news_any(&here) && !spawn_news_awaited(&here));
}
END_TEST

START_TEST(too_many_runs)
{
	static uint32_t parents[2 * MOST];

	for (uint32_t i = 0; i < ARRAY_SIZE(parents); i++)
		parents[i] = i * i;
	ck_assert_ptr_null(pass_on(parents, ARRAY_SIZE(parents)));
	ck_assert_uint_eq(here.n_warnings, 1);
}
END_TEST

static const struct {
	const char *what;
	uint64_t words[10];
	size_t n;
} lies[] = {
	{"nothing", {0}, 0},
	{"no kind", {9, 1, 1, 1, 1, 1}, 6},
	{"a job cut off", {JOB, CHILD, 2, 0, 5}, 5},
	{"a job and more", {JOB, CHILD, 2, 0, 5, 1, 1}, 7},
	{"job 0", {JOB, 0, 2, 0, 5, 1}, 6},
	{"no ranks", {JOB, CHILD, 0, 0, 5, 1}, 6},
	{"too many ranks", {JOB, CHILD, UINT64_MAX, 0, 5, 1}, 6},
	{"nobody's", {JOB, CHILD, 2, 0, 0, 1}, 6},
	{"a link cut off", {LINK, COMM, PARENT, CHILD}, 4},
	{"no parents", {LINK, COMM, PARENT, CHILD, 2}, 5},
	{"no children", {LINK, COMM, PARENT, CHILD, 1ull << 32, 1, 1}, 7},
	{"2^32 parents", {LINK, COMM, PARENT, CHILD, UINT64_MAX, 1, 1}, 7},
	{"missing runs", {LINK, COMM, PARENT, CHILD, 3ull << 32 | 2, 2, 1}, 7},
	{"longer runs", {LINK, COMM, PARENT, CHILD, 1ull << 32 | 2, 2, 1}, 7},
	{"more runs", {LINK, COMM, PARENT, CHILD, 2ull << 32 | 2, 2, 1, 1, 1}, 9},
	{"an empty run", {LINK, COMM, PARENT, CHILD, 2ull << 32 | 2, 0, 1, 2, 1}, 9},
	{"one rank twice", {LINK, COMM, PARENT, CHILD, 2ull << 32 | 2, 2, 0}, 7},
	{"a rank below 0", {LINK, COMM, PARENT, CHILD, 2ull << 32 | 2, 2, UINT64_MAX}, 7},
	{"no rank", {LINK, COMM, PARENT, CHILD, 1ull << 32 | 2, 1ull << 62 | 1, 1}, 7},
	{"a side without ranks", {SIDE, COMM, PARENT, 5, 2}, 5},
	{"met cut off", {MET, COMM, PARENT, COMM}, 4},
	{"met and more", {MET, COMM, PARENT, COMM, CHILD, 1}, 6},
	{"met itself", {MET, COMM, PARENT, COMM, PARENT}, 5},
	{"an end of nobody", {SIDE_ENDED, COMM, 0}, 3},
	{"an end and more", {SIDE_ENDED, COMM, PARENT, 1}, 4},
	{"a stride beyond all", {LINK, COMM, PARENT, CHILD, 2ull << 32 | 2, 2, 1ull << 62}, 7},
};

START_TEST(what_none_of_ours_says)
{
	const char *wrong = spawn_news_take(&here, lies[_i].words, lies[_i].n);

	ck_assert_msg(wrong, "%s", lies[_i].what);
	ck_assert(!spawn_news_awaited(&here));
	ck_assert_ptr_null(spawns_of_comm(sync_spawns(here.sync), PARENT, COMM));
}
END_TEST

/* A message of ours with some words changed: whatever it says, it is survived. */
START_TEST(any_words)
{
	struct dice dice = {.state = (uint64_t)_i};
	uint32_t parents[] = {4, 5, 6, 2, 9, 16, 0};
	uint64_t changed[MOST];

	pass_on(parents, ARRAY_SIZE(parents));
	for (int k = 0; k < 2000; k++) {
		size_t length = n;

		memcpy(changed, words, sizeof(changed));
		for (uint32_t i = throw_dice(&dice, 4) + 1; i; i--)
			changed[throw_dice(&dice, (uint32_t)n)] = (uint64_t)throw_dice(&dice, 9)
								  << 8 * throw_dice(&dice, 8);
		if (throw_dice(&dice, 2))
			length = throw_dice(&dice, (uint32_t)n + 1);
		spawn_news_take(&there, changed, length);
	}
}
END_TEST

/* Only a job has times; a link is told and taken before clocks are compared. */
START_TEST(without_clocks)
{
	uint32_t parents[] = {4, 5};

	spawns_add_job(sync_spawns(here.sync), CHILD, 2, SINCE / 2, &root);
	spawns_tell_job(sync_spawns(here.sync), CHILD);
	uses(parents, 2);
	n = spawn_news_next(&here, false, words, MOST);
	ck_assert_uint_gt(n, 0);
	ck_assert(!spawn_news_has_times(words, n));
	ck_assert_uint_eq(spawn_news_next(&here, false, words, MOST), 0);
	ck_assert(spawn_news_any(&here));
	n = spawn_news_next(&here, true, words, MOST);
	ck_assert(n && spawn_news_has_times(words, n));
	ck_assert(!spawn_news_has_times(words, 0));
}
END_TEST

START_TEST(without_waits_nobody_asks)
{
	struct host alone = {.conf = conf_default()};

	alone.conf->mpi_waits = alone.conf->mpi_show_sync_time = false;
	ck_assert(!spawn_news_any(&alone) && !spawn_news_awaited(&alone));
	ck_assert_uint_eq(spawn_news_next(&alone, true, words, MOST), 0);
	ck_assert_ptr_null(spawn_news_take(&alone, words, 0));
	ck_assert_ptr_null(alone.sync);
	conf_free(alone.conf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spawn-news");
	TCase *c = tcase_create("spawn-news");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_job_and_where_it_belongs);
	tcase_add_test(c, an_agent_without_processes_keeps_what_it_hears);
	tcase_add_loop_test(c, parents_of_another_job, 0, 2);
	tcase_add_test(c, jobs_that_have_met_by_a_port);
	tcase_add_test(c, a_side_that_has_ended);
	tcase_add_test(c, too_many_runs);
	tcase_add_loop_test(c, what_none_of_ours_says, 0, (int)ARRAY_SIZE(lies));
	tcase_add_loop_test(c, any_words, 0, 5);
	tcase_add_test(c, without_clocks);
	tcase_add_test(c, without_waits_nobody_asks);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
