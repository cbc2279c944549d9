/* SPDX-License-Identifier: BSD-3-Clause */
/* The causal analysis, from events by hand, to the tick: nodeagent/causal/. */
#include "nodeagent/causal/internal.h"
#include "t/lib/suite.h"
#include "t/unit/causal/causal-by-hand.h"
#include "t/lib/dice.h"

#define RECV  (PATH_CALL + 1)
#define COLL  (PATH_CALL + 2)
#define PROBE (PATH_CALL + 3)

/*
 * rank 0  |---work 10..110---|S|--120..130|
 * rank 1  |work 0..20|R........|120...|
 */
START_TEST(late_sender)
{
	struct causal *c;

	by_hand(2, 0);
	begins(0, 10);
	works(0, 10, PATH_WORK);
	sends(0, 1, 7, 110, 120);
	ends(0, 130);
	begins(1, 0);
	works(1, 0, PATH_OTHER);
	receives(1, 0, 7, 20, 121);
	ends(1, 151);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_SENDER, RECV, 1), 90);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_LATE_SENDER, RECV, 0), 90);
	ck_assert_double_eq(causal_totals(c)->waits, 90);
	/* useful: 100 + 10, 20 + 30; the chain: 100 of rank 0, then 30 of rank 1 */
	ck_assert_double_eq(causal_totals(c)->useful, 160);
	ck_assert_int_eq(causal_totals(c)->useful_max, 110);
	ck_assert_uint_eq(causal_totals(c)->useful_line, 0);
	ck_assert_int_eq(causal_totals(c)->ideal, 130);
	/* backward: 30 of rank 1, 11 in its receive, 100 of rank 0, which was 10 late in starting
	 */
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_MAIN, 1), 30);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, RECV, 1), 11);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_WORK, 0), 100);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_INIT, 0), 10);
	/* rank 0 did 100 of work and 10 of MPI_Init, which rank 1 did not */
	ck_assert_double_eq_tol(
		ns_of(c, CAUSAL_COSTS, ANY_NUMBER, PATH_WORK, 0), 90.0 * 100 / 110, 1e-9);
	ck_assert_double_eq_tol(
		ns_of(c, CAUSAL_COSTS, ANY_NUMBER, PATH_INIT, 0), 90.0 * 10 / 110, 1e-9);
	causal_free(c);
}
END_TEST

/*
 * rank 0  |----------------|S|                     40
 * rank 1  |--|S|                                   10
 * rank 2  |-----|R of 0......|--|R of 1|           20..45, from `again` on
 */
static void two_messages(int64_t sent, int64_t again, int64_t error)
{
	by_hand(3, error);
	begins(0, 0);
	begins(1, 0);
	begins(2, 0);
	sends(0, 2, 7, 40, 41);
	sends(1, 2, 8, sent, sent + 1);
	receives(2, 0, 7, 20, 45);
	receives(2, 1, 8, again, again + 5);
	ends(0, 60);
	ends(1, 60);
	ends(2, 60);
}

static void check_kind(enum wait_kind kind)
{
	struct causal *c = analysed();

	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, kind, RECV, 2), 20);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, kind, RECV, 0), 20);
	ck_assert_double_eq(ns_of(c, CAUSAL_CAUSES, kind, RECV, 0), 20);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), 20);
	causal_free(c);
}

START_TEST(wrong_order)
{
	two_messages(10, 50, 0);
	check_kind(WAIT_WRONG_ORDER);
	two_messages(39, 45, 0); /* while the rank waits, received at once */
	check_kind(WAIT_WRONG_ORDER);
	two_messages(40, 50, 0);
	check_kind(WAIT_LATE_SENDER);
	two_messages(10, 10, 0); /* received before */
	check_kind(WAIT_LATE_SENDER);
}
END_TEST

/* The receive that waits takes so much; the other message is in queue 3. */
static void check_choice(uint32_t takes, enum wait_kind kind)
{
	two_messages(10, 50, 0);
	for (size_t i = 0, n = 0; i < hand.n; i++)
		if (hand.events[i].what == HAND_P2P && !hand.events[i].send) {
			hand.events[i].m.takes = n++ ? 0 : takes;
			hand.events[i].m.queue = 3;
		}
	check_kind(kind);
}

START_TEST(from_any_source)
{
	check_choice(CHOICE_ALL, WAIT_LATE_SENDER);
	check_choice(3, WAIT_LATE_SENDER);
	check_choice(5, WAIT_WRONG_ORDER);
}
END_TEST

