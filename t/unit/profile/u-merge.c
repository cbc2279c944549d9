/* SPDX-License-Identifier: BSD-3-Clause */
/* Merging gives the same profile for every tree over the nodes, and adds up rightly. */
#include "nodeagent/profile/merge.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "t/unit/profile/random-profile.h"
#include "t/unit/profile/same-profile.h"
#include "t/lib/suite.h"

#define NODES 7

/* Any tree over nodes [from, to), chosen by the dice. */
static struct profile *merge_somehow(struct dice *d, struct profile **at, int from, int to)
{
	int middle;
	struct profile *left;

	if (to - from == 1)
		return profile_copy(at[from]);
	middle = from + 1 + throw_dice(d, to - from - 1);
	left = merge_somehow(d, at, from, middle);
	return profile_merge(left, merge_somehow(d, at, middle, to));
}

static struct profile *merge_left(struct profile **at, int n)
{
	struct profile *p = profile_copy(at[0]);

	for (int i = 1; i < n; i++)
		p = profile_merge(p, profile_copy(at[i]));
	return p;
}

static void check_sums(struct profile **at, int n, const struct profile *whole)
{
	uint64_t calls = 0, excl = 0, whole_calls = 0, whole_excl = 0, cpu_ns = 0, wall_ns = 0;

	for (int k = 0; k < n; k++) {
		cpu_ns += at[k]->cpu.ns;
		wall_ns += at[k]->cpu.wall_ns;
		for (size_t i = 0; i < at[k]->n_stacks; i++) {
			calls += at[k]->stacks[i].calls;
			excl += at[k]->stacks[i].excl_ns;
		}
	}
	for (size_t i = 0; i < whole->n_stacks; i++) {
		whole_calls += whole->stacks[i].calls;
		whole_excl += whole->stacks[i].excl_ns;
	}
	ck_assert_uint_eq(calls, whole_calls);
	ck_assert_uint_eq(excl, whole_excl);
	ck_assert_uint_eq(cpu_ns, whole->cpu.ns);
	ck_assert_uint_eq(wall_ns, whole->cpu.wall_ns);
	for (int k = 0; k < n; k++)
		ck_assert(at[k]->cpu.least_ns * whole->cpu.least_wall_ns >=
			  whole->cpu.least_ns * at[k]->cpu.least_wall_ns);
}

static const uint64_t hash_masks[] = {UINT64_MAX, 7, 0};

START_TEST(every_tree_gives_the_same)
{
	struct dice d = {.state = 42 + _i};
	struct profile *at[NODES], *first;

	for (int k = 0; k < NODES; k++)
		at[k] = random_profile_with_waits(
			&d, k, throw_dice(&d, 5) ? throw_dice(&d, 80) : 0, hash_masks[_i % 3]);
	first = merge_left(at, NODES);
	assert_valid(first);
	check_sums(at, NODES, first);
	ck_assert_uint_eq(first->n_agents, NODES);
	for (int round = 0; round < 8; round++) {
		struct profile *other = merge_somehow(&d, at, 0, NODES);

		assert_same(first, other);
		profile_free(other);
	}
	profile_free(first);
	for (int k = 0; k < NODES; k++)
		profile_free(at[k]);
}
END_TEST

static struct profile *two_level(const char *leaf, uint64_t forged)
{
	struct profile *p = profile_new();
	uint32_t root = add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	uint32_t at = add_stack(p, root, leaf, UINT64_MAX);

	p->stacks[at].hash = forged;
	p->stacks[at].calls = 5;
	p->ranks = 1;
	sort_random_stacks(p);
	return p;
}

START_TEST(equal_hashes_of_different_paths_are_kept_apart)
{
	struct profile *p = profile_merge(two_level("left", 1), two_level("right", 1));
	uint32_t left = find_stack(p, "left<init"), right = find_stack(p, "right<init");

	assert_valid(p);
	ck_assert_uint_eq(p->n_stacks, 3);
	ck_assert_uint_lt(left, 3);
	ck_assert_uint_lt(right, 3);
	ck_assert_uint_eq(p->stacks[left].calls, 5);
	ck_assert_uint_eq(p->stacks[right].calls, 5);
	p = profile_merge(p, two_level("right", 1));
	ck_assert_uint_eq(p->n_stacks, 3);
	ck_assert_uint_eq(p->stacks[find_stack(p, "left<init")].calls, 5);
	ck_assert_uint_eq(p->stacks[find_stack(p, "right<init")].calls, 10);
	profile_free(p);
}
END_TEST

