/* SPDX-License-Identifier: BSD-3-Clause */
/* The host of each rank, however ranks are placed and profiles are merged. */
#include "nodeagent/profile/places.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"
#include "t/unit/profile/same-profile.h"

#define NODES 9
#define RANKS 200 /* at most, of which some have no node */

/* The node of each rank; NODES: none. */
struct placement {
	uint32_t of[RANKS];
	uint32_t hosts; /* that many names for all nodes */
};

enum kind { BLOCK, CYCLIC, PAIRS, PLANES, UNEVEN, DICE, KINDS };

static uint32_t node_of(struct dice *d, enum kind kind, uint32_t rank)
{
	switch (kind) {
	case BLOCK:
		return rank / 20;
	case CYCLIC:
		return rank % NODES;
	case PAIRS:
		return rank / 2 % NODES;
	case PLANES:
		return rank / 5 % NODES;
	case UNEVEN: /* half of the nodes are full first; 99 and 100 are neighbours */
		return rank < 100 ? rank % NODES : rank % (NODES / 2);
	default:
		return throw_dice(d, NODES + 1);
	}
}

static void place(struct placement *at, struct dice *d, enum kind kind, uint32_t hosts)
{
	at->hosts = hosts;
	for (uint32_t rank = 0; rank < RANKS; rank++)
		at->of[rank] = MIN(node_of(d, kind, rank), (uint32_t)NODES);
}

/* In any order, as processes end. */
static struct profile *node_profile(const struct placement *at, uint32_t node, struct dice *d)
{
	const uint32_t first = throw_dice(d, RANKS);
	struct profile *p = profile_new();

	for (uint32_t i = 0; i < RANKS; i++) {
		const uint32_t rank = (first + i * 7) % RANKS;

		if (at->of[rank] == node)
			*(struct profile_rank_range *)profile_add(p, PROFILE_RANK_RANGES) =
				(struct profile_rank_range){
					rank, rank, xasprintf("host%" PRIu32, node % at->hosts)};
	}
	profile_settle_lists(p, NULL);
	assert_valid(p);
	return p;
}

/* Any tree over nodes [from, to). */
static struct profile *merge_somehow(
	struct profile **of, struct dice *d, uint32_t from, uint32_t to)
{
	uint32_t middle;
	struct profile *left;

	if (to - from == 1)
		return profile_copy(of[from]);
	middle = from + 1 + throw_dice(d, to - from - 1);
	left = merge_somehow(of, d, from, middle);
	return profile_merge(left, merge_somehow(of, d, middle, to));
}

static void check_hosts(const struct profile *p, const struct placement *at)
{
	for (uint32_t rank = 0; rank < RANKS + 3; rank++) {
		const uint32_t node = rank < RANKS ? at->of[rank] : NODES;
		const char *host = places_host(p, rank);
		char name[32];

		snprintf(name, sizeof(name), "host%" PRIu32, node % at->hosts);
		if (node == NODES)
			ck_assert_ptr_null(host);
		else
			ck_assert_str_eq(host, name);
	}
}

/* Runs that have no step: what there was before there were steps. */
static size_t blocks_of(const struct placement *at)
{
	size_t n = 0;

	for (uint32_t rank = 0; rank < RANKS; rank++)
		n += at->of[rank] != NODES &&
		     (!rank || at->of[rank - 1] == NODES ||
			     at->of[rank - 1] % at->hosts != at->of[rank] % at->hosts);
	return n;
}

/* kind: _i; with nodes that have one name, too. */
START_TEST(any_tree_gives_the_same)
{
	struct dice d = {.state = (uint64_t)_i + 1};

	for (int turn = 0; turn < 40; turn++) {
		struct profile *of[NODES], *first = NULL;
		struct placement at;

		place(&at, &d, (enum kind)_i, turn % 2 ? NODES : 1 + throw_dice(&d, NODES));
		for (uint32_t i = 0; i < NODES; i++)
			of[i] = node_profile(&at, i, &d);
		for (int tree = 0; tree < 6; tree++) {
			struct profile *p = merge_somehow(of, &d, 0, NODES);

			assert_valid(p);
			check_hosts(p, &at);
			ck_assert_uint_le(p->n_rank_ranges, blocks_of(&at));
			if (first)
				assert_same(first, p);
			else
				first = profile_copy(p);
			profile_free(p);
		}
		profile_free(first);
		for (uint32_t i = 0; i < NODES; i++)
			profile_free(of[i]);
	}
}
END_TEST

