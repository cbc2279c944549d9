/* SPDX-License-Identifier: BSD-3-Clause */
/* Late receivers on another node: what its agent finds, and what that of the sender makes of it. */
#include <check.h>
#include <stdlib.h>

#define FAR_SUMS_MAX  16u
#define FAR_CALLS_MAX 64u
#include "nodeagent/internode/far-receivers.c"
#include "conf/conf.h"
#include "mpi_id.h"
#include "nodeagent/replay/comm/far.h"
#include "nodeagent/replay/comm/internal.h"

#include "t/lib/suite.h"

#define SENDER match_proc_id(1, 0)
#define THERE  match_proc_id(1, 9)
#define LONG   100000
#define ERROR  50 /* of the clocks */

static struct matching m; /* of the agent of the sender */
static struct far_calls told;
static struct far_receivers found; /* at the other one */
static struct conf conf = {.mpi_waits = true, .mpi_only_for_ranks = "all"};
static struct host host = {.conf = &conf, .clocks = {.ns_per_tick = 1}};
static struct process sender = {.host = &host};
static const struct process *const owners[] = {&sender};
static struct calltree *tree;
static struct traffic_track *track;

static void setup(void)
{
	m = (struct matching){
		.host = &host, .owners = (const struct process **)owners, .clock_bound = ERROR};
	sender.proc_id = SENDER;
	map64_add(&m.here, SENDER, 0);
	host.sync = sync_new();
	sender.traffic = traffic_new(&conf, host.sync);
	tree = calltree_new();
	track = traffic_track_new(sender.traffic, tree);
}

static void teardown(void)
{
	matching_late_receivers_end(&m);
	matching_late_free(&m);
	map64_free(&m.here);
	far_calls_free(&told);
	traffic_track_end(track, tree);
	traffic_free(sender.traffic);
	calltree_free(tree);
	sync_free(host.sync);
}

static uint32_t path_of(uint32_t function)
{
	return path_number(
		track, calltree_child(tree, calltree_root(tree), NULL, RECORD_ID_MPI + function));
}

/* A send by this function that began at `sent`, was completed in [enter, leave], and whose receive
 * was posted at `posted`. */
static void pair(uint32_t function, enum match_send_mode mode, uint64_t bytes, uint64_t sent,
	uint64_t enter, uint64_t leave, uint64_t posted)
{
	const struct match_send s = {.source = SENDER,
		.destination = THERE,
		.enter = sent,
		.leave = sent == enter ? leave : sent + 1,
		.done_enter = enter,
		.done_leave = leave,
		.bytes = bytes,
		.path = path_of(function),
		.mode = mode};
	struct match_send t = s;

	far_calls_tell(&told, &m, &t, &s);
	far_receiver_found(&found, &t,
		&(struct match_receive){.destination = THERE, .enter = posted}, ERROR, NULL);
}

static void answer(void)
{
	struct far_telling paths = {.histories = {0}};
	struct words w = {0};

	far_receivers_put(&found, &m, &paths, &w);
	ck_assert_uint_eq(paths.words.n, 0);
	for (size_t at = 0, n; at < w.n; at += n) {
		n = far_answer_part(&w, at, 14);
		ck_assert_uint_gt(n, 0);
		ck_assert_ptr_null(far_calls_answer(&told, &m, w.at + at, n));
	}
	words_free(&w);
	matching_late_receivers_end(&m);
}

static void check_waited(uint32_t function, uint64_t calls, uint64_t ticks, uint64_t errors)
{
	const struct node_waits *w =
		&calltree_extra(traffic_path_node(sender.traffic, path_of(function)))->waits;
	struct node_wait sum = {0};

	for (size_t i = 0; i < w->n; i++) {
		ck_assert_uint_eq(w->at[i].kind, WAIT_LATE_RECEIVER);
		ck_assert_uint_eq(w->at[i].late, 9);
		sum.calls += w->at[i].calls;
		sum.ticks += w->at[i].ticks;
		sum.error += w->at[i].error;
	}
	ck_assert_uint_eq(sum.calls, calls);
	ck_assert_uint_eq(sum.ticks, ticks);
	ck_assert_uint_eq(sum.error, errors * ERROR);
}

START_TEST(alone)
{
	pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG, 1000, 1000, 2000, 1600);
	pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG, 3000, 3000, 4000, 3300);
	pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG, 5000, 5000, 6000, 5050);	 /* the error */
	pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG, 7000, 7000, 8000, 6000);	 /* in time */
	pair(VFTR_MPI_SSEND, MATCH_SEND_SYNCHRONOUS, 8, 9000, 9000, 9500, 9510); /* the error */
	pair(VFTR_MPI_WAIT, MATCH_SEND_STANDARD, LONG, 10000, 10100, 11000, 10300);
	answer();
	check_waited(VFTR_MPI_SEND, 2, 900, 2);
	check_waited(VFTR_MPI_SSEND, 1, 500, 1);
	check_waited(VFTR_MPI_WAIT, 1, 200, 1);
}
END_TEST

