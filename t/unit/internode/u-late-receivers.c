/* SPDX-License-Identifier: BSD-3-Clause */
/* What sends have waited for late receivers, by a virtual clock. */
#include <check.h>
#include <stdlib.h>

#define UNPROVEN_ROWS_MAX  16u
#define UNPROVEN_CALLS_MAX 8u
#include "nodeagent/internode/late-receivers.c"
#include "nodeagent/internode/unproven.c"
#include "nodeagent/replay/comm/internal.h"

#include "t/lib/suite.h"

#define SENDER match_proc_id(1, 0)
#define LONG   100000

static struct matching m;
static struct conf conf = {.mpi_waits = true, .mpi_only_for_ranks = "all"};
static struct host host = {.conf = &conf};
static struct process sender = {.host = &host};
static const struct process *const owners[] = {&sender};
static struct calltree *tree;
static struct traffic_track *track;
static uint32_t path;

static void setup(void)
{
	m = (struct matching){.host = &host, .owners = (const struct process **)owners};
	for (uint32_t rank = 0; rank < 4; rank++)
		map64_add(&m.here, match_proc_id(1, rank), 0);
	sender.proc_id = SENDER;
	sender.traffic = traffic_new(&conf, NULL);
	tree = calltree_new();
	track = traffic_track_new(sender.traffic, tree);
	path = path_number(track, calltree_child(tree, calltree_root(tree), NULL, 7));
}

static void teardown(void)
{
	matching_late_receivers_end(&m);
	matching_late_free(&m);
	map64_free(&m.here);
	traffic_track_end(track, tree);
	traffic_free(sender.traffic);
	calltree_free(tree);
}

/* A send that began at `sent` and was completed by a call in [enter, leave]; its receive was posted
 * at `posted`. */
struct sent {
	enum match_send_mode mode;
	uint64_t bytes, sent, enter, leave, posted;
	uint32_t to;
};

static void pair(struct sent of)
{
	const struct match_send s = {.source = SENDER,
		.destination = match_proc_id(1, of.to),
		.enter = of.sent,
		.done_enter = of.enter,
		.done_leave = of.leave,
		.bytes = of.bytes,
		.path = path,
		.mode = of.mode};
	const struct match_receive r = {
		.source = SENDER, .destination = match_proc_id(1, of.to), .enter = of.posted};

	matching_late_receiver(&m, &s, &r);
}

static void standard(uint64_t bytes, uint64_t enter, uint64_t leave, uint64_t posted)
{
	pair((struct sent){MATCH_SEND_STANDARD, bytes, enter, enter, leave, posted, 1});
}

static struct node_wait waited(void)
{
	const struct node_waits *w =
		&calltree_extra(traffic_path_node(sender.traffic, path))->waits;
	struct node_wait sum = {.kind = WAIT_LATE_RECEIVER};

	for (size_t i = 0; i < w->n; i++) {
		ck_assert_uint_eq(w->at[i].kind, WAIT_LATE_RECEIVER);
		sum.calls += w->at[i].calls;
		sum.ticks += w->at[i].ticks;
		sum.late = w->at[i].calls ? w->at[i].late : sum.late;
	}
	return sum;
}

static void check_waited(uint64_t calls, uint64_t ticks)
{
	const struct node_wait w = waited();

	ck_assert_uint_eq(w.calls, calls);
	ck_assert_uint_eq(w.ticks, ticks);
}

START_TEST(synchronous)
{
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 100, 100, 200, 130, 2});
	check_waited(1, 30);
	ck_assert_uint_eq(waited().late, 2);
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 300, 300, 400, 290, 2}); /* in time */
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 500, 500, 600, 500, 2});
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 700, 700, 710, 711, 2}); /* it lies */
	check_waited(1, 30);
}
END_TEST

