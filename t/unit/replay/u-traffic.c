/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From records of communication made by hand to sums: messages and requests,
 * failures, what is cancelled or never completes, completions by other threads,
 * matched probes, growth, and nonsense.
 */
#include "traffic-by-hand.h"

#include <malloc.h>
#include <time.h>

/* ---- messages without requests ----------------------------------------------------------- */

START_TEST(blocking)
{
	const struct traffic_sums *s = traffic_sums(me.traffic);

	for (int i = 0; i < 10; i++) {
		in(T0, FN(SEND));
		send_to(T0, WORLD, 3, 0, 100);
		wait_ticks(49);
		out(T0, FN(SEND));
		in(T0, FN(RECV));
		received(T0, WORLD, 5, 0, 0, 1000);
		wait_ticks(9);
		out(T0, FN(RECV));
	}
	end();
	sent_by(FN(SEND), 10, 1000, 500);
	received_by(FN(RECV), 10, 10000, 100);
	ck_assert_uint_eq((uint64_t)(of(FN(SEND)).send_bandwidth >> 32), 20);
	ck_assert_uint_eq((uint64_t)(of(FN(RECV)).receive_bandwidth >> 32), 1000);
	ck_assert_uint_eq(peer(3).sends, 10);
	ck_assert_uint_eq(peer(3).bytes_sent, 1000);
	ck_assert_uint_eq(peer(5).receives, 10);
	ck_assert_uint_eq(peer(5).bytes_received, 10000);
	ck_assert_uint_eq(s->n_peers, 2);
	ck_assert_uint_eq(s->sizes[7].sends, 10);     /* 64 to 127 */
	ck_assert_uint_eq(s->sizes[10].receives, 10); /* 512 to 1023 */
	ck_assert_uint_eq(comm(100).sends, 10);
	ck_assert_uint_eq(comm(100).bytes_received, 10000);
	ck_assert_uint_eq(comm(100).size, 8);
	nothing_is_open();
}
END_TEST

START_TEST(sizes)
{
	static const uint64_t bytes[] = {0, 1, 2, 3, 4, 7, 8, 1u << 20, ((uint64_t)1 << 56) - 1};
	static const unsigned class[] = {0, 1, 2, 2, 3, 3, 4, 21, 56};
	const struct traffic_sums *s = traffic_sums(me.traffic);

	for (size_t i = 0; i < ARRAY_SIZE(bytes); i++) {
		uint64_t before = s->sizes[class[i]].sends;

		in(T0, FN(SEND));
		send_to(T0, WORLD, 3, 0, bytes[i]);
		out(T0, FN(SEND));
		flush(T0);
		ck_assert_uint_eq(s->sizes[class[i]].sends, before + 1);
	}
	end();
}
END_TEST

/* A frame that is left without an exit, by whatever way, is left all the same. */
START_TEST(frames_left_by_other_ways)
{
	in(T0, CALLER);
	in(T0, FN(SEND));
	send_to(T0, WORLD, 3, 0, 10);
	wait_ticks(3);
	out(T0, CALLER); /* closes the call, too */
	in(T0, FN(SEND));
	send_to(T0, WORLD, 3, 0, 10);
	PUT(T0, record_word(++ticks, 0, RECORD_CLOSE), 1);
	in(T0, FN(SEND));
	send_to(T0, WORLD, 3, 0, 10);
	wait_ticks(6);
	end(); /* never left */
	sent_by(FN(SEND), 3, 30, 4 + 1 + 6);
}
END_TEST

/* A callback inside of an MPI function may communicate, even by the same function. */
START_TEST(calls_within_calls)
{
	in(T0, FN(ALLREDUCE));
	collective(T0, WORLD, 0, 0, 7, 7, 70, 70);
	in(T0, CALLER);
	in(T0, FN(SEND));
	send_to(T0, WORLD, 1, 0, 5);
	out(T0, FN(SEND));
	out(T0, CALLER);
	out(T0, FN(ALLREDUCE));
	in(T0, FN(SEND));
	send_to(T0, WORLD, 1, 0, 5);
	in(T0, FN(SEND)); /* direct: one frame */
	send_to(T0, WORLD, 4, 0, 6);
	failed(T0);
	out(T0, FN(SEND));
	wait_ticks(10);
	out(T0, FN(SEND));
	end();
	sent_by(FN(ALLREDUCE), 7, 70, 7 * 5);
	sent_by(FN(SEND), 2, 10, 1 + 13);
	ck_assert_uint_eq(peer(4).sends, 0);
}
END_TEST