static struct profile *merged(enum kind kind)
{
	struct dice d = {.state = 1};
	struct profile *p = NULL;
	struct placement at;

	place(&at, &d, kind, NODES);
	for (uint32_t i = 0; i < NODES; i++)
		p = profile_merge(p, node_profile(&at, i, &d));
	return p;
}

START_TEST(runs)
{
	static const struct {
		size_t runs;
		uint32_t last, step; /* of the first one */
	} wanted[KINDS] = {[BLOCK] = {NODES, 19, 0},
		[CYCLIC] = {NODES, 198, NODES},
		[PAIRS] = {100, 1, 0},
		[PLANES] = {40, 4, 0},
		[UNEVEN] = {NODES + NODES / 2 + 1, 90, NODES}};
	struct profile *p = merged((enum kind)_i);
	uint32_t ranks = 0;

	ck_assert_uint_eq(p->n_rank_ranges, wanted[_i].runs);
	ck_assert_uint_eq(p->rank_ranges[0].first, 0);
	ck_assert_uint_eq(p->rank_ranges[0].last, wanted[_i].last);
	ck_assert_uint_eq(p->rank_ranges[0].step, wanted[_i].step);
	for (size_t i = 0; i < p->n_rank_ranges; i++)
		ranks += place_ranks(&p->rank_ranges[i]);
	ck_assert_uint_eq(ranks, _i == BLOCK ? 20 * NODES : RANKS);
	profile_free(p);
}
END_TEST

static void add_run(
	struct profile *p, const char *host, uint32_t first, uint32_t last, uint32_t step)
{
	*(struct profile_rank_range *)profile_add(p, PROFILE_RANK_RANGES) =
		(struct profile_rank_range){first, last, xstrdup(host), step};
}

START_TEST(steps_are_for_ranks_that_an_index_has_room_for)
{
	struct profile *p = profile_new();
	const uint32_t most = PLACES_STEPS_BELOW;

	for (uint32_t rank = most - 12; rank < most + 8; rank += 4)
		add_run(p, "a", rank, rank, 0);
	places_join(p);
	assert_valid(p);
	ck_assert_uint_eq(p->n_rank_ranges, 3);
	ck_assert_uint_eq(p->rank_ranges[0].last, most - 4);
	ck_assert_uint_eq(p->rank_ranges[0].step, 4);
	ck_assert_uint_eq(p->rank_ranges[2].first, most + 4);
	ck_assert_str_eq(places_host(p, most - 4), "a");
	ck_assert_str_eq(places_host(p, most), "a");
	ck_assert_ptr_null(places_host(p, most - 5));
	ck_assert_ptr_null(places_host(p, UINT32_MAX));
	profile_free(p);
}
END_TEST

/* Runs anywhere, which do not overlap. */
static struct profile *random_runs(struct dice *d, const char *host)
{
	struct profile *p = profile_new();
	bool taken[600] = {false};

	for (uint32_t first = 0; first < 200; first += 1 + throw_dice(d, 30)) {
		const uint32_t step = 1 + throw_dice(d, 6), n = 1 + throw_dice(d, 50);
		uint32_t end = first;

		while (end < first + n * step && !taken[end]) {
			taken[end] = true;
			end += step;
		}
		if (end > first)
			add_run(p, host, first, end - step,
				step > 1 && end - step > first ? step : 0);
	}
	assert_valid(p);
	return p;
}

/* A rank that several profiles have is on a host that one of them names, or on none. */
START_TEST(contradictions)
{
	struct dice d = {.state = (uint64_t)_i + 1};

	for (int turn = 0; turn < 300; turn++) {
		struct profile *a = random_runs(&d, "a"),
			       *b = random_runs(&d, throw_dice(&d, 3) ? "b" : "a"),
			       *both = profile_merge(profile_copy(a), profile_copy(b));

		assert_valid(both);
		for (uint32_t rank = 0; rank < 600; rank++) {
			const char *x = places_host(a, rank), *y = places_host(b, rank),
				   *z = places_host(both, rank);

			ck_assert(!z || (x && !strcmp(x, z)) || (y && !strcmp(y, z)));
		}
		/* of two that are the same one stays */
		both = profile_merge(both, profile_copy(both));
		b = profile_merge(b, profile_copy(b));
		assert_valid(both);
		assert_valid(b);
		profile_free(both);
		profile_free(a);
		profile_free(b);
	}
}
END_TEST

