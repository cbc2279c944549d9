/* SPDX-License-Identifier: BSD-3-Clause */
/* What senders did, told from one agent to another one. */
#include <check.h>
#include <stdlib.h>

#define FAR_PARTS_MAX 100
#include "nodeagent/internode/far-causes.c"
#include "conf/conf.h"
#include "nodeagent/replay/comm/internal.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

enum { K = 100000, START = 1 << 30 };

static struct conf conf = {.mpi_waits = true, .mpi_only_for_ranks = "all"};
static struct host sender = {.conf = &conf, .clocks.ns_per_tick = 1};
static struct host receiver = {.conf = &conf, .clocks.ns_per_tick = 2};
static struct process p = {.host = &sender};
static struct traffic_track *track;
static struct node *inner, *outer;
static struct far_telling telling;
static struct far_heard heard;

/* The thread was 2 K ticks in the inner call, and before that 8 K in the outer one. */
static size_t tell(void *ctx, uint64_t from, uint64_t to, activity_stretch *stretch, void *arg)
{
	(void)ctx, (void)from, (void)to;
	stretch(arg, inner, 2 * K);
	stretch(arg, outer, 8 * K);
	return 2;
}

static void setup(void)
{
	sender.sync = sync_new();
	receiver.sync = sync_new();
	sender.symbols = symcache_new(&sender);
	causes_begin_elsewhere(sync_causes(sender.sync));
	p.traffic = traffic_new(&conf, sender.sync);
	p.ended_tree = calltree_new();
	track = traffic_track_new(p.traffic, p.ended_tree);
	traffic_track_activity(track, tell, NULL, 0);
	outer = calltree_child(p.ended_tree, calltree_root(p.ended_tree), NULL, KEY_PAUSE);
	inner = calltree_child(p.ended_tree, outer, NULL, KEY_DEEP);
}

static void teardown(void)
{
	far_telling_free(&telling);
	far_heard_free(&heard);
	traffic_track_end(track, p.ended_tree);
	traffic_free(p.traffic);
	calltree_free(p.ended_tree);
	symcache_free(sender.symbols);
	sync_free(sender.sync);
	sync_free(receiver.sync);
}

static uint32_t noted(uint64_t at)
{
	return history_note(causes_histories(sync_causes(sender.sync)), track, START + at);
}

static void is_path(uint32_t path, uint64_t key, uint32_t *parent)
{
	const char *name = far_path(causes_far(sync_causes(receiver.sync)), path, parent);

	ck_assert_ptr_nonnull(name);
	ck_assert_str_eq(name, symcache_name(sender.symbols, &p, key));
}

START_TEST(what_is_told_is_heard)
{
	const uint32_t number = far_tell(&telling, &sender, &p, noted(0));
	const struct history_part *at;
	uint32_t parent;
	size_t n;

	ck_assert_uint_ne(number, 0);
	ck_assert_ptr_null(far_take(&heard, &receiver, telling.words.at, telling.words.n));
	at = far_history(&heard, far_number(&heard, number), &n);
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(at[0].ticks, K); /* of another clock */
	ck_assert_uint_eq(at[1].ticks, 4 * K);
	is_path(at[0].path, KEY_DEEP, &parent);
	ck_assert_uint_eq(parent, at[1].path);
	is_path(at[1].path, KEY_PAUSE, &parent);
	is_path(parent, KEY_INIT, &parent);
	ck_assert_uint_eq(parent, 0);
}
END_TEST

START_TEST(each_is_told_once)
{
	const uint32_t number = noted(0);
	size_t n;

	far_tell(&telling, &sender, &p, number);
	n = telling.words.n;
	ck_assert_uint_eq(far_tell(&telling, &sender, &p, number), number);
	ck_assert_uint_eq(telling.words.n, n);
	/* another one, with no new names */
	ck_assert_uint_ne(far_tell(&telling, &sender, &p, noted(K)), number);
	ck_assert_uint_eq(telling.words.n, n + 3 + 4);
	ck_assert_uint_eq(far_tell(&telling, &sender, NULL, noted(2 * K)), 0);
	ck_assert_uint_eq(far_tell(&telling, &sender, &p, 77), 0);
}
END_TEST