/* Without the enter of its call a message counts, without a duration. */
START_TEST(lost_enter)
{
	in(T0, CALLER);
	send_to(T0, WORLD, 3, 0, 10);
	send_to(T0, WORLD, 3, 1, 10);
	wait_ticks(5);
	done(T0, 1, 0, 0, 0);
	out(T0, CALLER);
	send_to(T0, WORLD, 3, 0, 10);
	PUT(T0, record_word(++ticks, 0, RECORD_PAUSE));
	send_to(T0, WORLD, 3, 0, 10);
	PUT(T0, record_word(++ticks, 0, RECORD_RESUME), 2);
	send_to(T0, WORLD, 3, 0, 10);
	end();
	sent_by(CALLER, 2, 20, 0);
	ck_assert_uint_eq(peer(3).sends, 5);
	ck_assert_uint_eq(of(KEY_PAUSE).sends, 1);
	ck_assert_uint_eq(of(KEY_INIT).sends, 2);
	nothing_is_open();
}
END_TEST

/* ---- requests --------------------------------------------------------------------------- */

START_TEST(nonblocking)
{
	in(T0, FN(ISEND)); /* + 1 */
	send_to(T0, WORLD, 3, 1, 64);
	out(T0, FN(ISEND));
	in(T0, FN(IRECV)); /* + 3 */
	post(T0, WORLD, 0, 2, MESSAGE_ANY_SOURCE | MESSAGE_ANY_TAG);
	out(T0, FN(IRECV));
	wait_ticks(100);
	in(T0, CALLER);
	in(T0, FN(WAITALL));
	done(T0, 1, 0, 0, 0);
	done(T0, 2, 6, 0, 32);
	wait_ticks(100);
	out(T0, FN(WAITALL)); /* + 207 */
	out(T0, CALLER);
	end();
	sent_by(FN(ISEND), 1, 64, 206);
	received_by(FN(IRECV), 1, 32, 204);
	sent_by(FN(WAITALL), 0, 0, 0);
	ck_assert_uint_eq(peer(6).bytes_received, 32);
	ck_assert_uint_eq(peer(0).receives, 0);
	nothing_is_open();
}
END_TEST

/* A Waitall says in one record what became of requests that were made in a row. */
START_TEST(completed_in_a_row)
{
	for (uint32_t request = 1; request <= 3; request++) {
		in(T0, FN(ISEND));
		send_to(T0, WORLD, 3, request, 64);
		out(T0, FN(ISEND));
	}
	for (uint32_t request = 4; request <= 7; request++) {
		in(T0, FN(IRECV));
		post(T0, WORLD, 2, request, 0);
		out(T0, FN(IRECV));
	}
	in(T0, FN(WAITALL));
	PUT(T0, message_head(RECORD_COMPLETE_RANGE, 2), MESSAGE_MARK | 4);
	PUT(T0, message_head(RECORD_COMPLETE, 7)); /* 6 goes on */
	out(T0, FN(WAITALL));
	in(T0, FN(WAITALL));
	PUT(T0, message_head(RECORD_COMPLETE_RANGE, 1), MESSAGE_MARK | 1);
	out(T0, FN(WAITALL));
	end();
	ck_assert_uint_eq(peer(3).sends, 3);
	ck_assert_uint_eq(peer(2).receives, 3);
	ck_assert_uint_eq(peer(2).bytes_received, 3 * 9999);
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 1);
}
END_TEST

START_TEST(posted_and_done_in_one_call)
{
	in(T0, FN(ISENDRECV));
	send_to(T0, WORLD, 3, 1, 64);
	post(T0, WORLD, 4, 2, 0);
	done(T0, 1, 0, 0, 0);
	done(T0, 2, 4, 0, 5);
	out(T0, FN(ISENDRECV));
	end();
	sent_by(FN(ISENDRECV), 1, 64, 1);
	received_by(FN(ISENDRECV), 1, 5, 1);
	nothing_is_open();
}
END_TEST

