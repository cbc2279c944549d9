/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs of which all ranks end badly: whatever the order of merging, the same entries are kept, the
 * first end is the one of all, and the others are counted.
 */
#include <check.h>
#include <signal.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/first-end.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

enum { NODES = 30, RANKS = 9, MOST = 60, OF_EACH = 5 };

static struct dice dice;

/* Most are killed, after some that have failed; the clocks of some nodes were not compared. */
static void throw_end(struct profile_bad_end *e, uint32_t rank, uint64_t error_ns)
{
	static const int statuses[] = {1, 2, 77};
	const bool failed = !throw_dice(&dice, 8);

	*e = (struct profile_bad_end){.rank = rank,
		.pid = 1000 + (int32_t)rank,
		.end = failed ? PROCESS_EXITED : PROCESS_KILLED,
		.exit_status = failed ? statuses[throw_dice(&dice, 3)] : SIGTERM,
		.end_ns = throw_dice(&dice, 1000),
		.error_ns = error_ns};
}

static void add_node(struct profile *p, uint32_t node)
{
	const uint64_t error_ns = throw_dice(&dice, 5) ? throw_dice(&dice, 50) : UINT64_MAX;

	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){
		node * RANKS, node * RANKS + RANKS - 1, xasprintf("node%u", node)};
	for (uint32_t i = 0; i < RANKS; i++)
		throw_end(ADD_ELEMENT(p, ends), node * RANKS + i, error_ns);
}

static void put(struct profile *to, const struct profile *from)
{
	for (size_t i = 0; i < from->n_ends; i++)
		*(struct profile_bad_end *)profile_add(to, PROFILE_ENDS) = from->ends[i];
	profile_combine(to, PROFILE_ENDS);
	to->ends_more += from->ends_more;
}

/* Of some nodes, in any tree. */
static struct profile *merged(struct profile **nodes, size_t n)
{
	const size_t half = n > 1 ? 1 + throw_dice(&dice, (uint32_t)n - 1) : 1;
	struct profile *both = profile_new(), *part;

	if (n == 1) {
		put(both, nodes[0]);
		return both;
	}
	part = merged(nodes, half);
	put(both, part);
	profile_free(part);
	part = merged(nodes + half, n - half);
	put(both, part);
	profile_free(part);
	profile_ends_limit(both, MOST, OF_EACH);
	return both;
}

START_TEST(any_order_keeps_the_same)
{
	struct profile *nodes[NODES], *all = profile_new(), *part;
	const struct profile_bad_end *first;

	dice = (struct dice){.state = 300 + (uint64_t)_i};
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i] = profile_new();
		add_node(nodes[i], i);
		put(all, nodes[i]);
	}
	first = first_end(all);
	for (int i = 0; i < 20; i++) {
		const struct profile_bad_end *is;

		part = merged(nodes, NODES);
		ck_assert_uint_eq(part->n_ends + part->ends_more, NODES * RANKS);
		ck_assert_uint_lt(part->n_ends, NODES * RANKS);
		is = first_end(part);
		ck_assert_int_eq(!is, !first);
		ck_assert(!is || is->rank == first->rank);
		ck_assert_mem_eq(first_certain_end(part), first_certain_end(all),
			sizeof(struct profile_bad_end));
		if (!i)
			profile_ends_limit(all, MOST, OF_EACH);
		first = first_end(all);
		ck_assert_uint_eq(part->n_ends, all->n_ends);
		ck_assert_mem_eq(part->ends, all->ends, part->n_ends * sizeof(*part->ends));
		profile_free(part);
	}
	profile_free(all);
	for (int i = 0; i < NODES; i++)
		profile_free(nodes[i]);
}
END_TEST

/* A job of which each process is killed. */
static struct profile *killed(uint32_t node, uint32_t ranks)
{
	struct profile *p = profile_new();
	struct profile_stack *root = ADD_ELEMENT(p, stacks);

	*root = (struct profile_stack){.hash = 1, .parent = PROFILE_NONE, .calls = ranks};
	*ADD_ELEMENT(p, names) = xstrdup("init");
	p->ranks = ranks;
	p->world_size = UINT16_MAX;
	ADD_ELEMENT(p, agents)->host = xasprintf("node%03u", node);
	for (uint32_t i = 0; i < ranks; i++) {
		*(struct profile_process *)profile_add(p, PROFILE_DEAD) =
			(struct profile_process){.rank = node * ranks + i,
				.end = PROCESS_KILLED,
				.exit_status = SIGTERM,
				.executable = xstrdup("/opt/app")};
		*(struct profile_bad_end *)profile_add(p, PROFILE_ENDS) =
			(struct profile_bad_end){.rank = node * ranks + i,
				.end = PROCESS_KILLED,
				.exit_status = SIGTERM,
				.end_ns = 100 + (int64_t)i};
	}
	return p;
}

static struct profile *all_killed(uint32_t first, uint32_t n, uint32_t ranks)
{
	const uint32_t half = n > 1 ? 1 + throw_dice(&dice, n - 1) : 1;

	return n == 1 ? killed(first, ranks)
		      : profile_merge(all_killed(first, half, ranks),
				all_killed(first + half, n - half, ranks));
}

START_TEST(merging_limits)
{
	const uint32_t ranks = 1000, n = 40;
	struct profile *whole = NULL, *tree;
	const char *why;
	char *text;
	size_t deaths;

	for (uint32_t i = 0; i < n; i++)
		whole = profile_merge(whole, killed(i, ranks));
	for (int i = 0; i < 10; i++) {
		tree = all_killed(0, n, ranks);
		ck_assert_uint_eq(tree->n_ends, whole->n_ends);
		ck_assert_mem_eq(tree->ends, whole->ends, whole->n_ends * sizeof(*whole->ends));
		ck_assert_uint_eq(tree->ends_more, whole->ends_more);
		ck_assert_uint_eq(tree->dead_more, whole->dead_more);
		profile_free(tree);
	}
	why = profile_valid(whole);
	ck_assert_msg(!why, "%s", why);
	ck_assert_uint_eq(whole->n_dead, PROFILE_DEAD_MAX);
	ck_assert_uint_eq(whole->n_dead + whole->dead_more, n * ranks);
	ck_assert_uint_eq(whole->dead[PROFILE_DEAD_MAX - 1].rank, PROFILE_DEAD_MAX - 1);
	ck_assert_uint_eq(whole->n_ends + whole->ends_more, n * ranks);
	ck_assert_uint_lt(whole->n_ends, 2 * PROFILE_ENDS_EACH + 1);
	ck_assert_uint_eq(first_death(whole, &deaths)->rank, 0);
	ck_assert_uint_eq(deaths, n * ranks);
	text = first_end_sentence(whole);
	ck_assert_msg(!strncmp(text, "Ranks 0-10", 10), "%s", text);
	ck_assert_ptr_nonnull(strstr(text, ",... were ended by signal 15"));
	free(text);
	profile_free(whole);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("ends");
	Suite *s = suite_create("ends of many ranks");

	tcase_add_loop_test(t, any_order_keeps_the_same, 0, 30);
	tcase_add_test(t, merging_limits);
	suite_add_tcase(s, t);
	return run_suite(s);
}
