/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP's records, made by hand for several threads and read in any order:
 * where workers' and tasks' frames hang, whose time runs, what regions and the
 * tree of threads come to, and that nonsense does no harm.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/replay/replay.h"
#include "nodeagent/base/util.h"
#include "shm/record.h"
#include "t/lib/suite.h"

#define SOLVE 0x10000u
#define BODY  0x20000u
#define WORK  0x30000u

/* Regions, and the keys of their frames. */
enum { PARALLEL, INNER, TASK, BARRIER, LOCK };
#define K(region) (RECORD_ID_REGION + (uint64_t)(region))

#define START	((uint64_t)3 << RECORD_TIME_BITS)
#define THREADS 4

static struct openmp *teams;
static struct replay *r[THREADS];
static uint64_t now; /* since START */

static bool is_barrier(const void *ctx, uint32_t region)
{
	return region == BARRIER;
}

static void setup(void)
{
	teams = openmp_new(is_barrier, NULL);
	for (uint32_t i = 0; i < THREADS; i++) {
		r[i] = replay_new(START, NULL, NULL);
		replay_set_openmp(r[i], teams, i);
	}
	now = 0;
}

static void teardown(void)
{
	for (int i = 0; i < THREADS; i++)
		replay_free(r[i]);
	openmp_free(teams);
}

/* One record in a block of its own, read at once. */
static void put(int t, uint64_t exit_bit, uint32_t id, uint64_t a, uint64_t b)
{
	static const struct replay_epoch none;
	uint64_t block[BLOCK_WORDS] = {
		record_sync_word(START), record_word(START + now, exit_bit, id), a, b};

	if (record_words(block[1]) < 3)
		block[3] = 0;
	if (record_words(block[1]) < 2)
		block[2] = 0;
	ck_assert_ptr_null(replay_block(r[t], block, 0, BLOCK_WORDS, &none, START + now));
}

static void in(int t, uint32_t function)
{
	put(t, 0, function, 0, 0);
}

static void out(int t, uint32_t function)
{
	put(t, RECORD_EXIT, function, 0, 0);
}

static void fork_(int t, uint64_t team, uint32_t region, uint64_t exit_bit, uint32_t size)
{
	put(t, exit_bit, RECORD_FORK, team << 32 | region, OPENMP_MARK | size);
}

static void team(int t, uint64_t team, uint32_t region, uint64_t exit_bit, uint64_t level,
	uint64_t size, uint64_t number)
{
	put(t, exit_bit, RECORD_TEAM, team << 32 | region,
		OPENMP_MARK | level << 48 | size << 24 | number);
}

static void task(int t, uint64_t team, uint64_t exit_bit, uint64_t resumed)
{
	put(t, exit_bit, RECORD_TASK, team << 32 | TASK, OPENMP_MARK | resumed);
}

static void waits(int t, uint32_t region, uint64_t exit_bit)
{
	put(t, exit_bit, RECORD_WAIT, OPENMP_MARK | region, 0);
}

static struct node *at(int t, size_t n, const uint64_t *path)
{
	struct node *node = calltree_root(replay_tree(r[t]));

	for (size_t i = 0; i < n && node; i++) {
		struct node *first = node->child, *child = first;

		node = NULL;
		if (first == &calltree_none)
			break;
		do {
			if (child->key == path[i])
				node = child;
			child = child->sibling;
		} while (!node && child != first);
	}
	return node;
}

#define AT(t, ...)                                                                                 \
	at(t, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})

static void expect(const struct node *n, uint64_t calls, uint64_t inclusive)
{
	ck_assert_ptr_nonnull(n);
	ck_assert_uint_eq(n->calls, calls);
	ck_assert_uint_eq(n->ticks, inclusive);
}