static struct profile *one_stack(uint32_t rank, uint64_t min, uint64_t max)
{
	struct profile *p = profile_new();

	add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	p->stacks[0].ranks = 1;
	p->stacks[0].rank_min = p->stacks[0].rank_max = rank;
	p->stacks[0].excl_min_ns = min;
	p->stacks[0].excl_max_ns = max;
	p->stacks[0].incl_ns = p->stacks[0].excl_ns = max;
	p->stacks[0].excl_sumsq_ns2 = (unsigned __int128)max * max;
	p->ranks = 1;
	p->unranked = rank >= PROFILE_UNRANKED;
	return p;
}

static struct profile *started_by(uint32_t agent, int64_t time_s, const char *command)
{
	struct profile *p = profile_new();

	add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	*ADD_ELEMENT(p, starts) = (struct profile_start){
		.agent = agent, .time_s = time_s, .command = xstrdup(command)};
	return p;
}

START_TEST(the_first_agent_tells_how_the_run_was_started)
{
	static const struct {
		uint32_t agent;
		int64_t time_s;
		const char *command;
	} starts[] = {{0, 70, "a\n"}, {0, 80, "a\n"}, {1, 60, "c\n"}, {0, 70, "b\n"}};
	const int n = ARRAY_SIZE(starts);

	for (int first = 0; first < n; first++) {
		struct profile *p = profile_new();

		add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
		for (int i = 0; i < n; i++) {
			const int k = (first + i) % n;

			p = profile_merge(p,
				started_by(starts[k].agent, starts[k].time_s, starts[k].command));
		}
		assert_valid(p);
		ck_assert_uint_eq(p->n_starts, 1);
		ck_assert_str_eq(p->starts->command, "a\n");
		ck_assert_int_eq(p->starts->time_s, 70);
		profile_free(p);
	}
}
END_TEST

START_TEST(the_lowest_rank_wins_a_tie)
{
	struct profile *p = profile_merge(one_stack(9, 10, 20), one_stack(3, 10, 20));

	ck_assert_uint_eq(p->stacks[0].rank_min, 3);
	ck_assert_uint_eq(p->stacks[0].rank_max, 3);
	p = profile_merge(p, one_stack(1, 11, 21));
	ck_assert_uint_eq(p->stacks[0].rank_min, 3);
	ck_assert_uint_eq(p->stacks[0].rank_max, 1);
	ck_assert_uint_eq(p->stacks[0].ranks, 3);
	profile_free(p);
}
END_TEST

START_TEST(squares_do_not_overflow)
{
	uint64_t day = 86400000000000u;
	struct profile *p = profile_merge(one_stack(0, day, day), one_stack(1, day, day));

	ck_assert(p->stacks[0].excl_sumsq_ns2 == (unsigned __int128)2 * day * day);
	profile_free(p);
}
END_TEST

START_TEST(unranked_processes_are_numbered_on)
{
	struct profile *a = one_stack(PROFILE_UNRANKED, 5, 5),
		       *b = one_stack(PROFILE_UNRANKED, 4, 6);

	b->n_dead = 1;
	b->dead = xcalloc(1, sizeof(*b->dead));
	b->dead[0].rank = PROFILE_UNRANKED;
	a = profile_merge(a, b);
	a = profile_merge(a, one_stack(PROFILE_UNRANKED, 3, 5));
	ck_assert_uint_eq(a->unranked, 3);
	ck_assert_uint_eq(a->stacks[0].rank_max, PROFILE_UNRANKED + 1);
	ck_assert_uint_eq(a->stacks[0].rank_min, PROFILE_UNRANKED + 2);
	ck_assert_uint_eq(a->dead[0].rank, PROFILE_UNRANKED + 1);
	profile_free(a);
}
END_TEST

START_TEST(a_stack_that_no_process_has_gives_no_minimum)
{
	struct profile *a = one_stack(0, 0, 0);

	a->stacks[0].ranks = 0;
	a = profile_merge(a, one_stack(5, 7, 8));
	ck_assert_uint_eq(a->stacks[0].excl_min_ns, 7);
	ck_assert_uint_eq(a->stacks[0].rank_min, 5);
	profile_free(a);
}
END_TEST