/* A request that never completes: its send counts, its receive does not. */
START_TEST(never_done)
{
	in(T0, FN(ISEND));
	send_to(T0, WORLD, 3, 1, 64);
	out(T0, FN(ISEND));
	in(T0, FN(IRECV));
	post(T0, WORLD, 4, 2, 0);
	out(T0, FN(IRECV));
	end();
	sent_by(FN(ISEND), 1, 64, 0);
	received_by(FN(IRECV), 0, 0, 0);
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 2);
	ck_assert_uint_eq(open_at(FN(ISEND), OPEN_SEND), 1);
	ck_assert_uint_eq(open_at(FN(IRECV), OPEN_RECEIVE), 1);
	ck_assert_uint_eq(open_at(FN(IRECV), OPEN_SEND), 0);
}
END_TEST

/* A number that comes again gives up what it stood for: that stays where it was posted. */
START_TEST(a_number_that_comes_again)
{
	in(T0, FN(ISEND));
	send_to(T0, WORLD, 3, 1, 64);
	out(T0, FN(ISEND));
	in(T0, FN(IRECV));
	post(T0, WORLD, 4, 1, 0);
	out(T0, FN(IRECV));
	end();
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 2);
	ck_assert_uint_eq(open_at(FN(ISEND), OPEN_SEND), 1);
	ck_assert_uint_eq(open_at(FN(IRECV), OPEN_RECEIVE), 1);
}
END_TEST

static int is_caller(void *ctx, uint64_t key)
{
	(void)ctx;
	return key == CALLER;
}

/* What ran before main() is forgotten; what it has posted may still be completed. */
START_TEST(posted_before_main)
{
	replay_drop_prelude(T0->r, is_caller);
	in(T0, FN(ISEND));
	send_to(T0, WORLD, 3, 1, 64);
	out(T0, FN(ISEND));
	in(T0, CALLER);
	out(T0, CALLER);
	end_thread(&me, 0);
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 1);
	ck_assert_uint_eq(open_at(FN(ISEND), OPEN_SEND), 0);
	in(T1, FN(WAIT));
	done(T1, 1, 0, 0, 0);
	out(T1, FN(WAIT));
	end();
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 1);
}
END_TEST

START_TEST(failures)
{
	in(T0, FN(SEND));
	send_to(T0, WORLD, 3, 0, 64);
	failed(T0);
	out(T0, FN(SEND));
	in(T0, FN(ISEND));
	send_to(T0, WORLD, 3, 1, 64);
	failed(T0);
	out(T0, FN(ISEND));
	in(T0, FN(IRECV));
	post(T0, WORLD, 3, 2, 0);
	out(T0, FN(IRECV));
	in(T0, FN(WAITALL)); /* one of several failed: what is complete stays so */
	done(T0, 2, 3, 0, 8);
	failed(T0);
	out(T0, FN(WAITALL));
	end();
	sent_by(FN(SEND), 0, 0, 0);
	sent_by(FN(ISEND), 0, 0, 0);
	received_by(FN(IRECV), 1, 8, 3);
	ck_assert_uint_eq(peer(3).sends, 0);
	nothing_is_open();
}
END_TEST

START_TEST(cancelled_and_freed)
{
	for (uint32_t r = 1; r <= 6; r++) {
		in(T0, r & 1 ? FN(ISEND) : FN(IRECV));
		if (r & 1)
			send_to(T0, WORLD, 3, r, 64);
		else
			post(T0, WORLD, 3, r, 0);
		out(T0, r & 1 ? FN(ISEND) : FN(IRECV));
	}
	in(T0, FN(WAITALL));
	done(T0, 1, 0, MESSAGE_CANCELLED, 0);
	done(T0, 2, UINT32_MAX, MESSAGE_CANCELLED, 0);
	done(T0, 3, 0, MESSAGE_UNKNOWN, 0);
	done(T0, 4, UINT32_MAX, MESSAGE_UNKNOWN, 0);
	done(T0, 5, 0, 0, 0);
	done(T0, 6, 3, 0, 1);
	out(T0, FN(WAITALL));
	end();
	sent_by(FN(ISEND), 2, 128, 5);
	received_by(FN(IRECV), 1, 1, 3);
	ck_assert_uint_eq(peer(3).sends, 2);
	ck_assert_uint_eq(peer(3).bytes_sent, 128);
	ck_assert_uint_eq(comm(100).sends, 2);
	ck_assert_uint_eq(traffic_sums(me.traffic)->sizes[7].sends, 2);
	nothing_is_open();
}
END_TEST

