/* SPDX-License-Identifier: BSD-3-Clause */
/* Efficiencies of profiles made in memory, against numbers that were computed by hand. */
#include "t/unit/report/output-files.h"

#include <math.h>

#include "nodeagent/report/efficiency.h"
#include "t/lib/suite.h"

#define BOTH (RANK_LEFT_INIT | RANK_ENTERED_FINALIZE | RANK_HAS_MPI)

static struct efficiency e;
static struct efficiency_additive a;

static void setup(void)
{
	setup_files();
	e = (struct efficiency){0};
}

static void is(double value, double expected)
{
	ck_assert_msg(fabs(value - expected) < 1e-9, "%.12f, not %.12f", value, expected);
}

static void place(uint32_t first, uint32_t last, const char *host)
{
	*ADD_ELEMENT(p, rank_ranges) = (struct profile_rank_range){first, last, xstrdup(host)};
}

/* The next rank: useful time, and the rest of its window in MPI. */
static struct profile_rank_time *rank(uint64_t begin_ms, uint64_t useful_ms, uint64_t end_ms)
{
	struct profile_rank_time *t = ADD_ELEMENT(p, rank_times);

	*t = (struct profile_rank_time){.rank = (uint32_t)p->n_rank_times - 1,
		.flags = BOTH,
		.threads = 1,
		.team_threads = 1,
		.begin_ns = (int64_t)(begin_ms * MS),
		.end_ns = (int64_t)(end_ms * MS),
		.useful_ns = useful_ms * MS,
		.mpi_ns = (end_ms - begin_ms - useful_ms) * MS};
	t->all_useful_ns = t->team_useful_ns = t->team_most_ns = t->useful_ns;
	t->all_mpi_ns = t->mpi_ns;
	p->world_size = p->ranks = p->threads = (uint32_t)p->n_rank_times;
	return t;
}

static void make(void)
{
	const char *why = profile_valid(p);

	ck_assert_msg(!why, "%s", why);
	ck_assert(efficiency_of(p, &e));
	is(e.parallel, e.useful_s / e.window_s);
	is(e.in_nodes * e.between_nodes, e.load_balance);
	is(e.load_balance * e.communication * (e.hybrid ? e.openmp : 1.0), e.parallel);
	if (e.hybrid)
		is(e.openmp_balance * e.openmp_communication, e.openmp);
	a = efficiency_additive(&e);
	is(a.in_nodes + a.between_nodes - 1.0, a.balance);
	is(a.balance + a.communication - 1.0, a.process);
	is(a.process + (e.hybrid ? a.thread - 1.0 : 0.0), e.parallel);
	ck_assert(e.hybrid || isnan(a.thread));
}

/* 10, 20, 30 and 40 of 50, two ranks a node: means of nodes are 15 and 35 */
static void four(void)
{
	rank(100, 10, 150);
	rank(100, 20, 150);
	rank(100, 30, 150);
	rank(100, 40, 150);
}

START_TEST(four_ranks_on_two_nodes)
{
	four();
	place(0, 1, "a");
	place(2, 3, "b");
	make();
	is(e.window_s, 0.05);
	is(e.useful_s, 0.025);
	is(e.useful_max_s, 0.04);
	is(e.parallel, 0.5);
	is(e.load_balance, 25.0 / 40.0);
	is(e.in_nodes, 35.0 / 40.0);
	is(e.between_nodes, 25.0 / 35.0);
	is(e.communication, 0.8);
	/* of 50: 25 are used, 15 below 40, of these 5 in nodes, and 10 above */
	is(a.process, 0.5);
	is(a.balance, 1.0 - 15.0 / 50.0);
	is(a.in_nodes, 1.0 - 5.0 / 50.0);
	is(a.between_nodes, 1.0 - 10.0 / 50.0);
	is(a.communication, 1.0 - 10.0 / 50.0);
	ck_assert_uint_eq(e.rank_max, 3);
	ck_assert_uint_eq(e.nodes, 2);
	ck_assert_uint_eq(e.doubts, 0);
	ck_assert(isnan(e.openmp));
}
END_TEST