START_TEST(completed_by_another_call)
{
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 100, 150, 200, 140, 1}); /* posted before */
	check_waited(0, 0);
	/* two in one call: the later one */
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 300, 350, 400, 360, 1});
	check_waited(1, 10);
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 310, 350, 400, 380, 2});
	check_waited(1, 30);
	ck_assert_uint_eq(waited().late, 2);
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 320, 350, 400, 370, 1});
	check_waited(1, 30);
}
END_TEST

START_TEST(standard_ones_count_at_the_end)
{
	standard(LONG, 100, 200, 130);
	standard(LONG, 300, 400, 340);
	check_waited(0, 0);
	matching_late_receivers_end(&m);
	check_waited(2, 70);
}
END_TEST

/* One of that length, or a longer one, has ended before its receive was posted. */
START_TEST(those_that_may_have_been_sent_at_once)
{
	standard(LONG, 100, 200, 130);
	standard(LONG + 1, 300, 400, 320);
	standard(LONG, 500, 510, 511);
	standard(LONG, 600, 700, 690);
	matching_late_receivers_end(&m);
	check_waited(1, 20);
}
END_TEST

START_TEST(what_proves_nothing)
{
	/* a buffered send, or one that is not known, says nothing of the length */
	pair((struct sent){MATCH_SEND_OTHER, LONG, 100, 100, 110, 150, 1});
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, LONG, 200, 200, 210, 250, 1});
	pair((struct sent){MATCH_SEND_OTHER, LONG, 300, 300, 400, 350, 1});
	/* one that was completed by another call may have been with others */
	pair((struct sent){MATCH_SEND_STANDARD, LONG, 500, 510, 600, 550, 1});
	standard(LONG, 700, 800, 705);
	matching_late_receivers_end(&m);
	check_waited(1, 5);
}
END_TEST

START_TEST(without_waits)
{
	conf.mpi_waits = false;
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 100, 100, 200, 130, 2});
	conf.mpi_waits = true;
	check_waited(0, 0);
	/* a sender on another node */
	map64_free(&m.here);
	pair((struct sent){MATCH_SEND_SYNCHRONOUS, 8, 100, 100, 200, 130, 2});
	check_waited(0, 0);
}
END_TEST

START_TEST(completed_by_a_wait_for_one)
{
	const uint32_t other = path;

	path = path_number(track,
		calltree_child(tree, calltree_root(tree), NULL, RECORD_ID_MPI + VFTR_MPI_WAIT));
	pair((struct sent){MATCH_SEND_STANDARD, LONG, 500, 510, 600, 550, 1});
	pair((struct sent){MATCH_SEND_STANDARD, LONG, 700, 710, 800, 705, 1}); /* posted before */
	check_waited(0, 0);
	matching_late_receivers_end(&m);
	check_waited(1, 40);
	/* one that was kept elsewhere until it was received says so for all of its length */
	pair((struct sent){MATCH_SEND_STANDARD, LONG, 900, 910, 1000, 950, 1});
	pair((struct sent){MATCH_SEND_STANDARD, LONG, 1100, 1110, 1120, 1150, 1});
	matching_late_receivers_end(&m);
	check_waited(1, 40);
	path = other;
}
END_TEST

/* What has no room does not count. */
START_TEST(many_lengths)
{
	for (uint64_t i = 0; i < 100; i++)
		standard(LONG + i, 100, 200, 130);
	matching_late_receivers_end(&m);
	ck_assert_uint_ge(waited().calls, 8);
	ck_assert_uint_le(waited().calls, UNPROVEN_ROWS_MAX);
	ck_assert_uint_eq(waited().ticks, 30 * waited().calls);
}
END_TEST

/* ---- among other operations ----------------------------------------------------------------- */

static uint32_t path_of(uint32_t function)
{
	return path_number(
		track, calltree_child(tree, calltree_root(tree), NULL, RECORD_ID_MPI + function));
}

/* Of a message of `bytes` whose sender stood in [enter, leave] for this and others. */
static void among(uint64_t bytes, uint64_t enter, uint64_t leave, uint64_t posted, uint32_t to)
{
	pair((struct sent){MATCH_SEND_STANDARD, bytes, enter - 5, enter, leave, posted, to});
}

