/* SPDX-License-Identifier: BSD-3-Clause */
/* To whom waits go back along chains, in profiles made in memory. */
#define DELAYS_EDGES_MAX 400u
#include "nodeagent/report/delays/delays.c"
#include "t/unit/report/output-files.h"

#include <math.h>

#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/report/delays/delays.h"
#include "nodeagent/report/waits.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

static uint32_t init_, recv_, work_;

static uint32_t add(const char *name, uint64_t sum_ms, uint64_t max_ms, uint32_t ranks)
{
	uint32_t i = add_stack(p, p->n_stacks ? 0 : PROFILE_NONE, name, UINT64_MAX);
	struct profile_stack *s = &p->stacks[i];

	s->calls = 10;
	s->ranks = ranks;
	s->excl_ns = s->incl_ns = sum_ms * MS;
	s->excl_max_ns = max_ms * MS;
	return i;
}

static void setup(void)
{
	setup_files();
	init_ = add("init", 0, 0, 8);
}

static void ranks(uint32_t n)
{
	p->world_size = p->ranks = p->threads = n;
	p->runtime_s = 1.0;
}

static void wait_for(uint32_t late, uint32_t stack, uint64_t ms)
{
	*ADD_ELEMENT(p, waits) = (struct profile_wait){
		.stack = stack, .kind = WAIT_LATE_SENDER, .late = late, .calls = 1, .ns = ms * MS};
}

static void pair(uint32_t rank, uint32_t late, uint64_t ms)
{
	*ADD_ELEMENT(p, wait_pairs) =
		(struct profile_wait_pair){.rank = rank, .late = late, .calls = 1, .ns = ms * MS};
}

static void was_in(uint32_t stack, uint32_t late, uint32_t activity, uint64_t ms)
{
	*ADD_ELEMENT(p, causes) = (struct profile_cause){.stack = stack,
		.kind = WAIT_LATE_SENDER,
		.late = late,
		.activity = activity,
		.ns = ms * MS};
}

static double cost_of(const struct delays *d, uint32_t rank, uint32_t stack)
{
	size_t n;
	const struct delay *of = delays_of_rank(d, rank, &n);
	double ns = 0.0;

	for (size_t i = 0; i < n; i++)
		ns += stack == PROFILE_NONE || of[i].stack == stack ? of[i].cost_ns : 0.0;
	return ns / MS;
}

static double all_of(const struct delays *d)
{
	double ns = 0.0;

	for (size_t i = 0; i < d->n; i++)
		ns += d->at[i].cost_ns;
	return ns / MS;
}

static void is(double got, double want)
{
	ck_assert_msg(fabs(got - want) < 1e-6 * (1.0 + want), "%.9f, not %.9f", got, want);
}

/* Each of n ranks receives from the one before, and the first one works for 400: the others wait. A
 * message takes 1 more. */
static void chain(uint32_t n)
{
	ranks(n);
	recv_ = add("MPI_Recv", (n - 1) * 401, 401, n - 1);
	work_ = add("work", 400, 400, 1);
	for (uint32_t i = 0; i < n - 1; i++) {
		wait_for(i, recv_, 400);
		pair(i + 1, i, 400);
		was_in(recv_, i, i ? recv_ : work_, 200); /* half of the waits were looked at */
	}
}