START_TEST(several_programs_are_named_once)
{
	struct profile *a = one_stack(0, 1, 1), *b = one_stack(1, 1, 1), *c = one_stack(2, 1, 1);

	profile_add_executable(a, "/bin/b");
	profile_add_executable(b, "/bin/a");
	profile_add_executable(c, "/bin/b");
	a = profile_merge(profile_merge(a, b), c);
	ck_assert_str_eq(a->application, "b");
	ck_assert_uint_eq(a->n_warnings, 1);
	ck_assert_str_eq(a->warnings[0], "several programs ran: /bin/a, /bin/b");
	profile_free(a);
}
END_TEST

static struct profile *communication(uint32_t rank, const char *host, const char *name)
{
	struct profile *p = one_stack(rank, 1, 1);

	ADD_ELEMENT(p, messages)->sends = 3;
	*ADD_ELEMENT(p, functions) = (struct profile_function){
		.id = 18, .ranks = 1, .rank_min = rank, .rank_max = rank, .min_ns = 7, .max_ns = 7};
	*ADD_ELEMENT(p, pairs) = (struct profile_pair){.from = rank, .to = 1, .sends = 2};
	ADD_ELEMENT(p, pairs)->from = rank;
	p->pairs[1].to = PROFILE_ELSEWHERE;
	*ADD_ELEMENT(p, comms) = (struct profile_comm){
		.id = 5, .name = name ? xstrdup(name) : NULL, .size = 1 + rank, .remote_size = 2};
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){rank, rank, xstrdup(host)};
	*ADD_ELEMENT(p, thread_ranges) = (struct profile_thread_range){.threads = 2,
		.min_ns = 3 + rank % 2,
		.max_ns = 9 - rank % 2,
		.rank_min = rank,
		.thread_min = 1,
		.rank_max = rank,
		.thread_max = 7};
	p->comms[0].ambiguous_sends = p->ambiguous_sends = 3;
	p->comms[0].ambiguous_receives = p->ambiguous_receives = 4;
	p->lost_messages = 1;
	p->open_requests = 2;
	*ADD_ELEMENT(p, open) = (struct profile_open){.kind = PROFILE_OPEN_SEND,
		.ranks = 1,
		.rank_min = rank,
		.rank_max = rank,
		.requests = 2};
	return p;
}

START_TEST(communication_adds_up)
{
	struct profile *p = profile_merge(communication(1, "b", "y"), communication(0, "b", NULL));

	p = profile_merge(p, communication(3, "b", "x"));
	p = profile_merge(p, communication(4, "c", "z"));
	assert_valid(p);
	ck_assert_uint_eq(p->n_messages, 1);
	ck_assert_uint_eq(p->messages[0].sends, 12);
	ck_assert_uint_eq(p->functions[0].ranks, 4);
	ck_assert_uint_eq(p->functions[0].rank_max, 0);
	ck_assert_uint_eq(p->n_pairs, 8);
	ck_assert_uint_eq(p->pairs[6].from, 4);
	ck_assert_uint_eq(p->n_comms, 1);
	ck_assert_str_eq(p->comms[0].name, "x");
	ck_assert_uint_eq(p->comms[0].size, 5);
	ck_assert_uint_eq(p->lost_messages, 4);
	ck_assert_uint_eq(p->open_requests, 8);
	ck_assert_uint_eq(p->n_open, 1);
	ck_assert_uint_eq(p->open[0].requests, 8);
	ck_assert_uint_eq(p->open[0].ranks, 4);
	ck_assert_uint_eq(p->open[0].rank_min, 0);
	ck_assert_uint_eq(p->open[0].rank_max, 4);
	ck_assert_uint_eq(p->ambiguous_sends, 12);
	ck_assert_uint_eq(p->ambiguous_receives, 16);
	ck_assert_uint_eq(p->comms[0].ambiguous_sends, 12);
	ck_assert_uint_eq(p->comms[0].ambiguous_receives, 16);
	ck_assert_uint_eq(p->n_thread_ranges, 1);
	ck_assert_uint_eq(p->thread_ranges[0].threads, 8);
	ck_assert_uint_eq(p->thread_ranges[0].min_ns, 3);
	ck_assert_uint_eq(p->thread_ranges[0].rank_min, 0);
	ck_assert_uint_eq(p->thread_ranges[0].max_ns, 9);
	ck_assert_uint_eq(p->thread_ranges[0].rank_max, 0);
	ck_assert_uint_eq(p->thread_ranges[0].thread_max, 7);
	/* 0 and 1 are neighbours on b; 2 is missing */
	ck_assert_uint_eq(p->n_rank_ranges, 3);
	ck_assert_uint_eq(p->rank_ranges[0].last, 1);
	ck_assert_uint_eq(p->rank_ranges[1].first, 3);
	ck_assert_str_eq(p->rank_ranges[2].host, "c");
	profile_free(p);
}
END_TEST

