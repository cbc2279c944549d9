/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collective calls message by message: neighbours and lengths, what of them counts in
 * the matrix, and what a listener is told of them and of what calls waited.
 */
#include "nodeagent/replay/comm/neighbours.h"

#include <time.h>

#include "t/unit/replay/traffic-by-hand.h"

#define NONE WIRE_UNKNOWN

struct packet {
	struct wire_neighbours m;
	struct wire_run runs[8];
};

static const char *neighbours(
	uint32_t received, uint32_t all, uint32_t before, size_t n, const struct wire_run *runs)
{
	struct packet p = {.m = {.comm = WORLD,
				   .received = received,
				   .n = all,
				   .runs_before = before,
				   .runs = (uint32_t)n}};

	memcpy(p.runs, runs, n * sizeof(*runs));
	return traffic_define_neighbours(me.traffic, &p.m, n * sizeof(*runs));
}

/* To 1, 3 and 3 again; from 5 and somebody. */
static void have_neighbours(void)
{
	ck_assert_ptr_null(neighbours(0, 3, 0, RUNS({1, 2, 2})));
	ck_assert_ptr_null(neighbours(0, 3, 1, RUNS({3, 0, 1})));
	ck_assert_ptr_null(neighbours(1, 2, 0, RUNS({5, 1, 1}, {NONE, 0, 1})));
}

static void call_of(struct thread *t, uint32_t function, uint32_t ticket, uint32_t request,
	uint64_t sent, uint64_t got)
{
	PUT(t, message_head(RECORD_COLLECTIVE, function), message_pair(ticket, MESSAGE_NO_RANK),
		message_subject(WORLD, 0, request), message_pair(3, 2), sent, MESSAGE_MARK | got);
}

static void lengths_of(struct thread *t, uint32_t ticket, uint32_t flags, uint32_t first, size_t n,
	const uint64_t *bytes)
{
	uint64_t w[4] = {0};

	flags |= flags & LENGTHS_SAME ? 0 : (uint32_t)(n - 1) << LENGTHS_N_AT;
	for (size_t i = 0; i < n && !(flags & LENGTHS_SAME); i++)
		w[flags & LENGTHS_WIDE ? i : i / 2] |=
			bytes[i] << (flags & LENGTHS_WIDE || i % 2 == 0 ? 0 : 32);
	if (flags & LENGTHS_SAME) {
		w[0] = n;
		w[3] = bytes[0];
	}
	PUT(t, message_head(RECORD_LENGTHS, first), message_pair(ticket, WORLD << 8 | flags), w[0],
		w[1], w[2], MESSAGE_MARK | w[3]);
}

#define LENGTHS(t, ticket, flags, first, ...)                                                      \
	lengths_of(t, ticket, (flags) | LENGTHS_NEIGHBOURS, first,                                 \
		sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

/* What is in the matrix with a peer. */
static void is_with(uint32_t who, uint64_t sends, uint64_t sent, uint64_t receives, uint64_t got)
{
	const struct traffic_peer p = peer(who);

	ck_assert_uint_eq(p.sends, sends);
	ck_assert_uint_eq(p.bytes_sent, sent);
	ck_assert_uint_eq(p.receives, receives);
	ck_assert_uint_eq(p.bytes_received, got);
}

START_TEST(messages_of_one_length)
{
	have_neighbours();
	in(T0, FN(NEIGHBOR_ALLGATHER));
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLGATHER, 0, 0, 30, 8);
	out(T0, FN(NEIGHBOR_ALLGATHER));
	in(T0, FN(INEIGHBOR_ALLTOALL));
	call_of(T0, VFTR_MPI_INEIGHBOR_ALLTOALL_C, 1, 1, 300, 80);
	out(T0, FN(INEIGHBOR_ALLTOALL));
	in(T0, FN(NEIGHBOR_ALLGATHER)); /* it fails */
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLGATHER, 2, 0, 3000, 800);
	failed(T0);
	out(T0, FN(NEIGHBOR_ALLGATHER));
	in(T0, FN(ALLGATHER)); /* nothing for neighbours */
	call_of(T0, VFTR_MPI_ALLGATHER, 3, 0, 30, 8);
	out(T0, FN(ALLGATHER));
	in(T0, FN(NEIGHBOR_ALLGATHER)); /* not the same for each */
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLGATHER, 4, 0, 31, 9);
	out(T0, FN(NEIGHBOR_ALLGATHER));
	end();
	is_with(1, 2, 110, 0, 0);
	is_with(3, 4, 220, 0, 0);
	is_with(5, 0, 0, 2, 44);
	is_with(PROFILE_ELSEWHERE, 0, 0, 2, 44);
	ck_assert_uint_eq(of(FN(NEIGHBOR_ALLGATHER)).bytes_sent, 61);
	ck_assert_uint_eq(traffic_sums(me.traffic)->comms[0].sends, 0);
}
END_TEST