/* The call has waited for something else, too. */
static struct longest_wait *other_wait(uint64_t enter, uint64_t ticks)
{
	return longest_add(matching_longest(&m), sender.traffic,
		&(struct longest_wait){.enter = enter,
			.path = path,
			.late = 3,
			.kind = WAIT_LATE_RECEIVER,
			.ticks = ticks});
}

START_TEST(completed_with_others)
{
	const uint32_t functions[] = {VFTR_MPI_WAITALL, VFTR_MPI_WAITSOME};

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		path = path_of(functions[i]);
		among(LONG, 350, 400, 360, 1);
		among(LONG, 350, 400, 380, 2);
		among(LONG, 350, 400, 370, 1);
		among(LONG, 500, 600, 490, 2); /* posted before */
		check_waited(0, 0);
		matching_late_receivers_end(&m);
		check_waited(1, 30);
		ck_assert_uint_eq(waited().late, 2);
	}
}
END_TEST

/* Each message is what it is, whatever else its call has completed. */
START_TEST(some_of_the_others_were_sent_at_once)
{
	path = path_of(VFTR_MPI_WAITALL);
	among(LONG, 350, 400, 360, 1);
	among(LONG - 10, 350, 400, 390, 2);
	among(LONG - 5, 350, 400, 380, 2);
	among(LONG - 5, 500, 600, 601, 2);
	matching_late_receivers_end(&m);
	check_waited(1, 10);
	ck_assert_uint_eq(waited().late, 1);
}
END_TEST

START_TEST(the_longest_of_all)
{
	path = path_of(VFTR_MPI_WAITALL);
	ck_assert_ptr_nonnull(other_wait(350, 20));
	ck_assert_ptr_nonnull(other_wait(500, 20));
	check_waited(2, 40);
	among(LONG, 350, 400, 380, 1);
	among(LONG, 500, 600, 510, 1);
	matching_late_receivers_end(&m);
	check_waited(2, 50);
}
END_TEST

/* Of those without room it counts what they waited longer than for others. */
START_TEST(many_calls_with_others)
{
	const uint64_t n = 5 * UNPROVEN_CALLS_MAX;

	path = path_of(VFTR_MPI_WAITALL);
	for (uint64_t at = 1000; at < 1000 * (n + 1); at += 1000) {
		other_wait(at, 20);
		among(LONG, at, at + 100, at + 50, 1);
		among(LONG - 1, at, at + 100, at + 60, 1);
	}
	matching_late_receivers_end(&m);
	ck_assert_uint_eq(waited().ticks, 60 * n);
	ck_assert_uint_ge(waited().calls, n);
	ck_assert_uint_le(waited().calls, 2 * n);
}
END_TEST

START_TEST(sent_and_received_in_one_call)
{
	path = path_of(VFTR_MPI_SENDRECV);
	other_wait(300, 20);
	standard(LONG, 300, 400, 340);
	standard(LONG, 500, 600, 510);
	check_waited(1, 20);
	matching_late_receivers_end(&m);
	check_waited(2, 50);
}
END_TEST

START_TEST(any_of_several)
{
	path = path_of(VFTR_MPI_WAITANY);
	among(LONG, 350, 400, 360, 1);
	among(LONG, 450, 500, 480, 1);
	matching_late_receivers_end(&m);
	check_waited(2, 40);
	/* who asks does not wait */
	path = path_of(VFTR_MPI_TESTANY);
	among(LONG, 550, 600, 580, 1);
	matching_late_receivers_end(&m);
	check_waited(0, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {synchronous, completed_by_another_call,
		standard_ones_count_at_the_end, those_that_may_have_been_sent_at_once,
		what_proves_nothing, completed_by_a_wait_for_one, without_waits, many_lengths,
		completed_with_others, some_of_the_others_were_sent_at_once, the_longest_of_all,
		many_calls_with_others, sent_and_received_in_one_call, any_of_several};
	Suite *s = suite_create("late-receivers");
	TCase *c = tcase_create("late-receivers");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
