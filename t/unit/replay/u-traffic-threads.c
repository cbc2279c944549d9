/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages whose order MPI does not define, from records of three threads made
 * by hand, in whatever order they are read; and what threads leave behind. The
 * window is small here: what falls out of it is tested, too.
 */
#define ORDER_WINDOW   64u
#define ORDER_ALONE    32u
#define ORDER_CHANNELS 8u
#define ORDER_STEPS    1024u
#include "traffic-by-hand.h"
#include "nodeagent/replay/comm/order.c"

/* What a thread does from `since` to `until`, counted from START. */
static void frame(struct thread *t, uint32_t id, uint64_t since, uint64_t until, size_t n,
	const uint64_t *words)
{
	flush(t);
	ticks = START + since - 1;
	in(t, id);
	if (n)
		put(t, n, words);
	ticks = START + until - 1;
	out(t, id);
}

static void send_at(struct thread *t, uint64_t since, uint64_t until, uint32_t dest, uint32_t tag)
{
	frame(t, FN(SEND), since, until, 4,
		(uint64_t[]){message_head(RECORD_SEND, tag), message_pair(0, dest),
			message_subject(WORLD, INT, 0), message_last(0, 8)});
}

static void isend_at(
	struct thread *t, uint64_t since, uint64_t until, uint32_t comm, uint32_t request)
{
	frame(t, FN(ISEND), since, until, 4,
		(uint64_t[]){message_head(RECORD_SEND, 1), message_pair(0, 3),
			message_subject(comm, INT, request), message_last(0, 8)});
}

static void recv_at(struct thread *t, uint64_t since, uint64_t until, uint32_t source, uint32_t tag,
	uint32_t flags)
{
	frame(t, FN(RECV), since, until, 4,
		(uint64_t[]){message_head(RECORD_RECV, tag), message_pair(0, source),
			message_subject(WORLD, INT, 0), message_last(flags, 8)});
}

static void irecv_at(struct thread *t, uint32_t id, uint64_t since, uint64_t until, uint32_t source,
	uint32_t tag, uint32_t request, uint32_t flags)
{
	frame(t, id, since, until, 4,
		(uint64_t[]){message_head(RECORD_POST, tag), message_pair(0, source),
			message_subject(WORLD, INT, request), message_last(flags, 8)});
}

static void ambiguous(uint64_t sends, uint64_t receives)
{
	const struct traffic_sums *s = traffic_sums(me.traffic);

	end();
	ck_assert_uint_eq(s->ambiguous_sends, sends);
	ck_assert_uint_eq(s->ambiguous_receives, receives);
}

static bool warned(void)
{
	return me.traffic->limits & 1u << LIMIT_ORDER;
}

/* ---- pairs --------------------------------------------------------------------------- */

#define ANY_RANK MESSAGE_ANY_SOURCE
#define TAGS	 MESSAGE_ANY_TAG

/* Two sends of two threads; whichever is read first. */
START_TEST(sends)
{
	static const struct {
		uint64_t since, until;
		uint32_t dest, tag, wanted;
	} with[] = {/* the other one: 100 to 200, to 3 with tag 1 */
		{150, 250, 3, 1, 2}, {50, 101, 3, 1, 2}, {120, 130, 3, 1, 2}, {10, 500, 3, 1, 2},
		{100, 200, 3, 1, 2}, {200, 300, 3, 1, 0}, {50, 100, 3, 1, 0}, {201, 300, 3, 1, 0},
		{120, 130, 4, 1, 0}, {120, 130, 3, 2, 0}};
	size_t i = (size_t)_i / 2;

	if (_i % 2)
		send_at(T0, 100, 200, 3, 1);
	send_at(T1, with[i].since, with[i].until, with[i].dest, with[i].tag);
	flush(T1);
	if (!(_i % 2))
		send_at(T0, 100, 200, 3, 1);
	ambiguous(with[i].wanted, 0);
	ck_assert_uint_eq(comm(100).ambiguous_sends, with[i].wanted);
	ck_assert_uint_eq(comm(100).sends, 2);
}
END_TEST

