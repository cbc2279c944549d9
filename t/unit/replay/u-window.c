/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The window of a process and the classes of its threads' time, to the tick, from records made
 * by hand.
 */
#include "t/unit/replay/replay-by-hand.h"

#include "mpi_id.h"
#include "nodeagent/replay/files.h"
#include "nodeagent/replay/window.h"

#define MPI(name) (RECORD_ID_MPI + VFTR_MPI_##name)

/* Regions of OpenMP, and one of the C library. */
enum { PARALLEL, LOCK, MUTEX };

static struct time_window window;

static enum time_class class_of_region(const void *ctx, uint64_t key)
{
	if (key == RECORD_ID_REGION + MUTEX)
		return TIME_LOCK_WAIT;
	return key == RECORD_ID_REGION + LOCK ? TIME_OPENMP_WAIT : TIME_USEFUL;
}

static void begin(void)
{
	setup();
	window = (struct time_window){0};
	replay_set_window(r, &window, class_of_region);
}

/* An event after so many ticks. */
static void in_after(uint64_t n, uint32_t id)
{
	ticks += n;
	put(0, id, 0);
}

static void out_after(uint64_t n, uint32_t id)
{
	ticks += n;
	put(RECORD_EXIT, id, 0);
}

static void openmp(uint64_t n, uint64_t exit_bit, uint32_t id, uint64_t a, uint64_t b)
{
	ticks += n;
	put(exit_bit, id, 0);
	block[used - (id == RECORD_WAIT ? 1 : 2)] = a;
	if (id != RECORD_WAIT)
		block[used - 1] = b;
}

static void finish(void)
{
	end();
	replay_window_close(r);
}

static int64_t sum_of(const struct time_sums *s)
{
	int64_t sum = 0;

	for (int i = 0; i < TIME_CLASSES; i++)
		sum += s->of[i];
	return sum;
}

/* Of the first thread: the classes that are named, no others, and their sum is the window. */
static void expect_first(uint64_t length, int64_t useful, int64_t mpi, int64_t wait)
{
	ck_assert(window.whole);
	ck_assert_uint_eq(window.end - window.begin, length);
	ck_assert_int_eq(sum_of(&window.first), (int64_t)length);
	ck_assert_int_eq(window.first.of[TIME_USEFUL], useful);
	ck_assert_int_eq(window.first.of[TIME_MPI], mpi);
	ck_assert_int_eq(window.first.of[TIME_OPENMP_WAIT], wait);
}

START_TEST(from_init_to_finalize)
{
	in_after(5, A);
	in_after(100, MPI(INIT));
	in_after(10, B); /* a function of the program that MPI calls */
	out_after(10, B);
	out_after(1000, MPI(INIT));
	in_after(20, B);
	in_after(3, MPI(ALLREDUCE));
	out_after(40, MPI(ALLREDUCE));
	out_after(4, B);
	in_after(7, MPI(FINALIZE));
	out_after(500, MPI(FINALIZE));
	in_after(1, MPI(SEND)); /* nonsense, and none of the window */
	out_after(600, MPI(SEND));
	out_after(2000, A);
	finish();
	ck_assert(window.begun && window.ended);
	expect_first(20 + 3 + 40 + 4 + 7, 20 + 3 + 4 + 7, 40, 0);
	ck_assert_uint_eq(window.begin, START + 5 + 100 + 10 + 10 + 1000);
	ck_assert_uint_eq(window.threads, 0);
	/* the tree is what it is without a window */
	expect(AT(A, B, MPI(ALLREDUCE)), 1, 40);
	expect(AT(A, MPI(FINALIZE)), 1, 500);
}
END_TEST

/* By MPI_Init_thread, in different functions, with nothing in between. */
START_TEST(empty_window)
{
	in_after(1, A);
	in_after(1, MPI(INIT_THREAD));
	out_after(50, MPI(INIT_THREAD));
	out_after(0, A);
	in_after(0, MPI(FINALIZE));
	finish();
	ck_assert(window.begun && window.ended);
	expect_first(0, 0, 0, 0);
}
END_TEST

