/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads are: sets of ranks, merging, who has not come, cycles, and packets. */
#include <stdio.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/trace/collective.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define SECOND UINT64_C(1000000000)

static struct where a, b;
static struct dice dice = {19};
static unsigned char packed[WHERE_PACKED_MOST];

static enum collective_kind kind_of(const char *path)
{
	return strstr(path, "MPI_Bcast")    ? COLLECTIVE_FROM_ROOT
	       : strstr(path, "MPI_Reduce") ? COLLECTIVE_TO_ROOT
					    : COLLECTIVE_BETWEEN_ALL;
}

/* The root of a call that has one is rank 0. */
static void add_place(
	struct where *w, const char *path, uint64_t comm, uint32_t call, uint32_t rank)
{
	struct where_place p = {.hash = 1000 * comm + call + 7 * strlen(path),
		.threads = 1,
		.processes = 1,
		.alone = 1,
		.in_mpi = 1,
		.since_least = SECOND * (rank + 2),
		.since_most = SECOND * (rank + 2),
		.comm = comm,
		.call = call,
		.kind = comm ? kind_of(path) : COLLECTIVE_UNKNOWN,
		.root = kind_of(path) == COLLECTIVE_BETWEEN_ALL ? WHERE_ANY : 0};

	snprintf(p.path, sizeof(p.path), "%s", path);
	where_add_ranks(&p.ranks, rank, rank);
	where_add_place(w, &p);
	where_add_ranks(&w->ranks, rank, rank);
}

static void add_comm(struct where *w, uint64_t id, uint32_t call, uint32_t size, uint32_t rank)
{
	struct where_comm c = {.id = id, .call = call, .size = size};

	where_add_ranks(&c.members, 0, size - 1);
	where_add_ranks(&c.ranks, rank, rank);
	where_add_comm(w, &c);
}

/* A receive of one rank from another one; of: that it waits for. */
static void add_wait(uint32_t rank, uint32_t peer, uint32_t of)
{
	where_add_wait(&a, &(struct where_wait){.rank = rank,
				   .kind = WHERE_RECEIVE,
				   .peer = peer,
				   .n = of > 1,
				   .of = of,
				   .alone = 1,
				   .since = 2 * SECOND,
				   .comm_id = 9});
}

START_TEST(ranks_are_runs_whatever_their_order)
{
	for (int round = 0; round < 200; round++) {
		struct where_ranks r = {0};
		bool has[64] = {false};

		for (int i = 0; i < 40; i++) {
			const uint32_t first = throw_dice(&dice, 60),
				       last = first + throw_dice(&dice, 4);

			where_add_ranks(&r, first, last);
			for (uint32_t k = first; k <= last; k++)
				has[k] = true;
			for (uint32_t k = 0; k < 64; k++)
				ck_assert_int_eq(where_has_rank(&r, k), has[k]);
		}
		for (uint32_t i = 1; i < r.n; i++)
			ck_assert_uint_gt(r.run[i].first, r.run[i - 1].last + 1);
	}
}
END_TEST

START_TEST(ranks_beyond_the_last_run_are_said_to_be_left_out)
{
	struct where_ranks r = {0};

	for (uint32_t i = 0; i < WHERE_RUNS_MAX; i++)
		where_add_ranks(&r, 2 * i, 2 * i);
	ck_assert_int_eq(r.cut, false);
	where_add_ranks(&r, 1000, 1000);
	ck_assert_int_eq(r.cut, true);
	ck_assert_uint_eq(where_count_ranks(&r), WHERE_RUNS_MAX);
	where_add_ranks(
		&r, UINT32_MAX, UINT32_MAX); /* the greatest number is no end of the world */
	ck_assert_int_eq(where_has_rank(&r, 0), true);
}
END_TEST

START_TEST(who_is_behind_in_a_collective_call_is_missing)
{
	struct where_ranks missing;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	add_place(&a, "main\nMPI_Barrier", 9, 5, 0);
	add_comm(&a, 9, 5, 4, 0);
	add_comm(&b, 9, 6, 4, 1); /* has left it already */
	add_comm(&b, 9, 4, 4, 2); /* is one behind */
	where_merge(&a, &b);
	ck_assert_int_eq(where_missing(&a, &a.places[0], &missing), true);
	ck_assert_uint_eq(where_count_ranks(&missing), 2); /* 3 has called nothing */
	ck_assert_int_eq(where_has_rank(&missing, 2) && where_has_rank(&missing, 3), true);
	a.comms_cut = 1;
	ck_assert_int_eq(where_missing(&a, &a.places[0], &missing), false);
}
END_TEST