/* Of one node, the order of two messages is sure. */
START_TEST(wrong_order_between_nodes)
{
	two_messages(39, 50, 4);
	check_kind(WAIT_WRONG_ORDER);
	/* of rank 0 on another node, and of rank 3 on its own: within the errors of both */
	for (int64_t sent = 31; sent < 33; sent++) {
		by_hand(4, 4);
		for (uint32_t i = 0; i < 4; i++)
			begins(i, 0);
		sends(0, 2, 7, 40, 41);
		sends(3, 2, 8, sent, sent + 1);
		receives(2, 0, 7, 20, 45);
		receives(2, 3, 8, 50, 55);
		for (uint32_t i = 0; i < 4; i++)
			ends(i, 60);
		check_kind(sent < 32 ? WAIT_WRONG_ORDER : WAIT_LATE_SENDER);
	}
}
END_TEST

START_TEST(sender_in_time)
{
	struct causal *c;

	by_hand(2, 0);
	begins(0, 0);
	begins(1, 0);
	sends(0, 1, 7, 10, 20);
	receives(1, 0, 7, 30, 40);
	ends(0, 50);
	ends(1, 50);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(causal_totals(c)->waits, 0);
	causal_free(c);
}
END_TEST

/* Three receives that one call completes: it waits once, for the last sender. */
START_TEST(waits_for_last_sender)
{
	struct causal *c;

	by_hand(4, 0);
	for (uint32_t i = 0; i < 4; i++)
		begins(i, 0);
	for (uint32_t i = 1; i < 4; i++) {
		calls(0, PATH_CALL + 10, i, i + 1);
		message(0, false, i, i, 8, i, 205);
		sends(i, 0, i, 50 * i, 50 * i + 5);
		ends(i, 300);
	}
	calls(0, PATH_CALL + 11, 20, 205);
	ends(0, 300);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_SENDER, PATH_CALL + 11, 0), 130);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_LATE_SENDER, ANY_NUMBER, 3), 130);
	causal_free(c);
}
END_TEST

static const struct {
	enum wait_kind kind;
	double waits[3];
	int64_t ideal;
} collectives[] = {
	/* They enter at 40, 10, 70 and leave at 100; the root is rank 0. Then 5 of useful time. */
	{WAIT_BARRIER, {30, 60, 0}, 75},
	{WAIT_NXN, {30, 60, 0}, 75},
	{WAIT_LATE_ROOT, {0, 30, 0}, 75},
	{WAIT_EARLY_ROOT, {30, 0, 0}, 75},
	{WAIT_SCAN, {0, 30, 0}, 75},
};

/*
 * rank 0  |-----------------|S|           110
 * rank 1  |--|probe........|--|R|--|R|    20..121, 130..140, 150..155
 * rank 2  |---|S|                         30
 */
START_TEST(probed)
{
	struct causal *c;

	by_hand(3, 0);
	for (uint32_t i = 0; i < 3; i++)
		begins(i, 0);
	sends(0, 1, 7, 110, 120);
	sends(2, 1, 8, 30, 31);
	probes(1, 0, 7, 20, 121);
	receives(1, 0, 7, 130, 140);
	receives(1, 2, 8, 150, 155);
	for (uint32_t i = 0; i < 3; i++)
		ends(i, 160);
	c = analysed();
	check_sums(c);
	/* once, in the probe; and it was for the later one of two */
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_WRONG_ORDER, PROBE, 1), 90);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_WRONG_ORDER, PROBE, 0), 90);
	ck_assert_double_eq(causal_totals(c)->waits, 90);
	ck_assert_uint_eq(causal_totals(c)->doubts[CAUSAL_NO_SEND], 0);
	ck_assert_uint_eq(causal_totals(c)->doubts[CAUSAL_STRAY], 0);
	causal_free(c);
}
END_TEST

/* The first of two that are found is received last: they were found in the right order. */
START_TEST(probed_in_order)
{
	struct causal *c;

	by_hand(3, 0);
	for (uint32_t i = 0; i < 3; i++)
		begins(i, 0);
	sends(2, 1, 8, 10, 11);
	sends(0, 1, 7, 110, 120);
	probes(1, 2, 8, 20, 25);
	probes(1, 0, 7, 30, 121);
	receives(1, 0, 7, 130, 140);
	receives(1, 2, 8, 150, 155);
	for (uint32_t i = 0; i < 3; i++)
		ends(i, 160);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_SENDER, PROBE, 1), 80);
	ck_assert_double_eq(causal_totals(c)->waits, 80);
	causal_free(c);
}
END_TEST

/* A probe of a message that nobody sends, or that the sender's file lacks. */
START_TEST(probed_in_vain)
{
	struct causal *c;

	by_hand(2, 0);
	begins(0, 0);
	begins(1, 0);
	probes(1, 0, 7, 20, 121);
	ends(0, 160);
	ends(1, 160);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(causal_totals(c)->waits, 0);
	causal_free(c);
}
END_TEST

