/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From records of communication made by hand to sums: communicators and their
 * ends, collective and one-sided communication, files, and limits.
 */
#include "shm/session.h"
#include "traffic-by-hand.h"

/* ---- communicators --------------------------------------------------------------------------- */

START_TEST(members)
{
	static const uint32_t world[] = {7, 5, 3, 1, 0, 1, 2, PROFILE_ELSEWHERE, 6};

	ck_assert_ptr_null(define(&me, 2, 200, 9, 0, 0, RUNS({7, -2, 4}, {0, 1, 3})));
	ck_assert_ptr_null(define(&me, 2, 200, 9, 0, 2, RUNS({WIRE_UNKNOWN, 0, 1})));
	ck_assert_ptr_null(define(&me, 2, 200, 9, 0, 3, RUNS({6, 0, 1})));
	for (uint32_t i = 0; i < 9; i++) {
		uint64_t before = peer(world[i]).bytes_sent;

		in(T0, FN(SEND));
		send_to(T0, 2, i, 0, i + 1);
		out(T0, FN(SEND));
		flush(T0);
		ck_assert_uint_eq(peer(world[i]).bytes_sent, before + i + 1);
	}
	for (uint32_t w = 0; w < 9; w++)
		ck_assert_int_eq(comm_has_world(me.traffic->slots[1], w), w != 4 && w != 8);
	end();
	ck_assert_uint_eq(comm(200).sends, 9);
	ck_assert_uint_eq(comm(100).sends, 0);
}
END_TEST

/* Ranks are those of the remote group. */
START_TEST(intercommunicator)
{
	ck_assert_ptr_null(define(&me, 2, 200, 2, 3, 0, RUNS({5, 1, 3}, {2, 1, 2})));
	in(T0, FN(SEND));
	send_to(T0, 2, 2, 0, 8);
	out(T0, FN(SEND));
	end();
	ck_assert_uint_eq(peer(7).sends, 1);
	ck_assert_uint_eq(comm(200).remote_size, 3);
}
END_TEST

START_TEST(no_communicator)
{
	in(T0, FN(SEND));
	send_to(T0, 0, 12345, 0, 8);
	out(T0, FN(SEND));
	end();
	ck_assert_uint_eq(peer(PROFILE_ELSEWHERE).sends, 1);
	ck_assert_uint_eq(comm(0).sends, 1);
	ck_assert_str_eq(comm(0).name, "others");
}
END_TEST

