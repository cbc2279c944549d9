/* SPDX-License-Identifier: BSD-3-Clause */
/* Who got a lock of OpenMP last, of threads made by hand. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/sample/locks.h"
#include "nodeagent/live/sample/unpublished.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/process/process.h"
#include "nodeagent/replay/openmp/locks.h"
#include "t/unit/replay/replay-by-hand.h"

#define LOCK 77u
#define MANY 4096u /* threads ... */
#define GOT  250u  /* ... each of which has got so many locks */

static struct thread_ring *rings;
static struct where_place *places;
static struct locked_thread *all;
static struct process process;
static struct where view;

static void make_threads(unsigned n)
{
	process.pid = getpid();
	rings = xcalloc(n, sizeof(*rings));
	places = xcalloc(n, sizeof(*places));
	all = xcalloc(n, sizeof(*all));
	for (unsigned i = 0; i < n; i++) {
		rings[i] = (struct thread_ring){.replay = r, .number = i};
		snprintf(places[i].path, sizeof(places[i].path), "init\nwork");
		all[i] = (struct locked_thread){.thread = &rings[i], .place = &places[i]};
	}
}

static void got(unsigned thread, uint32_t number, uint64_t since)
{
	struct locked_thread *l = &all[thread];

	l->got = xrealloc(l->got, (l->n_got + 1) * sizeof(*l->got));
	l->got[l->n_got++] = (struct got_lock){number, since};
}

static void look(unsigned n)
{
	locks_look(NULL, &process, WHERE_NO_RANK, all, n, &view);
}

static void free_threads(unsigned n)
{
	locks_forget(all, n);
	free(places);
	free(rings);
}

START_TEST(of_those_that_got_a_lock_it_is_the_last_one)
{
	make_threads(4);
	got(0, LOCK, 50);
	got(1, LOCK, 60);
	got(1, LOCK + 1, 90);
	got(2, LOCK, 55);
	all[3].wanted = LOCK;
	look(4);
	ck_assert_str_eq(places[3].lock, "lock of OpenMP");
	ck_assert_str_eq(places[3].holder, "thread 1 in work < init");
	ck_assert_uint_eq(places[3].had, 1);
	free_threads(4);
}
END_TEST

START_TEST(who_has_given_it_back_has_it_no_more)
{
	make_threads(3);
	got(0, LOCK, 50);
	got(1, LOCK, 60);
	got(1, LOCK, 0);
	all[2].wanted = LOCK;
	look(3);
	ck_assert_str_eq(places[2].holder, "thread 0 in work < init");
	got(0, LOCK, 0);
	places[2].holder[0] = '\0';
	look(3);
	ck_assert_str_eq(places[2].holder, "");
	free_threads(3);
}
END_TEST

/* A WAIT of the thread of r that has got the lock. */
static void record_got(uint32_t number)
{
	const uint64_t bits = OPENMP_MARK | (uint64_t)number << 32 | 1;

	put(0, RECORD_WAIT, bits);
	put(RECORD_EXIT, RECORD_WAIT, bits);
}

START_TEST(what_is_not_published_counts_more_than_what_was)
{
	struct locks *locks = locks_new(NULL, NULL);

	replay_set_locks(r, locks);
	record_got(LOCK);
	record_got(LOCK + 1);
	ck_assert_ptr_null(flush());
	make_threads(1);
	all[0].wanted = LOCK;
	look(1);
	ck_assert_str_eq(places[0].holder, "the same thread");
	places[0].holder[0] = '\0';
	got(0, LOCK, 0);
	look(1);
	ck_assert_str_eq(places[0].holder, "");
	free_threads(1);
	end();
	locks_free(locks);
}
END_TEST

/* Nobody reads the rings meanwhile: with a search for each that waits it took seconds. */
START_TEST(many_threads_that_wait_are_looked_at_in_a_moment)
{
	clock_t begin;

	make_threads(MANY);
	for (unsigned i = 0; i < MANY; i++) {
		for (unsigned k = 0; k < GOT; k++)
			got(i, 1000 + k, 1 + i + k);
		all[i].wanted = LOCK;
	}
	begin = clock();
	look(MANY);
	ck_assert_uint_lt((uint64_t)(clock() - begin), CLOCKS_PER_SEC);
	ck_assert_str_eq(places[MANY - 1].holder, "");
	free_threads(MANY);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("locks of a view");
	TCase *c = tcase_create("locks");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, of_those_that_got_a_lock_it_is_the_last_one);
	tcase_add_test(c, who_has_given_it_back_has_it_no_more);
	tcase_add_test(c, what_is_not_published_counts_more_than_what_was);
	tcase_add_test(c, many_threads_that_wait_are_looked_at_in_a_moment);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