START_TEST(numbers_of_calls_go_round)
{
	struct where_ranks missing;

	memset(&a, 0, sizeof(a));
	add_place(&a, "main\nMPI_Barrier", 9, UINT32_MAX, 0);
	add_comm(&a, 9, UINT32_MAX, 3, 0);
	add_comm(&a, 9, 0, 3, 1);
	add_comm(&a, 9, UINT32_MAX - 1, 3, 2);
	ck_assert_int_eq(where_missing(&a, &a.places[0], &missing), true);
	ck_assert_uint_eq(where_count_ranks(&missing), 1);
	ck_assert_uint_eq(missing.run[0].first, 2);
}
END_TEST

/* Ranks 0 and 1 in calls of two communicators, each without the other one. */
static void cross(const char *function)
{
	memset(&a, 0, sizeof(a));
	add_place(&a, function, 9, 0, 0);
	add_place(&a, function, 8, 0, 1);
	add_comm(&a, 9, 0, 2, 0);
	add_comm(&a, 8, 0, 2, 1);
}

START_TEST(a_cycle_is_one_only_where_nobody_may_leave_before_all_have_come)
{
	uint32_t ranks[8];

	cross("main\nMPI_Allreduce");
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 2);
	ck_assert_uint_eq(where_cycle(&a, 10 * SECOND, ranks, 8), 0);
	a.places[1].alone = 0;
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 0);
	cross("main\nMPI_Bcast");
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 0);
}
END_TEST

/* Two ranks of four are in the call, and one of the others receives from one of them. */
static size_t meet_and_receive(const char *path, uint32_t one, uint32_t two, uint32_t receiver)
{
	uint32_t ranks[8];

	memset(&a, 0, sizeof(a));
	add_place(&a, path, 9, 5, one);
	add_comm(&a, 9, 5, 4, one);
	add_place(&a, path, 9, 5, two);
	add_comm(&a, 9, 5, 4, two);
	add_wait(receiver, one, 1);
	return where_cycle(&a, SECOND, ranks, 8);
}

START_TEST(from_a_root_the_others_wait_for_it_and_to_a_root_it_for_all)
{
	ck_assert_uint_eq(meet_and_receive("main\nMPI_Bcast", 2, 3, 0), 2);
	ck_assert_uint_eq(meet_and_receive("main\nMPI_Bcast", 2, 3, 1), 0);
	ck_assert_uint_eq(meet_and_receive("main\nMPI_Bcast", 0, 3, 1), 0);
	ck_assert_uint_eq(meet_and_receive("main\nMPI_Reduce", 0, 3, 1), 2);
	ck_assert_uint_eq(meet_and_receive("main\nMPI_Reduce", 2, 3, 0), 0);
	ck_assert_uint_eq(meet_and_receive("main\nMPI_Wait", 2, 3, 1), 2);
}
END_TEST

START_TEST(a_chain_of_sends_is_no_cycle_until_it_closes)
{
	uint32_t ranks[8];

	memset(&a, 0, sizeof(a));
	for (uint32_t i = 0; i < 5; i++)
		add_wait(i, i + 1, 1);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 0);
	add_wait(5, 2, 1);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 4);
	ck_assert_uint_eq(ranks[0], 2);
	ck_assert_uint_eq(ranks[3], 5);
}
END_TEST

/* Rank 0 lacks ranks 1 to 3 of 4; only what rank 3 does may close a cycle. */
START_TEST(a_cycle_may_lead_through_any_of_those_that_have_not_come)
{
	uint32_t ranks[8];

	memset(&a, 0, sizeof(a));
	add_place(&a, "main\nMPI_Barrier", 9, 0, 0);
	add_comm(&a, 9, 0, 4, 0);
	add_place(&a, "main\nwork", 0, 0, 1);
	add_place(&a, "main\nwork", 0, 0, 2);
	add_place(&a, "main\nMPI_Ssend", 0, 0, 3);
	add_wait(3, 1, 1);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 0);
	a.waits[0].peer = 0;
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 2);
	ck_assert_uint_eq(ranks[0], 0);
	ck_assert_uint_eq(ranks[1], 3);
}
END_TEST

