/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.only_for_ranks: from records made by hand to what of them counts. */
#include "nodeagent/replay/comm/share.h"
#include "nodeagent/replay/comm/neighbours.h"
#include "t/unit/replay/traffic-by-hand.h"

static void operation(struct thread *t, uint32_t function, uint32_t ticket, uint32_t root,
	uint32_t sends, uint32_t receives, uint64_t sent, uint64_t got)
{
	PUT(t, message_head(RECORD_COLLECTIVE, function), message_pair(ticket, root),
		message_subject(WORLD, 0, 0), message_pair(sends, receives), sent,
		MESSAGE_MARK | got);
}

START_TEST(only_for_ranks)
{
	char *error = NULL;

	ck_assert_int_eq(conf_set(conf, "mpi.only_for_ranks", _i ? "2-3" : "3-4", &error), 0);
	die_out(&me);
	be_born(&me, NULL, 2);
	in(T0, FN(SENDRECV));
	send_to(T0, WORLD, 3, 0, 8);
	received(T0, WORLD, 3, 0, 0, 8);
	send_to(T0, WORLD, 4, 0, 8);
	received(T0, WORLD, 4, 0, 0, 8);
	out(T0, FN(SENDRECV));
	in(T0, FN(ALLREDUCE));
	operation(T0, VFTR_MPI_ALLREDUCE, 1, MESSAGE_NO_RANK, 8, 8, 80, 160);
	out(T0, FN(ALLREDUCE));
	end();
	sent_by(FN(SENDRECV), _i, _i * 8, _i);
	received_by(FN(SENDRECV), _i, _i * 8, _i);
	ck_assert_uint_eq(peer(3).sends, _i);
	ck_assert_uint_eq(peer(4).sends, 0);
	ck_assert_uint_eq(comm(100).sends, _i);
	ck_assert_uint_eq(comm(100).collectives, _i);
	ck_assert_uint_eq(comm(100).collective_bytes_sent, _i * 20);
	sent_by(FN(ALLREDUCE), _i * 2, _i * 20, _i * 2);
	received_by(FN(ALLREDUCE), _i * 2, _i * 40, _i * 2);
}
END_TEST

/* Two of eight ranks are listed, the process's own and 5. */
START_TEST(listed_of_a_collective)
{
	static const struct {
		uint32_t function, root, sends, receives;
		uint64_t sent, got;
		struct share counts;
	} calls[] = {{VFTR_MPI_ALLTOALL, MESSAGE_NO_RANK, 8, 8, 80, 800, {2, 2, 20, 200}},
		{VFTR_MPI_IALLTOALL, MESSAGE_NO_RANK, 7, 7, 70, 700, {1, 1, 10, 100}},
		{VFTR_MPI_BCAST, 2, 8, 0, 80, 0, {2, 0, 20, 0}},
		{VFTR_MPI_BCAST, 5, 0, 1, 0, 10, {0, 1, 0, 10}},
		{VFTR_MPI_BCAST, 6, 0, 1, 0, 10, {0, 0, 0, 0}},
		{VFTR_MPI_IREDUCE_C, 2, 1, 8, 10, 80, {1, 2, 10, 20}},
		{VFTR_MPI_REDUCE_INIT, 2, 0, 7, 0, 70, {0, 1, 0, 10}},
		{VFTR_MPI_REDUCE, 6, 1, 0, 10, 0, {0, 0, 0, 0}},
		{VFTR_MPI_SCAN, MESSAGE_NO_RANK, 1, 1, 10, 10, {0, 0, 0, 0}},
		{VFTR_MPI_REDUCE_SCATTER_BLOCK, MESSAGE_NO_RANK, 1, 1, 80, 10, {0, 0, 0, 0}},
		{VFTR_MPI_ALLTOALL, MESSAGE_NO_RANK, 6, 6, 60, 60, {0, 0, 0, 0}},
		{VFTR_MPI_BARRIER, MESSAGE_NO_RANK, 0, 0, 0, 0, {0, 0, 0, 0}}};
	struct share sum = {0};
	char *error = NULL;

	ck_assert_int_eq(conf_set(conf, "mpi.only_for_ranks", "5,2,5-5,9-20", &error), 0);
	die_out(&me);
	be_born(&me, NULL, 2);
	for (uint32_t i = 0; i < ARRAY_SIZE(calls); i++) {
		in(T0, FN(ALLTOALL));
		operation(T0, calls[i].function, i, calls[i].root, calls[i].sends,
			calls[i].receives, calls[i].sent, calls[i].got);
		out(T0, FN(ALLTOALL));
		sum.sends += calls[i].counts.sends;
		sum.receives += calls[i].counts.receives;
		sum.bytes += calls[i].counts.bytes;
		sum.bytes_received += calls[i].counts.bytes_received;
	}
	end();
	ck_assert_uint_eq(comm(100).collectives, ARRAY_SIZE(calls));
	sent_by(FN(ALLTOALL), sum.sends, sum.bytes, sum.sends);
	received_by(FN(ALLTOALL), sum.receives, sum.bytes_received, sum.receives);
}
END_TEST