START_TEST(definitions_that_cannot_be)
{
	struct comm_packet c = {
		.m = {.number = 2, .id = 2, .size = 8, .runs = 1}, .runs = {{0, 1, 8}}};
	struct wire_comm *m = &c.m;
	struct wire_object o = {.number = 1, .comm = 99};
	struct wire_about a = {.number = 50, .object = WIRE_OBJECT_COMM};
	static const struct {
		uint32_t number, kind, rank, size, remote, before, runs;
		struct wire_run run;
	} bad[] = {{0, 0, 0, 8, 0, 0, 1, {0, 1, 8}}, {1u << 24, 0, 0, 8, 0, 0, 1, {0, 1, 8}},
		{3, WIRE_COMM_KINDS, 0, 8, 0, 0, 1, {0, 1, 8}}, {3, 0, 8, 8, 0, 0, 1, {0, 1, 8}},
		{3, 0, 0, 0, 0, 0, 1, {0, 1, 8}}, {3, 0, 0, 1u << 31, 0, 0, 1, {0, 1, 8}},
		{3, 0, 0, 8, UINT32_MAX, 0, 1, {0, 1, 8}}, {3, 0, 0, 8, 0, 1, 1, {0, 1, 8}},
		{3, 0, 0, 8, 0, 0, 0, {0, 1, 8}}, {3, 0, 0, 8, 0, 0, 2, {0, 1, 8}},
		{3, 0, 0, 8, 0, 0, UINT32_MAX, {0, 1, 8}}, {4, 0, 0, 8, 0, 0, 1, {0, 1, 9}},
		{5, 0, 0, 8, 0, 0, 1, {0, 1, 0}}, {6, 0, 0, 8, 0, 0, 1, {0, 1, -1}},
		{7, 0, 0, 8, 0, 0, 1, {0, 0, 8}}, {8, 0, 0, 8, 0, 0, 1, {0, -1, 8}},
		{9, 0, 0, 8, 0, 0, 1, {-2, 1, 8}}, {10, 0, 0, 8, 0, 0, 1, {INT32_MAX, 1, 8}},
		{11, 0, 0, 8, 0, 0, 1, {1, INT32_MAX, 8}}, {12, 0, 0, 8, 0, 0, 1, {-1, 1, 8}},
		{2, 0, 0, 8, 0, 0, 1, {0, 1, 8}}, {2, 0, 0, 8, 0, 1, 1, {0, 1, 1}},
		{2, 0, 0, 9, 0, 1, 1, {0, 1, 1}}, {13, 0, 0, 2, 3, 0, 1, {0, 1, 4}},
		{14, 0, 0, 8, 0, 0, 1, {-2, -1, 8}}, {15, 0, 0, 8, 0, 0, 1, {-2, 0, 2}},
		{16, 0, 0, 8, 0, 0, 1, {-9, 2, 5}}, {17, 0, 0, 8, 0, 0, 1, {INT32_MIN, -1, 2}}};

	ck_assert_ptr_null(traffic_define_comm(me.traffic, m, sizeof(struct wire_run)));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		c = (struct comm_packet){.m = {.number = bad[i].number,
						 .id = 2,
						 .kind = bad[i].kind,
						 .rank = bad[i].rank,
						 .size = bad[i].size,
						 .remote_size = bad[i].remote,
						 .runs_before = bad[i].before,
						 .runs = bad[i].runs},
			.runs = {bad[i].run}};
		ck_assert_msg(traffic_define_comm(me.traffic, m, sizeof(struct wire_run)) != NULL,
			"row %zu was taken", i);
	}
	ck_assert_ptr_nonnull(traffic_define_object(me.traffic, WIRE_WINDOW, &o, ""));
	ck_assert_ptr_nonnull(traffic_gone(me.traffic, &a));
	ck_assert_ptr_nonnull(traffic_name(me.traffic, &a, "x"));
	a.object = 3;
	ck_assert_ptr_nonnull(traffic_gone(me.traffic, &a));
	ck_assert_ptr_nonnull(traffic_name(me.traffic, &a, "x"));
	o.comm = 0;
	ck_assert_ptr_null(traffic_define_object(me.traffic, WIRE_FILE, &o, "f"));
	ck_assert_ptr_nonnull(traffic_define_object(me.traffic, WIRE_FILE, &o, "f"));
	o.number = 0;
	ck_assert_ptr_nonnull(traffic_define_object(me.traffic, WIRE_WINDOW, &o, ""));
}
END_TEST

/* Freed while another thread's records still speak of it, and a request, too. */
START_TEST(freed)
{
	ck_assert_ptr_null(define(&me, 2, 200, 4, 0, 0, RUNS({4, 1, 4})));
	in(T0, FN(IRECV));
	post(T0, 2, 0, 1, MESSAGE_ANY_SOURCE);
	out(T0, FN(IRECV));
	flush(T0);
	in(T1, FN(SEND));
	send_to(T1, 2, 1, 0, 8);
	out(T1, FN(SEND)); /* not yet read */
	wait_ticks(5);
	ck_assert_ptr_null(gone(WIRE_OBJECT_COMM, 2));
	ck_assert(traffic_has_gone(me.traffic));
	traffic_sweep(me.traffic, replay_last_ticks(T1->r));
	ck_assert(traffic_has_gone(me.traffic));
	flush(T1);
	ck_assert_uint_eq(peer(5).sends, 1);
	wait_ticks(5);
	traffic_sweep(me.traffic, ticks);
	ck_assert(!traffic_has_gone(me.traffic));
	ck_assert_uint_eq(me.traffic->n_comms, 2); /* the request holds it */
	in(T0, FN(WAIT));
	done(T0, 1, 3, 0, 8);
	out(T0, FN(WAIT));
	flush(T0);
	ck_assert_uint_eq(peer(7).receives, 1);
	ck_assert_uint_eq(me.traffic->n_comms, 1);
	ck_assert_uint_eq(me.traffic->n_runs, 1);
	in(T0, FN(SEND)); /* a straggler is no crime */
	send_to(T0, 2, 1, 0, 8);
	out(T0, FN(SEND));
	end();
	ck_assert_uint_eq(peer(PROFILE_ELSEWHERE).sends, 1);
}
END_TEST