/* Nobody has said when it ends. */
/* Of a damaged file: the probe begins after its message was received. */
START_TEST(probed_too_late)
{
	struct causal *c;

	by_hand(4, 20);
	for (uint32_t i = 0; i < 4; i++) {
		begins(i, 0);
		ends(i, 300);
	}
	sends(0, 1, 7, 10, 12);
	receives(1, 0, 7, 5, 30);
	probes(1, 0, 7, 50, 60);
	c = analysed();
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_SENDER, RECV, 1), 5);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, ANY_NUMBER, PROBE, 1), 0);
	causal_free(c);
}
END_TEST

START_TEST(over_with_its_call)
{
	struct causal *c;

	by_hand(3, 0);
	for (uint32_t i = 0; i < 3; i++) {
		begins(i, 0);
		joins(i, WAIT_BARRIER, 1, 0, 10 + 20 * i, 100);
		hand.events[hand.n - 1].all.leave = CAUSAL_WITH_CALL;
		ends(i, 105);
	}
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_BARRIER, COLL, 0), 40);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_BARRIER, COLL, 1), 20);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_BARRIER, COLL, 2), 60);
	ck_assert_double_eq(causal_totals(c)->untold, 0);
	ck_assert_uint_eq(causal_totals(c)->doubts[CAUSAL_MISSING], 0);
	causal_free(c);
}
END_TEST

START_TEST(collective_call)
{
	static const int64_t enters[] = {40, 10, 70};
	struct causal *c;

	by_hand(3, 0);
	for (uint32_t i = 0; i < 3; i++) {
		begins(i, 0);
		works(i, 0, PATH_WORK);
		joins(i, collectives[_i].kind, 1, 0, enters[i], 100);
		ends(i, 105);
	}
	c = analysed();
	check_sums(c);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, collectives[_i].kind, COLL, i),
			collectives[_i].waits[i]);
	ck_assert_int_eq(causal_totals(c)->ideal, collectives[_i].ideal);
	causal_free(c);
}
END_TEST

/* Of its neighbours only: 0 needs 1, 1 needs 0 and 2, and 2 needs 1. */
/* A program that makes a communicator for each step: what is kept does not grow with them. */
START_TEST(many_of_the_same)
{
	enum { MADE = 300 };
	const uint32_t all[] = {0, 1, 2}, other[] = {1, 0, 2}, some[] = {CAUSAL_NONE, 1, 2};
	char *error = NULL;
	struct causal_line lines[3] = {{0}};
	struct causal *c = causal_new(lines, 3, "/tmp", &error);

	for (uint32_t i = 0; i < 3; i++)
		causal_begin(c, i, 0, PATH_INIT, PATH_MAIN);
	for (uint32_t k = 0; k < MADE; k++) {
		const uint32_t comm = causal_comm(c, all, 3);

		ck_assert_uint_eq(comm, k);
		for (uint32_t i = 0; i < 3; i++)
			causal_enter(c, i, 100 * k + 10 + 10 * i, COLL);
		for (uint32_t i = 0; i < 3; i++)
			causal_collective(c, i,
				&(struct causal_collective){.comm = comm,
					.kind = WAIT_BARRIER,
					.root = CAUSAL_NONE,
					.enter = 100 * k + 10 + 10 * i,
					.leave = 100 * k + 40});
		for (uint32_t i = 0; i < 3; i++)
			causal_leave(c, i, 100 * k + 40, PATH_MAIN);
	}
	ck_assert_uint_eq(c->n_comms, MADE);
	ck_assert_uint_eq(c->n_groups, 1);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(c->lines[i].n_groups, 1);
	ck_assert_uint_eq(causal_comm(c, other, 3), MADE);
	ck_assert_uint_eq(causal_comm(c, some, 3), MADE + 1);
	ck_assert_uint_eq(causal_comm(c, some, 3), MADE + 2);
	ck_assert_uint_eq(c->n_groups, 3);
	ck_assert_msg(causal_finish(c, &error), "%s", error);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_BARRIER, COLL, 0), 20 * MADE);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_BARRIER, COLL, 2), 30 * MADE);
	causal_free(c);
}
END_TEST