/* One rank of each pair on each node, and nodes with different numbers of ranks. */
START_TEST(places_that_alternate)
{
	four();
	place(0, 0, "b");
	place(1, 1, "a");
	place(2, 2, "b");
	place(3, 3, "a");
	make();
	is(e.in_nodes, 30.0 / 40.0);
	is(e.between_nodes, 25.0 / 30.0);
	p->rank_ranges[2].host[0] = 'a'; /* 10 on b; 20, 30, 40 on a */
	make();
	is(e.in_nodes, 30.0 / 40.0);
	is(e.between_nodes, 25.0 / 30.0);
	ck_assert_uint_eq(e.nodes, 2);
}
END_TEST

/* The first that left MPI_Init, the last that entered MPI_Finalize. */
START_TEST(window_of_all_ranks)
{
	rank(80, 10, 150);
	rank(100, 20, 180);
	place(0, 0, "a");
	place(1, 1, "b");
	p->rank_times[1].error_ns = 2000;
	make();
	is(e.window_s, 0.1);
	is(e.window_error_s, 4e-6);
	is(e.communication, 0.2);
	is(e.parallel, 0.15);
}
END_TEST

/* The clocks of nodes cannot be compared: no time of one is subtracted from that of another. */
START_TEST(clocks_that_were_not_compared)
{
	rank(80, 10, 150);
	rank(90000, 20, 90080);
	rank(90010, 20, 90090);
	place(0, 0, "a");
	place(1, 2, "b");
	for (int i = 0; i < 3; i++)
		p->rank_times[i].error_ns = UINT64_MAX;
	make();
	is(e.window_s, 0.09);
	is(e.window_error_s, 0.0);
	ck_assert_uint_eq(e.doubts, 1u << DOUBT_CLOCK);
	/* on one node there is one clock */
	free(p->rank_ranges[1].host);
	p->rank_ranges[1].host = xstrdup("a");
	make();
	is(e.window_s, 90.01);
	ck_assert_uint_eq(e.doubts, 0);
}
END_TEST

START_TEST(one_rank)
{
	rank(0, 90, 100);
	make();
	is(e.parallel, 0.9);
	is(e.load_balance, 1.0);
	is(e.in_nodes, 1.0);
	is(e.between_nodes, 1.0);
	is(e.communication, 0.9);
}
END_TEST

START_TEST(ranks_that_did_nothing_useful)
{
	rank(0, 0, 100);
	rank(0, 0, 100);
	ck_assert(efficiency_of(p, &e));
	is(e.parallel, 0.0);
	is(e.communication, 0.0);
	ck_assert(isnan(e.load_balance));
}
END_TEST

START_TEST(no_window)
{
	ck_assert(!efficiency_of(p, &e));
	rank(100, 0, 100);
	ck_assert(!efficiency_of(p, &e));
	rank(100, 0, 100);
	ck_assert(!efficiency_of(p, &e));
}
END_TEST

/* One process is a job of its own; several without MPI are no job. */
START_TEST(without_mpi)
{
	rank(0, 100, 100);
	p->world_size = 0;
	p->unranked = 2;
	p->rank_times[0].rank = PROFILE_UNRANKED;
	p->rank_times[0].flags = 0;
	make();
	is(e.parallel, 1.0);
	ck_assert(!e.is_job);
	ck_assert_uint_eq(e.doubts, 0);
	rank(0, 50, 100)->rank = PROFILE_UNRANKED + 1;
	p->world_size = 0;
	p->ranks = 2;
	ck_assert_ptr_null(profile_valid(p));
	ck_assert(!efficiency_of(p, &e));
	p->world_size = 4; /* helpers of MPI ranks of which nothing is known */
	ck_assert(!efficiency_of(p, &e));
}
END_TEST