/* A number that is posted again: what was there is forgotten, and said so. */
START_TEST(posted_twice)
{
	for (int i = 0; i < 3; i++) {
		in(T0, FN(IRECV));
		post(T0, WORLD, 3, 9, 0);
		out(T0, FN(IRECV));
	}
	in(T0, FN(WAIT));
	done(T0, 9, 3, 0, 1);
	out(T0, FN(WAIT));
	end();
	received_by(FN(IRECV), 1, 1, 3);
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 2);
}
END_TEST

/* Persistent: each start is a request of its own. */
START_TEST(many_starts)
{
	for (uint32_t i = 1; i <= 1000; i++) {
		in(T0, FN(START));
		send_to(T0, WORLD, 3, i, 8);
		out(T0, FN(START));
		in(T0, FN(WAIT));
		done(T0, i, 0, 0, 0);
		out(T0, FN(WAIT));
	}
	end();
	sent_by(FN(START), 1000, 8000, 3000);
	nothing_is_open();
	ck_assert_uint_eq(me.traffic->requests.n, 1);
}
END_TEST

/* ---- threads ------------------------------------------------------------------------------ */

/* The completion is read before what it completes. */
START_TEST(done_by_another_thread)
{
	in(T0, FN(ISEND));
	send_to(T0, WORLD, 3, 1, 64);
	out(T0, FN(ISEND));
	in(T0, FN(IRECV));
	post(T0, WORLD, 0, 2, MESSAGE_ANY_SOURCE);
	out(T0, FN(IRECV));
	in(T1, FN(WAITALL));
	done(T1, 1, 0, 0, 0);
	done(T1, 2, 6, 0, 32);
	out(T1, FN(WAITALL));
	flush(T1);
	end_thread(&me, 1);
	ck_assert_uint_eq(me.traffic->requests.early.n, 2);
	end();
	sent_by(FN(ISEND), 1, 64, 5);
	received_by(FN(IRECV), 1, 32, 3);
	ck_assert_uint_eq(me.traffic->requests.early.n, 0);
	nothing_is_open();
}
END_TEST

/* The thread that posted has ended, and its tree has gone into the process's. */
START_TEST(posted_by_a_thread_that_ended)
{
	in(T0, CALLER);
	in(T0, FN(IRECV));
	post(T0, WORLD, 0, 1, MESSAGE_ANY_SOURCE);
	out(T0, FN(IRECV));
	out(T0, CALLER);
	in(T1, FN(IRECV));
	post(T1, WORLD, 0, 2, MESSAGE_ANY_SOURCE);
	out(T1, FN(IRECV));
	flush(T1);
	end_thread(&me, 0);
	start_thread(&me, 0);
	in(T1, FN(WAITALL));
	done(T1, 1, 6, 0, 32);
	done(T1, 2, 5, 0, 32);
	out(T1, FN(WAITALL));
	end();
	received_by(FN(IRECV), 2, 64, 6 + 3);
	nothing_is_open();
}
END_TEST

static void probe(void)
{
	in(T0, FN(MPROBE));
	post(T0, WORLD, 4, 1, MESSAGE_MATCHED);
	out(T0, FN(MPROBE));
}

static void imrecv(struct thread *t)
{
	in(t, FN(IMRECV));
	post(t, WORLD, 4, 1, MESSAGE_MATCHED);
	out(t, FN(IMRECV));
}

static void wait_for_one(struct thread *t)
{
	in(t, FN(WAIT));
	done(t, 1, 4, 0, 77);
	out(t, FN(WAIT));
}

static void mrecv(struct thread *t)
{
	in(t, FN(MRECV));
	received(t, WORLD, 4, 1, MESSAGE_MATCHED, 77);
	out(t, FN(MRECV));
}