START_TEST(among_neighbours)
{
	static const uint32_t needed[3][2] = {{1}, {0, 2}, {1}};
	static const int64_t enters[] = {10, 40, 70};
	struct causal *c;

	by_hand(3, 0);
	for (uint32_t i = 0; i < 3; i++) {
		begins(i, 0);
		works(i, 0, PATH_WORK);
		joins(i, WAIT_NEIGHBOURS, 1, 0, enters[i], 100);
		hand.events[hand.n - 1].all.needed = needed[i];
		hand.events[hand.n - 1].all.n_needed = i == 1 ? 2 : 1;
		ends(i, 105);
	}
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_NEIGHBOURS, COLL, 0), 30);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_NEIGHBOURS, COLL, 1), 30);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_NEIGHBOURS, COLL, 2), 0);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_NEIGHBOURS, COLL, 1), 30);
	causal_free(c);
}
END_TEST

/* Calls that say of no message may wait for anything. */
START_TEST(untold)
{
	struct causal *c;

	by_hand(2, 0);
	for (uint32_t i = 0; i < 2; i++) {
		begins(i, 0);
		calls(i, PATH_CALL + 20, 10, 15);
		ends(i, 100);
	}
	hand.eager = 8;
	sends(0, 1, 1, 20, 30); /* these do */
	receives(1, 0, 1, 20, 30);
	calls(0, PATH_CALL, 40, 41);
	message(0, true, 1, 2, 8, 40, 60);
	calls(0, PATH_CALL + 11, 50, 60);
	receives(1, 0, 2, 70, 80);
	c = analysed();
	ck_assert_double_eq(causal_totals(c)->untold, 10);
	ck_assert_uint_eq(causal_totals(c)->doubts[CAUSAL_UNTOLD], 5);
	causal_free(c);
}
END_TEST

/* A member that has left before the last one came did not wait for that one. */
START_TEST(leaves_before_last)
{
	struct causal *c;

	by_hand(3, 0);
	for (uint32_t i = 0; i < 3; i++) {
		begins(i, 0);
		ends(i, 300);
	}
	joins(0, WAIT_NXN, 1, 0, 10, 60);
	joins(1, WAIT_NXN, 1, 0, 50, 60);
	joins(2, WAIT_NXN, 1, 0, 200, 210);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_NXN, COLL, 0), 40);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_NXN, COLL, 1), 40);
	ck_assert_double_eq(causal_totals(c)->waits, 40);
	causal_free(c);
}
END_TEST

/* A non-blocking barrier: its wait is in the call that completes it. */
START_TEST(completed_later)
{
	struct causal *c;

	by_hand(2, 0);
	for (uint32_t i = 0; i < 2; i++) {
		begins(i, 0);
		ends(i, 300);
		calls(i, PATH_CALL + 10, i ? 150 : 10, i ? 151 : 11);
		member(i, WAIT_BARRIER, 1, 0, i ? 150 : 10, 160);
		calls(i, PATH_CALL + 11, i ? 155 : 100, 160);
	}
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_BARRIER, PATH_CALL + 11, 0), 50);
	ck_assert_double_eq(causal_totals(c)->waits, 50);
	causal_free(c);
}
END_TEST

/* A long message is sent when its receive is posted; a short one (8 bytes) at once. */
START_TEST(late_receiver)
{
	struct causal *c;

	by_hand(2, 0);
	hand.eager = 8;
	begins(0, 0);
	begins(1, 0);
	calls(0, PATH_CALL, 10, 95);
	message(0, true, 1, 1, 9, 10, 95);
	calls(1, RECV, 90, 99);
	message(1, false, 0, 1, 9, 90, 99);
	calls(0, PATH_CALL, 110, 195);
	message(0, true, 1, 2, 8, 110, 195);
	calls(1, RECV, 190, 199);
	message(1, false, 0, 2, 8, 190, 199);
	ends(0, 300);
	ends(1, 300);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_RECEIVER, PATH_CALL, 0), 80);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_LATE_RECEIVER, PATH_CALL, 1), 80);
	ck_assert_double_eq(causal_totals(c)->waits, 80);
	/* rank 0 goes on from the post of rank 1, at 90; the longest chain is rank 1 alone */
	ck_assert_int_eq(causal_totals(c)->ideal, 90 + 91 + 101);
	causal_free(c);
}
END_TEST

/* MPI_Sendrecv of a pair: both parts wait until the partner comes. _i: which is told first. */
START_TEST(late_partner)
{
	struct causal *c;

	by_hand(2, 0);
	for (uint32_t line = 0; line < 2; line++) {
		const int64_t enter = line ? 20 : 100;

		begins(line, 0);
		works(line, 0, PATH_WORK);
		calls(line, PATH_CALL, enter, 120);
		message(line, _i == 0, !line, 7 + (line ^ (_i != 0)), 8, enter, 120);
		message(line, _i != 0, !line, 7 + (line ^ (_i == 0)), 8, enter, 120);
		ends(line, 130);
	}
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_SENDER, PATH_CALL, 1), 80);
	ck_assert_double_eq(ns_of(c, CAUSAL_LATE, WAIT_LATE_SENDER, PATH_CALL, 0), 80);
	ck_assert_double_eq(causal_totals(c)->waits, 80);
	causal_free(c);
}
END_TEST