/* Rank 0 may wait for 1 or 2; 2 waits for 3, which works until it waits for 0, too. */
START_TEST(of_some_that_may_be_awaited_all_must_be_stuck)
{
	uint32_t ranks[8];

	memset(&a, 0, sizeof(a));
	add_wait(0, 1, 2);
	add_wait(0, 2, 2);
	add_wait(1, 0, 1);
	add_wait(2, 3, 1);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 0);
	add_wait(3, 0, 1);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 2);
	ck_assert_uint_eq(ranks[0], 0);
	ck_assert_uint_eq(ranks[1], 1);
	a.waits[0].of = a.waits[1].of = 3; /* one of them has no row */
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 0);
}
END_TEST

START_TEST(a_receive_from_any_rank_may_be_ended_by_any_member)
{
	uint32_t ranks[8];

	memset(&a, 0, sizeof(a));
	add_wait(0, WHERE_ANY, 1);
	add_wait(1, 0, 1);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 0); /* whose members are not known */
	add_comm(&a, 9, UINT32_MAX, 3, 0);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 0);
	add_wait(2, 1, 1);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 8), 2);
	ck_assert_uint_eq(ranks[0], 0);
	ck_assert_uint_eq(ranks[1], 1);
}
END_TEST

START_TEST(a_long_cycle_is_found_and_one_that_has_no_room_is_none)
{
	uint32_t ranks[WHERE_WAITS_MAX];

	memset(&a, 0, sizeof(a));
	for (uint32_t i = 0; i < WHERE_WAITS_MAX; i++)
		add_wait((i * 77 + 5) % WHERE_WAITS_MAX, (i * 77 + 82) % WHERE_WAITS_MAX, 1);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, WHERE_WAITS_MAX), WHERE_WAITS_MAX);
	ck_assert_uint_eq(ranks[0], 0);
	ck_assert_uint_eq(ranks[1], 77);
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, WHERE_WAITS_MAX - 1), 0);
	a.n_waits--; /* a chain, which nobody may look at from its begin */
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, WHERE_WAITS_MAX), 0);
}
END_TEST

/* Each of 64 ranks waits for all others that come later, and for ranks that are nowhere. */
START_TEST(many_ways_without_a_cycle_have_an_end)
{
	uint32_t ranks[64];

	memset(&a, 0, sizeof(a));
	for (uint32_t i = 0; i < 60; i++) {
		struct where_comm c = {.id = i + 1, .size = UINT32_MAX};

		add_place(&a, "main\nMPI_Barrier", i + 1, 0, i);
		where_add_ranks(&c.members, i + 1, UINT32_MAX - 1);
		where_add_ranks(&c.ranks, i, i);
		where_add_comm(&a, &c);
	}
	ck_assert_uint_eq(where_cycle(&a, SECOND, ranks, 64), 0);
}
END_TEST

static void fill_places(uint32_t n)
{

	memset(&a, 0, sizeof(a));
	for (uint32_t i = 0; i < n; i++) {
		struct where_place p = {.hash = i + 1, .threads = i + 1, .processes = 1};

		snprintf(p.path, sizeof(p.path), "main\n%0*u", (int)(i % 900) + 1, i);
		for (uint32_t k = 0; k < WHERE_RUNS_MAX; k++)
			where_add_ranks(&p.ranks, 100000000 * (k + 1), 100000000 * (k + 1));
		a.threads += p.threads;
		where_add_place(&a, &p);
	}
}

static uint64_t threads_of(const struct where *w)
{
	uint64_t n = w->threads_cut;

	for (size_t i = 0; i < w->n_places; i++)
		n += w->places[i].threads;
	return n;
}

