/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring between two real threads, over the smallest size; and what its
 * consumer makes of producers that died or lie.
 */
#include <check.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "shm/ring.h"
#include "t/lib/suite.h"

#define WORDS	10000000u
#define TICKS	((uint64_t)7 << RECORD_TIME_BITS)
#define PAYLOAD (BLOCK_WORDS - 1)

/* The two sides see the same memory through mappings of their own. */
static struct ring theirs, ours;

static void setup(void)
{
	int fd;

	ck_assert_int_eq(vftr_segment_create_ring(RING_SIZE_MIN, RING_SIZE_MIN, &fd, &ours), 0);
	ck_assert_int_eq(vftr_segment_map_ring(fd, RING_SIZE_MIN, &theirs), 0);
	close(fd);
}

static void teardown(void)
{
	vftr_segment_unmap_ring(&ours);
	vftr_segment_unmap_ring(&theirs);
}

/* ---- two threads --------------------------------------------------------- */

static void wait_for_room(struct ring *r)
{
	struct timespec limit = {0, 10000000};

	for (int i = 0; i < 2000 && !ring_has_room(r, 1); i++)
		cpu_relax();
	while (!ring_has_room(r, 1)) {
		uint32_t seen = load_acquire(&r->consumer->futex);

		store_relaxed(&r->producer->waiting, 1);
		fence_full();
		if (!ring_has_room(r, 1))
			syscall(SYS_futex, &r->consumer->futex, FUTEX_WAIT, seen, &limit, NULL, 0);
		store_relaxed(&r->producer->waiting, 0);
	}
}

static void *produce(void *context)
{
	struct ring *r = context;
	unsigned stage = 0, at = 1;

	ring_start(r, 1, TICKS);
	for (uint64_t i = 1; i <= WORDS; i++) {
		if (at == BLOCK_WORDS) {
			ring_stage_open(r, stage ^ 1, stage, TICKS);
			wait_for_room(r);
			ring_publish(r, stage);
			stage ^= 1;
			at = 1;
		}
		store_relaxed(&r->stage[stage][at++], i << 8 | 1);
	}
	return NULL;
}

static uint64_t take(const uint64_t *block, uint64_t expected)
{
	ck_assert_uint_eq(block[0], record_sync_word(TICKS));
	for (unsigned i = 1; i < BLOCK_WORDS && block[i]; i++, expected++)
		if (block[i] != (expected << 8 | 1)) /* an assertion each would take long */
			ck_abort_msg("word %lu is %lx", (unsigned long)expected,
				(unsigned long)block[i]);
	return expected;
}

START_TEST(ten_million_words)
{
	static uint64_t last[2][BLOCK_WORDS];
	uint64_t expected = 1, tail = 0, head;
	const uint64_t *block;
	pthread_t thread;
	bool ended = false;
	unsigned n;

	ck_assert_int_eq(pthread_create(&thread, NULL, produce, &theirs), 0);
	while (!ended) {
		ended = expected + 3 * PAYLOAD > WORDS && pthread_tryjoin_np(thread, NULL) == 0;
		ck_assert_ptr_null(ring_check(&ours, tail, &head));
		while ((block = ring_peek(&ours, tail, head))) {
			expected = take(block, expected);
			tail += BLOCK_BYTES;
			ring_release(&ours, tail);
		}
	}
	n = ring_unpublished(&ours, tail, last);
	ck_assert_uint_ge(n, 1);
	for (unsigned i = 0; i < n; i++)
		expected = take(last[i], expected);
	ck_assert_uint_eq(expected, WORDS + 1);
	ck_assert_uint_eq(tail, (uint64_t)(WORDS - 1) / PAYLOAD * BLOCK_BYTES);
}
END_TEST

/* ---- one side at a time --------------------------------------------------- */

static void fill(struct ring *r, unsigned stage, uint64_t value)
{
	for (unsigned i = 1; i < BLOCK_WORDS; i++)
		r->stage[stage][i] = value;
}

START_TEST(not_started)
{
	static uint64_t last[2][BLOCK_WORDS];
	uint64_t head = 1;

	theirs.producer->head = 12345;
	ck_assert_ptr_null(ring_check(&ours, 0, &head));
	ck_assert_uint_eq(head, 0);
	ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 0);
}
END_TEST

START_TEST(room)
{
	ring_start(&theirs, 1, TICKS);
	for (unsigned i = 0; i < RING_SIZE_MIN / BLOCK_BYTES; i++) {
		ck_assert(ring_has_room(&theirs, 1));
		ck_assert_uint_eq(ring_fill(&theirs), i * BLOCK_BYTES);
		ring_stage_open(&theirs, ~i & 1, i & 1, TICKS);
		ring_publish(&theirs, i & 1);
	}
	ck_assert(!ring_has_room(&theirs, 1));
	ring_release(&ours, BLOCK_BYTES);
	ck_assert(ring_has_room(&theirs, 1));
	ck_assert(!ring_has_room(&theirs, 2));
}
END_TEST