START_TEST(messages_of_their_own_lengths)
{
	have_neighbours();
	in(T0, FN(NEIGHBOR_ALLTOALLV));
	LENGTHS(T0, 0, 0, 0, 1, 20, 300);
	LENGTHS(T0, 0, LENGTHS_RECEIVED | LENGTHS_WIDE, 0, (uint64_t)1 << 40, 7);
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLV, 0, 0, 321, ((uint64_t)1 << 40) + 7);
	out(T0, FN(NEIGHBOR_ALLTOALLV));
	in(T0, FN(NEIGHBOR_ALLTOALLW)); /* in two records, and all alike */
	LENGTHS(T0, 1, 0, 0, 4000, 50000);
	LENGTHS(T0, 1, 0, 2, 600000);
	LENGTHS(T0, 1, LENGTHS_RECEIVED | LENGTHS_SAME, 0, 90, 90);
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLW, 1, 0, 654000, 180);
	out(T0, FN(NEIGHBOR_ALLTOALLW));
	end();
	is_with(1, 2, 4001, 0, 0);
	is_with(3, 4, 650320, 0, 0);
	is_with(5, 0, 0, 2, ((uint64_t)1 << 40) + 90);
	is_with(PROFILE_ELSEWHERE, 0, 0, 2, 97);
	ck_assert_uint_eq(me.traffic->n_lengths, 0);
}
END_TEST

START_TEST(each_start_of_a_persistent_call)
{
	have_neighbours();
	in(T0, FN(NEIGHBOR_ALLTOALLV_INIT));
	LENGTHS(T0, 5, LENGTHS_PERSISTENT, 0, 1, 2, 3);
	LENGTHS(T0, 5, LENGTHS_PERSISTENT | LENGTHS_RECEIVED, 0, 4, 5);
	out(T0, FN(NEIGHBOR_ALLTOALLV_INIT));
	for (uint32_t i = 1; i <= 100; i++) {
		in(T0, FN(START));
		call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLV_INIT, 5, i, 6, 9);
		out(T0, FN(START));
		in(T0, FN(WAIT));
		done(T0, i, 0, 0, 0);
		out(T0, FN(WAIT));
	}
	end();
	is_with(1, 100, 100, 0, 0);
	is_with(3, 200, 500, 0, 0);
	is_with(5, 0, 0, 100, 400);
	ck_assert_uint_eq(me.traffic->n_lengths, 5);
}
END_TEST

/* Lengths that are missing, too few, too many, twice or of other sums. */
START_TEST(lengths_that_do_not_fit_count_nowhere)
{
	have_neighbours();
	for (uint32_t i = 0; i < 6; i++) {
		in(T0, FN(NEIGHBOR_ALLTOALLV));
		if (i == 1)
			LENGTHS(T0, i, 0, 0, 2, 2);
		if (i == 2)
			LENGTHS(T0, i, 0, 0, 2, 2, 1, 1);
		if (i == 3)
			LENGTHS(T0, i, 0, 1, 2, 2, 2);
		if (i == 4)
			LENGTHS(T0, i, 0, 0, 2, 2, 3);
		if (i == 5)
			LENGTHS(T0, i, LENGTHS_SAME, 0, 2, 2, 2, 2, 2, 2, 2);
		call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLV, i, 0, 6, 0);
		out(T0, FN(NEIGHBOR_ALLTOALLV));
	}
	/* whose call never comes */
	in(T0, FN(NEIGHBOR_ALLTOALLV));
	for (uint32_t i = 100; i < 5000; i++)
		LENGTHS(T0, i, 0, 0, 2, 2, 2);
	LENGTHS(T0, 99, 0, 0, 1, 2, 3);
	LENGTHS(T0, 99, 0, 0, 1, 2, 3);
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLV, 99, 0, 6, 0);
	out(T0, FN(NEIGHBOR_ALLTOALLV));
	flush(T0);
	ck_assert_uint_le(me.traffic->n_lengths, 3 * 64);
	end();
	is_with(1, 1, 1, 0, 0);
	is_with(3, 2, 5, 0, 0);
}
END_TEST