START_TEST(what_does_not_fit_is_counted_and_the_places_with_most_threads_stay)
{
	fill_places(1000);
	ck_assert_uint_eq(a.n_places, WHERE_PLACES_MAX);
	ck_assert_uint_eq(threads_of(&a), a.threads);
	ck_assert_uint_le(where_pack(&a, packed), WHERE_PACKED_MOST);
	ck_assert_ptr_null(where_unpack(&b, packed, where_pack(&a, packed)));
	ck_assert_uint_gt(b.n_places, 10);
	ck_assert_uint_eq(threads_of(&b), a.threads);
	ck_assert_uint_eq(b.places_cut + b.n_places, 1000);
	ck_assert_uint_eq(b.places[0].threads, 1000);
}
END_TEST

START_TEST(a_packet_comes_back_as_it_was)
{
	memset(&a, 0, sizeof(a));
	a.nodes = 3;
	add_place(&a, "init\nmain\nMPI_Barrier", 9, 5, 2);
	snprintf(a.places[0].lock, sizeof(a.places[0].lock), "mutex heat:cells");
	snprintf(a.places[0].holder, sizeof(a.places[0].holder), "thread 3 in update < step");
	add_comm(&a, 9, 5, 4, 2);
	where_add_wait(
		&a, &(struct where_wait){.rank = 1, .peer = 2, .tag = 3, .of = 7, .comm = "c"});
	ck_assert_ptr_null(where_unpack(&b, packed, where_pack(&a, packed)));
	ck_assert_int_eq(memcmp(&a, &b, sizeof(a)), 0);
}
END_TEST

/* Who sends more than one line would say something in our name. */
START_TEST(a_name_is_one_line)
{
	memset(&a, 0, sizeof(a));
	add_place(&a, "main\nMPI_Barrier", 9, 5, 2);
	snprintf(a.places[0].lock, sizeof(a.places[0].lock), "mutex a\n1 b");
	snprintf(a.places[0].holder, sizeof(a.places[0].holder), "thread 3\n1 b");
	where_add_wait(
		&a, &(struct where_wait){.rank = 1, .peer = 2, .tag = 3, .of = 7, .comm = "c\nd"});
	add_comm(&a, 9, 5, 4, 2);
	snprintf(a.comms[0].name, sizeof(a.comms[0].name), "e\nf");
	ck_assert_ptr_null(where_unpack(&b, packed, where_pack(&a, packed)));
	ck_assert_str_eq(b.places[0].path, "main\nMPI_Barrier");
	ck_assert_str_eq(b.places[0].lock, "mutex a?1 b");
	ck_assert_str_eq(b.places[0].holder, "thread 3?1 b");
	ck_assert_str_eq(b.waits[0].comm, "c?d");
	ck_assert_str_eq(b.comms[0].name, "e?f");
}
END_TEST

/* A cycle of n threads of a process, with locks whose names have this many bytes. */
static void add_locked(struct where *w, uint32_t pid, uint32_t n, size_t bytes)
{
	static struct where_locked rows[WHERE_LOCKED_MAX + 1];

	for (uint32_t i = 0; i < n; i++) {
		rows[i] = (struct where_locked){
			.rank = 7, .pid = pid, .thread = i, .of = n, .since = SECOND + i};
		memset(rows[i].lock, 'm', bytes);
	}
	where_add_locked(w, rows);
}

/* Each cycle is there as a whole. */
static void check_cycles(const struct where *w, const uint32_t *pids, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(w->locked[at].pid, pids[i]);
		for (uint32_t k = 0; k < w->locked[at].of; k++) {
			ck_assert_uint_eq(w->locked[at + k].pid, pids[i]);
			ck_assert_uint_eq(w->locked[at + k].thread, k);
		}
		at += w->locked[at].of;
	}
	ck_assert_uint_eq(at, w->n_locked);
}

START_TEST(cycles_of_threads_come_whole_or_are_counted)
{
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	add_locked(&a, 100, 2, 10);
	add_locked(&a, 101, 1, 10);
	add_locked(&b, 102, 60, 10);
	add_locked(&b, 103, 4, 10);
	ck_assert_uint_eq(b.n_locked, WHERE_LOCKED_MAX);
	where_merge(&a, &b);
	check_cycles(&a, (const uint32_t[]){100, 101, 102}, 3);
	ck_assert_uint_eq(a.locked_cut, 4);
	add_locked(&a, 104, WHERE_LOCKED_MAX + 1, 10);
	ck_assert_uint_eq(a.locked_cut, 4 + WHERE_LOCKED_MAX + 1);
	ck_assert(where_is_locked(&a.locked[0], SECOND));
	ck_assert(!where_is_locked(&a.locked[0], SECOND + 1));
	ck_assert_ptr_null(where_unpack(&b, packed, where_pack(&a, packed)));
	ck_assert_mem_eq(&b, &a, sizeof(a));
}
END_TEST