/* Fortran's MPI_Init calls that of C, which has a wrapper, too: both are one. */
START_TEST(init_in_init)
{
	in_after(1, MPI(INIT));
	in_after(1, MPI(INIT_THREAD));
	out_after(50, MPI(INIT_THREAD));
	out_after(60, MPI(INIT));
	in_after(7, A);
	out_after(8, A);
	in_after(0, MPI(FINALIZE));
	in_after(9, MPI(BARRIER));
	out_after(9, MPI(BARRIER));
	out_after(9, MPI(FINALIZE));
	finish();
	expect_first(15, 8, 0, 0);
	ck_assert_int_eq(window.first.of[TIME_OUTSIDE], 7);
}
END_TEST

START_TEST(without_mpi_from_begin_to_end)
{
	in_after(5, A);
	in_after(6, B);
	out_after(7, B);
	out_after(8, A);
	ticks += 9;
	finish();
	ck_assert(!window.begun && !window.ended);
	expect_first(35, 6 + 7 + 8, 0, 0);
	ck_assert_int_eq(window.first.of[TIME_OUTSIDE], 5 + 9);
	ck_assert_uint_eq(window.begin, START);
}
END_TEST

/* It was killed in a call: the window ends there, and the call counts until then. */
START_TEST(killed)
{
	in_after(5, A);
	in_after(6, MPI(INIT));
	out_after(7, MPI(INIT));
	in_after(8, MPI(RECV));
	ticks += 90;
	finish();
	ck_assert(window.begun && !window.ended);
	expect_first(98, 8, 90, 0);
}
END_TEST

START_TEST(killed_in_init)
{
	in_after(5, A);
	in_after(6, MPI(INIT));
	ticks += 90;
	finish();
	ck_assert(!window.begun && !window.ended);
	expect_first(101, 6, 90, 0);
}
END_TEST

/* The last word is the enter of MPI_Finalize. */
START_TEST(killed_in_finalize)
{
	in_after(5, MPI(INIT));
	out_after(6, MPI(INIT));
	in_after(7, MPI(FINALIZE));
	ticks += 90;
	finish();
	ck_assert(window.begun && window.ended);
	expect_first(7, 0, 0, 0);
}
END_TEST

/* Waits for room are taken off frames; a pause and paths that are too many are unknown. */
START_TEST(blocked_paused_and_io)
{
	in_after(5, MPI(INIT));
	out_after(6, MPI(INIT));
	in_after(7, A);
	ticks += 100;
	put(0, RECORD_BLOCKED, 0);
	block[used - 2] = 60;
	block[used - 1] = RECORD_BLOCKED_MARK | ticks;
	put(0, RECORD_IO, 0);
	block[used - 3] = (uint64_t)RECORD_IO_READ << RECORD_TIME_SHIFT | RECORD_IO;
	block[used - 2] = 8;
	block[used - 1] = RECORD_IO_MARK | 30;
	put(0, RECORD_PAUSE, 0);
	ticks += 1000;
	put(0, RECORD_RESUME, 1);
	out_after(3, A);
	in_after(0, MPI(FINALIZE));
	finish();
	expect_first(7 + 100 + 1000 + 3, 100 - 60 - 30 + 3, 0, 0);
	ck_assert_int_eq(window.first.of[TIME_BLOCKED], 60);
	ck_assert_int_eq(window.first.of[TIME_IO], 30);
	ck_assert_int_eq(window.first.of[TIME_UNKNOWN], 1000);
	ck_assert_int_eq(window.first.of[TIME_OUTSIDE], 7);
}
END_TEST

static void read_file(uint32_t region, uint64_t after)
{
	in_after(1, region);
	put(0, RECORD_FILE_CALL, 0);
	block[used - 3] = file_call_word(FILE_READ, 1, 0);
	block[used - 2] = 8;
	block[used - 1] = FILE_CALL_MARK | 30;
	out_after(after, region);
}