/* Every node has the time of those below it, or more; shells are empty. */
static void check_sums(int t)
{
	struct calltree *tree = replay_tree(r[t]);
	uint64_t *below = xcalloc(calltree_nodes(tree), sizeof(*below));

	for (size_t i = calltree_nodes(tree); i-- > 1;) {
		struct node *n = calltree_at(tree, i);

		if (key_is_orphan(n->key))
			ck_assert_uint_eq(n->calls + n->ticks, 0);
		for (size_t k = 0; k < i; k++)
			if (calltree_at(tree, k) == n->parent)
				below[k] += n->ticks;
		if (n->key != KEY_DEEP) /* its time is that of those below */
			ck_assert_uint_le(below[i], n->ticks);
	}
	ck_assert_uint_le(below[0], calltree_root(tree)->ticks);
	free(below);
}

static void end(void)
{
	for (int i = 0; i < THREADS; i++)
		replay_end(r[i], START + now);
	openmp_no_more(teams);
	for (int i = 0; i < THREADS; i++) {
		ck_assert(replay_settle(r[i]));
		check_sums(i);
	}
	openmp_end(teams);
	ck_assert_ptr_null(openmp_limit_reached(teams, 0));
}

static const struct openmp_region *only_region(void)
{
	size_t n;
	const struct openmp_region *regions = openmp_regions(teams, &n);

	ck_assert_uint_eq(n, 1);
	return regions;
}

/* solve() at 10, the region from 20 to 100 with two threads. */
static void master(void)
{
	now = 10;
	in(0, SOLVE);
	now = 20;
	fork_(0, 7, PARALLEL, 0, 2);
	now = 22;
	team(0, 7, PARALLEL, 0, 1, 2, 0);
	now = 25;
	in(0, BODY);
	now = 65;
	out(0, BODY);
	now = 70;
	team(0, 7, PARALLEL, RECORD_EXIT, 1, 2, 0);
	now = 100;
	fork_(0, 7, PARALLEL, RECORD_EXIT, 2);
	now = 110;
	out(0, SOLVE);
}

static void worker(int t)
{
	now = 30;
	team(t, 7, PARALLEL, 0, 1, 2, 1);
	now = 35;
	in(t, BODY);
	now = 85;
	out(t, BODY);
	now = 90;
	team(t, 7, PARALLEL, RECORD_EXIT, 1, 2, 1);
}

static void check_master_and_worker(int t)
{
	now = 200;
	end();
	expect(AT(0, SOLVE), 1, 100);
	expect(AT(0, SOLVE, K(PARALLEL)), 1, 80);
	expect(AT(0, SOLVE, K(PARALLEL), BODY), 1, 40);
	expect(AT(t, SOLVE), 0, 60);
	expect(AT(t, SOLVE, K(PARALLEL)), 1, 60);
	expect(AT(t, SOLVE, K(PARALLEL), BODY), 1, 50);
	ck_assert_uint_eq(calltree_root(replay_tree(r[t]))->ticks, 200);
	ck_assert_uint_eq(replay_counts(r[t])->calls, 2);
	ck_assert_uint_eq(replay_counts(r[0])->calls, 3);
}

START_TEST(worker_below_fork)
{
	master();
	worker(1);
	check_master_and_worker(1);
}
END_TEST

START_TEST(worker_read_first)
{
	worker(1);
	ck_assert(!replay_settle(r[1]));
	master();
	ck_assert(replay_settle(r[1]));
	check_master_and_worker(1);
}
END_TEST

/* Whatever was open when the place became known moves when it is over. */
START_TEST(known_in_between)
{
	now = 30;
	team(1, 7, PARALLEL, 0, 1, 2, 1);
	now = 35;
	in(1, BODY);
	master();
	ck_assert(!replay_settle(r[1]));
	now = 85;
	out(1, BODY);
	now = 90;
	team(1, 7, PARALLEL, RECORD_EXIT, 1, 2, 1);
	check_master_and_worker(1);
}
END_TEST

START_TEST(never_known)
{
	worker(1);
	now = 100;
	end();
	expect(AT(1, K(PARALLEL)), 1, 60);
	expect(AT(1, K(PARALLEL), BODY), 1, 50);
	ck_assert_uint_eq(only_region()->calls, 0);
	ck_assert_uint_eq(only_region()->busy, 60);
}
END_TEST