/* 0: from each of the eight; 1: without oneself; 2: one record of two is lost. */
START_TEST(listed_of_different_lengths)
{
	const uint32_t n = _i == 1 ? 7 : 8;
	char *error = NULL;

	ck_assert_int_eq(conf_set(conf, "mpi.only_for_ranks", "2,5-6", &error), 0);
	die_out(&me);
	be_born(&me, NULL, 2);
	in(T0, FN(ALLTOALLV));
	PUT(T0, message_head(RECORD_LENGTHS, 0),
		message_pair(0, WORLD << 8 | LENGTHS_RECEIVED | 2 << LENGTHS_N_AT | LENGTHS_WIDE),
		1, 10, 100, MESSAGE_MARK);
	if (_i != 2)
		PUT(T0, message_head(RECORD_LENGTHS, 3),
			message_pair(0, WORLD << 8 | LENGTHS_RECEIVED | LENGTHS_SAME), n - 4, 0, 0,
			MESSAGE_MARK | 1000);
	if (_i != 2)
		PUT(T0, message_head(RECORD_LENGTHS, n - 1),
			message_pair(0, WORLD << 8 | LENGTHS_RECEIVED), 50000, 0, 0, MESSAGE_MARK);
	operation(
		T0, VFTR_MPI_ALLTOALLV, 0, MESSAGE_NO_RANK, n, n, 0, 111 + (n - 4) * 1000 + 50000);
	out(T0, FN(ALLTOALLV));
	end();
	received_by(FN(ALLTOALLV), _i == 1 ? 2 : 3,
		_i == 0	  ? 100 + 2 * 1000
		: _i == 1 ? 2 * 1000
			  : 54111 * 3 / 8,
		_i == 1 ? 2 : 3);
	ck_assert_uint_eq(me.traffic->n_lengths, 0);
}
END_TEST

/* Persistent calls that are made again and again: their lengths are not kept for ever. */
START_TEST(lengths_of_persistent_calls_without_end)
{
	char *error = NULL;

	ck_assert_int_eq(conf_set(conf, "mpi.only_for_ranks", "2,5-6", &error), 0);
	die_out(&me);
	be_born(&me, NULL, 2);
	in(T0, FN(ALLTOALLV_INIT));
	for (uint32_t i = 0; i < PERSISTENT_MOST + _i; i++)
		PUT(T0, message_head(RECORD_LENGTHS, 0),
			message_pair(i, WORLD << 8 | LENGTHS_PERSISTENT | LENGTHS_SAME), 8, 0, 0,
			MESSAGE_MARK | 1000);
	for (uint32_t i = 0; i < 100; i++) /* these are not, and displace none of them */
		PUT(T0, message_head(RECORD_LENGTHS, 0),
			message_pair(3 * PERSISTENT_MOST + i, WORLD << 8 | LENGTHS_SAME), 8, 0, 0,
			MESSAGE_MARK | 1000);
	out(T0, FN(ALLTOALLV_INIT));
	flush(T0);
	ck_assert_uint_eq(me.traffic->n_lengths, PERSISTENT_MOST + 64);
	ck_assert_int_eq(!!traffic_limit_reached(me.traffic, 0), _i);
	end();
}
END_TEST

int main(void)
{
	const struct row rows[] = {{only_for_ranks, 2}, {listed_of_a_collective, 1},
		{listed_of_different_lengths, 3}, {lengths_of_persistent_calls_without_end, 2}};

	return run_tests("traffic-share", rows, ARRAY_SIZE(rows));
}
