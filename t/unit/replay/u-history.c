/* SPDX-License-Identifier: BSD-3-Clause */
/* What threads did before they sent, kept for receivers on other nodes. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HISTORIES_PARTS_MAX ((size_t)400)
#include "nodeagent/replay/comm/history.c"
#include "nodeagent/replay/comm/causes.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/sync.h"
#include "nodeagent/replay/tree/calltree.h"
#include "conf/conf.h"
#include "t/lib/suite.h"

enum { K = 100000, START = 1 << 30, MANY = 600, PATHS = 8 };

static struct conf conf = {.mpi_waits = true, .mpi_only_for_ranks = "all"};
static struct sync *sync_of_all;
static struct traffic *traffic;
static struct traffic_track *track;
static struct calltree *tree;
static struct histories *all;
static struct node *node[PATHS];

/* What the thread did, the last stretch first. */
static struct {
	unsigned node;
	uint64_t ticks;
} did[MANY];
static size_t n_did;

static size_t tell(void *ctx, uint64_t from, uint64_t to, activity_stretch *stretch, void *arg)
{
	(void)ctx;
	for (size_t i = 0; i < n_did && to > from; i++) {
		stretch(arg, node[did[i].node], did[i].ticks);
		to -= did[i].ticks;
	}
	return n_did;
}

static void before(unsigned at, uint64_t ticks)
{
	did[n_did].node = at;
	did[n_did++].ticks = ticks;
}

static void setup(void)
{
	sync_of_all = sync_new();
	traffic = traffic_new(&conf, sync_of_all);
	tree = calltree_new();
	track = traffic_track_new(traffic, tree);
	traffic_track_activity(track, tell, NULL, 0);
	for (unsigned i = 0; i < PATHS; i++)
		node[i] = calltree_child(tree, calltree_root(tree), NULL, 10 + i);
	all = histories_new();
	n_did = 0;
}

static void teardown(void)
{
	histories_free(all);
	traffic_track_end(track, tree);
	traffic_free(traffic);
	sync_free(sync_of_all);
	calltree_free(tree);
}

static uint64_t found[PATHS];

static void add(void *arg, uint32_t path, uint64_t ticks)
{
	(void)arg;
	for (unsigned i = 0; i < PATHS; i++)
		if (traffic_path_node(traffic, path) == node[i])
			found[i] += ticks;
}

static void share(uint32_t number, uint64_t ticks)
{
	const struct traffic *whose;
	const struct history_part *at;
	size_t n;

	memset(found, 0, sizeof(found));
	at = history_parts(all, number, &n, &whose);
	ck_assert_ptr_nonnull(at);
	ck_assert_ptr_eq(whose, traffic);
	ck_assert_uint_le(n, HISTORY_PARTS);
	history_share(at, n, ticks, add, NULL);
}

static void about(unsigned at, double ticks)
{
	ck_assert_msg(found[at] >= 0.9 * ticks - 1 && found[at] <= 1.1 * ticks + 1,
		"path %u: %g, found %g", at, ticks, (double)found[at]);
}

START_TEST(long_stretches_to_the_tick)
{
	uint32_t number;

	before(1, 3 * K);
	before(2, 5 * K);
	before(3, 100 * K);
	number = history_note(all, track, START);
	share(number, K);
	ck_assert_uint_eq(found[1], K);
	share(number, 4 * K);
	ck_assert_uint_eq(found[1], 3 * K);
	ck_assert_uint_eq(found[2], K);
	share(number, 50 * K);
	ck_assert_uint_eq(found[3], 42 * K);
	share(number, 1000 * K);
	ck_assert_uint_eq(found[3], 100 * K);
}
END_TEST

START_TEST(many_short_ones_by_their_shares)
{
	uint32_t number;

	for (int i = 0; i < MANY / 2; i++) {
		before(1, 3 * K / 4);
		before(2, K / 4);
	}
	number = history_note(all, track, START);
	for (uint64_t ticks = 8 * K; ticks <= MANY / 2 * K; ticks *= 2) {
		share(number, ticks);
		about(1, 0.75 * (double)ticks);
		about(2, 0.25 * (double)ticks);
	}
}
END_TEST

START_TEST(sends_in_a_row_share_one)
{
	uint32_t number;

	before(1, 3 * K);
	number = history_note(all, track, START);
	ck_assert_uint_ne(number, 0);
	ck_assert_uint_eq(history_note(all, track, START + CAUSE_TICKS_LEAST - 1), number);
	ck_assert_uint_ne(history_note(all, track, START + CAUSE_TICKS_LEAST), number);
}
END_TEST

START_TEST(with_many_each_second_goes)
{
	const struct traffic *whose;
	unsigned kept = 0;
	size_t n;

	before(1, 3 * K);
	before(2, 3 * K);
	for (uint64_t i = 1; i <= 1000; i++) {
		const uint32_t number = history_note(all, track, START + i * K);

		ck_assert(!number || number == i);
	}
	for (uint32_t i = 1; i <= 1000; i++)
		if (history_parts(all, i, &n, &whose)) {
			kept++;
			share(i, 2 * K);
			ck_assert_uint_eq(found[1], 2 * K);
		}
	ck_assert_uint_ge(kept, 100);
	ck_assert_uint_le(kept, 200);
	ck_assert_ptr_null(history_parts(all, 0, &n, &whose));
	ck_assert_ptr_null(history_parts(all, 5000, &n, &whose));
}
END_TEST

START_TEST(of_a_process_that_is_gone)
{
	const struct traffic *whose;
	uint32_t number;
	size_t n;

	before(1, 3 * K);
	number = history_note(all, track, START);
	histories_forget(all, traffic);
	ck_assert_ptr_null(history_parts(all, number, &n, &whose));
}
END_TEST

START_TEST(looks_are_limited)
{
	unsigned looks = 0;

	for (int i = 0; i < MANY; i++)
		before(1 + i % 2, K);
	for (uint64_t i = 1; i <= 2000; i++)
		looks += history_note(all, track, START + i * K) != 0;
	/* 2^18 steps in advance, and one in 4096 ticks */
	ck_assert_uint_le(looks, ((1 << 18) + 2000 * K / 4096) / MANY + 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {long_stretches_to_the_tick, many_short_ones_by_their_shares,
		sends_in_a_row_share_one, with_many_each_second_goes, of_a_process_that_is_gone,
		looks_are_limited};
	Suite *s = suite_create("history");
	TCase *c = tcase_create("history");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