/* Each of the three in a thread of its own, read in every order: */
START_TEST(matched_probes)
{
	static const int orders[6][3] = {
		{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	probe();
	imrecv(T1);
	wait_for_one(T2);
	for (int i = 0; i < 3; i++)
		end_thread(&me, orders[_i][i]);
	end();
	received_by(FN(IMRECV), 1, 77, 3);
	received_by(FN(MPROBE), 0, 0, 0);
	nothing_is_open();
	ck_assert_uint_eq(me.traffic->requests.early.n, 0);
}
END_TEST

START_TEST(matched_receives)
{
	probe();
	mrecv(T1);
	end_thread(&me, _i);
	end();
	received_by(FN(MRECV), 1, 77, 1);
	received_by(FN(MPROBE), 0, 0, 0);
	ck_assert_uint_eq(peer(4).receives, 1);
	nothing_is_open();
	ck_assert_uint_eq(me.traffic->requests.early.n, 0);
}
END_TEST

START_TEST(probed_and_never_received)
{
	probe();
	end();
	ck_assert_uint_eq(traffic_open_requests(me.traffic), 1);
	ck_assert_uint_eq(open_at(FN(MPROBE), OPEN_RECEIVE), 1);
	ck_assert_uint_eq(peer(4).receives, 0);
}
END_TEST

/* ---- growth and nonsense -----------------------------------------------------------------------
 */

START_TEST(memory_does_not_grow)
{
	size_t before = 0;
	uint32_t request = 0;

	for (unsigned long i = 0; i < 2500000; i++) {
		uint32_t to = i % 8;

		in(T0, FN(ISEND));
		send_to(T0, WORLD, to, ++request, 8);
		out(T0, FN(ISEND));
		in(T0, FN(IRECV));
		post(T0, WORLD, 0, ++request, MESSAGE_ANY_SOURCE);
		out(T0, FN(IRECV));
		in(T0, FN(WAITALL));
		done(T0, request - 1, 0, 0, 0);
		done(T0, request, to, 0, 8);
		out(T0, FN(WAITALL));
		in(T0, FN(SENDRECV));
		send_to(T0, WORLD, to, 0, 8);
		received(T0, WORLD, to, 0, 0, 8);
		out(T0, FN(SENDRECV));
		if (i == 10000) /* room for calls to compare is made */
			before = mallinfo2().uordblks;
	}
	flush(T0);
	ck_assert_uint_eq(mallinfo2().uordblks, before);
	end();
	ck_assert_uint_eq(peer(3).sends + peer(3).receives, 10000000 / 8);
	nothing_is_open();
}
END_TEST

/* More records in one frame than are kept until its end: they count at once. */
START_TEST(endless_frame)
{
	in(T0, FN(SEND));
	for (unsigned i = 0; i < TRAFFIC_PENDING_MAX + 1000; i++)
		send_to(T0, WORLD, 3, 0, 8);
	flush(T0);
	ck_assert_uint_eq(T0->track->n, TRAFFIC_PENDING_MAX);
	out(T0, FN(SEND));
	end();
	sent_by(FN(SEND), TRAFFIC_PENDING_MAX + 1000, 8ull * (TRAFFIC_PENDING_MAX + 1000),
		TRAFFIC_PENDING_MAX);
	ck_assert_uint_eq(me.traffic->n_pending, 0);
}
END_TEST

/* ---- what the replay makes of them -------------------------------------------------------------
 */

/* Without a track they are counted and no more; their bits are no time. */
START_TEST(messages_have_no_time)
{
	const struct node *caller;

	replay_set_track(T0->r, NULL);
	in(T0, CALLER);
	for (uint32_t id = RECORD_SEND; id <= RECORD_FILE; id++)
		put(T0, record_words(id),
			(uint64_t[]){UINT64_MAX << 33 | id, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull});
	out(T0, CALLER);
	flush(T0);
	ck_assert_uint_eq(replay_counts(T0->r)->records, 2 + RECORD_FILE - RECORD_SEND + 1);
	ck_assert_uint_eq(replay_last_ticks(T0->r), ticks);
	caller = calltree_root(replay_tree(T0->r))->child;
	ck_assert_uint_eq(caller->ticks, 1);
	replay_set_track(T0->r, T0->track);
	end();
}
END_TEST

/* ... also where a block is cut at a time. */
START_TEST(split_passes_over_messages)
{
	in(T0, CALLER);
	PUT(T0, UINT64_MAX << 33 | RECORD_SEND, record_word(START + 9, 0, CALLER),
		record_word(START + 9, 0, CALLER), record_word(START + 9, 0, CALLER));
	out(T0, CALLER);
	ck_assert_uint_eq(replay_split(T0->r, T0->block, 0, START + 1), 6);
	ck_assert_uint_eq(replay_split(T0->r, T0->block, 0, START), 1);
	ck_assert_uint_eq(replay_split(T0->r, T0->block, 0, START + 2), BLOCK_WORDS);
	T0->used = 0;
}
END_TEST

START_TEST(message_across_the_end)
{
	in(T0, CALLER);
	T0->block[BLOCK_WORDS - 3] = RECORD_SEND;
	refused(T0, "a record crosses the end of its block");
}
END_TEST

START_TEST(incomplete_message)
{
	in(T0, CALLER);
	PUT(T0, RECORD_COLLECTIVE, 1, 0, 0, 0, 0); /* its producer died */
	out(T0, CALLER);
	flush(T0);
	ck_assert_uint_eq(replay_counts(T0->r)->records, 2);
	end();
}
END_TEST

static uint64_t state = 88172645463325252u;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

/* A record that is mostly sane, in its numbers at least. */
static void random_record(struct thread *t)
{
	uint32_t id = RECORD_SEND + (uint32_t)(any() % (RECORD_COMPLETE_RANGE - RECORD_SEND + 1));
	uint64_t w[6] = {message_head(id, (uint32_t)any())};
	unsigned n = record_words(id);

	for (unsigned i = 1; i < n; i++)
		w[i] = (any() % 8) << 32 | any() % 8;
	if (id <= RECORD_POST || id == RECORD_COLLECTIVE)
		w[2] = message_subject(
			(uint32_t)(any() % 3), (uint32_t)any(), (uint32_t)(any() % 6));
	if (n > 1)
		w[n - 1] = MESSAGE_MARK | any() % 4096 |
			   (id == RECORD_COMPLETE_RANGE ? 1 : (any() % 64) << MESSAGE_FLAGS_AT);
	if (any() % 5000 == 0)
		w[any() % n] = any();
	put(t, n, w);
}

START_TEST(random_records)
{
	clock_t stop = clock() + 2 * CLOCKS_PER_SEC;
	uint64_t sums = 0;

	while (clock() < stop || sums <= 100) { /* a busy machine does less in this time */
		struct wire_object o = {.number = 1, .comm = WORLD};

		die_out(&me);
		be_born(&me, NULL, 2);
		define(&me, 2, 5, 8, any() % 2 ? 8 : 0, 0, RUNS({0, 1, 8}));
		traffic_define_object(me.traffic, WIRE_WINDOW, &o, "");
		traffic_define_object(me.traffic, WIRE_FILE, &o, "f");
		o.number = 7;
		traffic_define_object(me.traffic, WIRE_FILE, &o, "g");
		traffic_define_object(me.traffic, WIRE_WINDOW, &o, "");
		for (int i = 0; i < 3000; i++) {
			int k = (int)(any() % THREADS);
			struct thread *t = &me.thread[k];
			uint32_t fn = RECORD_ID_MPI + (uint32_t)(any() % 60);

			if (any() % 3)
				random_record(t);
			else if (any() % 2)
				in(t, fn);
			else
				out(t, fn);
			if (any() % 500 == 0)
				flush(t);
			if (any() % 1000 == 0) {
				end_thread(&me, k);
				start_thread(&me, k);
			}
			if (any() % 1000 == 0)
				gone((uint32_t)(any() % 3), (uint32_t)(any() % 3));
			if (any() % 300 == 0)
				traffic_sweep(me.traffic, ticks - any() % 100);
		}
		sums += peer(3).sends;
	}
}
END_TEST

int main(void)
{
	const struct row rows[] = {{blocking, 1}, {sizes, 1}, {frames_left_by_other_ways, 1},
		{calls_within_calls, 1}, {lost_enter, 1}, {nonblocking, 1}, {completed_in_a_row, 1},
		{posted_and_done_in_one_call, 1}, {never_done, 1}, {a_number_that_comes_again, 1},
		{posted_before_main, 1}, {failures, 1}, {cancelled_and_freed, 1}, {posted_twice, 1},
		{many_starts, 1}, {done_by_another_thread, 1}, {posted_by_a_thread_that_ended, 1},
		{matched_probes, 6}, {matched_receives, 2}, {probed_and_never_received, 1},
		{memory_does_not_grow, 1}, {endless_frame, 1}, {messages_have_no_time, 1},
		{split_passes_over_messages, 1}, {message_across_the_end, 1},
		{incomplete_message, 1}, {random_records, 1}};

	return run_tests("traffic", rows, ARRAY_SIZE(rows));
}