#define CHAIN 8u

/* Each rank receives from the one before and sends to the next; rank 0 works 30 more. */
START_TEST(chain_goes_back_to_first)
{
	const uint32_t repeats = 10;
	int64_t sent[CHAIN][16];
	struct causal *c;

	by_hand(CHAIN, 0);
	for (uint32_t i = 0; i < CHAIN; i++) {
		int64_t t = 0;

		begins(i, t);
		for (uint32_t k = 0; k < repeats; k++) {
			works(i, t, PATH_WORK);
			t += 20;
			if (!i) {
				works(i, t, PATH_OTHER);
				t += 30;
			} else {
				const int64_t enter = t;
				const int64_t there = sent[i - 1][k] + 2;

				t = (there > t ? there : t) + 1;
				receives(i, i - 1, 1 + k * CHAIN + i, enter, t);
			}
			sent[i][k] = t;
			if (i + 1 < CHAIN)
				sends(i, i + 1, 2 + k * CHAIN + i, t, t + 2);
			t += i + 1 < CHAIN ? 2 : 0;
		}
		ends(i, t + 10);
	}
	c = analysed();
	check_sums(c);
	ck_assert_double_gt(causal_totals(c)->waits, 7 * 10 * 20);
	ck_assert_double_gt(
		ns_of(c, CAUSAL_COSTS, ANY_NUMBER, ANY_NUMBER, 0), 0.95 * causal_totals(c)->waits);
	ck_assert_double_gt(
		ns_of(c, CAUSAL_COSTS, ANY_NUMBER, PATH_OTHER, 0), 0.75 * causal_totals(c)->waits);
	causal_free(c);
}
END_TEST

/* Rank 2 loses 40 in PATH_OTHER and is in PATH_WORK, as all, when the others wait for it. */
START_TEST(excess_is_named)
{
	struct causal *c;

	by_hand(3, 0);
	for (uint32_t i = 0; i < 3; i++) {
		int64_t t = 0;

		begins(i, 0);
		for (uint32_t k = 0; k < 5; k++) {
			works(i, t, PATH_OTHER);
			works(i, t + (i == 2 ? 41 : 1), PATH_WORK);
			joins(i, WAIT_NXN, k, 0, t + (i == 2 ? 91 : 51), t + 100);
			t += 100;
		}
		ends(i, t);
	}
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(causal_totals(c)->waits, 2 * 5 * 40);
	ck_assert_double_eq_tol(
		ns_of(c, CAUSAL_COSTS, ANY_NUMBER, PATH_OTHER, 2), 2 * 5 * 40, 1e-9);
	causal_free(c);
}
END_TEST

/* Of a neighbour in a halo exchange: what it did since the exchange before counts. */
START_TEST(excess_since_exchange)
{
	struct causal *c;

	by_hand(2, 0);
	for (uint32_t i = 0; i < 2; i++) {
		begins(i, 0);
		for (uint32_t k = 0; k < 3; k++) {
			const int64_t t = 100 * k;
			const int64_t enter = t + (i ? 80 : 20);

			works(i, t, i ? PATH_OTHER : PATH_WORK);
			calls(i, COLL, enter, t + 100); /* Sendrecv */
			message(i, true, !i, 10 + 2 * k + i, 8, enter, t + 100);
			message(i, false, !i, 10 + 2 * k + !i, 8, enter, t + 100);
		}
		ends(i, 300);
	}
	hand.eager = 8;
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(causal_totals(c)->waits, 3 * 60);
	ck_assert_double_eq(ns_of(c, CAUSAL_COSTS, ANY_NUMBER, PATH_OTHER, 1), 3 * 60);
	causal_free(c);
}
END_TEST

/* Clocks of two nodes: a receive ends 3 before its send by them, and they may be wrong by 5. */
START_TEST(clocks_that_differ)
{
	struct causal *c;

	by_hand(4, 5);
	for (uint32_t i = 0; i < 4; i++)
		begins(i, 0);
	sends(0, 2, 1, 100, 101);
	receives(2, 0, 1, 40, 97);
	sends(0, 3, 2, 110, 111); /* 9 after the receive: it may be an error */
	receives(3, 0, 2, 101, 120);
	sends(0, 1, 3, 120, 121); /* the same node: it is none */
	receives(1, 0, 3, 111, 130);
	for (uint32_t i = 0; i < 4; i++)
		ends(i, 200);
	c = analysed();
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_SENDER, RECV, 2), 57);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_SENDER, RECV, 3), 0);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_LATE_SENDER, RECV, 1), 9);
	ck_assert_uint_eq(causal_totals(c)->unresolved, 1);
	ck_assert_double_eq(causal_totals(c)->unresolved_ns, 9);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), 200);
	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++)
		ck_assert_uint_eq(causal_totals(c)->doubts[i], 0);
	causal_free(c);
}
END_TEST

