/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses to files, also when dlclose() and dlopen() use them again. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/process/codemap.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/base/util.h"
#include "shm/record.h"
#include "t/lib/suite.h"

#define LOW  0x7f1000000000u
#define HIGH 0x7f1000010000u

static struct codemap *map;
static struct code_location place;

static void setup(void)
{
	map = codemap_new();
}

static void teardown(void)
{
	codemap_free(map);
}

static void add(const char *path, uint64_t low, uint64_t high, uint64_t ticks)
{
	struct wire_module m = {.head = {.ticks = ticks},
		.base = low - 0x1000,
		.low = low,
		.high = high,
		.build_id = {1, 2, 3},
		.build_id_bytes = 3};

	codemap_add(map, &m, path);
}

/* The key of a frame entered at `address` in this epoch, as replay makes it. */
static uint64_t key_of(uint64_t address, uint32_t epoch)
{
	uint32_t low, bytes, id = (uint32_t)address;

	codemap_reusable(map, &low, &bytes);
	return ((uint32_t)(id - low) < bytes ? (uint64_t)epoch << KEY_EPOCH_SHIFT : 0) | id;
}

static const char *name_at(uint64_t address, uint32_t epoch)
{
	return codemap_find_key(map, key_of(address, epoch), &place) ? place.path : "(none)";
}

START_TEST(one_module)
{
	add("liba", LOW, HIGH, 10);
	ck_assert_uint_eq(codemap_epochs(map), 1);
	ck_assert_str_eq(name_at(LOW, 0), "liba");
	ck_assert_uint_eq(place.address, 0x1000);
	ck_assert_uint_eq(place.build_id_bytes, 3);
	ck_assert_uint_eq(place.build_id[2], 3);
	ck_assert_str_eq(name_at(HIGH - 1, 0), "liba");
	ck_assert_str_eq(name_at(HIGH, 0), "(none)");
	ck_assert_str_eq(name_at(LOW - 1, 0), "(none)");
	ck_assert(codemap_find_key(map, KEY_WIDE | (LOW + 5), &place));
	ck_assert_uint_eq(place.address, 0x1005);
	/* the same low half, elsewhere: a wide key is not fooled */
	ck_assert(!codemap_find_key(map, KEY_WIDE | ((LOW + 5) ^ ((uint64_t)1 << 40)), &place));
	ck_assert(codemap_find_address(map, LOW + 7, &place));
	ck_assert(!codemap_find_address(map, HIGH, &place));
}
END_TEST

START_TEST(by_name)
{
	add("/usr/lib/libmpi.so.40.30", LOW, HIGH, 10);
	add("app", HIGH, HIGH + 0x1000, 10);
	ck_assert(codemap_has(map, "libmpi.so.40"));
	ck_assert(codemap_has(map, "app"));
	ck_assert(!codemap_has(map, "lib/"));
	ck_assert(!codemap_has(map, "libmpi.so.12"));
	codemap_gone(map, LOW, 20);
	ck_assert(codemap_has(map, "libmpi.so.40"));
}
END_TEST

START_TEST(across_four_gib)
{
	uint64_t low = 0x7f10ffffff00u, high = low + 0x1000;

	add("liba", low, high, 10);
	ck_assert_str_eq(name_at(low + 0x80, 0), "liba");
	ck_assert_str_eq(name_at(high - 1, 0), "liba");
	ck_assert_uint_eq(place.address, 0x1fff);
	codemap_gone(map, low, 20);
	add("libb", low, high, 30);
	ck_assert_str_eq(name_at(low + 0x80, 0), "liba");
	ck_assert_str_eq(name_at(high - 1, 1), "libb");
}
END_TEST