START_TEST(region_sums)
{
	const struct openmp_region *region;

	worker(1);
	master();
	ck_assert(replay_settle(r[1]));
	now = 200;
	end();
	region = only_region();
	ck_assert_uint_eq(region->path->key, K(PARALLEL));
	ck_assert_uint_eq(region->path->parent->key, SOLVE);
	ck_assert_uint_eq(region->calls, 1);
	ck_assert_uint_eq(region->size_min, 2);
	ck_assert_uint_eq(region->size_max, 2);
	ck_assert_uint_eq(region->threads.n, 2);
	ck_assert_uint_eq(region->wall, 80);
	ck_assert_uint_eq(region->busy, 48 + 60);
	ck_assert_uint_eq(region->busy_average, 54);
	ck_assert_uint_eq(region->busy_most, 60);
	ck_assert_uint_eq(region->start, 2 + 10);
	ck_assert_uint_eq(region->join, 30 + 10);
	ck_assert_uint_eq(replay_team_times(r[0])->ticks, 48);
	ck_assert_uint_eq(replay_team_times(r[0])->parts, 0);
	ck_assert_uint_eq(replay_team_times(r[1])->ticks, 60);
	ck_assert_uint_eq(replay_team_times(r[1])->parts, 1);
}
END_TEST

START_TEST(idle_frames)
{
	for (int i = 0; i < THREADS; i++)
		replay_show_idle(r[i]);
	worker(1);
	master();
	ck_assert(replay_settle(r[1]));
	now = 150; /* 60 after its first part: into another team, whose maker is unknown */
	team(1, 8, PARALLEL, 0, 1, 2, 1);
	now = 160;
	team(1, 8, PARALLEL, RECORD_EXIT, 1, 2, 1);
	now = 200;
	end();
	expect(AT(0, SOLVE), 1, 100);
	expect(AT(0, SOLVE, K(PARALLEL)), 1, 80);
	expect(AT(0, SOLVE, K(PARALLEL), BODY), 1, 40);
	expect(AT(0, SOLVE, K(PARALLEL), KEY_JOIN), 1, 30);
	ck_assert_ptr_null(AT(0, KEY_IDLE));
	expect(AT(1, SOLVE, K(PARALLEL)), 1, 60);
	expect(AT(1, K(PARALLEL)), 1, 10);
	expect(AT(1, KEY_IDLE), 2, 60 + 40);
	/* they are no calls of the program, and no frame ended without its exit */
	ck_assert_uint_eq(replay_counts(r[0])->calls, 3);
	ck_assert_uint_eq(replay_counts(r[1])->calls, 3);
	ck_assert_uint_eq(replay_counts(r[0])->closed, 0);
}
END_TEST

/* Thread 1 of the outer team makes one, too; thread 2 works in both, one after the other. */
static void outer(void)
{
	now = 10;
	in(0, SOLVE);
	fork_(0, 1, PARALLEL, 0, 2);
	team(0, 1, PARALLEL, 0, 1, 2, 0);
	now = 100;
	team(0, 1, PARALLEL, RECORD_EXIT, 1, 2, 0);
	fork_(0, 1, PARALLEL, RECORD_EXIT, 2);
	out(0, SOLVE);
}

static void middle(void)
{
	now = 20;
	team(1, 1, PARALLEL, 0, 1, 2, 1);
	in(1, BODY);
	now = 30;
	fork_(1, 2, INNER, 0, 2);
	team(1, 2, INNER, 0, 2, 2, 0);
	in(1, WORK);
	now = 40;
	out(1, WORK);
	team(1, 2, INNER, RECORD_EXIT, 2, 2, 0);
	now = 50;
	fork_(1, 2, INNER, RECORD_EXIT, 2);
	out(1, BODY);
	team(1, 1, PARALLEL, RECORD_EXIT, 1, 2, 1);
}

static void inner(void)
{
	now = 32;
	team(2, 2, INNER, 0, 2, 2, 1);
	in(2, WORK);
	now = 48;
	out(2, WORK);
	team(2, 2, INNER, RECORD_EXIT, 2, 2, 1);
}