/* Calls for files are input and output, but those that MPI makes are MPI's. */
START_TEST(files_of_the_program_and_of_mpi)
{
	struct files *files = files_new(NULL, 0);

	replay_set_files(r, files);
	in_after(5, MPI(INIT));
	out_after(6, MPI(INIT));
	in_after(7, A);
	read_file(RECORD_ID_REGION + 3, 50);
	in_after(2, MPI(SEND));
	read_file(RECORD_ID_REGION + 3, 60);
	out_after(4, MPI(SEND));
	in_after(10, RECORD_ID_REGION + 4); /* a region of the program's */
	out_after(20, RECORD_ID_REGION + 4);
	out_after(3, A);
	in_after(0, MPI(FINALIZE));
	finish();
	expect_first(7 + 51 + 2 + 61 + 4 + 30 + 3, 1 + 50 - 30 + 2 + 30 + 3, 61 + 4, 0);
	ck_assert_int_eq(window.first.of[TIME_IO], 30);
	replay_set_files(r, NULL);
	files_free(files);
}
END_TEST

static void wait_for_mutex(uint64_t before, uint64_t n)
{
	openmp(before, 0, RECORD_WAIT, OPENMP_MARK | MUTEX, 0);
	openmp(n, RECORD_EXIT, RECORD_WAIT, OPENMP_MARK | MUTEX, 0);
}

/* Waits for locks are no useful work; those that MPI makes are MPI's, a handler in them is not. */
START_TEST(locks_of_the_program_and_of_mpi)
{
	struct time_sums s;

	wait_for_mutex(3, 1000);
	in_after(5, MPI(INIT));
	out_after(6, MPI(INIT));
	in_after(7, A);
	wait_for_mutex(2, 50);
	in_after(3, MPI(SEND));
	wait_for_mutex(4, 60);
	openmp(4, 0, RECORD_WAIT, OPENMP_MARK | MUTEX, 0);
	in_after(8, B);
	out_after(20, B);
	openmp(9, RECORD_EXIT, RECORD_WAIT, OPENMP_MARK | MUTEX, 0);
	out_after(5, MPI(SEND));
	openmp(1, 0, RECORD_WAIT, OPENMP_MARK | MUTEX, 0);
	ticks += 30;
	ck_assert_ptr_null(flush());
	s = replay_time_sums(r, ticks);
	ck_assert_int_eq(sum_of(&s), (int64_t)(ticks - START));
	ck_assert_int_eq(s.of[TIME_LOCK_WAIT], 1000 + 50 + 30);
	openmp(10, RECORD_EXIT, RECORD_WAIT, OPENMP_MARK | MUTEX, 0);
	out_after(1, A);
	in_after(0, MPI(FINALIZE));
	finish();
	expect_first(7 + 52 + 3 + 64 + 4 + 8 + 20 + 9 + 5 + 1 + 40 + 1, 2 + 3 + 20 + 1 + 1,
		64 + 4 + 8 + 9 + 5, 0);
	ck_assert_int_eq(window.first.of[TIME_LOCK_WAIT], 50 + 40);
}
END_TEST

/* A region whose thread waits for a lock for 5, and 70 at its end for the others. */
static void region(void)
{
	const uint64_t team = (uint64_t)1 << 32 | PARALLEL;
	const uint64_t part = OPENMP_MARK | (uint64_t)1 << 48 | 2 << 24;

	openmp(1, 0, RECORD_FORK, team, OPENMP_MARK | 2);
	openmp(2, 0, RECORD_TEAM, team, part);
	openmp(3, 0, RECORD_WAIT, OPENMP_MARK | LOCK, 0);
	openmp(5, RECORD_EXIT, RECORD_WAIT, OPENMP_MARK | LOCK, 0);
	openmp(4, RECORD_EXIT, RECORD_TEAM, team, part);
	openmp(70, RECORD_EXIT, RECORD_FORK, team, OPENMP_MARK | 2);
}