static void limit_is(const char *words)
{
	const char *text = traffic_limit_reached(me.traffic, 0);

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(strstr(text, words), "%s", text);
	ck_assert_ptr_null(traffic_limit_reached(me.traffic, 1));
}

static void start_persistent(uint32_t ticket, uint32_t request)
{
	in(T0, FN(START));
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLV_INIT, ticket, request, 6, 0);
	out(T0, FN(START));
	in(T0, FN(WAIT));
	done(T0, request, 0, 0, 0);
	out(T0, FN(WAIT));
}

static void make_persistent(uint32_t n)
{
	in(T0, FN(NEIGHBOR_ALLTOALLV_INIT));
	for (uint32_t i = 0; i < n; i++)
		LENGTHS(T0, i, LENGTHS_PERSISTENT, 0, 1, 2, 3);
	out(T0, FN(NEIGHBOR_ALLTOALLV_INIT));
}

/* Persistent calls that are made again and again: their lengths are not kept for ever. */
START_TEST(persistent_calls_without_end)
{
	have_neighbours();
	make_persistent(2 * PERSISTENT_MOST);
	start_persistent(2 * PERSISTENT_MOST - 1, 1);
	end();
	is_with(1, 1, 1, 0, 0);
	ck_assert_uint_eq(me.traffic->n_lengths, 3 * PERSISTENT_MOST);
	limit_is("more persistent collective calls");
}
END_TEST

/* As many as there may be, and calls in between that are not persistent: none is lost. */
START_TEST(persistent_calls_up_to_the_bound)
{
	have_neighbours();
	make_persistent(PERSISTENT_MOST);
	in(T0, FN(NEIGHBOR_ALLTOALLV));
	for (uint32_t i = 0; i < 100; i++)
		LENGTHS(T0, PERSISTENT_MOST + i, 0, 0, 2, 2, 2);
	out(T0, FN(NEIGHBOR_ALLTOALLV));
	start_persistent(0, 1);
	start_persistent(PERSISTENT_MOST - 1, 2);
	end();
	is_with(1, 2, 2, 0, 0);
	ck_assert_uint_eq(me.traffic->n_lengths, 3 * (PERSISTENT_MOST + 64));
	ck_assert_ptr_null(traffic_limit_reached(me.traffic, 0));
}
END_TEST

/* A call whose lengths are here, and whose record is still to come. */
START_TEST(persistent_calls_do_not_displace_others)
{
	have_neighbours();
	in(T0, FN(NEIGHBOR_ALLTOALLV));
	LENGTHS(T0, 5000, 0, 0, 1, 2, 3);
	make_persistent(100);
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLV, 5000, 0, 6, 0);
	out(T0, FN(NEIGHBOR_ALLTOALLV));
	end();
	is_with(1, 1, 1, 0, 0);
}
END_TEST

/* One rank, said to be a neighbour very often in a few words. */
static void neighbour_often(uint32_t n, uint32_t calls)
{
	for (uint32_t i = 0; i < calls; i++) {
		in(T0, FN(NEIGHBOR_ALLGATHER));
		PUT(T0, message_head(RECORD_COLLECTIVE, VFTR_MPI_NEIGHBOR_ALLGATHER),
			message_pair(i, MESSAGE_NO_RANK), message_subject(WORLD, 0, 0),
			message_pair(n, 1), n, MESSAGE_MARK | 1);
		out(T0, FN(NEIGHBOR_ALLGATHER));
	}
	flush(T0);
}