START_TEST(a_chain_goes_back_to_the_first_one)
{
	struct delays d;
	size_t n;
	const struct delay *first;

	chain(8);
	delays_of(p, &d);
	is(all_of(&d), 2800);
	first = delays_of_rank(&d, 0, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(first->stack, work_);
	ck_assert_double_ge(first->cost_ns, 0.95 * 2800 * MS);
	is(first->direct_ns / MS, 400);
	is(first->own_ns / MS, 350);
	/* a call of 401 has waited 400: the rest is its own */
	is(cost_of(&d, 6, recv_), 400.0 / 401);
	delays_of_rank(&d, 7, &n);
	ck_assert_uint_eq(n, 0);
	delays_done(&d);
}
END_TEST

/* Of 40 ranks 16 are told apart. */
START_TEST(a_chain_of_more_than_are_told_apart)
{
	struct delays d;

	chain(40);
	profile_waits_limit(p);
	ck_assert_uint_eq(p->n_waits, PROFILE_LATE_MAX + 1);
	delays_of(p, &d);
	is(all_of(&d), 39 * 400);
	ck_assert_double_ge(cost_of(&d, 0, work_), 0.9 * 39 * 400);
	delays_done(&d);
}
END_TEST

/* Ranks 1 to 28 wait for 29 each: of so many 13 are looked at, and waits for further ones stay. */
START_TEST(more_edges_than_are_looked_at)
{
	struct delays d;

	chain(30);
	delays_of(p, &d);
	is(all_of(&d), 29 * 400);
	is(cost_of(&d, 14, recv_), 400);
	is(cost_of(&d, 28, recv_), 400);
	ck_assert_double_le(cost_of(&d, 13, recv_), 20);
	ck_assert_double_ge(cost_of(&d, 0, work_), 0.9 * 14 * 400);
	delays_done(&d);
}
END_TEST

START_TEST(the_first_one_is_named_in_json_and_logs)
{
	static const char *const order[] = {
		"Who made others wait", "| rank 0 ", "| rank 1 ", "| rank 2 ", NULL};
	const cJSON *delay, *path;
	cJSON *json;
	char *log;

	free(conf->output_layout);
	conf->output_layout = xstrdup("run");
	p->calls = 1;
	chain(8);
	log = summary();
	in_order(log, order);
	free(log);
	json = parsed();
	delay = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "delays"), 0);
	is(number(delay, "rank"), 0);
	ck_assert_str_eq(string(delay, "path"), "work < init");
	ck_assert_double_ge(number(delay, "cost_s"), 0.95 * 2.8);
	is(number(delay, "direct_s"), 0.4);
	is(number(delay, "own_s"), 0.35);
	is(number(delay, "t_s"), 0.4);
	path = cJSON_GetArrayItem(cJSON_GetObjectItem(delay, "paths"), 0);
	ck_assert_str_eq(string(path, "path"), "work < init");
	is(number(path, "cost_s"), number(delay, "cost_s"));
	cJSON_Delete(json);
}
END_TEST

/* Five rows are shown, those of the longest waits. */
START_TEST(what_is_not_shown_has_its_name)
{
	char *log;

	free(conf->output_layout);
	conf->output_layout = xstrdup("run");
	p->calls = 1;
	ranks(1);
	recv_ = add("MPI_Recv", 900, 900, 1);
	for (uint32_t i = 1; i <= 7; i++)
		*ADD_ELEMENT(p, waits) = (struct profile_wait){.stack = recv_,
			.kind = WAIT_LOCK,
			.late_thread = i,
			.calls = 1,
			.ns = 100 * MS};
	log = summary();
	has(log, "... and 2 threads more");
	free(log);
	wait_for(0, recv_, 1);
	log = summary();
	has(log, "... and 3 ranks and threads more");
	free(log);
}
END_TEST

/* Rank 2 waits 100 for rank 1, which received for 60 of them and worked for 40. */
START_TEST(a_part_of_it_goes_on)
{
	struct delays d;

	ranks(3);
	recv_ = add("MPI_Recv", 160, 100, 2);
	work_ = add("work", 140, 100, 2);
	wait_for(0, recv_, 60);
	wait_for(1, recv_, 100);
	pair(1, 0, 60);
	pair(2, 1, 100);
	was_in(recv_, 0, work_, 60);
	was_in(recv_, 1, recv_, 60);
	was_in(recv_, 1, work_, 40);
	delays_of(p, &d);
	is(cost_of(&d, 0, work_), 120);
	is(cost_of(&d, 1, work_), 40);
	is(cost_of(&d, 1, recv_), 0);
	delays_done(&d);
}
END_TEST

/* What is not known stays where it is: for whom a rank waits, what it did, which rank it was. */
START_TEST(what_is_not_known_stays)
{
	struct delays d;
	struct waits w;

	ranks(4);
	recv_ = add("MPI_Recv", 600, 300, 4);
	work_ = add("work", 100, 100, 1);
	wait_for(0, recv_, 100);
	wait_for(1, recv_, 200);
	wait_for(PROFILE_ELSEWHERE, recv_, 300);
	pair(3, 1, 200);
	was_in(recv_, 1, recv_, 200);
	was_in(recv_, PROFILE_ELSEWHERE, work_, 10);
	delays_of(p, &d);
	is(all_of(&d), 600);
	is(cost_of(&d, 0, PROFILE_NONE) + cost_of(&d, 1, recv_) +
			cost_of(&d, PROFILE_ELSEWHERE, work_),
		600);
	ck_assert_double_ge(cost_of(&d, 0, PROFILE_NONE), 100);
	/* of one rank only */
	waits_of(p, WAITS_FOR_BOTH, 1, &w);
	delays_join(&d, &w);
	ck_assert_uint_eq(w.n_causes, 1);
	ck_assert_uint_eq(w.causes[0].cost_ns, llround(cost_of(&d, 1, PROFILE_NONE) * MS));
	waits_done(&w);
	delays_done(&d);
}
END_TEST