/* Windows are then the lives of the processes, without MPI_Init and MPI_Finalize. */
START_TEST(sessions_of_mpi)
{
	rank(0, 90, 100)->flags = RANK_HAS_MPI;
	rank(0, 80, 100)->flags = RANK_HAS_MPI;
	make();
	ck_assert_uint_eq(e.doubts, 1u << DOUBT_WINDOW);
	*ADD_ELEMENT(p, names) = xstrdup("MPI_Session_init");
	ck_assert(efficiency_of(p, &e));
	ck_assert_uint_eq(e.doubts, 0);
	*ADD_ELEMENT(p, names) = xstrdup("MPI_Init");
	ck_assert(efficiency_of(p, &e));
	ck_assert_uint_eq(e.doubts, 1u << DOUBT_WINDOW);
}
END_TEST

static void of_another_job(uint32_t n)
{
	const uint32_t ranks = p->ranks, size = p->world_size;

	for (uint32_t i = 0; i < n; i++)
		rank(0, 50, 100)->rank = PROFILE_UNRANKED + i;
	p->world_size = size;
	p->unranked = n;
	p->ranks = p->threads = ranks + n;
}

/* What is not known is said, with the first rank that it is about. */
START_TEST(doubts)
{
	static const char *const sentences[DOUBTS] = {
		[DOUBT_WINDOW] = "rank 1 was not seen to leave MPI_Init or to enter MPI_Finalize",
		[DOUBT_KILLED] = "rank 2 and 1 more were cut off, and count until then",
		[DOUBT_RANKS] = "the data of 3 ranks are missing",
		[DOUBT_JOBS] = "2 ranks of other MPI jobs do not count",
		[DOUBT_CLOCK] = "the clocks of the nodes were not compared",
		[DOUBT_THREADS] = "rank 0 had threads that did other work beyond its window",
		[DOUBT_LOST] = "rank 0 has calls that were not recorded",
		[DOUBT_PAUSED] = "rank 3 was not recorded all the time",
		[DOUBT_GPU] = "rank 1 has threads, whose waits for GPUs count for the first one",
		[DOUBT_LOCKS] = "rank 1 waited for threads whose work does not count",
	};

	four();
	place(0, 1, "a");
	place(2, 3, "b");
	p->world_size = 7;
	p->rank_times[0].flags = BOTH | RANK_THREADS_CUT | RANK_LOST_CALLS;
	p->rank_times[0].error_ns = UINT64_MAX;
	p->rank_times[1].flags = RANK_LEFT_INIT | RANK_HAS_MPI | RANK_HAS_GPU;
	p->rank_times[1].threads = 2;
	p->rank_times[1].lock_wait_ns = 10;
	p->rank_times[1].all_lock_wait_ns = 10;
	p->rank_times[2].flags = RANK_LEFT_INIT | RANK_HAS_MPI | RANK_KILLED;
	p->rank_times[3].flags = RANK_KILLED;
	p->rank_times[3].unknown_ns = p->rank_times[3].all_unknown_ns = 7;
	of_another_job(2);
	make();
	ck_assert_uint_eq(e.doubts, (1u << DOUBTS) - 1);
	for (unsigned i = 0; i < DOUBTS; i++) {
		char *text = efficiency_sentence(&e, i);

		ck_assert_str_eq(text, sentences[i]);
		ck_assert_ptr_nonnull(efficiency_doubts[i]);
		free(text);
	}
}
END_TEST

/*
 * Two ranks of three threads, 100 each. Outside of MPI 80 and 100; useful 60 + 30 + 30 and
 * 90 + 60 + 30. By hand: 300 / 600 = (90 / 100) * (100 / 100) * (0.5 / 0.9)
 */