START_TEST(reused_addresses)
{
	static const char *const names[] = {"liba", "libb", "libc"};

	for (unsigned i = 0; i < 3; i++) {
		uint32_t epoch = codemap_epochs(map) - 1;

		add(names[i], LOW, HIGH, 100 * i + 10);
		ck_assert_str_eq(name_at(LOW + 4, epoch), names[i]);
		ck_assert(codemap_find_address(map, LOW + 4, &place));
		ck_assert_str_eq(place.path, names[i]);
		codemap_gone(map, LOW, 100 * i + 50);
		ck_assert_uint_eq(codemap_epochs(map), epoch + 2);
		ck_assert_uint_eq(codemap_epoch_start(map, epoch + 1), 100 * i + 50);
		ck_assert(!codemap_find_address(map, LOW + 4, &place));
	}
	for (unsigned i = 0; i < 3; i++)
		ck_assert_str_eq(name_at(LOW + 4, i), names[i]);
	ck_assert_str_eq(name_at(LOW + 4, 3), "(none)");
}
END_TEST

START_TEST(the_newest_key_of_an_address)
{
	add("liba", LOW, HIGH, 10);
	codemap_gone(map, LOW, 50);
	add("libb", LOW, HIGH, 60);
	ck_assert(codemap_find_key(map, codemap_newest_key(map, (uint32_t)LOW + 4), &place));
	ck_assert_str_eq(place.path, "libb");
	ck_assert(codemap_find_key(map, codemap_newest_key(map, KEY_WIDE | (LOW + 4)), &place));
	ck_assert_str_eq(place.path, "libb");
	ck_assert_uint_eq(codemap_newest_key(map, KEY_SITE | (LOW + 4)) & KEY_SITE, KEY_SITE);
}
END_TEST

/* Keys with a whole address have room for some thousand of the epochs. */
START_TEST(the_last_epoch_of_whole_addresses_has_no_end)
{
	for (uint32_t i = 0; i < 2 * KEY_WIDE_EPOCH_LAST; i++) {
		add("liba", LOW, HIGH, 10 * i);
		codemap_gone(map, LOW, 10 * i + 5);
	}
	add("libb", LOW, HIGH, 2000000);
	ck_assert(codemap_find_key(map, key_wide(LOW + 4, 100), &place));
	ck_assert_str_eq(place.path, "liba");
	ck_assert(codemap_find_key(map, key_wide(LOW + 4, codemap_epochs(map) - 1), &place));
	ck_assert_str_eq(place.path, "libb");
	codemap_gone(map, LOW, 2000005);
	ck_assert(codemap_find_key(map, key_wide(LOW + 4, codemap_epochs(map) - 2), &place));
	ck_assert_str_eq(place.path, "libb");
}
END_TEST

/* A library that is loaded and unloaded again and again is one module. */
START_TEST(one_that_comes_back)
{
	for (uint32_t i = 0; i < 100000; i++) {
		add("liba", LOW, HIGH, 10 * i);
		codemap_gone(map, LOW, 10 * i + 5);
	}
	add("libb", LOW, HIGH, 2000000);
	ck_assert_uint_eq(codemap_epochs(map), 100001);
	ck_assert_str_eq(name_at(LOW, 0), "liba");
	ck_assert_str_eq(name_at(LOW, 99999), "liba");
	ck_assert_str_eq(name_at(LOW, 100000), "libb");
}
END_TEST

/* There are no more epochs: the last one is of what came last. */
START_TEST(epochs_have_an_end)
{
	const uint32_t most = 1u << 20;

	for (uint32_t i = 0; i < most + 10; i++) {
		add("liba", LOW, HIGH, 10 * i);
		codemap_gone(map, LOW, 10 * i + 5);
	}
	ck_assert_uint_eq(codemap_epochs(map), most);
	for (uint32_t i = 0; i < 2; i++) {
		add("libb", LOW, HIGH, 20 * most + 10 * i);
		ck_assert_str_eq(name_at(LOW, most - 1), "libb");
		codemap_gone(map, LOW, 20 * most + 10 * i + 3);
		add("libc", LOW, HIGH, 20 * most + 10 * i + 5);
		ck_assert_str_eq(name_at(LOW, most - 1), "libc");
		codemap_gone(map, LOW, 20 * most + 10 * i + 8);
	}
	ck_assert_str_eq(name_at(LOW, most - 2), "liba");
}
END_TEST

