/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What waits for other nodes: sends and receives of many processes come back whole
 * and in order, also by way of the file; what the file does not take is dropped
 * or refused, and counted. Sets of processes as words.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned writes;
static bool disk_full;

static ssize_t counted_pwrite(int fd, const void *bytes, size_t n, off_t at)
{
	writes++;
	errno = ENOSPC;
	return disk_full ? -1 : pwrite(fd, bytes, n, at);
}

#define MATCH_OUTBOX_MEMORY ((size_t)64 << 10)
#define MATCH_OUTBOX_FILE   ((uint64_t)1 << 20)
#define MATCH_OUTBOX_PIECE  ((size_t)16 << 10)
#define pwrite		    counted_pwrite
#include "nodeagent/match/outbox.c"
#undef pwrite
#include "nodeagent/match/rank-set.h"
#include "t/lib/suite.h"

#define PLACES 5

static struct match_outbox *box;
static uint32_t next[PLACES], came;

static void setup(void)
{
	box = match_outbox_new(getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	memset(next, 0, sizeof(next));
	came = writes = 0;
	disk_full = false;
}

static void teardown(void)
{
	match_outbox_free(box);
}

static struct match_send a_send(uint32_t i)
{
	return (struct match_send){.comm = 7,
		.source = i % 3,
		.destination = i % PLACES,
		.enter = 1000000 + 50 * i,
		.leave = 1000020 + 50 * i,
		.bytes = i % 100,
		.tag = i % 4,
		.ticket = i / PLACES,
		.thread = i % 2,
		.flags = i % 11 ? 0 : (uint32_t)MATCH_PARTITIONED,
		.start = i % 11 ? 0 : i + 1};
}

static struct match_receive a_receive(uint32_t i)
{
	return (struct match_receive){.comm = 7,
		.source = i % 7 ? i % PLACES : MATCH_ANYWHERE,
		.destination = 9,
		.enter = 1000000 + 50 * i,
		.leave = 1000020 + 50 * i,
		.tag = i % 3 ? i % 4 : MATCH_ANY_TAG,
		.ticket = i / PLACES,
		.thread = i % 2,
		.flags = (i % 5 ? 0 : (uint32_t)MATCH_OVERLAPS) |
			 (i % 7 ? 0 : (uint32_t)MATCH_PARTITIONED),
		.start = i % 7 ? 0 : i + 1,
		.done = {.source = i % PLACES,
			.tag = i % 4,
			.thread = i % 3,
			.enter = 1000015 + 50 * i,
			.leave = 1000030 + 50 * i,
			.bytes = i % 100,
			.probes = i % 6 ? 0 : i,
			.unknown = i % 11 == 0}};
}

static void on_send(void *arg, const struct match_send *s)
{
	uint32_t proc_id = (uint32_t)s->destination;
	const struct match_send wanted = a_send(next[proc_id]++ * PLACES + proc_id);

	ck_assert_int_eq(memcmp(s, &wanted, sizeof(wanted)), 0);
	came++;
}

static void on_receive(void *arg, const struct match_receive *r)
{
	uint32_t proc_id = (uint32_t)r->done.source;
	const struct match_receive wanted = a_receive(next[proc_id]++ * PLACES + proc_id);

	ck_assert_uint_eq(r->source, wanted.source);
	ck_assert_uint_eq(r->destination, wanted.destination);
	ck_assert_uint_eq(r->enter, wanted.enter);
	ck_assert_uint_eq(r->leave, wanted.leave);
	ck_assert_uint_eq(r->tag, wanted.tag);
	ck_assert_uint_eq(r->ticket, wanted.ticket);
	ck_assert_uint_eq(r->thread, wanted.thread);
	ck_assert_uint_eq(r->flags, wanted.flags);
	ck_assert_uint_eq(r->start, wanted.start);
	ck_assert_uint_eq(r->done.tag, wanted.done.tag);
	ck_assert_uint_eq(r->done.thread, wanted.done.thread);
	ck_assert_uint_eq(r->done.enter, wanted.done.enter);
	ck_assert_uint_eq(r->done.leave, wanted.done.leave);
	ck_assert_uint_eq(r->done.probes, wanted.done.probes);
	ck_assert_uint_eq(r->done.bytes, wanted.done.bytes);
	ck_assert_int_eq(r->done.unknown, wanted.done.unknown);
	came++;
}

START_TEST(sends_come_back)
{
	const uint32_t n = 20000;
	struct match_piece p;
	size_t proc_ids;
	uint64_t *at;

	for (uint32_t i = 0; i < n; i++) {
		const struct match_send s = a_send(i);

		match_outbox_send(box, &s);
	}
	ck_assert_uint_gt(box->file_bytes, 0);
	ck_assert_uint_eq(match_outbox_left(box), n);
	at = match_outbox_proc_ids(box, &proc_ids);
	ck_assert_uint_eq(proc_ids, PLACES);
	free(at);
	for (uint32_t k = 0; k < PLACES; k++)
		while (match_outbox_piece(box, k, &p)) {
			ck_assert_ptr_nonnull(p.bytes);
			ck_assert_ptr_null(match_batch_each(p.bytes, p.n, on_send, NULL));
			free(p.bytes);
		}
	ck_assert_uint_eq(came, n);
	ck_assert_uint_eq(match_outbox_left(box), 0);
	ck_assert_uint_eq(box->memory, 0);
	ck_assert(!match_outbox_piece(box, 77, &p));
}
END_TEST

/* A single batch that is much larger than the others. */
START_TEST(one_proc_id)
{
	struct match_send s = a_send(0);
	struct match_piece p;

	for (uint32_t i = 0; i < 60000; i++) {
		s.ticket = i;
		match_outbox_send(box, &s);
		ck_assert_uint_le(box->memory, 4 * MATCH_OUTBOX_MEMORY);
	}
	while (match_outbox_piece(box, 0, &p)) {
		ck_assert_ptr_nonnull(p.bytes);
		came += (uint32_t)p.records;
		free(p.bytes);
	}
	ck_assert_uint_eq(came, 60000);
}
END_TEST

START_TEST(receives_come_back)
{
	const uint32_t n = 30000;
	struct match_piece p;

	for (uint32_t i = 0; i < n; i++) {
		const struct match_receive r = a_receive(i);

		ck_assert(match_outbox_receive(box, &r));
	}
	ck_assert_uint_gt(box->file_bytes, 0);
	for (uint32_t k = 0; k < PLACES; k++)
		while (match_outbox_piece(box, k, &p)) {
			ck_assert(match_batch_receives(p.bytes, p.n, on_receive, NULL));
			free(p.bytes);
		}
	ck_assert_uint_eq(came, n);
}
END_TEST

/* What is beyond the limit of the file is counted, what is below comes. */
START_TEST(full)
{
	const uint32_t n = 600000;
	uint64_t dropped = 0, refused = 0;
	struct match_piece p;
	struct match_outbox *sends = box;

	for (uint32_t i = 0; i < n; i++) {
		const struct match_send s = a_send(i);

		match_outbox_send(sends, &s);
	}
	ck_assert_uint_eq(match_outbox_left(sends), n);
	for (uint32_t k = 0; k < PLACES; k++)
		while (match_outbox_piece(sends, k, &p)) {
			if (!p.bytes)
				dropped += p.records;
			else
				match_batch_each(p.bytes, p.n, on_send, NULL);
			free(p.bytes);
		}
	ck_assert_uint_gt(dropped, n / 2);
	ck_assert_uint_eq(came + dropped, n);

	match_outbox_free(box);
	setup();
	for (uint32_t i = 0; i < n && !refused; i++) {
		const struct match_receive r = a_receive(i);

		refused = !match_outbox_receive(box, &r);
	}
	ck_assert_uint_eq(refused, 1);
	for (uint32_t k = 0; k < PLACES; k++)
		while (match_outbox_piece(box, k, &p)) {
			ck_assert(match_batch_receives(p.bytes, p.n, on_receive, NULL));
			free(p.bytes);
		}
	ck_assert_uint_gt(came, 10000);
}
END_TEST

static void send_range(struct match_outbox *o, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct match_send s = a_send(i);

		match_outbox_send(o, &s);
	}
}