START_TEST(a_packet_has_room_for_some_cycles_and_no_part_of_one)
{
	fill_places(WHERE_PLACES_MAX);
	for (uint32_t i = 0; i < 8; i++)
		add_locked(&a, i, 8, WHERE_LOCK_BYTES - 1);
	ck_assert_ptr_null(where_unpack(&b, packed, where_pack(&a, packed)));
	ck_assert_uint_gt(b.n_locked, 0);
	ck_assert_uint_gt(b.locked_cut, 0);
	ck_assert_uint_eq(b.n_locked + b.locked_cut, a.n_locked);
	check_cycles(&b, (const uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7}, b.n_locked / 8);
}
END_TEST

/* Any bytes: taken or refused, and what is taken is within its bounds. */
START_TEST(packets_of_nobody_harm_nobody)
{
	size_t n;

	fill_places(20);
	add_comm(&a, 9, 5, 4, 2);
	add_locked(&a, 100, 3, 10);
	add_locked(&a, 101, 1, 10);
	for (int round = 0; round < 5000; round++) {
		n = where_pack(&a, packed);
		if (round % 5 == 0)
			n = throw_dice(&dice, (uint32_t)n + 1);
		for (int i = 0; i < 3 && n; i++)
			packed[throw_dice(&dice, (uint32_t)n)] =
				(unsigned char)throw_dice(&dice, 256);
		if (where_unpack(&b, packed, n))
			ck_assert_uint_eq(
				b.n_places + b.n_comms + b.n_waits + b.n_locked + b.nodes, 0);
		for (size_t at = 0; at < b.n_locked; at += b.locked[at].of) {
			ck_assert_uint_gt(b.locked[at].of, 0);
			ck_assert_uint_le(b.locked[at].of, b.n_locked - at);
		}
		ck_assert_uint_le(b.n_places, WHERE_PLACES_MAX);
		ck_assert_uint_le(b.n_comms, WHERE_COMMS_MAX);
		ck_assert_uint_le(where_pack(&b, packed), WHERE_PACKED_MOST);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("where threads are");
	TCase *r = tcase_create("ranks"), *w = tcase_create("waits"), *p = tcase_create("packets");

	tcase_add_test(r, ranks_are_runs_whatever_their_order);
	tcase_add_test(r, ranks_beyond_the_last_run_are_said_to_be_left_out);
	suite_add_tcase(suite, r);
	tcase_add_test(w, who_is_behind_in_a_collective_call_is_missing);
	tcase_add_test(w, numbers_of_calls_go_round);
	tcase_add_test(w, a_cycle_is_one_only_where_nobody_may_leave_before_all_have_come);
	tcase_add_test(w, from_a_root_the_others_wait_for_it_and_to_a_root_it_for_all);
	tcase_add_test(w, a_chain_of_sends_is_no_cycle_until_it_closes);
	tcase_add_test(w, a_cycle_may_lead_through_any_of_those_that_have_not_come);
	tcase_add_test(w, of_some_that_may_be_awaited_all_must_be_stuck);
	tcase_add_test(w, a_receive_from_any_rank_may_be_ended_by_any_member);
	tcase_add_test(w, a_long_cycle_is_found_and_one_that_has_no_room_is_none);
	tcase_add_test(w, many_ways_without_a_cycle_have_an_end);
	suite_add_tcase(suite, w);
	tcase_add_test(p, what_does_not_fit_is_counted_and_the_places_with_most_threads_stay);
	tcase_add_test(p, a_packet_comes_back_as_it_was);
	tcase_add_test(p, a_name_is_one_line);
	tcase_add_test(p, cycles_of_threads_come_whole_or_are_counted);
	tcase_add_test(p, a_packet_has_room_for_some_cycles_and_no_part_of_one);
	tcase_add_test(p, packets_of_nobody_harm_nobody);
	suite_add_tcase(suite, p);
	return run_suite(suite);
}