START_TEST(of_the_next_agent_other_numbers)
{
	const uint32_t number = far_tell(&telling, &sender, &p, noted(0));
	uint32_t first;

	far_take(&heard, &receiver, telling.words.at, telling.words.n);
	first = far_number(&heard, number);
	far_heard_next(&heard);
	ck_assert_uint_eq(far_number(&heard, number), 0);
	far_take(&heard, &receiver, telling.words.at, telling.words.n);
	ck_assert_uint_ne(far_number(&heard, number), 0);
	ck_assert_uint_ne(far_number(&heard, number), first);
}
END_TEST

START_TEST(nonsense)
{
	struct dice d = {.state = (uint64_t)_i + 1};
	const uint32_t number = far_tell(&telling, &sender, &p, noted(0));
	const uint64_t unknown[] = {9}, cut_off[] = {HISTORY, 1, 2, 3},
		       orphan[] = {PATH, 1, 7, 1, 'x'}, long_name[] = {PATH, 1, 0, UINT64_MAX},
		       many[] = {HISTORY, 1, 1u << 20};

	ck_assert_ptr_nonnull(far_take(&heard, &receiver, unknown, ARRAY_SIZE(unknown)));
	ck_assert_ptr_nonnull(far_take(&heard, &receiver, cut_off, ARRAY_SIZE(cut_off)));
	ck_assert_ptr_nonnull(far_take(&heard, &receiver, orphan, ARRAY_SIZE(orphan)));
	ck_assert_ptr_nonnull(far_take(&heard, &receiver, long_name, ARRAY_SIZE(long_name)));
	ck_assert_ptr_nonnull(far_take(&heard, &receiver, many, ARRAY_SIZE(many)));
	for (int i = 0; i < 2000; i++) {
		const size_t at = throw_dice(&d, (uint32_t)telling.words.n);
		const uint64_t before = telling.words.at[at];

		telling.words.at[at] = throw_dice(&d, 2) ? throw_dice(&d, 50) : before << 40;
		far_heard_next(&heard);
		far_take(&heard, &receiver, telling.words.at, telling.words.n);
		telling.words.at[at] = before;
	}
	ck_assert_uint_le(heard.n_parts, FAR_PARTS_MAX);
	ck_assert_ptr_null(far_history(&heard, (uint32_t)heard.n_kept + 1, &(size_t){0}));
	(void)number;
}
END_TEST

/* As it is where there are too many paths: of a sender nothing is wrong then. */
START_TEST(no_room_is_no_nonsense)
{
	const uint32_t deep = FAR_DEPTH_MAX + 3;
	const struct history_part *at;
	struct words w = {0};
	uint32_t parent;
	size_t n;

	for (uint32_t i = 1; i <= deep; i++) {
		const uint64_t path[] = {PATH, i, i - 1, 1, 'x'};

		for (size_t k = 0; k < ARRAY_SIZE(path); k++)
			words_put(&w, path[k]);
	}
	for (size_t k = 0; k < 7; k++)
		words_put(
			&w, (uint64_t[]){HISTORY, 1, 2, 2 * deep, K, 2 * FAR_DEPTH_MAX + 1, K}[k]);
	ck_assert_ptr_null(far_take(&heard, &receiver, w.at, w.n));
	at = far_history(&heard, far_number(&heard, 1), &n);
	ck_assert_ptr_nonnull(at);
	ck_assert_uint_eq(n, 2);
	ck_assert_uint_eq(at[0].path, 0);
	ck_assert_ptr_nonnull(
		far_path(causes_far(sync_causes(receiver.sync)), at[1].path, &parent));
	ck_assert_uint_eq(far_path_number(&heard, deep), 0);
	words_free(&w);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {what_is_told_is_heard, each_is_told_once,
		of_the_next_agent_other_numbers, nonsense, no_room_is_no_nonsense};
	Suite *s = suite_create("far-causes");
	TCase *c = tcase_create("far-causes");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