/* All pieces of all processes; how many records came. */
static uint32_t take_all(struct match_outbox *o)
{
	struct match_piece p;

	came = 0;
	memset(next, 0, sizeof(next));
	for (uint32_t k = 0; k < PLACES; k++)
		while (match_outbox_piece(o, k, &p)) {
			ck_assert_ptr_nonnull(p.bytes);
			ck_assert_ptr_null(match_batch_each(p.bytes, p.n, on_send, NULL));
			free(p.bytes);
		}
	return came;
}

/* The child of a fork has all that was there, and adds to it; so does the parent. */
START_TEST(copy_of_a_process)
{
	int status;
	pid_t child;

	send_range(box, 0, 8000);
	ck_assert_uint_gt(box->file_bytes, 0);
	child = fork();
	if (!child) {
		match_outbox_copied(box);
		send_range(box, 8000, 20000);
		_exit(take_all(box) == 20000 ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	child = fork();
	if (!child) {
		match_outbox_copied(box);
		for (uint32_t i = 8000; i < 20000; i++) { /* others than the parent's */
			struct match_send s = a_send(i);

			s.tag += 1000;
			match_outbox_send(box, &s);
		}
		_exit(0);
	}
	send_range(box, 8000, 14000);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	send_range(box, 14000, 20000);
	ck_assert_uint_eq(take_all(box), 20000);
}
END_TEST

START_TEST(no_file)
{
	struct match_outbox *o = match_outbox_new("/no/such/directory");

	for (uint32_t i = 0; i < 60000; i++) {
		const struct match_send s = a_send(i);

		match_outbox_send(o, &s);
	}
	ck_assert_uint_le(o->memory, 2 * MATCH_OUTBOX_MEMORY * PLACES);
	ck_assert_uint_eq(match_outbox_left(o), 60000);
	match_outbox_free(o);
}
END_TEST

/* It is tried once, not again with every record. */
START_TEST(full_disk)
{
	disk_full = true;
	send_range(box, 0, 20000);
	ck_assert_uint_eq(writes, 1);
	ck_assert_uint_eq(match_outbox_left(box), 20000);
}
END_TEST

/* ---- sets of processes ------------------------------------------------------------------ */

ORDER_BY(by_number, uint64_t, ORDER(*x, *y))

static void same_again(
	uint64_t *at, size_t n, const uint64_t *wanted, size_t n_wanted, size_t words)
{
	struct words w = {0};
	struct words_in in;
	struct rank_set p;

	rank_set_put(&w, at, n);
	words_put(&w, 4711);
	ck_assert_uint_le(w.n, words + 1);
	in = (struct words_in){w.at, w.n, false};
	rank_set_get(&in, &p);
	ck_assert(!in.bad);
	ck_assert_uint_eq(p.n, n_wanted);
	for (size_t i = 0; i < n_wanted; i++)
		ck_assert_uint_eq(p.at[i], wanted[i]);
	ck_assert_uint_eq(words_get(&in), 4711);
	free(p.at);
	/* cut off at every place */
	for (size_t cut = 0; cut + 1 < w.n; cut++) {
		in = (struct words_in){w.at, cut, false};
		rank_set_get(&in, &p);
		ck_assert(in.bad);
		ck_assert_ptr_null(p.at);
	}
	words_free(&w);
}

START_TEST(sets_of_proc_ids)
{
	uint64_t some[] = {5, 3, 900, 4, 4, 1000, 1100, UINT64_MAX};
	const uint64_t sorted[] = {3, 4, 5, 900, 1000, 1100, UINT64_MAX};
	uint64_t strided[1000], copy[1000];
	struct words w = {0};
	struct rank_set p;

	same_again(some, ARRAY_SIZE(some), sorted, ARRAY_SIZE(sorted), 1 + 3 * 3);
	same_again(NULL, 0, NULL, 0, 1);
	for (size_t i = 0; i < 1000; i++)
		strided[i] = copy[i] = 17 + 64 * i;
	same_again(copy, 1000, strided, 1000, 4);
	/* runs that are too long, wrap around, or go back */
	for (int k = 0; k < 4; k++) {
		const uint64_t bad[4][7] = {{1, 0, 1, RANK_SET_MAX + 1}, {1, UINT64_MAX - 5, 3, 3},
			{2, 10, 1, 5, 3, 1, 2}, {1, 0, 0, 4}};
		struct words_in in = {bad[k], k == 2 ? 7 : 4, false};

		rank_set_get(&in, &p);
		ck_assert(in.bad);
	}
	words_free(&w);
}
END_TEST

/* A node's ranks where they go round 1000 nodes, and partners on each side of them. */
START_TEST(sets_that_lie_between_each_other)
{
	static const int sides[] = {-100, -1, 1, 10, 100};
	enum { RANKS = 50, N = RANKS * ARRAY_SIZE(sides) };
	uint64_t at[N + 1], got = 0;
	struct words w = {0}, plain = {0};
	struct words_in in;
	struct rank_set p;

	for (size_t i = 0; i < N; i++)
		at[i] = 500 + 1000 * (i % RANKS) + (uint64_t)sides[i / RANKS];
	at[N] = at[0];
	rank_set_put(&plain, at, N + 1);
	rank_set_put_mixed(&w, at, N + 1, 1000);
	ck_assert_uint_eq(w.n, 1 + 3 * ARRAY_SIZE(sides));
	words_put(&w, 4711);
	in = (struct words_in){w.at, w.n, false};
	rank_set_skip(&in, true);
	ck_assert_uint_eq(words_get(&in), 4711);
	in = (struct words_in){w.at, w.n, false};
	rank_set_get_mixed(&in, &p);
	ck_assert_uint_eq(words_get(&in), 4711);
	ck_assert_uint_eq(p.n, N);
	qsort(p.at, p.n, sizeof(*p.at), by_number);
	for (size_t i = 0; i < N; i++)
		got += p.at[i] == at[i];
	ck_assert_uint_eq(got, N);
	free(p.at);
	in = (struct words_in){w.at, w.n, false};
	rank_set_get(&in, &p);
	ck_assert(in.bad);
	/* of no use: as it was */
	w.n = 0;
	rank_set_put_mixed(&w, at, N, 7);
	ck_assert_uint_eq(w.n, plain.n);
	ck_assert_mem_eq(w.at, plain.at, w.n * sizeof(*w.at));
	for (size_t cut = 0; cut < w.n; cut++) {
		in = (struct words_in){w.at, cut, false};
		rank_set_skip(&in, true);
		ck_assert(in.bad);
	}
	words_free(&w);
	words_free(&plain);
}
END_TEST

/* Ids may be as great as they like; only how many a set has is limited, on both sides. */
START_TEST(sets_up_to_the_most)
{
	const uint64_t ids[] = {1ull << 40, 5, RANK_SET_MAX + 1, 5, RANK_SET_MAX, 7};
	const uint64_t sorted[] = {5, 7, RANK_SET_MAX, RANK_SET_MAX + 1, 1ull << 40};

	for (size_t most = 0; most <= ARRAY_SIZE(ids); most++) {
		const size_t n = most < ARRAY_SIZE(sorted) ? most : ARRAY_SIZE(sorted);
		uint64_t at[ARRAY_SIZE(ids)];
		struct words w = {0};
		struct words_in in;
		struct rank_set p;

		memcpy(at, ids, sizeof(ids));
		rank_set_put_most(&w, at, ARRAY_SIZE(ids), most);
		in = (struct words_in){w.at, w.n, false};
		rank_set_get(&in, &p);
		ck_assert(!in.bad && !in.n);
		ck_assert_uint_eq(p.n, n);
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(p.at[i], sorted[i]);
		free(p.at);
		words_free(&w);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {sends_come_back, one_proc_id, receives_come_back, full,
		copy_of_a_process, no_file, full_disk, sets_of_proc_ids,
		sets_that_lie_between_each_other, sets_up_to_the_most};
	Suite *s = suite_create("match-outbox");
	TCase *c = tcase_create("match-outbox");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