static void later(void)
{
	now = 200;
	fork_(0, 9, PARALLEL, 0, 2);
	team(0, 9, PARALLEL, 0, 1, 2, 0);
	now = 210;
	team(2, 9, PARALLEL, 0, 1, 2, 1);
	now = 220;
	team(2, 9, PARALLEL, RECORD_EXIT, 1, 2, 1);
	team(0, 9, PARALLEL, RECORD_EXIT, 1, 2, 0);
	fork_(0, 9, PARALLEL, RECORD_EXIT, 2);
}

static void settle_all(void)
{
	for (int i = 0; i < THREADS; i++)
		replay_settle(r[i]);
}

static const struct openmp_node *place(uint32_t parent, uint32_t level, uint32_t number)
{
	size_t n;
	const struct openmp_node *nodes = openmp_nodes(teams, &n);

	for (size_t i = 1; i < n; i++)
		if (nodes[i].parent == parent && nodes[i].level == level &&
			nodes[i].number == number)
			return &nodes[i];
	return NULL;
}

static void check_nested(void)
{
	size_t n;
	const struct openmp_node *nodes, *p;
	uint32_t second;

	later();
	now = 300;
	end();
	expect(AT(1, SOLVE, K(PARALLEL)), 1, 30);
	expect(AT(1, SOLVE, K(PARALLEL), BODY, K(INNER)), 1, 20);
	expect(AT(1, SOLVE, K(PARALLEL), BODY, K(INNER), WORK), 1, 10);
	expect(AT(2, SOLVE), 0, 16);
	expect(AT(2, SOLVE, K(PARALLEL)), 0, 16);
	expect(AT(2, SOLVE, K(PARALLEL), BODY), 0, 16);
	expect(AT(2, SOLVE, K(PARALLEL), BODY, K(INNER)), 1, 16);
	expect(AT(2, SOLVE, K(PARALLEL), BODY, K(INNER), WORK), 1, 16);
	expect(AT(2, K(PARALLEL)), 1, 10);
	openmp_regions(teams, &n);
	ck_assert_uint_eq(n, 3);
	nodes = openmp_nodes(teams, &n);
	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(nodes[0].level, 0);
	p = place(0, 1, 0);
	ck_assert_uint_eq(p->parts, 2);
	p = place(0, 1, 1); /* by thread 1, and later by thread 2 */
	ck_assert_uint_eq(p->threads.n, 2);
	ck_assert_uint_eq(p->threads.numbers[0], 1);
	ck_assert_uint_eq(p->threads.numbers[1], 2);
	ck_assert_uint_eq(p->ticks, 30 + 10);
	second = (uint32_t)(p - nodes);
	ck_assert_uint_eq(place(second, 2, 0)->threads.numbers[0], 1);
	ck_assert_uint_eq(place(second, 2, 1)->threads.numbers[0], 2);
}