START_TEST(neighbours_without_end)
{
	const uint32_t n = _i ? NEIGHBOURS_MAX + 1 : INT32_MAX;

	ck_assert_ptr_null(neighbours(0, n, 0, RUNS({1, 0, (int32_t)n})));
	ck_assert_ptr_null(neighbours(1, 1, 0, RUNS({1, 0, 1})));
	neighbour_often(n, 1);
	end();
	is_with(1, 0, 0, 1, 1);
	limit_is("more neighbours than are kept (65536");
}
END_TEST

/* Calls that have not come, until the lengths of no other one are kept: that is said. */
START_TEST(lengths_without_end)
{
	const uint32_t most = NEIGHBOURS_MAX, calls = TRAFFIC_LENGTHS_MAX / most + (uint32_t)_i;

	ck_assert_ptr_null(neighbours(0, most, 0, RUNS({1, 0, (int32_t)most})));
	ck_assert_ptr_null(neighbours(1, 1, 0, RUNS({1, 0, 1})));
	in(T0, FN(INEIGHBOR_ALLTOALLV));
	for (uint32_t i = 0; i < calls; i++)
		LENGTHS(T0, i, 0, 0, 8);
	out(T0, FN(INEIGHBOR_ALLTOALLV));
	end();
	ck_assert_uint_eq(me.traffic->n_lengths, TRAFFIC_LENGTHS_MAX);
	if (_i)
		limit_is("more lengths of messages than are kept (1048576)");
	else
		ck_assert_ptr_null(traffic_limit_reached(me.traffic, 0));
}
END_TEST

static double cpu_of_calls(uint32_t n, uint32_t calls)
{
	const clock_t since = clock();

	neighbour_often(n, calls);
	return (double)(clock() - since);
}

/* Calls whose neighbours are one rank take as long as calls with others, of whom nothing counts. */
START_TEST(one_rank_that_is_many_neighbours_is_one_step)
{
	const uint32_t calls = 2000, most = NEIGHBOURS_MAX;
	double few, many;

	ck_assert_ptr_null(neighbours(0, most, 0, RUNS({1, 0, (int32_t)most})));
	ck_assert_ptr_null(neighbours(1, 1, 0, RUNS({1, 0, 1})));
	few = cpu_of_calls(1, calls);
	many = cpu_of_calls(most, calls);
	end();
	is_with(1, (uint64_t)calls * most, (uint64_t)calls * most, 2 * calls, 2 * calls);
	ck_assert_double_le(many, 20 * (few + 1));
}
END_TEST

START_TEST(lengths_of_one_rank_that_is_many_neighbours)
{
	ck_assert_ptr_null(neighbours(0, 3, 0, RUNS({3, 0, 2}, {1, 1, 1})));
	ck_assert_ptr_null(neighbours(1, 2, 0, RUNS({NONE, 0, 2})));
	in(T0, FN(NEIGHBOR_ALLTOALLV));
	LENGTHS(T0, 0, 0, 0, 1, 20, 300);
	LENGTHS(T0, 0, LENGTHS_RECEIVED, 0, 4000, 50000);
	call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLV, 0, 0, 321, 54000);
	out(T0, FN(NEIGHBOR_ALLTOALLV));
	end();
	is_with(1, 1, 300, 0, 0);
	is_with(3, 2, 21, 0, 0);
	is_with(PROFILE_ELSEWHERE, 0, 0, 2, 54000);
}
END_TEST

START_TEST(definitions_that_cannot_be)
{
	have_neighbours();
	ck_assert_ptr_nonnull(neighbours(2, 1, 0, RUNS({1, 1, 1})));
	ck_assert_ptr_nonnull(neighbours(0, 3, 0, RUNS({1, 1, 1})));
	ck_assert_ptr_nonnull(neighbours(0, 3, 2, RUNS({1, 1, 1})));
	ck_assert_ptr_nonnull(neighbours(0, 4, 2, RUNS({1, 1, 1})));
	ck_assert_ptr_nonnull(traffic_define_neighbours(
		me.traffic, &(struct wire_neighbours){.comm = WORLD, .runs = 1}, 0));
	ck_assert_ptr_nonnull(traffic_define_neighbours(
		me.traffic, &(struct wire_neighbours){.comm = WORLD + 1}, 0));
}
END_TEST