START_TEST(many_communicators)
{
	for (uint32_t i = 2; i < 100000; i++) {
		ck_assert_ptr_null(define(&me, i, 1000 + i, 4, 0, 0, RUNS({4, 1, 4})));
		in(T0, FN(SEND));
		send_to(T0, i, 1, 0, 8);
		out(T0, FN(SEND));
		flush(T0);
		ck_assert_ptr_null(gone(WIRE_OBJECT_COMM, i));
		if (i > 50000) /* until then a thread hangs back */
			traffic_sweep(me.traffic, ticks);
	}
	end();
	ck_assert_uint_le(me.traffic->n_comms, 2);
	ck_assert_uint_le(me.traffic->n_slots, TRAFFIC_GONE_MAX + 2);
	ck_assert_uint_eq(peer(5).sends, 99998);
	ck_assert_uint_eq(traffic_sums(me.traffic)->n_comms, TRAFFIC_SUMS_MAX + 1);
	ck_assert_uint_eq(comm(0).sends, 99998 - TRAFFIC_SUMS_MAX);
	ck_assert_ptr_nonnull(traffic_limit_reached(me.traffic, 1));
	ck_assert_ptr_null(traffic_limit_reached(me.traffic, 2));
}
END_TEST

/* A thread that records nothing holds them back, and nothing of these is lost. */
START_TEST(worlds_of_many_rounds)
{
	struct comm_packet c = {.m = {.id = 1, .kind = WIRE_COMM_PREDEFINED, .size = 4, .runs = 1},
		.runs = {{4, 1, 4}}};

	for (uint32_t i = 0; i < 2 * TRAFFIC_GONE_MAX; i++) {
		c.m.number = SESSION_COMM_FIRST + i;
		ck_assert_ptr_null(traffic_define_comm(me.traffic, &c.m, sizeof(struct wire_run)));
		ck_assert_ptr_null(gone(WIRE_OBJECT_COMM, c.m.number));
	}
	ck_assert_uint_le(me.traffic->n_comms, TRAFFIC_GONE_MAX + 2);
	ck_assert_ptr_null(traffic_limit_reached(me.traffic, 0));
}
END_TEST

/* More than are kept: their peers are not known, and that is all. */
START_TEST(too_many_communicators)
{
	for (uint32_t i = 2; i < TRAFFIC_COMMS_MAX + 10; i++)
		ck_assert_ptr_null(define(&me, i, 1000 + i, 4, 0, 0, RUNS({4, 1, 4})));
	ck_assert_uint_eq(me.traffic->n_comms, TRAFFIC_COMMS_MAX);
	ck_assert_ptr_nonnull(traffic_limit_reached(me.traffic, 0));
	in(T0, FN(SEND));
	send_to(T0, TRAFFIC_COMMS_MAX + 9, 3, 0, 8);
	out(T0, FN(SEND));
	end();
	ck_assert_uint_eq(peer(PROFILE_ELSEWHERE).sends, 1);
}
END_TEST

START_TEST(names)
{
	struct wire_about m = {.number = WORLD, .object = WIRE_OBJECT_COMM};

	ck_assert_ptr_null(traffic_name(me.traffic, &m, "early"));
	in(T0, FN(SEND));
	send_to(T0, WORLD, 1, 0, 8);
	out(T0, FN(SEND));
	flush(T0);
	ck_assert_str_eq(comm(100).name, "early");
	ck_assert_ptr_null(traffic_name(me.traffic, &m, "late"));
	ck_assert_str_eq(comm(100).name, "late");
	end();
}
END_TEST