/* The line is in path, within its call, and at `to` in the call again. */
static void within(uint32_t line, uint32_t path, int64_t from, int64_t to)
{
	works(line, from, path);
	hand_add(HAND_PATH, line, to)->path = COLL;
}

/*
 * Functions of the program that MPI calls are useful; a wait goes on while it calls some, as a
 * tree of MPI_Allreduce does on the way to a rank that is late:
 *
 * rank 0  |---|......op op......:op|=====op==|---|      10..100
 * rank 1  |---------------------|============|---|      60..100
 */
START_TEST(function_in_call)
{
	struct causal *c;

	by_hand(2, 0);
	begins(0, 0);
	begins(1, 0);
	works(1, 0, PATH_WORK);
	joins(0, WAIT_NXN, 1, 0, 10, 100);
	within(0, PATH_OTHER, 20, 25);
	within(0, PATH_OTHER, 30, 35);
	within(0, PATH_OTHER, 50, 70);
	within(0, PATH_OTHER, 80, 90);
	joins(1, WAIT_NXN, 1, 0, 60, 100);
	ends(0, 111);
	ends(1, 110);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(causal_totals(c)->waits, 50);
	ck_assert_double_eq(causal_totals(c)->useful, 40 + 21 + 70);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_WORK, 1), 60);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_OTHER, 0), 10 + 10);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, COLL, 0), 10 + 10);
	ck_assert_double_eq(ns_of(c, CAUSAL_TIMES, ANY_NUMBER, PATH_OTHER, 0), 10 + 10);
	causal_free(c);
}
END_TEST

/* Of waits that end with a function, or where one begins, and of one that is the whole call. */
START_TEST(function_at_end_of_wait)
{
	static const int64_t late[] = {30, 40, 50, 100};

	for (size_t i = 0; i < ARRAY_SIZE(late); i++) {
		struct causal *c;

		by_hand(2, 0);
		begins(0, 0);
		begins(1, 0);
		works(1, 0, PATH_WORK);
		joins(0, WAIT_NXN, 1, 0, 10, 100);
		within(0, PATH_OTHER, 30, 40);
		within(0, PATH_OTHER, 50, 60);
		joins(1, WAIT_NXN, 1, 0, late[i], late[i] + 1);
		ends(0, 111);
		ends(1, 110);
		c = analysed();
		check_sums(c);
		ck_assert_double_eq(causal_totals(c)->waits, (double)(late[i] - 10));
		ck_assert_double_eq(
			ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_WORK, 1), (double)late[i]);
		ck_assert_double_eq(
			ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_OTHER, 0), late[i] == 30	   ? 20
									  : late[i] == 100 ? 0
											   : 10);
		causal_free(c);
	}
}
END_TEST

/* As MPI_Allreduce_sync, from the call's begin on. */
START_TEST(frame_of_its_call)
{
	struct causal *c;

	by_hand(2, 0);
	begins(0, 0);
	begins(1, 0);
	joins(0, WAIT_NXN, 1, 0, 10, 100);
	hand_add(HAND_PATH, 0, 10)->path = COLL;
	hand_add(HAND_PATH, 0, 60)->path = COLL;
	joins(1, WAIT_NXN, 1, 0, 60, 100);
	ends(0, 111);
	ends(1, 110);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(causal_totals(c)->waits, 50);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, COLL, 0), 40);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_MAIN, 1), 60);
	causal_free(c);
}
END_TEST

/* A wait for a thread is no useful time, and is as long if messages take no time. */
START_TEST(lock_wait)
{
	struct causal *c;
	struct causal_line_times t;
	struct hand_event *e;

	by_hand(2, 0);
	begins(0, 0);
	begins(1, 0);
	e = hand_add(HAND_PATH, 0, 20);
	e->path = PATH_OTHER;
	e->work = CAUSAL_LOCK_WAIT;
	works(0, 50, PATH_MAIN);
	joins(0, WAIT_NXN, 1, 0, 60, 100);
	joins(1, WAIT_NXN, 1, 0, 10, 100);
	ends(0, 110);
	ends(1, 110);
	c = analysed();
	check_sums(c);
	ck_assert_double_eq(causal_totals(c)->useful, 30 + 10 + 10 + 10);
	ck_assert_double_eq(causal_totals(c)->lock_wait, 30);
	ck_assert_double_eq(causal_totals(c)->mpi, 40 + 90);
	ck_assert_int_eq(causal_totals(c)->useful_max, 40);
	ck_assert_int_eq(causal_totals(c)->ideal, 70);
	ck_assert(causal_line_times(c, 0, &t));
	ck_assert_int_eq(t.useful, 40);
	ck_assert_int_eq(t.lock_wait, 30);
	/* who waits for the one that waits, waits for what it did: three parts of five */
	ck_assert_double_eq(causal_totals(c)->waits, 50);
	ck_assert_double_eq(ns_of(c, CAUSAL_COSTS, ANY_NUMBER, PATH_OTHER, 0), 30);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, PATH_OTHER, 0), 30);
	causal_free(c);
}
END_TEST