START_TEST(threads_and_ranks)
{
	static const uint64_t useful[] = {60, 90}, all[] = {120, 180}, outside[] = {80, 100};

	for (int i = 0; i < 2; i++) {
		struct profile_rank_time *t = rank(0, useful[i], 100);

		t->flags |= RANK_HAS_OPENMP;
		t->threads = t->team_threads = 3;
		t->openmp_wait_ns = (outside[i] - useful[i]) * MS;
		t->mpi_ns = (100 - outside[i]) * MS;
		t->team_useful_ns = t->all_useful_ns = all[i] * MS;
	}
	make();
	ck_assert(e.hybrid);
	ck_assert_uint_eq(e.threads, 6);
	is(e.useful_s, 0.05);
	is(e.useful_max_s, 0.09);
	is(e.outside_s, 0.09);
	is(e.parallel, 0.5);
	is(e.load_balance, 0.9);
	is(e.communication, 1.0);
	is(e.openmp, 0.5 / 0.9);
	is(e.openmp_balance, 50.0 / 90.0 / 0.9);
	is(e.openmp_communication, 0.9);
	is(a.process, 0.9);
	is(a.thread, 0.6); /* 40 of 100 */
}
END_TEST

/*
 * Rank 1 waits 30 for a lock: of 100, 90 and 50 are useful. In a team it was outside of MPI
 * meanwhile, and so 80 of 100 with what it has worked.
 */
START_TEST(waits_for_locks)
{
	static const uint64_t useful[] = {90, 50}, waits[] = {0, 30};
	const cJSON *of;
	cJSON *json;

	for (int i = 0; i < 2; i++) {
		struct profile_rank_time *t = rank(0, useful[i], 100);

		t->flags |= RANK_HAS_LOCKS | (_i ? RANK_HAS_OPENMP : 0);
		t->threads = t->team_threads = 2;
		t->mpi_ns -= waits[i] * MS;
		t->lock_wait_ns = waits[i] * MS;
		t->all_lock_wait_ns = 2 * waits[i] * MS;
	}
	make();
	ck_assert_uint_eq(e.doubts, 0);
	is(e.outside_s, _i ? 0.085 : 0.07);
	is(e.outside_max_s, 0.09);
	is(e.useful_max_s, 0.09);
	add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	free(summary());
	json = parsed();
	of = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "per_rank"), 1);
	is(number(of, "lock_wait_s"), 0.03);
	is(number(of, "window_s"), 0.1);
	is(number(cJSON_GetObjectItem(of, "all_threads"), "lock_wait_s"), 0.06);
	cJSON_Delete(json);
	p->rank_times[1].threads = 3; /* one that is in no team */
	make();
	ck_assert_uint_eq(e.doubts, 1u << DOUBT_LOCKS);
}
END_TEST

/* The sum of these parts in seconds is greater than the window by a bit. */
START_TEST(nothing_is_more_than_all)
{
	struct profile_rank_time *t = rank(0, 0, 0);

	t->flags |= RANK_HAS_OPENMP | RANK_HAS_LOCKS;
	t->threads = t->team_threads = 2;
	t->useful_ns = t->all_useful_ns = t->team_useful_ns = t->team_most_ns = 843020234;
	t->openmp_wait_ns = t->all_openmp_wait_ns = 764567546;
	t->lock_wait_ns = t->all_lock_wait_ns = 355498;
	t->end_ns = 1607943278;
	make();
	ck_assert(e.communication <= 1.0);
}
END_TEST

/* 30 and 60 in functions, with 10 and 20 in waits for GPUs; the third rank has none. */
START_TEST(device_offload)
{
	static const uint64_t useful[] = {30, 60, 90}, waits[] = {10, 20, 0};

	ck_assert(isnan(efficiency_offload(p)));
	for (int i = 0; i < 3; i++) {
		struct profile_rank_time *t = rank(0, useful[i], 100);

		ck_assert(isnan(efficiency_offload(p)) || i);
		t->flags |= i < 2 ? RANK_HAS_GPU : 0;
		t->gpu_wait_ns = waits[i] * MS;
		t->mpi_ns -= t->gpu_wait_ns;
	}
	is(efficiency_offload(p), 90.0 / 120.0);
	make();
	is(a.communication, 0.9);
}
END_TEST