START_TEST(lies_about_communicators)
{
	static const char *const why[] = {"a message on a communicator that was not defined",
		"a message with a rank that its communicator lacks",
		"a message with a rank that its communicator lacks",
		"a message on a communicator that was defined in part",
		"a message on a communicator that was not defined",
		"one-sided communication on a window that was not defined",
		"input or output on a file that was not opened",
		"a message from a rank that its communicator lacks",
		"a record of communication that contradicts its format",
		"a record of communication that contradicts its format",
		"a request without a number", "a message with a rank that its communicator lacks",
		"a record of communication that contradicts its format",
		"a record of communication that contradicts its format",
		"a record of communication that contradicts its format"};

	ck_assert_ptr_null(define(&me, 2, 200, 8, 0, 0, RUNS({0, 1, 4})));
	in(T0, FN(SEND));
	switch (_i) {
	case 0:
		send_to(T0, 3, 0, 0, 8);
		break;
	case 1:
		send_to(T0, WORLD, 8, 0, 8);
		break;
	case 2:
		post(T0, WORLD, UINT32_MAX, 1, 0);
		break;
	case 3:
		send_to(T0, 2, 0, 0, 8);
		break;
	case 4:
		collective(T0, 9, 0, 0, 0, 0, 0, 0);
		break;
	case 5:
		PUT(T0, message_head(RECORD_RMA, 0), message_pair(1, 0), 0, 8, MESSAGE_MARK);
		break;
	case 6:
		PUT(T0, message_head(RECORD_FILE, 0), message_pair(1, 0), 0, message_last(1, 8));
		break;
	case 7:
		post(T0, WORLD, 0, 1, MESSAGE_ANY_SOURCE);
		done(T0, 1, 8, 0, 8);
		out(T0, FN(SEND));
		break;
	case 8:
		PUT(T0, RECORD_EXIT | RECORD_SEND, 0, 0, MESSAGE_MARK);
		break;
	case 9:
		PUT(T0, RECORD_SEND, 0, 0, 1);
		break;
	case 10:
		done(T0, 0, 0, 0, 0);
		break;
	case 11:
		received(T0, WORLD, 8, 0, 0, 8);
		break;
	case 12:
		PUT(T0, message_head(RECORD_COMPLETE_RANGE, 1), MESSAGE_MARK);
		break;
	case 13:
		PUT(T0, message_head(RECORD_COMPLETE_RANGE, 1),
			MESSAGE_MARK | (MESSAGE_RANGE_MOST + 1));
		break;
	case 14:
		PUT(T0, message_head(RECORD_COMPLETE_RANGE, 0x7fffffff), MESSAGE_MARK | 2);
		break;
	}
	refused(T0, why[_i]);
}
END_TEST

/* ---- the other kinds ------------------------------------------------------------------------ */

START_TEST(collectives)
{
	in(T0, FN(ALLTOALL));
	collective(T0, WORLD, 0, 0, 7, 5, 70, 500);
	wait_ticks(9);
	out(T0, FN(ALLTOALL));
	in(T0, FN(BARRIER));
	collective(T0, WORLD, 1, 0, 0, 0, 0, 0);
	out(T0, FN(BARRIER));
	end();
	sent_by(FN(ALLTOALL), 7, 70, 7 * 10);
	received_by(FN(ALLTOALL), 5, 500, 5 * 10);
	ck_assert_uint_eq((uint64_t)(of(FN(ALLTOALL)).send_bandwidth >> 32), 7);
	ck_assert_uint_eq(comm(100).collectives, 2);
	ck_assert_uint_eq(comm(100).collective_bytes_sent, 70);
	ck_assert_uint_eq(comm(100).collective_bytes_received, 500);
	ck_assert_uint_eq(comm(100).collective_ticks, 11);
	ck_assert_uint_eq(comm(100).sends, 0);
	ck_assert_uint_eq(traffic_sums(me.traffic)->n_peers, 0);
}
END_TEST

START_TEST(nonblocking_collectives)
{
	in(T0, FN(IALLTOALL));
	collective(T0, WORLD, 0, 1, 7, 5, 70, 500);
	out(T0, FN(IALLTOALL));
	in(T0, FN(IALLTOALL));
	collective(T0, WORLD, 1, 2, 7, 5, 70, 500);
	out(T0, FN(IALLTOALL));
	in(T0, FN(WAIT));
	done(T0, 1, 0, 0, 0);
	out(T0, FN(WAIT));
	end();
	sent_by(FN(IALLTOALL), 14, 140, 7 * 5);
	received_by(FN(IALLTOALL), 5, 500, 5 * 5);
	ck_assert_uint_eq(comm(100).collectives, 2);
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 1);
}
END_TEST