START_TEST(sent_at_once)
{
	pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG, 1000, 1000, 2000, 1600);
	pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG + 1, 3000, 3000, 4000, 3600);
	pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG, 5000, 5000, 5100, 5151);
	pair(VFTR_MPI_SSEND, MATCH_SEND_SYNCHRONOUS, 2 * LONG, 7000, 7000, 7100,
		7151); /* it lies */
	answer();
	check_waited(VFTR_MPI_SEND, 1, 600, 1);
	check_waited(VFTR_MPI_SSEND, 0, 0, 0);
}
END_TEST

/* A message on this node is another matter. */
START_TEST(sent_at_once_on_this_node)
{
	unproven_at_once(matching_unproven(&m), false, 2 * LONG);
	pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG, 1000, 1000, 2000, 1600);
	answer();
	check_waited(VFTR_MPI_SEND, 1, 600, 1);
}
END_TEST

START_TEST(with_others)
{
	pair(VFTR_MPI_WAITALL, MATCH_SEND_STANDARD, LONG, 1000, 1100, 2000, 1600);
	pair(VFTR_MPI_WAITALL, MATCH_SEND_STANDARD, LONG, 1010, 1100, 2000, 1900);
	pair(VFTR_MPI_WAITALL, MATCH_SEND_SYNCHRONOUS, 8, 3000, 3100, 4000, 3600);
	pair(VFTR_MPI_WAITALL, MATCH_SEND_SYNCHRONOUS, 8, 3010, 3100, 4000, 3500);
	pair(VFTR_MPI_SENDRECV, MATCH_SEND_STANDARD, LONG, 5000, 5000, 6000, 5600);
	pair(VFTR_MPI_TESTALL, MATCH_SEND_STANDARD, LONG, 7000, 7100, 8000, 7900);
	answer();
	check_waited(VFTR_MPI_WAITALL, 2, 800 + 500, 2);
	check_waited(VFTR_MPI_SENDRECV, 1, 600, 1);
	check_waited(VFTR_MPI_TESTALL, 0, 0, 0);
}
END_TEST

START_TEST(clocks_that_are_not_known)
{
	const struct match_send s = {.source = SENDER,
		.done_enter = 1000,
		.done_leave = 2000,
		.path = 1,
		.mode = MATCH_SEND_SYNCHRONOUS};

	far_receiver_found(&found, &s, &(struct match_receive){.enter = 1500}, UINT64_MAX, NULL);
	ck_assert_ptr_null(found.sums);
}
END_TEST

/* What has no room does not count. */
START_TEST(many_lengths)
{
	for (uint64_t i = 0; i < 100; i++)
		pair(VFTR_MPI_SEND, MATCH_SEND_STANDARD, LONG + i, 1000, 1000, 2000, 1600);
	ck_assert_ptr_nonnull(found.sums);
	far_receivers_free(&found);
	ck_assert_ptr_null(found.sums);
}
END_TEST

/* A path that was told before, and one that was not. */
START_TEST(what_they_did)
{
	const uint64_t name[] = {1, 5, 0, 4, 'w' | 'o' << 8 | 'r' << 16 | 'k' << 24};
	const uint64_t synchronous =
		(uint64_t)MATCH_SEND_SYNCHRONOUS << 32 | path_of(VFTR_MPI_SSEND);
	const uint64_t sum[] = {
		SUM, SENDER, THERE, synchronous, 8, 1, 100000, 2, 5, 90000, 6, 10000};
	struct traffic_cause_row row;
	uint32_t parent;

	ck_assert_ptr_null(far_take(&m.far, &host, name, ARRAY_SIZE(name)));
	ck_assert_ptr_null(far_calls_answer(&told, &m, sum, ARRAY_SIZE(sum)));
	check_waited(VFTR_MPI_SSEND, 1, 100000, 1);
	ck_assert(traffic_cause_row(sender.traffic, 0, &row));
	ck_assert_uint_eq(row.kind, WAIT_LATE_RECEIVER);
	ck_assert_uint_eq(row.far_rank, 9);
	ck_assert_uint_eq(row.ticks, 90000);
	ck_assert_str_eq(
		far_path(causes_far(sync_causes(host.sync)), row.far_path, &parent), "work");
	ck_assert(!traffic_cause_row(sender.traffic, 1, &row));
}
END_TEST

START_TEST(answers_that_make_no_sense)
{
	uint64_t words[8];
	unsigned said = 0;

	srand(1);
	for (unsigned i = 0; i < 200000; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			words[k] = (uint64_t)(rand() % 5) << (rand() % 2 ? 32 : 0) |
				   (uint64_t)(rand() % 3);
		words[1] = rand() % 2 ? SENDER : words[1];
		said += !!far_calls_answer(
			&told, &m, words, 1 + (size_t)rand() % ARRAY_SIZE(words));
	}
	ck_assert_uint_gt(said, 100000);
	ck_assert_ptr_nonnull(far_calls_answer(
		&told, &m, (uint64_t[]){SUM, SENDER, THERE, (uint64_t)3 << 32, 8, 1, 100}, 7));
	ck_assert_ptr_nonnull(far_calls_answer(
		&told, &m, (uint64_t[]){CALL, SENDER, THERE, (uint64_t)1 << 32, 8, UINT64_MAX}, 6));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {alone, sent_at_once, sent_at_once_on_this_node, with_others,
		clocks_that_are_not_known, many_lengths, what_they_did, answers_that_make_no_sense};
	Suite *s = suite_create("far-receivers");
	TCase *c = tcase_create("far-receivers");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