START_TEST(runs_that_cannot_be)
{
	static const struct wire_run runs[] = {{-2, 1, 1}, {0, 1, 0}, {0, 1, -1}, {0, 1, 9},
		{3, -1, 5}, {NONE, 1, 2}, {7, 1, INT32_MAX}, {0, INT32_MAX, INT32_MAX}, {0, 1, 4},
		{8, 1, 1}};

	ck_assert_ptr_nonnull(neighbours(_i % 2, 3, 0, 1, &runs[_i]));
}
END_TEST

START_TEST(records_that_cannot_be)
{
	static const char *const why = "a record of communication that contradicts its format";

	in(T0, FN(ALLTOALLV));
	if (!_i) /* five of 63 bits */
		PUT(T0, message_head(RECORD_LENGTHS, 0),
			message_pair(0, WORLD << 8 | LENGTHS_WIDE | 4 << LENGTHS_N_AT), 0, 0, 0,
			MESSAGE_MARK);
	else if (_i == 1) /* none */
		PUT(T0, message_head(RECORD_LENGTHS, 0), message_pair(0, WORLD << 8 | LENGTHS_SAME),
			0, 0, 0, MESSAGE_MARK);
	else if (_i == 2)
		PUT(T0, message_head(RECORD_LENGTHS, 0), message_pair(0, WORLD << 8 | LENGTHS_SAME),
			(uint64_t)1 << 33, 0, 0, MESSAGE_MARK);
	else
		PUT(T0, message_head(RECORD_LENGTHS, 0),
			message_pair(0, (WORLD + 1) << 8 | LENGTHS_SAME), 1, 0, 0, MESSAGE_MARK);
	refused(T0, _i < 3 ? why : "a message on a communicator that was not defined");
}
END_TEST

/* ---- what a listener is told ------------------------------------------------------------------
 */

static struct {
	unsigned comms, neighbours, lengths, messages, waits;
	struct vfd_lengths last;
	uint64_t bytes[LENGTHS_MOST], waited;
	struct wire_run runs[2][8];
	uint32_t thread;
} told;

static uint32_t on_comm(void *ctx, const struct vfd_comm *c)
{
	(void)ctx, (void)c;
	return told.comms += 11;
}

static void on_neighbours(void *ctx, const struct vfd_neighbours *n)
{
	(void)ctx;
	ck_assert_uint_eq(n->comm, 11);
	ck_assert_uint_eq(told.messages, 0);
	ck_assert_uint_le(n->n_runs, 8);
	memcpy(told.runs[n->received], n->runs, n->n_runs * sizeof(*n->runs));
	told.neighbours++;
}

static void on_lengths(void *ctx, const struct vfd_lengths *l)
{
	(void)ctx;
	told.last = *l;
	memcpy(told.bytes, l->bytes, (l->same ? 1 : l->n) * sizeof(*l->bytes));
	told.lengths++;
}

static void on_message(void *ctx, uint32_t thread, const struct vfd_message *m)
{
	(void)ctx, (void)thread;
	ck_assert_uint_eq(m->comm, 11);
	told.messages++;
}

static void on_wait(void *ctx, uint32_t thread, uint64_t key, const struct vfd_wait *wait)
{
	(void)ctx;
	ck_assert_uint_eq(key, KEY_SYNC | FN(ALLREDUCE));
	ck_assert_uint_eq(wait->stack, 77);
	told.thread = thread;
	told.waited += (uint64_t)(wait->end - wait->start);
	told.waits++;
}

static const struct traffic_listener listener = {
	.comm = on_comm, .message = on_message, .neighbours = on_neighbours, .lengths = on_lengths};
static const struct traffic_listener wait_listener = {.wait = on_wait};