/* ... but not if another one was there, or lies in the same low half. */
START_TEST(one_that_comes_back_to_another_one)
{
	const uint64_t other = LOW + (_i ? (uint64_t)1 << 32 : 0);

	add("liba", LOW, HIGH, 10);
	codemap_gone(map, LOW, 20);
	add("libb", other, other + 0x1000, 30);
	codemap_gone(map, other, 40);
	add("liba", LOW, HIGH, 50);
	ck_assert_str_eq(name_at(LOW, 0), "liba");
	ck_assert_str_eq(name_at(LOW, 1), "libb");
	ck_assert_str_eq(name_at(LOW, 2), "liba");
}
END_TEST

static double cpu_of_changes(uint32_t from, uint32_t n)
{
	const clock_t since = clock();

	for (uint32_t i = from; i < from + n; i++) {
		add("liba", LOW + 0x1000 * (uint64_t)i, LOW + 0x1000 * (uint64_t)i + 0x800, i);
		codemap_gone(map, LOW + 0x1000 * (uint64_t)i, i);
	}
	return (double)(clock() - since);
}

/* The time of a change does not grow with what was there before. */
START_TEST(changes_without_end)
{
	const uint32_t n = 3000;
	double first = cpu_of_changes(0, n), last;

	cpu_of_changes(n, 50000);
	last = cpu_of_changes(n + 50000, n);
	ck_assert_double_le(last, 5 * (first + 1));
	ck_assert_str_eq(name_at(LOW, 0), "liba");
	ck_assert_str_eq(name_at(LOW + 0x1000 * 2000, 2000), "liba");
}
END_TEST

/* What stays loaded keeps its name in all epochs. */
START_TEST(neighbours)
{
	add("exe", 0x400000, 0x500000, 1);
	add("liba", LOW, HIGH, 10);
	add("libz", HIGH, HIGH + 0x1000, 10);
	codemap_gone(map, LOW, 20);
	add("libb", LOW + 0x100, HIGH, 30);
	add("libnew", HIGH + 0x1000, HIGH + 0x2000, 30);
	for (uint32_t e = 0; e < codemap_epochs(map); e++) {
		ck_assert_str_eq(name_at(0x400010, e), "exe");
		ck_assert_str_eq(name_at(HIGH + 0x10, e), "libz");
		ck_assert_str_eq(name_at(HIGH + 0x1010, e), "libnew");
	}
	ck_assert_str_eq(name_at(LOW + 0x200, 0), "liba");
	ck_assert_str_eq(name_at(LOW + 0x200, 1), "libb");
}
END_TEST

START_TEST(wide_keys_and_epochs)
{
	add("liba", LOW, HIGH, 10);
	codemap_gone(map, LOW, 20);
	add("libb", LOW, HIGH, 30);
	ck_assert(codemap_find_key(map, KEY_WIDE | (LOW + 1), &place));
	ck_assert_str_eq(place.path, "liba");
	ck_assert(codemap_find_key(
		map, KEY_WIDE | (uint64_t)1 << KEY_WIDE_EPOCH_SHIFT | (LOW + 1), &place));
	ck_assert_str_eq(place.path, "libb");
}
END_TEST

START_TEST(nonsense)
{
	uint32_t low, bytes;

	add("empty", LOW, LOW, 1);
	add("backwards", HIGH, LOW, 1);
	codemap_gone(map, LOW, 2);
	codemap_gone(map, 12345, 2);
	ck_assert_uint_eq(codemap_epochs(map), 1);
	ck_assert_str_eq(name_at(LOW, 0), "(none)");
	ck_assert_str_eq(name_at(LOW, 77), "(none)");
	add("everything", 0, UINT64_MAX, 1);
	ck_assert_str_eq(name_at(LOW, 0), "everything");
	codemap_gone(map, 0, 3);
	codemap_reusable(map, &low, &bytes);
	ck_assert_uint_eq(bytes, UINT32_MAX);
	for (int i = 0; i < 70000; i++)
		add("many", LOW, HIGH, 4);
}
END_TEST