START_TEST(bad_heads)
{
	static const uint64_t bad[] = {1, 8, BLOCK_BYTES - 8, RING_SIZE_MIN + BLOCK_BYTES,
		UINT64_MAX, (uint64_t) - (int64_t)BLOCK_BYTES, (uint64_t)1 << 63,
		(uint64_t)1 << 40};
	uint64_t head;

	ring_start(&theirs, 1, TICKS);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		theirs.producer->head = bad[i];
		ck_assert_ptr_nonnull(ring_check(&ours, 0, &head));
		ck_assert_uint_eq(head, 0);
	}
	/* backwards, also over the end of 64 bits, and just right */
	theirs.producer->head = 2 * BLOCK_BYTES;
	ck_assert_ptr_nonnull(ring_check(&ours, 3 * BLOCK_BYTES, &head));
	ck_assert_uint_eq(head, 3 * BLOCK_BYTES);
	ck_assert_ptr_null(ring_check(&ours, 2 * BLOCK_BYTES, &head));
	ck_assert_ptr_null(ring_check(&ours, BLOCK_BYTES, &head));
	ck_assert_uint_eq(head, 2 * BLOCK_BYTES);
	ck_assert_ptr_null(ring_check(&ours, (uint64_t) - (int64_t)BLOCK_BYTES, &head));
	ck_assert_ptr_eq(ring_peek(&ours, head, head), NULL);
	ck_assert_ptr_eq(
		ring_peek(&ours, head + RING_SIZE_MIN - BLOCK_BYTES, 0), ours.data + BLOCK_WORDS);
}
END_TEST

START_TEST(unpublished)
{
	static uint64_t last[2][BLOCK_WORDS];

	ring_start(&theirs, 1, TICKS);
	ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 1);
	ck_assert_uint_eq(last[0][0], record_sync_word(TICKS));
	ck_assert_uint_eq(last[0][1], 0);

	/* the first is full, the second open, nothing published */
	fill(&theirs, 0, 11);
	ring_stage_open(&theirs, 1, 0, TICKS);
	theirs.stage[1][1] = 22;
	ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 2);
	ck_assert_uint_eq(last[0][PAYLOAD], 11);
	ck_assert_uint_eq(last[1][1], 22);

	/* published: only the second is left */
	ring_publish(&theirs, 0);
	ck_assert_uint_eq(ring_unpublished(&ours, BLOCK_BYTES, last), 1);
	ck_assert_uint_eq(last[0][1], 22);
	ck_assert_uint_eq(ours.data[PAYLOAD], 11);

	/* stored in a block that has no position yet: not there */
	fill(&theirs, 1, 22);
	theirs.stage[0][0] = record_sync_word(TICKS);
	ck_assert_uint_eq(ring_unpublished(&ours, BLOCK_BYTES, last), 1);
	ring_stage_open(&theirs, 0, 1, TICKS);
	ck_assert_uint_eq(ring_unpublished(&ours, BLOCK_BYTES, last), 2);
	ck_assert_uint_eq(last[0][1], 22);
	ck_assert_uint_eq(last[1][1], 0);
}
END_TEST

/* It may have been published between our look at head and now. */
START_TEST(unpublished_no_more)
{
	static uint64_t last[2][BLOCK_WORDS];

	ring_start(&theirs, 1, TICKS);
	ring_stage_open(&theirs, 1, 0, TICKS);
	ring_publish(&theirs, 0);
	ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 0);
}
END_TEST

START_TEST(unpublished_lies)
{
	static uint64_t last[2][BLOCK_WORDS];

	ring_start(&theirs, 1, TICKS);
	theirs.producer->stage[0] = theirs.producer->stage[1] = 0;
	ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 1);
	theirs.producer->stage[0] = theirs.producer->stage[1] = BLOCK_BYTES;
	ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 0);
	theirs.producer->stage[0] = 12345;
	theirs.producer->stage[1] = UINT64_MAX;
	ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 0);
}
END_TEST

/* What a thread has left does not count for the next one, however far that has come. */
START_TEST(used_again)
{
	static const uint32_t times[] = {1, 2, 3, 65533, 65534, 65535, 65536, 65537, 131070};
	static uint64_t last[2][BLOCK_WORDS];
	uint64_t head;

	for (size_t k = 0; k < ARRAY_SIZE(times); k++) {
		uint32_t uses = times[k];

		ring_start(&theirs, 1, TICKS);
		for (unsigned i = 1; i < BLOCK_WORDS; i++)
			theirs.stage[0][i] = 11;
		ring_stage_open(&theirs, 1, 0, TICKS);
		ring_publish(&theirs, 0);
		theirs.stage[1][1] = 22;
		theirs.producer->lost = 33;
		ring_stage_open(&theirs, 0, 1, TICKS);
		theirs.stage[0][1] = 44;
		ring_release(&ours, BLOCK_BYTES);

		ring_use_again(&ours, uses);
		ck_assert_ptr_null(ring_check(&ours, 0, &head));
		ck_assert_uint_eq(head, 0);
		ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 0);
		theirs.magic = ring_magic(uses);
		ring_start(&theirs, 2, TICKS);
		ck_assert_ptr_null(ring_check(&ours, 0, &head));
		ck_assert_uint_eq(head, 0);
		ck_assert(ring_has_room(&theirs, (unsigned)(theirs.size / BLOCK_BYTES)));
		ck_assert_uint_eq(theirs.producer->lost, 0);
		ck_assert_uint_eq(ring_unpublished(&ours, 0, last), 1);
		ck_assert_uint_eq((uint32_t)last[0][0], RECORD_SYNC);
		for (unsigned i = 1; i < BLOCK_WORDS; i++)
			ck_assert_uint_eq(last[0][i] | theirs.stage[1][i], 0);
		ck_assert_uint_ne(ring_magic(uses), ring_magic(uses - 1));
		ck_assert_uint_ne(ring_magic(uses), ring_magic(uses + 1));
		theirs.magic = ours.magic;
	}
}
END_TEST

START_TEST(wake_up)
{
	ring_start(&theirs, 1, TICKS);
	ring_release(&ours, 0);
	ck_assert_uint_eq(ours.consumer->futex, 0);
	theirs.producer->waiting = 1;
	ring_release(&ours, 0);
	ck_assert_uint_eq(theirs.consumer->futex, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring");
	TCase *c = tcase_create("ring");
	const TTest *const tests[] = {ten_million_words, not_started, room, bad_heads, unpublished,
		unpublished_no_more, unpublished_lies, used_again, wake_up};

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