START_TEST(the_first_one_stays)
{
	struct profile *p = profile_new(), *q = profile_new();

	add_run(p, "a", 0, 8, 4);
	add_run(q, "b", 2, 14, 2); /* 4 and 8 are a's */
	add_run(q, "c", 7, 7, 0);
	p = profile_merge(p, q);
	assert_valid(p);
	ck_assert_uint_eq(p->n_rank_ranges, 3);
	ck_assert_str_eq(p->rank_ranges[1].host, "c");
	ck_assert_uint_eq(p->rank_ranges[2].first, 10);
	ck_assert_uint_eq(p->rank_ranges[2].step, 2);
	profile_free(p);
}
END_TEST

/* 10^6 runs with all the ranks that there may be, which do not overlap, or all of which do. */
START_TEST(many_runs_take_no_longer_than_few)
{
	const uint32_t n = 1000000, all = PLACES_STEPS_BELOW / n * n;
	struct profile *p = profile_new();

	alarm(60);
	p->rank_ranges = xcalloc(n, sizeof(*p->rank_ranges));
	for (uint32_t i = 0; i < n; i++)
		p->rank_ranges[p->n_rank_ranges++] =
			(struct profile_rank_range){i, all - n + i, xstrdup("a"), n};
	assert_valid(p);
	ck_assert_ptr_eq(places_find(p, all - 1), &p->rank_ranges[n - 1]);
	for (uint32_t i = 0; i < n; i++) {
		p->rank_ranges[i].last = PLACES_STEPS_BELOW - 1 - (PLACES_STEPS_BELOW - 1 - i) % 2;
		p->rank_ranges[i].step = 2;
	}
	ck_assert_str_eq(profile_valid(p), "the places overlap or are not sorted");
	places_join(p);
	assert_valid(p);
	alarm(0);
	profile_free(p);
}
END_TEST

/* A host of both whose ranks would need much memory one by one. */
START_TEST(little_input_needs_little_memory)
{
	struct profile *p = profile_new(), *q = profile_new();
	char *host = xcalloc(100001, 1);

	memset(host, 'h', 100000);
	add_run(p, host, 0, 2000000, 2);
	add_run(q, host, 1, 1, 0);
	p = profile_merge(p, q);
	assert_valid(p);
	ck_assert_uint_eq(p->n_rank_ranges, 2);
	ck_assert_str_eq(places_host(p, 1000000), host);
	ck_assert_str_eq(places_host(p, 1), host);
	free(host);
	profile_free(p);
}
END_TEST

/* An index is of the list as it is now. */
START_TEST(lists_change)
{
	struct profile *p = profile_new(), *q = profile_new(), *copy;

	add_run(p, "a", 0, 8, 4);
	ck_assert_str_eq(places_host(p, 4), "a");
	copy = profile_copy(p);
	add_run(q, "b", 1, 9, 4);
	p = profile_merge(p, q);
	ck_assert_str_eq(places_host(p, 5), "b");
	ck_assert_str_eq(places_host(p, 8), "a");
	ck_assert_ptr_null(places_host(copy, 5));
	ck_assert_str_eq(places_host(copy, 8), "a");
	ADD_ELEMENT(copy, agents)->host = xstrdup("only");
	ck_assert_str_eq(places_host(copy, 5), "only");
	profile_drop_list(copy, PROFILE_RANK_RANGES);
	ck_assert_str_eq(places_host(copy, 8), "only");
	profile_free(p);
	profile_free(copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("places");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 30);
	tcase_add_loop_test(t, any_tree_gives_the_same, 0, KINDS);
	tcase_add_loop_test(t, runs, 0, DICE);
	tcase_add_test(t, steps_are_for_ranks_that_an_index_has_room_for);
	tcase_add_loop_test(t, contradictions, 0, 4);
	tcase_add_test(t, the_first_one_stays);
	tcase_add_test(t, many_runs_take_no_longer_than_few);
	tcase_add_test(t, little_input_needs_little_memory);
	tcase_add_test(t, lists_change);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