/* Two receives at the same time; a message's actual source and tag do not matter. */
START_TEST(receives)
{
	static const struct {
		uint32_t source, tag, flags, other_source, other_tag, other_flags, wanted;
	} pair[] = {{3, 1, 0, 3, 1, 0, 2}, {3, 1, 0, 3, 2, 0, 0}, {3, 1, 0, 4, 1, 0, 0},
		{3, 1, ANY_RANK, 4, 1, 0, 2}, {3, 1, ANY_RANK, 4, 2, 0, 0},
		{3, 1, TAGS, 3, 2, 0, 2}, {3, 1, TAGS, 4, 2, 0, 0}, {3, 1, ANY_RANK, 4, 2, TAGS, 2},
		{3, 1, ANY_RANK, 4, 2, ANY_RANK, 0}, {3, 1, ANY_RANK | TAGS, 4, 2, 0, 2},
		{3, 1, ANY_RANK | TAGS, 4, 2, ANY_RANK | TAGS, 2}};
	size_t i = (size_t)_i / 2;

	if (_i % 2)
		recv_at(T0, 100, 200, pair[i].source, pair[i].tag, pair[i].flags);
	else
		irecv_at(T0, FN(IRECV), 100, 200, pair[i].source, pair[i].tag, 1, pair[i].flags);
	recv_at(T1, 120, 130, pair[i].other_source, pair[i].other_tag, pair[i].other_flags);
	ambiguous(0, pair[i].wanted);
}
END_TEST

START_TEST(other_communicators_and_one_thread)
{
	ck_assert_ptr_null(define(&me, 2, 200, 8, 0, 0, RUNS({0, 1, 8})));
	isend_at(T0, 100, 200, WORLD, 1);
	isend_at(T1, 100, 200, 2, 2);
	/* one thread: the second from inside of the first, as in a callback */
	flush(T2);
	ticks = START + 100;
	in(T2, FN(SEND));
	send_to(T2, WORLD, 5, 0, 8);
	in(T2, CALLER);
	in(T2, FN(SEND));
	send_to(T2, WORLD, 5, 0, 8);
	out(T2, FN(SEND));
	out(T2, CALLER);
	out(T2, FN(SEND));
	/* sends never compete with receives */
	recv_at(T1, 300, 400, 3, 1, 0);
	send_at(T2, 300, 400, 3, 1);
	ambiguous(0, 0);
}
END_TEST

START_TEST(three_threads)
{
	send_at(T0, 100, 200, 3, 1);
	send_at(T0, 300, 400, 3, 1); /* with none of the other two */
	send_at(T0, 500, 600, 3, 1);
	send_at(T1, 150, 160, 3, 1);
	send_at(T1, 170, 180, 3, 1);
	send_at(T1, 190, 290, 3, 1);
	send_at(T2, 550, 560, 3, 1);
	send_at(T2, 580, 700, 3, 1);
	send_at(T2, 800, 900, 3, 1);
	ambiguous(7, 0);
}
END_TEST

/* Probes that take a message are what competes, not what receives it then. */
START_TEST(matched)
{
	irecv_at(T0, FN(MPROBE), 100, 200, 3, 1, 1, MESSAGE_MATCHED | ANY_RANK);
	irecv_at(T1, FN(IMPROBE), 150, 250, 3, 1, 2, MESSAGE_MATCHED);
	irecv_at(T0, FN(IMRECV), 300, 400, 3, 1, 1, MESSAGE_MATCHED | ANY_RANK);
	irecv_at(T1, FN(IMRECV), 300, 400, 3, 1, 2, MESSAGE_MATCHED);
	irecv_at(T2, FN(IRECV), 300, 400, 3, 1, 3, 0);
	ambiguous(0, 2);
}
END_TEST