/* In pairs of groups, ranks 2 and 3 wait as long as each other for ranks 0 and 1. */
START_TEST(groups_of_ranks)
{
	struct delays d;

	ranks(8);
	recv_ = add("MPI_Recv", 200, 50, 4);
	work_ = add("work", 100, 100, 1);
	wait_for(0, recv_, 100);
	wait_for(2, recv_, 100);
	*ADD_ELEMENT(p, wait_pairs) =
		(struct profile_wait_pair){.log2 = 1, .rank = 2, .late = 0, .ns = 100 * MS};
	*ADD_ELEMENT(p, wait_pairs) =
		(struct profile_wait_pair){.log2 = 1, .rank = 4, .late = 2, .ns = 100 * MS};
	was_in(recv_, 0, work_, 100);
	was_in(recv_, 2, recv_, 100);
	delays_of(p, &d);
	is(cost_of(&d, 0, work_), 200);
	delays_done(&d);
}
END_TEST

START_TEST(ranks_that_wait_for_each_other_in_a_circle)
{
	struct delays d;

	ranks(3);
	recv_ = add("MPI_Recv", 300, 100, 3);
	for (uint32_t i = 0; i < 3; i++) {
		wait_for(i, recv_, 100);
		pair((i + 1) % 3, i, 100);
		was_in(recv_, i, recv_, 100);
	}
	delays_of(p, &d);
	is(all_of(&d), 300);
	for (uint32_t i = 0; i < 3; i++)
		is(cost_of(&d, i, recv_), 100);
	delays_done(&d);
}
END_TEST

/* At six call paths, three of which wait, with causes for some. */
static void throw_chains(struct dice *d, uint32_t n_ranks)
{
	for (uint32_t i = 0; i < 6; i++)
		add("f", throw_dice(d, 9000), 9000, 1 + throw_dice(d, n_ranks));
	for (uint32_t i = 1; i < 4; i++)
		for (uint32_t late = 0; late < n_ranks; late++) {
			wait_for(late == n_ranks - 1 ? PROFILE_ELSEWHERE : late, i,
				throw_dice(d, 500));
			for (uint32_t k = 1; k < p->n_stacks; k++)
				if (!throw_dice(d, 4))
					was_in(i, late, k, throw_dice(d, 100));
		}
	for (uint32_t i = 0; i < 3 * n_ranks; i++)
		pair(throw_dice(d, n_ranks), throw_dice(d, n_ranks), throw_dice(d, 300));
}

START_TEST(nothing_is_lost_or_added)
{
	struct dice dice = {.state = (uint64_t)_i + 1};
	struct delays d;
	struct waits w;

	ranks(2 + throw_dice(&dice, 20));
	throw_chains(&dice, p->world_size);
	waits_of(p, WAITS_FOR_RANKS, WAITS_ALL, &w);
	delays_of(p, &d);
	is(all_of(&d), (double)w.ns / MS);
	for (size_t i = 0; i < d.n; i++) {
		ck_assert_double_ge(d.at[i].cost_ns, -1e-3);
		ck_assert_double_le(d.at[i].direct_ns, d.at[i].cost_ns * (1 + 1e-9) + 1e-3);
	}
	waits_done(&w);
	delays_done(&d);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {a_chain_goes_back_to_the_first_one,
		a_chain_of_more_than_are_told_apart, more_edges_than_are_looked_at,
		the_first_one_is_named_in_json_and_logs, what_is_not_shown_has_its_name,
		a_part_of_it_goes_on, what_is_not_known_stays, groups_of_ranks,
		ranks_that_wait_for_each_other_in_a_circle};
	Suite *s = suite_create("delays");
	TCase *c = tcase_create("delays");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, nothing_is_lost_or_added, 0, 50);
	suite_add_tcase(s, c);
	return run_suite(s);
}