/* What is missing is said, and nothing waits for it for ever. */
/* What another thread has received meanwhile: the call of the line did not wait for it. */
START_TEST(other_thread)
{
	struct causal *c;

	by_hand(2, 0);
	hand.eager = 8;
	begins(0, 0);
	begins(1, 0);
	calls(0, PATH_CALL + 20, 10, 100);
	message(0, false, 1, 1, 8, 20, 60);
	sends(1, 0, 1, 50, 51);
	ends(0, 200);
	ends(1, 200);
	c = analysed();
	ck_assert_double_eq(causal_totals(c)->waits, 0);
	ck_assert_uint_eq(causal_totals(c)->doubts[CAUSAL_STRAY], 1);
	causal_free(c);
}
END_TEST

START_TEST(what_is_missing)
{
	const struct causal_totals *t;
	struct causal *c;

	by_hand(3, 0);
	for (uint32_t i = 0; i < 3; i++) {
		begins(i, 0);
		ends(i, 200);
	}
	receives(0, 1, 9, 10, 20);
	joins(0, WAIT_BARRIER, 1, 0, 30, 40);
	joins(1, WAIT_BARRIER, 1, 0, 35, 40);
	calls(2, RECV, 50, 60);
	message(2, false, 1, 10, 8, 50, 65); /* completed in no call */
	sends(1, 2, 10, 50, 60);
	calls(2, RECV, 70, 80);
	c = analysed();
	t = causal_totals(c);
	ck_assert_uint_eq(t->doubts[CAUSAL_NO_SEND], 1);
	ck_assert_uint_eq(t->doubts[CAUSAL_MISSING], 1);
	ck_assert_uint_eq(t->doubts[CAUSAL_STRAY], 1);
	ck_assert_double_eq(ns_of(c, CAUSAL_WAITS, WAIT_BARRIER, COLL, 0), 5);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), 200);
	causal_free(c);
}
END_TEST

/* Matches that can't be: two that receive first what the other sends later. */
START_TEST(contradiction)
{
	struct causal *c;

	by_hand(4, 20);
	for (uint32_t i = 0; i < 4; i++) {
		begins(i, 0);
		ends(i, 100);
	}
	receives(0, 2, 1, 10, 20);
	sends(0, 2, 2, 30, 31);
	receives(2, 0, 2, 10, 20);
	sends(2, 0, 1, 30, 31);
	c = analysed();
	ck_assert_uint_ge(causal_totals(c)->doubts[CAUSAL_CYCLE], 1);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, ANY_NUMBER, ANY_NUMBER), 100);
	causal_free(c);
}
END_TEST

START_TEST(rank_without_end)
{
	struct causal *c;

	by_hand(2, 0);
	begins(0, 0);
	begins(1, 0);
	works(1, 10, PATH_WORK);
	hand_add(HAND_ENTER, 1, 50)->path = PATH_CALL; /* and it was killed */
	ends(0, 40);
	c = analysed();
	ck_assert_int_eq(causal_totals(c)->end, 50);
	ck_assert_double_eq(ns_of(c, CAUSAL_PATH, ANY_NUMBER, ANY_NUMBER, 1), 50);
	causal_free(c);
}
END_TEST

/* ---- at random
 * ----------------------------------------------------------------------------------- */

struct program {
	struct dice dice;
	int64_t now[64];
	uint64_t flow, ticket;
};

static int64_t between(struct program *p, int64_t least, int64_t most)
{
	return least + throw_dice(&p->dice, (uint32_t)(most - least + 1));
}

static void random_work(struct program *p)
{
	for (uint32_t i = 0; i < hand.n_lines; i++) {
		works(i, p->now[i], PATH_WORK + throw_dice(&p->dice, 5));
		p->now[i] += between(p, 1, 1000);
	}
}