START_TEST(scaling)
{
	struct efficiency two;

	rank(0, 90, 100);
	rank(0, 70, 100);
	make();
	two = e;
	rank(0, 50, 100);
	rank(0, 30, 100); /* 240 in place of 160 */
	make();
	is(efficiency_scaling(&two, &two, false), 1.0);
	is(efficiency_scaling(&e, &two, false), 160.0 / 240.0);
	is(efficiency_scaling(&e, &two, true), 160.0 / 240.0 * 2.0);
	two.all_useful_s = 0.0;
	ck_assert(isnan(efficiency_scaling(&e, &two, false)));
	ck_assert(isnan(efficiency_scaling(&two, &e, true)));
}
END_TEST

/* Any numbers: the products hold. */
START_TEST(products_hold_for_any_numbers)
{
	struct dice d = {.state = (uint64_t)_i + 1};
	const uint32_t n = 1 + throw_dice(&d, 40);
	const char *const hosts[] = {"a", "b", "c"};

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t begin = throw_dice(&d, 50), useful = 1 + throw_dice(&d, 1000);
		struct profile_rank_time *t =
			rank(begin, useful, begin + useful + throw_dice(&d, 100));

		place(i, i, hosts[throw_dice(&d, 3)]);
		if (_i % 2)
			t->flags |= RANK_HAS_OPENMP;
		t->threads = t->team_threads = 1 + throw_dice(&d, 4);
		t->team_useful_ns += (t->team_threads - 1) * MS * throw_dice(&d, 900);
		t->team_most_ns = t->team_useful_ns;
		t->openmp_wait_ns = throw_dice(&d, 100) * MS;
		t->end_ns += (int64_t)t->openmp_wait_ns;
	}
	make();
	ck_assert(e.load_balance <= 1.0 && e.communication <= 1.0);
}
END_TEST

/* ---- what is printed --------------------------------------------------------------------- */

START_TEST(in_the_summary)
{
	char *text;

	four();
	place(0, 1, "a");
	place(2, 3, "b");
	p->rank_times[2].flags = (p->rank_times[2].flags | RANK_KILLED) & ~RANK_ENTERED_FINALIZE;
	layout_run();
	text = summary();
	in_order(text,
		(const char *const[]){
			"Efficiency in 50.0 ms, from leaving MPI_Init to entering MPI_Finalize\n",
			"| Parallel          | 50.0 |", "|   Load balance    | 62.5 |",
			"|     in nodes      | 87.5 |", "|     between nodes | 71.4 |",
			"|   Communication   | 80.0 |",
			"Estimated: rank 2 was cut off, and counts until then.\n",
			"\n  efficiency: 50 % = load balance 62 % x communication 80 % "
			"(estimated)\n",
			NULL});
	has_not(text, "OpenMP");
	free(text);
}
END_TEST