/* The library of OpenMP sleeps in functions of the C library: they are its waits. */
START_TEST(locks_of_openmp)
{
	in_after(1, A);
	openmp(3, 0, RECORD_WAIT, OPENMP_MARK | LOCK, 0);
	wait_for_mutex(4, 70);
	openmp(5, RECORD_EXIT, RECORD_WAIT, OPENMP_MARK | LOCK, 0);
	wait_for_mutex(6, 80);
	out_after(7, A);
	finish();
	expect_first(1 + 3 + 4 + 70 + 5 + 6 + 80 + 7, 3 + 6 + 7, 0, 4 + 70 + 5);
	ck_assert_int_eq(window.first.of[TIME_LOCK_WAIT], 80);
}
END_TEST

/* The wait at the end is a frame or not: the classes are the same. */
START_TEST(waits_in_openmp)
{
	if (_i)
		replay_show_idle(r);
	in_after(1, MPI(INIT));
	out_after(1, MPI(INIT));
	in_after(1, A);
	region();
	out_after(6, A);
	in_after(0, MPI(FINALIZE));
	finish();
	ck_assert(window.openmp);
	expect_first(1 + 1 + 2 + 3 + 5 + 4 + 70 + 6, 2 + 3 + 4 + 6 + 1, 0, 75);
}
END_TEST

/* So it is where the library sleeps at the end of a region, and where a worker does between teams.
 */
START_TEST(sleep_in_openmp)
{
	const bool is_worker = _i > 1;
	const uint64_t team = (uint64_t)1 << 32 | PARALLEL;
	const uint64_t part = OPENMP_MARK | (uint64_t)1 << 48 | 2 << 24 | (is_worker ? 1 : 0);

	if (_i % 2)
		replay_show_idle(r);
	if (is_worker)
		window.thread = 1;
	else
		openmp(1, 0, RECORD_FORK, team, OPENMP_MARK | 2);
	openmp(2, 0, RECORD_TEAM, team, part);
	wait_for_mutex(3, 50); /* of the program */
	openmp(4, RECORD_EXIT, RECORD_TEAM, team, part);
	wait_for_mutex(5, 70);
	wait_for_mutex(6, 80);
	openmp(7, is_worker ? 0 : RECORD_EXIT, is_worker ? RECORD_TEAM : RECORD_FORK, team,
		is_worker ? part : OPENMP_MARK | 2);
	if (is_worker)
		openmp(8, RECORD_EXIT, RECORD_TEAM, team, part);
	finish();
	if (is_worker) {
		ck_assert_int_eq(window.others.of[TIME_LOCK_WAIT], 50);
		ck_assert_int_eq(window.others.of[TIME_OPENMP_IDLE], 2 + 5 + 70 + 6 + 80 + 7);
		ck_assert_int_eq(window.others.of[TIME_USEFUL], 3 + 4 + 8);
	} else {
		ck_assert_int_eq(window.first.of[TIME_LOCK_WAIT], 50);
		expect_first(1 + 2 + 53 + 4 + 75 + 86 + 7, 2 + 3 + 4, 0, 75 + 86 + 7);
	}
}
END_TEST

/* Before MPI_Init it is none of the window. */
START_TEST(waits_before_init)
{
	if (_i)
		replay_show_idle(r);
	region();
	in_after(1, MPI(INIT));
	out_after(1, MPI(INIT));
	in_after(3, A);
	out_after(4, A);
	in_after(0, MPI(FINALIZE));
	finish();
	expect_first(7, 4, 0, 0);
}
END_TEST