/* _i: in which order the three rings are read. */
START_TEST(nested_in_any_order)
{
	static void (*const parts[])(void) = {outer, middle, inner};
	static const int order[6][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (int k = 0; k < 3; k++) {
		parts[order[_i % 6][k]]();
		if (_i >= 6)
			settle_all();
	}
	check_nested();
}
END_TEST

/* Team 1's ring is full of other things when thread 1 and 2 have long gone on. */
START_TEST(orphans_are_used_again)
{
	for (uint64_t k = 1; k <= 5000; k++) {
		now = k;
		team(1, k, PARALLEL, 0, 1, 2, 1);
		in(1, (uint32_t)(BODY + k % 3));
		out(1, (uint32_t)(BODY + k % 3));
		team(1, k, PARALLEL, RECORD_EXIT, 1, 2, 1);
		fork_(0, k, PARALLEL, 0, 2);
		team(0, k, PARALLEL, 0, 1, 2, 0);
		team(0, k, PARALLEL, RECORD_EXIT, 1, 2, 0);
		fork_(0, k, PARALLEL, RECORD_EXIT, 2);
		if (k % 100 == 0)
			ck_assert(replay_settle(r[1]));
	}
	end();
	ck_assert_uint_le(calltree_nodes(replay_tree(r[1])), 1 + 4 + 100 * 4);
	expect(AT(1, K(PARALLEL)), 5000, 0);
	expect(AT(1, K(PARALLEL), BODY), 1666, 0);
	expect(AT(1, K(PARALLEL), BODY + 1), 1667, 0);
	ck_assert_uint_eq(only_region()->calls, 5000);
	ck_assert_uint_eq(only_region()->threads.n, 2);
}
END_TEST

START_TEST(tasks_in_a_barrier)
{
	now = 10;
	in(0, SOLVE);
	fork_(0, 7, PARALLEL, 0, 2);
	team(0, 7, PARALLEL, 0, 1, 2, 0);
	in(0, BODY);
	now = 20;
	waits(0, BARRIER, 0);
	now = 25;
	task(0, 7, 0, 0);
	in(0, WORK);
	now = 30;
	waits(0, LOCK, 0); /* the task waits, too */
	now = 34;
	task(0, 7, 0, 0); /* and another one runs meanwhile */
	now = 36;
	task(0, 7, RECORD_EXIT, 0);
	now = 38;
	waits(0, LOCK, RECORD_EXIT);
	now = 45;
	out(0, WORK);
	task(0, 7, RECORD_EXIT, 0);
	now = 60;
	waits(0, BARRIER, RECORD_EXIT);
	now = 70;
	out(0, BODY);
	team(0, 7, PARALLEL, RECORD_EXIT, 1, 2, 0);
	now = 75;
	task(0, 7, 0, 0); /* in the join barrier */
	now = 80;
	task(0, 7, RECORD_EXIT, 0);
	now = 100;
	fork_(0, 7, PARALLEL, RECORD_EXIT, 1);
	out(0, SOLVE);
	end();
	expect(AT(0, SOLVE), 1, 90);
	expect(AT(0, SOLVE, K(PARALLEL)), 1, 90);
	expect(AT(0, SOLVE, K(PARALLEL), BODY), 1, 60 - 20);
	expect(AT(0, SOLVE, K(PARALLEL), BODY, K(BARRIER)), 1, 40 - 20);
	expect(AT(0, SOLVE, K(PARALLEL), K(TASK)), 3, 20 + 5);
	expect(AT(0, SOLVE, K(PARALLEL), K(TASK), WORK), 1, 18);
	expect(AT(0, SOLVE, K(PARALLEL), K(TASK), WORK, K(LOCK)), 1, 8 - 2);
	ck_assert_uint_eq(only_region()->tasks, 3);
	ck_assert_uint_eq(only_region()->task_ticks, 18 + 2 + 5);
	ck_assert_uint_eq(only_region()->barrier, 20);
	ck_assert_uint_eq(only_region()->wait, 26);
	ck_assert_uint_eq(only_region()->busy, 60 - 26 + 5);
	ck_assert_uint_eq(only_region()->join, 25);
}
END_TEST

/* A worker runs a task in the join barrier, when it no longer is in the team. */
START_TEST(tasks_of_a_worker_in_the_join)
{
	if (_i & 2)
		replay_show_idle(r[1]);
	if ((_i & 1) == 0)
		master();
	worker(1);
	now = 91;
	task(1, 7, 0, 0);
	in(1, WORK);
	now = 92;
	waits(1, LOCK, 0);
	now = 94;
	waits(1, LOCK, RECORD_EXIT);
	out(1, WORK);
	task(1, 7, RECORD_EXIT, 0);
	now = 95;
	task(1, 7, 0, OPENMP_RESUMED);
	now = 97;
	task(1, 7, RECORD_EXIT, 0);
	if (_i & 1)
		master();
	now = 120;
	end();
	if (_i & 2)
		expect(AT(1, KEY_IDLE), 1, 30 - 5);
	expect(AT(1, SOLVE), 0, 65);
	expect(AT(1, SOLVE, K(PARALLEL)), 1, 65);
	expect(AT(1, SOLVE, K(PARALLEL), K(TASK)), 1, 5);
	expect(AT(1, SOLVE, K(PARALLEL), K(TASK), WORK), 1, 3);
	ck_assert_uint_eq(only_region()->tasks, 1);
	ck_assert_uint_eq(only_region()->busy, 48 + 60 + 5 - 2);
	ck_assert_uint_eq(only_region()->busy_most, 65 - 2);
	ck_assert_uint_eq(only_region()->join, 40 - 5);
	ck_assert_uint_eq(replay_team_times(r[1])->ticks, 65);
	ck_assert_uint_eq(replay_team_times(r[1])->wait, 2);
}
END_TEST

/* What a thread was doing before it became a worker stands still. */
START_TEST(suspended_frames)
{
	master();
	now = 20;
	in(1, WORK);
	worker(1);
	now = 100;
	out(1, WORK);
	now = 200;
	end();
	expect(AT(1, WORK), 1, 80 - 60);
	expect(AT(1, SOLVE, K(PARALLEL)), 1, 60);
}
END_TEST

START_TEST(task_without_a_team)
{
	now = 10;
	in(0, SOLVE);
	task(0, 0, 0, 0);
	now = 20;
	task(0, 0, RECORD_EXIT, 0);
	task(0, 0, 0, OPENMP_RESUMED);
	task(0, 0, RECORD_EXIT, 0);
	out(0, SOLVE);
	end();
	expect(AT(0, SOLVE), 1, 10);
	expect(AT(0, SOLVE, K(TASK)), 1, 10);
}
END_TEST

/* Exits that do not come: the outer one's ends all. */
START_TEST(missing_exits)
{
	now = 10;
	in(0, SOLVE);
	fork_(0, 7, PARALLEL, 0, 2);
	team(0, 7, PARALLEL, 0, 1, 2, 0);
	waits(0, BARRIER, 0);
	task(0, 7, 0, 0);
	in(0, WORK);
	now = 30;
	out(0, SOLVE);
	team(0, 7, PARALLEL, RECORD_EXIT, 1, 2, 0); /* stray */
	fork_(0, 7, PARALLEL, RECORD_EXIT, 2);
	in(0, BODY);
	out(0, BODY);
	end();
	expect(AT(0, SOLVE), 1, 20);
	expect(AT(0, SOLVE, K(PARALLEL), K(TASK)), 1, 20);
	expect(AT(0, BODY), 1, 0);
	ck_assert_uint_eq(replay_counts(r[0])->open, 0);
}
END_TEST

START_TEST(stack_of_a_worker)
{
	uint64_t keys[8];

	now = 10;
	team(1, 7, PARALLEL, 0, 1, 2, 1);
	in(1, BODY);
	ck_assert_uint_eq(replay_stack(r[1], false, keys, 8), 2);
	ck_assert_uint_eq(keys[1], K(PARALLEL)); /* not known yet */
	master();
	team(2, 7, PARALLEL, 0, 1, 2, 1);
	in(2, BODY);
	ck_assert_uint_eq(replay_stack(r[2], false, keys, 8), 3);
	ck_assert_uint_eq(keys[0], BODY);
	ck_assert_uint_eq(keys[1], K(PARALLEL));
	ck_assert_uint_eq(keys[2], SOLVE);
}
END_TEST

/* Teams in teams, deeper than paths may be. */
START_TEST(nested_very_deep)
{
	for (uint32_t k = 1; k <= 3000; k++) {
		now = k;
		fork_(0, k, PARALLEL, 0, 2);
		team(0, k, PARALLEL, 0, k < 255 ? k : 255, 2, 0);
		team(1, k, PARALLEL, 0, k < 255 ? k : 255, 2, 1);
		in(1, BODY);
		out(1, BODY);
		team(1, k, PARALLEL, RECORD_EXIT, 255, 2, 1);
	}
	now = 4000;
	end();
	ck_assert_uint_eq(replay_counts(r[1])->calls, 6000);
}
END_TEST

static uint64_t state = 88172645463325252u;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static void nonsense(int t)
{
	uint64_t exit_bit = any() & RECORD_EXIT, number = any() % 6;
	uint32_t region = (uint32_t)(any() % 5);

	switch (any() % 8) {
	case 0:
		fork_(t, number, region, exit_bit, (uint32_t)(any() % 4));
		break;
	case 1:
	case 2:
		team(t, number, region, exit_bit, any() % 4, any() % 4,
			any() % 9 ? any() % 3 : any() & OPENMP_NUMBERS);
		break;
	case 3:
		task(t, number, exit_bit, any() & OPENMP_RESUMED);
		break;
	case 4:
		waits(t, region, exit_bit);
		break;
	case 5:
		put(t, 0, any() % 2 ? RECORD_PAUSE : RECORD_CLOSE, any() % 3 + 1, 0);
		break;
	default:
		put(t, exit_bit, any() % 3 ? (uint32_t)K(region) : BODY, 0, 0);
	}
	now += any() % 3;
	if (any() % 16 == 0)
		settle_all();
}

START_TEST(nonsense_does_no_harm)
{
	clock_t stop = clock() + 2 * CLOCKS_PER_SEC;

	while (clock() < stop) {
		for (int i = 0; i < THREADS && any() % 2; i++)
			replay_show_idle(r[i]);
		for (int k = 0; k < 300; k++)
			nonsense((int)(any() % THREADS));
		for (int i = 0; i < THREADS; i++)
			replay_end(r[i], START + now);
		openmp_no_more(teams);
		for (int i = 0; i < THREADS; i++) {
			ck_assert(replay_settle(r[i]));
			check_sums(i);
		}
		openmp_end(teams);
		teardown();
		setup();
	}
}
END_TEST

/* ---- functions of a team that was made in what is not to be seen --------------------------- */

static unsigned solve_is_not(void *ctx, uint64_t key)
{
	(void)ctx;
	return key == SOLVE ? FILTER_NOT : 0;
}

static void late_task(int t)
{
	now = 92;
	task(t, 7, 0, 0);
	in(t, WORK);
	out(t, WORK);
	task(t, 7, RECORD_EXIT, 0);
}

/* A task that a worker runs when its own part is over is hidden like that. */
START_TEST(late_task_of_a_hidden_team)
{
	static const struct replay_filter rules = {.class_of = solve_is_not};

	for (int t = 0; t < 2; t++)
		replay_set_filter(r[t], &rules);
	for (int step = 0; step < 3; step++) {
		if (step == _i)
			master();
		if (step == 0)
			worker(1);
		if (step == 1)
			late_task(1);
	}
	now = 150;
	in(1, WORK);
	out(1, WORK);
	now = 200;
	end();
	expect(AT(1, K(PARALLEL)), 1, 60);
	ck_assert_uint_eq(AT(1, K(PARALLEL), K(TASK))->calls, 1);
	ck_assert_ptr_null(AT(1, K(PARALLEL), K(TASK), WORK));
	ck_assert_ptr_null(AT(1, K(PARALLEL), BODY));
	expect(AT(1, WORK), 1, 0);
	ck_assert_ptr_null(AT(0, K(PARALLEL), BODY));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {worker_below_fork, worker_read_first, known_in_between,
		never_known, region_sums, idle_frames, orphans_are_used_again, tasks_in_a_barrier,
		suspended_frames, task_without_a_team, missing_exits, stack_of_a_worker,
		nested_very_deep, nonsense_does_no_harm};
	Suite *s = suite_create("openmp");
	TCase *c = tcase_create("openmp");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, nested_in_any_order, 0, 12);
	tcase_add_loop_test(c, tasks_of_a_worker_in_the_join, 0, 4);
	tcase_add_loop_test(c, late_task_of_a_hidden_team, 0, 3);
	suite_add_tcase(s, c);
	return run_suite(s);
}