START_TEST(a_listener_is_told)
{
	memset(&told, 0, sizeof(told));
	traffic_listener_set(me.traffic, &listener);
	have_neighbours();
	for (uint32_t i = 0; i < 2; i++) {
		in(T0, FN(NEIGHBOR_ALLTOALLV));
		LENGTHS(T0, i, LENGTHS_RECEIVED, 3, 4, 5);
		call_of(T0, VFTR_MPI_NEIGHBOR_ALLTOALLV, i, 0, 6, 9);
		out(T0, FN(NEIGHBOR_ALLTOALLV));
	}
	flush(T0);
	ck_assert_uint_eq(told.comms, 11);
	ck_assert_uint_eq(told.neighbours, 2);
	ck_assert_uint_eq(told.messages, 2);
	ck_assert_uint_eq(told.lengths, 2);
	ck_assert_uint_eq(told.last.comm, 11);
	ck_assert_uint_eq(told.last.ticket, 1);
	ck_assert_uint_eq(told.last.first, 3);
	ck_assert_uint_eq(told.last.n, 2);
	ck_assert(told.last.received && !told.last.same);
	ck_assert_uint_eq(told.bytes[1], 5);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(told.runs[0][i].first, i ? 3 : 1);
	ck_assert_int_eq(told.runs[1][0].first, 5);
	ck_assert_int_eq(told.runs[1][1].first, NONE);
	end();
}
END_TEST

/* A call whose enter the file has is told of, in whatever order they are settled. */
START_TEST(a_listener_is_told_of_waits)
{
	struct sync *s = sync_new();
	struct person two[2];

	memset(&told, 0, sizeof(told));
	sync_set_members(s, (struct sync_member[]){{1, true, 0}, {1, true, 1}}, 2);
	for (int i = 0; i < 2; i++) {
		be_born(&two[i], s, i);
		traffic_listener_set(two[i].traffic, &wait_listener);
	}
	for (int i = 0; i < 6; i++) {
		struct person *p = &two[i % 2];
		const uint64_t since = START + 100 * (uint64_t)(i / 2) + (i % 2 ? 30 : 10);
		const struct traffic_frame f = {
			.node = calltree_child(p->thread[1].track->tree,
				calltree_root(p->thread[1].track->tree), NULL, FN(ALLREDUCE)),
			.call = true,
			.level = 1,
			.since = since,
			.stack = 77,
			.entered = i < 4 || i % 2};
		const uint64_t w[] = {message_head(RECORD_COLLECTIVE, VFTR_MPI_ALLREDUCE),
			message_pair((uint32_t)i / 2, MESSAGE_NO_RANK),
			message_subject(WORLD, 0, 0), message_pair(1, 1), 8, MESSAGE_MARK | 8};

		ck_assert_ptr_null(traffic_record(p->thread[1].track, w, &f, since));
		ck_assert_ptr_null(traffic_left(p->thread[1].track, 1, 0, since + 50));
	}
	ck_assert_uint_eq(told.waits, 5);
	ck_assert_uint_eq(told.waited, 40);
	ck_assert_uint_eq(told.thread, 1);
	for (int i = 0; i < 2; i++)
		die_out(&two[i]);
	sync_free(s);
}
END_TEST

int main(void)
{
	const struct row rows[] = {{messages_of_one_length, 1}, {messages_of_their_own_lengths, 1},
		{each_start_of_a_persistent_call, 1}, {persistent_calls_without_end, 1},
		{persistent_calls_up_to_the_bound, 1}, {persistent_calls_do_not_displace_others, 1},
		{neighbours_without_end, 2}, {lengths_without_end, 2},
		{one_rank_that_is_many_neighbours_is_one_step, 1},
		{lengths_of_one_rank_that_is_many_neighbours, 1},
		{lengths_that_do_not_fit_count_nowhere, 1}, {definitions_that_cannot_be, 1},
		{runs_that_cannot_be, 10}, {records_that_cannot_be, 4}, {a_listener_is_told, 1},
		{a_listener_is_told_of_waits, 1}};

	return run_tests("traffic-neighbours", rows, ARRAY_SIZE(rows));
}