/* A worker was there 10 before the window, and 20 after it: it was idle then. */
START_TEST(worker)
{
	const uint64_t team = (uint64_t)1 << 32 | PARALLEL;
	const uint64_t part = OPENMP_MARK | (uint64_t)1 << 48 | 2 << 24 | 1;

	if (_i)
		replay_show_idle(r);
	replay_set_openmp(r, teams, 1);
	window = (struct time_window){
		.begun = true, .ended = true, .begin = START + 10, .end = START + 10 + 180};
	openmp(30, 0, RECORD_TEAM, team, part);
	in_after(1, A);
	out_after(40, A);
	openmp(2, RECORD_EXIT, RECORD_TEAM, team, part);
	ticks += 137;
	end();
	replay_give_up(r);
	replay_window_close(r);
	ck_assert(!window.whole && !window.cut && window.openmp);
	ck_assert_uint_eq(window.threads, 1);
	ck_assert_uint_eq(window.workers, 1);
	/* from the begin of its part to the end: others that came later have not met it */
	ck_assert_uint_eq(window.at_once.n_spans, 1);
	ck_assert_uint_eq(window.at_once.spans[0].from, START + 30);
	ck_assert_uint_eq(window.at_once.spans[0].to, START + 30 + 1 + 40 + 2);
	at_once_free(&window.at_once);
	ck_assert_int_eq(window.worker_useful, 43);
	ck_assert_int_eq(window.worker_most, 43);
	ck_assert_int_eq(window.others.of[TIME_USEFUL], 43);
	ck_assert_int_eq(window.others.of[TIME_OPENMP_IDLE], 180 - 43);
	ck_assert_int_eq(sum_of(&window.others), 180);
}
END_TEST

/* Of another thread it is not known what it did beyond the window. */
START_TEST(thread_that_is_cut)
{
	replay_set_openmp(r, teams, 1);
	window = (struct time_window){.begun = true, .begin = START + 50};
	in_after(10, A);
	out_after(100, A);
	finish();
	ck_assert(window.cut);
	ck_assert_uint_eq(window.workers, 0);
	ck_assert_int_eq(window.others.of[TIME_USEFUL], 60);
	ck_assert_int_eq(sum_of(&window.others), 60);
}
END_TEST

/* MPI_Finalize at the bottom of so many calls; from DEPTH_MAX on frames share a node. */
START_TEST(deep)
{
	in_after(1, MPI(INIT));
	out_after(1, MPI(INIT));
	for (uint32_t i = 0; i < 3 * DEPTH_MAX / 2; i++)
		in_after(2, F(i));
	for (uint32_t i = 3 * DEPTH_MAX / 2; i-- > 0;)
		out_after(3, F(i));
	in_after(4, A);
	out_after(5, A);
	in_after(0, MPI(FINALIZE));
	finish();
	expect_first(3 * DEPTH_MAX / 2 * 5 + 9, 3 * DEPTH_MAX / 2 * 5 + 9 - 4 - 2, 0, 0);
}
END_TEST

/* The sums at any time are those at the end, and what is open counts until then. */
START_TEST(sums_while_frames_are_open)
{
	struct time_sums s;

	in_after(1, MPI(INIT));
	out_after(1, MPI(INIT));
	for (uint32_t i = 0; i < DEPTH_MAX + 9; i++)
		in_after(2, F(i));
	in_after(3, MPI(SEND));
	ticks += 50;
	ck_assert_ptr_null(flush());
	s = replay_time_sums(r, ticks);
	ck_assert_int_eq(sum_of(&s), (int64_t)(ticks - START));
	ck_assert_int_eq(s.of[TIME_MPI], 1 + 50);
	ck_assert_int_eq(s.of[TIME_OUTSIDE], 1 + 2);
	finish();
	expect_first(2 * (DEPTH_MAX + 9) + 3 + 50, 2 * (DEPTH_MAX + 9) + 3 - 2, 50, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {from_init_to_finalize, empty_window, init_in_init,
		without_mpi_from_begin_to_end, killed, killed_in_init, killed_in_finalize,
		blocked_paused_and_io, files_of_the_program_and_of_mpi,
		locks_of_the_program_and_of_mpi, locks_of_openmp, thread_that_is_cut, deep,
		sums_while_frames_are_open};
	const TTest *const twice[] = {waits_in_openmp, waits_before_init, worker};
	Suite *s = suite_create("window");
	TCase *c = tcase_create("window");

	tcase_add_checked_fixture(c, begin, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	for (size_t i = 0; i < ARRAY_SIZE(twice); i++)
		tcase_add_loop_test(c, twice[i], 0, 2);
	tcase_add_loop_test(c, sleep_in_openmp, 0, 4);
	suite_add_tcase(s, c);
	return run_suite(s);
}