START_TEST(what_is_not_compared)
{
	/* failed calls, partitioned messages, a call whose begin was lost */
	flush(T0);
	ticks = START + 100;
	in(T0, FN(SEND));
	send_to(T0, WORLD, 3, 0, 8);
	failed(T0);
	ticks = START + 200;
	out(T0, FN(SEND));
	send_at(T1, 100, 200, 3, 7);
	frame(T0, FN(START), 300, 400, 4,
		(uint64_t[]){message_head(RECORD_SEND, 1), message_pair(0, 3),
			message_subject(WORLD, INT, 1), message_last(MESSAGE_PARTITIONED, 8)});
	send_at(T1, 300, 400, 3, 1);
	ticks = START + 500;
	in(T0, CALLER);
	send_to(T0, WORLD, 3, 0, 8);
	ticks = START + 600;
	out(T0, CALLER);
	send_at(T1, 500, 600, 3, 7);
	ambiguous(0, 0);
	ck_assert(!warned());
}
END_TEST

/* ---- many ------------------------------------------------------------------------------ */

#define MANY 10000u

/* One thread after the other, with as much of each at a time as the window has room for. */
START_TEST(taking_turns)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < MANY; i++, at += 10)
		send_at(i / 20 % 2 ? T0 : T1, at + 1, at + 10, 3, 1);
	ambiguous(0, 0);
	ck_assert(!warned());
}
END_TEST

/* Three at a time, each batch of a thread read after another's. */
START_TEST(all_at_once)
{
	for (unsigned batch = 0; batch < MANY; batch += 8)
		for (int t = 0; t < THREADS; t++) {
			for (unsigned i = 0; i < 8; i++)
				send_at(&me.thread[t], (batch + i) * 10 + (unsigned)t + 1,
					(batch + i) * 10 + 8, 3, 1);
			flush(&me.thread[t]);
		}
	ambiguous(3 * MANY, 0);
	ck_assert(!warned());
}
END_TEST

/* A thread that waits for a message long: what the others do meanwhile is known by channel. */
START_TEST(server_thread)
{
	static const struct {
		uint32_t tag, flags, wanted;
	} server[] = {
		{99, 0, 0}, {99, ANY_RANK, 0}, {1, 0, MANY + 1}, {99, ANY_RANK | TAGS, MANY + 1}};

	for (unsigned i = 0; i < MANY; i++) {
		recv_at(T1, 100 + i * 10, 100 + i * 10 + 5, 3, 1, 0);
		send_at(T0, 100 + i * 10, 100 + i * 10 + 5, 3, 99);
	}
	recv_at(T2, 50, 100 + MANY * 10, 3, server[_i].tag, server[_i].flags);
	ambiguous(0, server[_i].wanted);
	ck_assert(!warned());
}
END_TEST

/* ... and by its number at least if it began in the middle: it is told that more is possible. */
START_TEST(from_the_middle)
{
	const struct traffic_sums *s = traffic_sums(me.traffic);

	for (unsigned i = 0; i < MANY; i++)
		recv_at(T1, 100 + i * 10, 100 + i * 10 + 5, 3, 1, 0);
	recv_at(T2, 100 + MANY * 5, 100 + MANY * 10, 3, 1, 0);
	end();
	ck_assert_uint_ge(s->ambiguous_receives, 2);
	ck_assert_uint_le(s->ambiguous_receives, MANY / 2 + 1);
	ck_assert(warned());
}
END_TEST

/* More channels than are kept, each used once: only a call that long is not exact. */
START_TEST(many_channels)
{
	for (unsigned i = 0; i < MANY; i++)
		send_at(T0, 100 + i * 10, 100 + i * 10 + 5, 3, i);
	send_at(T1, _i ? 100 : 99 + MANY * 10, 100 + MANY * 10, 3, MANY + 1);
	ambiguous(0, 0);
	ck_assert_int_eq(warned(), _i);
}
END_TEST