static struct profile *with_source(const char *name, const char *file, uint32_t line)
{
	struct profile *p = profile_new();

	*(struct profile_source *)profile_add(p, PROFILE_SOURCES) =
		(struct profile_source){xstrdup(name), xstrdup(file), line};
	return p;
}

/* "main" of two programs has no line that one could show, however often they are merged. */
START_TEST(several_source_lines_are_none)
{
	struct profile *p = profile_merge(with_source("f", "f.h", 3), with_source("f", "f.h", 3));

	ck_assert_uint_eq(p->n_sources, 1);
	ck_assert_str_eq(p->sources[0].file, "f.h");
	ck_assert_uint_eq(p->sources[0].line, 3);
	p = profile_merge(p, with_source("main", "b.c", 1));
	p = profile_merge(with_source("main", "a.c", 1), p);
	p = profile_merge(p, with_source("main", "b.c", 1));
	assert_valid(p);
	ck_assert_uint_eq(p->n_sources, 2);
	ck_assert_str_eq(p->sources[1].name, "main");
	ck_assert_str_eq(p->sources[1].file, "");
	ck_assert_uint_eq(p->sources[1].line, 0);
	p = profile_merge(p, with_source("f", "f.h", 4));
	ck_assert_uint_eq(p->sources[0].line, 0);
	profile_free(p);
}
END_TEST

static struct profile *with_window(uint32_t rank, int64_t begin_ms, uint64_t ms)
{
	struct profile *p = profile_new();
	struct profile_rank_time *t = profile_add(p, PROFILE_RANK_TIMES);

	p->ranks = p->unranked = rank >= PROFILE_UNRANKED;
	*t = (struct profile_rank_time){.rank = rank, .threads = 1, .team_threads = 1};
	t->begin_ns = begin_ms * 1000000;
	t->mpi_ns = ms * 1000000;
	t->end_ns = t->begin_ns + (int64_t)t->mpi_ns;
	assert_valid(p);
	return p;
}

/* What classes add up to stays the window: two of one rank are not added. */
START_TEST(windows_of_one_rank_are_not_added)
{
	struct profile *p = profile_merge(with_window(3, 10, 5), with_window(2, 10, 5));

	p = profile_merge(with_window(3, 20, 7), p);
	p = profile_merge(p, with_window(3, 0, 6));
	assert_valid(p);
	ck_assert_uint_eq(p->n_rank_times, 2);
	ck_assert_uint_eq(p->rank_times[1].rank, 3);
	ck_assert_uint_eq(p->rank_times[1].mpi_ns, 7000000);
	ck_assert_int_eq(p->rank_times[1].begin_ns, 20000000);
	/* processes without a rank are different ones on each node */
	p = profile_merge(p, with_window(PROFILE_UNRANKED, 1, 1));
	p = profile_merge(p, with_window(PROFILE_UNRANKED, 1, 1));
	assert_valid(p);
	ck_assert_uint_eq(p->n_rank_times, 4);
	ck_assert_uint_eq(p->rank_times[3].rank, PROFILE_UNRANKED + 1);
	profile_free(p);
}
END_TEST