static void random_message(struct program *p)
{
	const uint32_t from = throw_dice(&p->dice, hand.n_lines);
	const uint32_t to = (from + 1 + throw_dice(&p->dice, hand.n_lines - 1)) % hand.n_lines;
	const int64_t sent = p->now[from], posted = p->now[to];

	p->now[from] += between(p, 1, 20);
	p->now[to] = (sent > posted ? sent : posted) + between(p, 1, 30);
	sends(from, to, ++p->flow, sent, p->now[from]);
	receives(to, from, p->flow, posted, p->now[to]);
}

static void random_collective(struct program *p)
{
	const enum wait_kind kind =
		WAIT_BARRIER + throw_dice(&p->dice, WAIT_NEIGHBOURS - WAIT_BARRIER);
	const uint32_t n = hand.n_lines, root = throw_dice(&p->dice, n);
	int64_t last = 0, below = 0;

	p->ticket++;
	for (uint32_t i = 0; i < n; i++)
		last = p->now[i] > last ? p->now[i] : last;
	for (uint32_t i = 0; i < n; i++) {
		const int64_t enter = p->now[i];
		const bool all = kind == WAIT_BARRIER || kind == WAIT_NXN ||
				 (kind == WAIT_EARLY_ROOT && i == root);
		int64_t from = all ? last : enter;

		if (kind == WAIT_SCAN && below > from)
			from = below;
		if (kind == WAIT_SCAN && enter > below)
			below = enter;
		if (kind == WAIT_LATE_ROOT && i != root && p->now[root] > from)
			from = p->now[root];
		if (i != root || kind != WAIT_LATE_ROOT)
			p->now[i] = from + between(p, 1, 50);
		joins(i, kind, p->ticket, root, enter,
			i == root && kind == WAIT_LATE_ROOT ? enter + 1 : p->now[i]);
	}
	if (kind == WAIT_LATE_ROOT)
		p->now[root]++;
}

/* More events than a block of the temporary file has. */
START_TEST(sums_hold)
{
	struct program p = {.dice = {(uint64_t)_i + 1}};
	struct causal *c;

	by_hand(2 + throw_dice(&p.dice, 7), 0);
	hand.eager = 8;
	for (uint32_t i = 0; i < hand.n_lines; i++)
		begins(i, p.now[i] = between(&p, 0, 100));
	for (uint32_t k = 0; k < 600; k++) {
		random_work(&p);
		if (throw_dice(&p.dice, 4))
			random_message(&p);
		else
			random_collective(&p);
	}
	for (uint32_t i = 0; i < hand.n_lines; i++)
		ends(i, p.now[i]);
	c = analysed();
	check_sums(c);
	ck_assert_double_gt(causal_totals(c)->waits, 0);
	causal_free(c);
}
END_TEST

START_TEST(no_folder)
{
	const struct causal_line line = {0};
	char *error = NULL;

	ck_assert_ptr_null(causal_new(&line, 1, "/no/such/folder", &error));
	ck_assert_ptr_nonnull(strstr(error, "/no/such/folder"));
	free(error);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("causal");
	TCase *tc = tcase_create("causal");

	tcase_add_test(tc, late_sender);
	tcase_add_test(tc, wrong_order);
	tcase_add_test(tc, from_any_source);
	tcase_add_test(tc, wrong_order_between_nodes);
	tcase_add_test(tc, sender_in_time);
	tcase_add_test(tc, waits_for_last_sender);
	tcase_add_test(tc, probed);
	tcase_add_test(tc, probed_in_order);
	tcase_add_test(tc, probed_in_vain);
	tcase_add_test(tc, probed_too_late);
	tcase_add_test(tc, over_with_its_call);
	tcase_add_loop_test(tc, collective_call, 0, ARRAY_SIZE(collectives));
	tcase_add_test(tc, many_of_the_same);
	tcase_add_test(tc, among_neighbours);
	tcase_add_test(tc, untold);
	tcase_add_test(tc, leaves_before_last);
	tcase_add_test(tc, completed_later);
	tcase_add_test(tc, late_receiver);
	tcase_add_loop_test(tc, late_partner, 0, 2);
	tcase_add_test(tc, chain_goes_back_to_first);
	tcase_add_test(tc, excess_is_named);
	tcase_add_test(tc, excess_since_exchange);
	tcase_add_test(tc, clocks_that_differ);
	tcase_add_test(tc, function_in_call);
	tcase_add_test(tc, function_at_end_of_wait);
	tcase_add_test(tc, frame_of_its_call);
	tcase_add_test(tc, other_thread);
	tcase_add_test(tc, lock_wait);
	tcase_add_test(tc, what_is_missing);
	tcase_add_test(tc, contradiction);
	tcase_add_test(tc, rank_without_end);
	tcase_add_loop_test(tc, sums_hold, 0, 30);
	tcase_add_test(tc, no_folder);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