/* A call may post any number of messages. */
START_TEST(many_in_one_call)
{
	for (int t = 0; t < 2; t++) {
		struct thread *at = &me.thread[t];

		flush(at);
		ticks = START + 100;
		in(at, FN(STARTALL));
		for (unsigned i = 0; i < MANY; i++)
			PUT(at, message_head(RECORD_SEND, t && i % 2 ? 2 : 1), message_pair(i, 3),
				message_subject(WORLD, INT, (uint32_t)t * MANY + i + 1),
				message_last(0, 8));
		ticks = START + 200 + (uint64_t)t;
		out(at, FN(STARTALL));
	}
	ambiguous(MANY + MANY / 2, 0);
}
END_TEST

/* Nonsense costs time in proportion: all calls of three threads overlap all others. */
START_TEST(hostile)
{
	for (unsigned i = 0; i < MANY; i++)
		for (int t = 0; t < THREADS; t++)
			recv_at(&me.thread[t], 1 + (uint64_t)i * (i % 3 == 0), 100 + i, 3, i % 7,
				(i % 5) & (ANY_RANK | TAGS));
	end();
	ck_assert_uint_le(traffic_sums(me.traffic)->ambiguous_receives, 3 * MANY);
}
END_TEST

/* ---- threads that ended before their requests ---------------------------------------------- */

START_TEST(late_requests)
{
	size_t n;
	const struct traffic_thread *late;

	irecv_at(T0, FN(IRECV), 100, 110, 3, 1, 1, 0);
	irecv_at(T0, FN(IRECV), 120, 130, 3, 1, 2, 0);
	isend_at(T0, 140, 150, WORLD, 3);
	irecv_at(T1, FN(IRECV), 100, 110, 4, 1, 4, 0);
	end_thread(&me, 0);
	ticks = START + 200;
	in(T2, FN(WAITALL));
	done(T2, 1, 3, 0, 70);
	done(T2, 2, 3, 0, 7);
	done(T2, 3, 0, MESSAGE_CANCELLED, 0);
	done(T2, 4, 4, 0, 5);
	out(T2, FN(WAITALL));
	flush(T2);
	end();
	late = traffic_late(me.traffic, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(late->thread, 0);
	ck_assert_uint_eq(late->receives, 2);
	ck_assert_uint_eq(late->bytes_received, 77);
	ck_assert_uint_eq(late->sends, UINT64_MAX); /* one taken back */
	nothing_is_open();
}
END_TEST

START_TEST(late_requests_of_many)
{
	size_t n;
	const struct traffic_thread *late;

	for (uint32_t i = 1; i <= TRAFFIC_LATE_MAX + 8; i++) {
		irecv_at(T0, FN(IRECV), 100 * i, 100 * i + 10, 3, 1, i, 0);
		end_thread(&me, 0);
		start_thread(&me, 0);
	}
	ticks = START + 100 * (TRAFFIC_LATE_MAX + 9);
	in(T2, FN(WAITALL));
	for (uint32_t i = 1; i <= TRAFFIC_LATE_MAX + 8; i++)
		done(T2, i, 3, 0, 7);
	out(T2, FN(WAITALL));
	end();
	late = traffic_late(me.traffic, &n);
	ck_assert_uint_eq(n, TRAFFIC_LATE_MAX + 1);
	ck_assert_uint_eq(late[1].receives, 1);
	ck_assert_uint_eq(late[n - 1].thread, PROFILE_NONE);
	ck_assert_uint_eq(late[n - 1].receives, 8);
	ck_assert(me.traffic->limits & 1u << LIMIT_THREADS);
}
END_TEST

int main(void)
{
	const struct row rows[] = {{sends, 20}, {receives, 22},
		{other_communicators_and_one_thread, 1}, {three_threads, 1}, {matched, 1},
		{what_is_not_compared, 1}, {taking_turns, 1}, {all_at_once, 1}, {server_thread, 4},
		{from_the_middle, 1}, {many_channels, 2}, {many_in_one_call, 1}, {hostile, 1},
		{late_requests, 1}, {late_requests_of_many, 1}};

	return run_tests("threads", rows, ARRAY_SIZE(rows));
}