START_TEST(unranked_ends_of_messages_are_numbered_on)
{
	struct profile *p = profile_merge(communication(PROFILE_UNRANKED, "a", NULL),
		communication(PROFILE_UNRANKED, "b", NULL));

	assert_valid(p);
	ck_assert_uint_eq(p->n_pairs, 4);
	ck_assert_uint_eq(p->pairs[2].from, PROFILE_UNRANKED + 1);
	ck_assert_uint_eq(p->pairs[3].to, PROFILE_ELSEWHERE);
	ck_assert_uint_eq(p->rank_ranges[1].first, PROFILE_UNRANKED + 1);
	ck_assert_uint_eq(p->thread_ranges[0].rank_max, PROFILE_UNRANKED);
	ck_assert_uint_eq(p->open[0].rank_min, PROFILE_UNRANKED);
	ck_assert_uint_eq(p->open[0].rank_max, PROFILE_UNRANKED + 1);
	profile_free(p);
}
END_TEST

START_TEST(places_that_contradict_do_not_overlap)
{
	struct profile *p = communication(0, "a", NULL), *q = communication(0, "b", NULL);

	q->rank_ranges[0].last = 9;
	p = profile_merge(p, q);
	assert_valid(p);
	ck_assert_uint_eq(p->n_rank_ranges, 2);
	ck_assert_uint_eq(p->rank_ranges[1].first, 1);
	profile_free(p);
}
END_TEST

START_TEST(nothing_and_empty)
{
	struct profile *p = one_stack(0, 1, 1);

	ck_assert_ptr_null(profile_merge(NULL, NULL));
	ck_assert_ptr_eq(profile_merge(p, NULL), p);
	ck_assert_ptr_eq(profile_merge(NULL, p), p);
	p = profile_merge(profile_new(), p);
	p = profile_merge(p, profile_new());
	assert_valid(p);
	ck_assert_uint_eq(p->n_stacks, 1);
	profile_free(p);
}
END_TEST

#define DEPTH 3000

static struct profile *chain(uint32_t depth, const char *odd_name)
{
	struct profile *p = profile_new();
	uint32_t at = PROFILE_NONE;

	p->stacks = xcalloc(depth, sizeof(*p->stacks));
	p->names = xcalloc(3, sizeof(*p->names));
	p->names[0] = xstrdup("init");
	p->names[1] = xstrdup("f");
	p->names[2] = xstrdup(odd_name);
	p->n_names = 3;
	/* all of one hash, so that every comparison has to look at the paths */
	for (uint32_t i = 0; i < depth; i++) {
		p->stacks[i].parent = at;
		p->stacks[i].name = i == 0 ? 0 : i == 1 ? 2 : 1;
		at = i;
	}
	p->n_stacks = depth;
	sort_random_stacks(p);
	return p;
}

START_TEST(deep_paths)
{
	struct profile *p = profile_merge(chain(DEPTH, "f"), chain(DEPTH, "f"));
	char *path;

	assert_valid(p);
	ck_assert_uint_eq(p->n_stacks, DEPTH);
	p = profile_merge(p, chain(DEPTH, "g"));
	assert_valid(p);
	ck_assert_uint_eq(p->n_stacks, 2 * DEPTH - 1);
	path = profile_path(p, 0); /* "f<f<f..." sorts before all others */
	ck_assert_uint_eq(strlen(path), 2 * (DEPTH - 1) + 4);
	free(path);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("merge");
	TCase *t = tcase_create("merge");

	tcase_add_loop_test(t, every_tree_gives_the_same, 0, 12);
	tcase_add_test(t, equal_hashes_of_different_paths_are_kept_apart);
	tcase_add_test(t, the_first_agent_tells_how_the_run_was_started);
	tcase_add_test(t, the_lowest_rank_wins_a_tie);
	tcase_add_test(t, squares_do_not_overflow);
	tcase_add_test(t, unranked_processes_are_numbered_on);
	tcase_add_test(t, a_stack_that_no_process_has_gives_no_minimum);
	tcase_add_test(t, several_programs_are_named_once);
	tcase_add_test(t, communication_adds_up);
	tcase_add_test(t, unranked_ends_of_messages_are_numbered_on);
	tcase_add_test(t, places_that_contradict_do_not_overlap);
	tcase_add_test(t, several_source_lines_are_none);
	tcase_add_test(t, windows_of_one_rank_are_not_added);
	tcase_add_test(t, nothing_and_empty);
	tcase_add_test(t, deep_paths);
	suite_add_tcase(s, t);
	return run_suite(s);
}