/* A function that calls itself while some other module goes is still one frame. */
START_TEST(recursion_across_epochs)
{
	enum { CALLER = 0x10000, SELF = 0x20000 };
	static uint64_t block[2][BLOCK_WORDS];
	const struct replay_epoch before = {0, 0, 0}, after = {1, SELF, 64};
	struct replay *r = replay_new(1, NULL, NULL);
	uint64_t first[] = {
		record_sync_word(1), record_word(2, 0, CALLER), record_word(3, 0, SELF)};
	uint64_t second[] = {record_sync_word(1), record_word(4, 0, SELF),
		record_word(5, RECORD_EXIT, SELF), record_word(6, RECORD_EXIT, SELF),
		record_word(7, RECORD_EXIT, CALLER)};
	const struct node *n;

	memcpy(block[0], first, sizeof(first));
	memcpy(block[1], second, sizeof(second));
	ck_assert_ptr_null(replay_block(r, block[0], 0, BLOCK_WORDS, &before, 10));
	ck_assert_ptr_null(replay_block(r, block[1], 0, BLOCK_WORDS, &after, 10));
	replay_end(r, 10);
	ck_assert_uint_eq(calltree_nodes(replay_tree(r)), 3);
	n = calltree_at(replay_tree(r), 2);
	ck_assert_uint_eq(n->calls, 2);
	ck_assert_uint_eq(n->ticks, 3);
	ck_assert_uint_eq(replay_counts(r)->open + replay_counts(r)->stray, 0);
	replay_free(r);
}
END_TEST

/*
 * A module that lies across 4 GiB, or begins there, is unloaded: its low halves have
 * the numbers of MPI functions and regions among them. Those stay what they are; a
 * function there is recorded with its whole address, and has the epoch.
 */
START_TEST(fixed_ids_have_no_epoch)
{
	static const uint64_t places[][2] = {{0x7f10ffff0000u, 0x7f1100010000u},
		{0x7f1100000000u, 0x7f1100010000u}, {0x7f1100000000u, 0x7f1100001000u}};
	const uint64_t inside = 0x7f1100000010u;
	const uint32_t fixed[] = {RECORD_ID_MPI + 5, RECORD_ID_LOGGED, RECORD_ID_REGION + 7};
	const uint64_t *low = places[_i];
	struct replay *r = replay_new(1, NULL, NULL);
	uint64_t block[BLOCK_WORDS] = {record_sync_word(1)};
	struct replay_epoch epoch = {.epoch = 1};
	unsigned n = 1;

	add("liba", low[0], low[1], 10);
	codemap_gone(map, low[0], 20);
	codemap_reusable(map, &epoch.low, &epoch.bytes);
	for (unsigned i = 0; i < ARRAY_SIZE(fixed); i++) {
		block[n++] = record_word(21, 0, fixed[i]);
		block[n++] = record_word(22, RECORD_EXIT, fixed[i]);
	}
	block[n++] = record_word(26, 0, RECORD_WIDE);
	block[n++] = inside;
	ck_assert_ptr_null(replay_block(r, block, 0, BLOCK_WORDS, &epoch, 30));
	replay_end(r, 30);
	for (unsigned i = 0; i < ARRAY_SIZE(fixed); i++) {
		const struct node *node = calltree_child(
			replay_tree(r), calltree_root(replay_tree(r)), NULL, fixed[i]);

		ck_assert_uint_eq(node->calls, 1);
	}
	ck_assert_uint_eq(calltree_child(replay_tree(r), calltree_root(replay_tree(r)), NULL,
				  KEY_WIDE | (uint64_t)1 << KEY_WIDE_EPOCH_SHIFT | inside)
				  ->calls,
		1);
	replay_free(r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("codemap");
	TCase *c = tcase_create("codemap");
	const TTest *const tests[] = {one_module, by_name, across_four_gib, reused_addresses,
		the_newest_key_of_an_address, one_that_comes_back, epochs_have_an_end,
		changes_without_end, neighbours, wide_keys_and_epochs, recursion_across_epochs,
		nonsense};

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 30);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_test(c, the_last_epoch_of_whole_addresses_has_no_end);
	tcase_add_loop_test(c, one_that_comes_back_to_another_one, 0, 2);
	tcase_add_loop_test(c, fixed_ids_have_no_epoch, 0, 3);
	suite_add_tcase(s, c);
	return run_suite(s);
}