START_TEST(one_sided)
{
	struct wire_object w = {.number = 1, .comm = 2};

	ck_assert_ptr_null(define(&me, 2, 200, 4, 0, 0, RUNS({4, 1, 4})));
	ck_assert_ptr_null(traffic_define_object(me.traffic, WIRE_WINDOW, &w, ""));
	ck_assert_ptr_null(gone(WIRE_OBJECT_COMM, 2)); /* the window keeps it */
	traffic_sweep(me.traffic, ++ticks);
	in(T0, FN(PUT));
	PUT(T0, message_head(RECORD_RMA, VFTR_MPI_PUT), message_pair(1, 1), 0, 100, MESSAGE_MARK);
	out(T0, FN(PUT));
	in(T0, FN(RGET));
	PUT(T0, message_head(RECORD_RMA, VFTR_MPI_RGET), message_pair(1, 2), 77, 0,
		MESSAGE_MARK | 30);
	out(T0, FN(RGET));
	in(T0, FN(GET_ACCUMULATE));
	PUT(T0, message_head(RECORD_RMA, VFTR_MPI_GET_ACCUMULATE), message_pair(1, 3), 0, 8,
		MESSAGE_MARK | 8);
	out(T0, FN(GET_ACCUMULATE));
	in(T0, FN(WIN_FENCE));
	PUT(T0, message_head(RECORD_EPOCH, VFTR_MPI_WIN_FENCE), message_pair(1, MESSAGE_NO_RANK),
		MESSAGE_MARK | 5);
	out(T0, FN(WIN_FENCE));
	in(T0, FN(WAIT));
	done(T0, 77, 0, 0, 0);
	out(T0, FN(WAIT));
	end();
	sent_by(FN(PUT), 1, 100, 1);
	received_by(FN(RGET), 1, 30, 7);
	sent_by(FN(GET_ACCUMULATE), 1, 8, 1);
	received_by(FN(GET_ACCUMULATE), 1, 8, 1);
	ck_assert_uint_eq(peer(5).bytes_sent, 100);
	ck_assert_uint_eq(peer(6).bytes_received, 30);
	ck_assert_uint_eq(peer(7).bytes_sent + peer(7).bytes_received, 16);
	ck_assert_uint_eq(comm(200).sends, 2);
	ck_assert_uint_eq(traffic_sums(me.traffic)->sizes[4].sends, 1);
	nothing_is_open();
}
END_TEST

START_TEST(files)
{
	struct wire_object f = {.number = 1, .comm = WORLD}, g = {.number = 2, .comm = WORLD};
	const struct traffic_sums *s = traffic_sums(me.traffic);

	ck_assert_ptr_null(traffic_define_object(me.traffic, WIRE_FILE, &f, "a"));
	ck_assert_ptr_null(traffic_define_object(me.traffic, WIRE_FILE, &g, "b"));
	f.number = 3;
	ck_assert_ptr_null(traffic_define_object(me.traffic, WIRE_FILE, &f, "a"));
	in(T0, FN(FILE_WRITE));
	PUT(T0, message_head(RECORD_FILE, 0), message_pair(1, 0), 4096,
		message_last(MESSAGE_WRITE, 1000));
	out(T0, FN(FILE_WRITE));
	in(T0, FN(FILE_IREAD));
	PUT(T0, message_head(RECORD_FILE, 0), message_pair(3, 8), MESSAGE_NO_OFFSET,
		message_last(MESSAGE_READ, 1000));
	out(T0, FN(FILE_IREAD));
	in(T0, FN(WAIT));
	done(T0, 8, 0, 0, 123);
	out(T0, FN(WAIT));
	end();
	ck_assert_uint_eq(s->n_files, 2);
	ck_assert_str_eq(s->files[0].name, "a");
	ck_assert_uint_eq(s->files[0].opens, 2);
	ck_assert_uint_eq(s->files[0].writes, 1);
	ck_assert_uint_eq(s->files[0].bytes_written, 1000);
	ck_assert_uint_eq(s->files[0].write_ticks, 1);
	ck_assert_uint_eq(s->files[0].reads, 1);
	ck_assert_uint_eq(s->files[0].bytes_read, 123);
	ck_assert_uint_eq(s->files[0].read_ticks, 3);
	ck_assert_uint_eq(s->files[1].reads + s->files[1].writes, 0);
	nothing_is_open();
}
END_TEST