/* Vftrace's layout has no word of it, but the JSON has all. */
START_TEST(in_json)
{
	cJSON *json;
	const cJSON *of;
	char *text;

	four();
	place(0, 3, "a");
	p->rank_times[1].flags &= ~(uint32_t)RANK_ENTERED_FINALIZE;
	p->rank_times[1].flags |= RANK_HAS_OFF_CPU;
	add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	text = summary();
	has_not(text, "fficiency");
	free(text);
	json = parsed();
	of = cJSON_GetObjectItem(json, "efficiency");
	is(number(of, "window_s"), 0.05);
	is(number(of, "useful_s"), 0.025);
	is(number(of, "useful_max_s"), 0.04);
	is(number(of, "parallel"), 0.5);
	is(number(of, "load_balance"), 0.625);
	is(number(of, "load_balance_in_nodes"), 0.625);
	is(number(of, "load_balance_between_nodes"), 1.0);
	is(number(of, "communication"), 0.8);
	ck_assert_str_eq(string(of, "model"), "mpi");
	ck_assert_ptr_null(cJSON_GetObjectItem(of, "serialisation"));
	of = cJSON_GetObjectItem(of, "estimated");
	ck_assert_int_eq(cJSON_GetArraySize(of), 1);
	ck_assert_str_eq(cJSON_GetArrayItem(of, 0)->valuestring, "window");
	of = cJSON_GetObjectItem(json, "per_rank");
	ck_assert_int_eq(cJSON_GetArraySize(of), 4);
	of = cJSON_GetArrayItem(of, 1);
	is(number(of, "rank"), 1);
	ck_assert_str_eq(string(of, "node"), "a");
	is(number(of, "window_s"), 0.05);
	is(number(of, "useful_s"), 0.02);
	is(number(of, "mpi_s"), 0.03);
	is(number(of, "off_cpu_s"), 0.0);
	ck_assert(cJSON_IsFalse(cJSON_GetObjectItem(of, "entered_finalize")));
	/* what is not known is not there */
	ck_assert_ptr_null(cJSON_GetObjectItem(of, "mpi_wait_s"));
	ck_assert_ptr_null(cJSON_GetObjectItem(of, "openmp_wait_s"));
	ck_assert_ptr_null(cJSON_GetObjectItem(of, "gpu_wait_s"));
	ck_assert_ptr_null(cJSON_GetObjectItem(of, "lock_wait_s"));
	ck_assert_ptr_null(cJSON_GetObjectItem(of, "io_s"));
	cJSON_Delete(json);
}
END_TEST

/* Waits in MPI are known for a rank; they are its first thread's if no other thread calls MPI. */
START_TEST(waits_of_first_threads)
{
	struct profile_rank_time *t;
	const cJSON *of;
	cJSON *json;

	for (int i = 0; i < 2; i++) {
		t = rank(0, 60, 100);
		t->flags |= RANK_HAS_WAITS;
		t->threads = 2;
		t->mpi_wait_ns = 30 * MS;
		t->all_useful_ns += 50 * MS;
	}
	t->all_mpi_ns += MS;
	make();
	add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	free(summary());
	json = parsed();
	of = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "per_rank"), 0);
	is(number(of, "mpi_wait_s"), 0.03);
	is(number(cJSON_GetObjectItem(of, "all_threads"), "mpi_wait_s"), 0.03);
	of = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "per_rank"), 1);
	ck_assert_ptr_null(cJSON_GetObjectItem(of, "mpi_wait_s"));
	is(number(cJSON_GetObjectItem(of, "all_threads"), "mpi_wait_s"), 0.03);
	cJSON_Delete(json);
}
END_TEST

/* A line of the digest only where there is something to be won, and room for it. */
START_TEST(good_runs_have_no_line)
{
	char *text;

	rank(0, 95, 100);
	rank(0, 95, 100);
	layout_run();
	text = summary();
	has_not(text, "  efficiency:");
	has(text, "| Parallel        |  95.0 |");
	has_not(text, "in nodes");
	free(text);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {four_ranks_on_two_nodes, places_that_alternate,
		window_of_all_ranks, clocks_that_were_not_compared, one_rank,
		ranks_that_did_nothing_useful, no_window, without_mpi, sessions_of_mpi, doubts,
		threads_and_ranks, nothing_is_more_than_all, device_offload, scaling,
		in_the_summary, in_json, waits_of_first_threads, good_runs_have_no_line};
	Suite *s = suite_create("efficiency");
	TCase *c = tcase_create("efficiency");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, waits_for_locks, 0, 2);
	tcase_add_loop_test(c, products_hold_for_any_numbers, 0, 200);
	suite_add_tcase(s, c);
	return run_suite(s);
}
