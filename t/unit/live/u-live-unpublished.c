/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made of the words of a thread that have not been published. */
#include <unistd.h>
#include "nodeagent/base/map.h"
#include "nodeagent/live/sample/unpublished.h"
#include "nodeagent/process/process.h"
#include "shm/ring.h"
#include "t/lib/suite.h"

#define TICKS ((uint64_t)7 << RECORD_TIME_BITS)
#define LOCK  77u

/* The thread's own mapping; the agent's is that of `thread`. */
static struct ring theirs;
static struct thread_ring thread;
static struct map32 called;
static struct unpublished seen;
static unsigned at; /* of the next word in the first block */

static void setup(void)
{
	int fd;

	thread = (struct thread_ring){0};
	ck_assert_int_eq(
		vftr_segment_create_ring(RING_SIZE_MIN, RING_SIZE_MIN, &fd, &thread.ring), 0);
	ck_assert_int_eq(vftr_segment_map_ring(fd, RING_SIZE_MIN, &theirs), 0);
	close(fd);
	ring_start(&theirs, 1, TICKS);
	at = 1;
}

static void teardown(void)
{
	unpublished_free(&seen);
	map32_free(&called);
	vftr_segment_unmap_ring(&thread.ring);
	vftr_segment_unmap_ring(&theirs);
}

static void store(uint64_t word)
{
	theirs.stage[0][at++] = word;
}

static void store_wait(uint64_t exit_bit)
{
	store(record_word(TICKS + at, exit_bit, RECORD_WAIT));
	store(OPENMP_MARK | (uint64_t)LOCK << 32 | 1);
}

static void look(void)
{
	unpublished_read(&seen, &thread, &called);
}

START_TEST(the_words_of_a_block_are_taken_in_their_order)
{
	store(record_word(TICKS + 1, 0, RECORD_ID_FUNCTION));
	store_wait(0);
	look();
	ck_assert(seen.moved);
	ck_assert_uint_eq(seen.wanted, LOCK);
	ck_assert_uint_eq(seen.entered, 2);
}
END_TEST

/* It has a place for a word, and a signal handler records before the word is stored. */
START_TEST(a_handler_that_has_interrupted_the_fast_path_is_seen)
{
	at++;
	store_wait(0);
	look();
	ck_assert_uint_eq(seen.wanted, LOCK);
	ck_assert_uint_eq(seen.entered, 1);
}
END_TEST

START_TEST(so_it_is_when_a_record_was_stored_in_part)
{
	store(record_word(TICKS + 1, 0, RECORD_WAIT));
	at++;
	store_wait(0);
	store_wait(RECORD_EXIT);
	look();
	ck_assert_uint_eq(seen.wanted, 0);
	ck_assert_uint_eq(seen.n_got, 1);
	ck_assert_uint_eq(seen.got[0].number, LOCK);
	ck_assert_uint_eq(seen.got[0].since, TICKS + 5);
	ck_assert_uint_eq(seen.entered, 0);
}
END_TEST

/* As the flight recorder does, before the block is published. */
START_TEST(words_that_were_read_are_not_taken_again)
{
	store_wait(0);
	thread.taken = (uint16_t)at;
	store_wait(RECORD_EXIT);
	look();
	ck_assert_uint_eq(seen.entered, 0);
	ck_assert_uint_eq(seen.left, 1);
	ck_assert_uint_eq(seen.got[0].since, TICKS + 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("words not yet published");
	TCase *c = tcase_create("words");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, the_words_of_a_block_are_taken_in_their_order);
	tcase_add_test(c, a_handler_that_has_interrupted_the_fast_path_is_seen);
	tcase_add_test(c, so_it_is_when_a_record_was_stored_in_part);
	tcase_add_test(c, words_that_were_read_are_not_taken_again);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