START_TEST(too_many_files)
{
	char name[32];

	for (uint32_t i = 1; i < 10000; i++) {
		struct wire_object f = {.number = i};
		struct wire_about a = {
			.head = {.ticks = ticks}, .number = i, .object = WIRE_OBJECT_FILE};

		snprintf(name, sizeof(name), "file %u", i);
		ck_assert_ptr_null(traffic_define_object(me.traffic, WIRE_FILE, &f, name));
		ck_assert_ptr_null(traffic_gone(me.traffic, &a));
		traffic_sweep(me.traffic, ++ticks);
	}
	ck_assert_uint_eq(traffic_sums(me.traffic)->n_files, TRAFFIC_SUMS_MAX + 1);
	ck_assert_uint_eq(
		traffic_sums(me.traffic)->files[TRAFFIC_SUMS_MAX].opens, 9999 - TRAFFIC_SUMS_MAX);
}
END_TEST

/* ---- limits -------------------------------------------------------------------------- */

START_TEST(limits)
{
	uint32_t n = TRAFFIC_EARLY_MAX + 1000;

	for (uint32_t i = 1; i <= n; i++) {
		in(T0, FN(WAIT));
		done(T0, i, 3, 0, 8);
		out(T0, FN(WAIT));
	}
	flush(T0);
	ck_assert_uint_eq(me.traffic->requests.early.n, TRAFFIC_EARLY_MAX);
	for (uint32_t i = 1; i <= TRAFFIC_REQUESTS_MAX + n + 10; i++) {
		in(T1, FN(IRECV));
		post(T1, WORLD, 3, i, 0);
		out(T1, FN(IRECV));
	}
	end();
	ck_assert_uint_eq(me.traffic->requests.early.n, 0);
	ck_assert_uint_eq(peer(3).receives, TRAFFIC_EARLY_MAX);
	ck_assert_uint_eq(me.traffic->requests.open.n, TRAFFIC_REQUESTS_MAX);
	ck_assert_uint_eq(traffic_open_requests(me.traffic), TRAFFIC_REQUESTS_MAX + 1010);
	ck_assert_uint_eq(open_at(FN(IRECV), OPEN_RECEIVE), TRAFFIC_REQUESTS_MAX + 1010);
	ck_assert_ptr_nonnull(traffic_limit_reached(me.traffic, 1));
}
END_TEST

START_TEST(numbers_that_go)
{
	struct map32 m = {0};
	static uint8_t there[5000];

	srand(7);
	for (int i = 0; i < 300000; i++) {
		uint32_t k = (uint32_t)rand() % 4999 + 1, *v = map32_find(&m, k);

		ck_assert_int_eq(v != NULL, there[k]);
		if (v)
			ck_assert_uint_eq(*v, k * 3);
		if (v && rand() % 2)
			map32_remove(&m, k);
		else
			map32_add(&m, k, k * 3);
		there[k] = map32_find(&m, k) != NULL;
	}
	map32_free(&m);
}
END_TEST

int main(void)
{
	const struct row rows[] = {{members, 1}, {intercommunicator, 1}, {no_communicator, 1},
		{definitions_that_cannot_be, 1}, {freed, 1}, {many_communicators, 1},
		{worlds_of_many_rounds, 1}, {too_many_communicators, 1}, {names, 1},
		{lies_about_communicators, 15}, {collectives, 1}, {nonblocking_collectives, 1},
		{one_sided, 1}, {files, 1}, {too_many_files, 1}, {limits, 1}, {numbers_that_go, 1}};

	return run_tests("traffic-comms", rows, ARRAY_SIZE(rows));
}
