/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of calls for files, those that no sane program stores among them. */
#include "nodeagent/replay/files.h"
#include "nodeagent/replay/tree/slices.h"
#include "t/unit/replay/replay-by-hand.h"

#define MARK FILE_CALL_MARK

static struct files *files;

static void setup_files(void)
{
	setup();
	files = files_new("^/proc/", START);
	replay_set_files(r, files);
}

static void teardown_files(void)
{
	teardown();
	files_free(files);
}

static void call(enum file_call kind, uint32_t file, uint64_t flags, int64_t bytes, uint64_t last)
{
	put(0, RECORD_FILE_CALL, 0);
	block[used - 3] = file_call_word(kind, file, flags);
	block[used - 2] = (uint64_t)bytes;
	block[used - 1] = last;
}

static bool name(uint32_t number, const char *text)
{
	const struct wire_file_name m = {.number = number};

	return files_define(files, &m, text);
}

static const struct file_use *use_of(uint32_t number)
{
	size_t n;
	const struct file_use *u = files_all(files, &n);

	for (size_t i = 0; i < n; i++)
		if (u[i].number == number)
			return &u[i];
	return NULL;
}

/* Numbers may be used before their names come; reads and writes are at the frame, too. */
START_TEST(calls_of_a_file)
{
	const struct file_use *u;

	in(A);
	call(FILE_OPEN, 7, 0, 0, MARK | 3);
	call(FILE_WRITE, 7, FILE_CALL_SEQUENTIAL, 5000, MARK | 10);
	call(FILE_WRITE, 7, 0, 100, MARK | 20);
	call(FILE_WRITE, 7, 0, -1, MARK | 30);
	call(FILE_READ, 7, FILE_CALL_REST, 77, MARK);
	call(FILE_WRITE, 7, 0, 1, 0); /* never completed */
	out(A);
	end();
	ck_assert(name(7, "/a/file"));
	ck_assert(name(7, "another name"));
	u = use_of(7);
	ck_assert_str_eq(u->name, "/a/file");
	ck_assert_uint_eq(u->of[FILE_OPEN].calls, 1);
	ck_assert_uint_eq(u->of[FILE_OPEN].ticks, 3);
	ck_assert_uint_eq(u->of[FILE_WRITE].calls, 3);
	ck_assert_uint_eq(u->of[FILE_WRITE].failed, 1);
	ck_assert_uint_eq(u->of[FILE_WRITE].bytes, 5100);
	ck_assert_uint_eq(u->of[FILE_WRITE].ticks, 60);
	ck_assert_uint_eq(u->of[FILE_WRITE].sequential, 1);
	ck_assert_uint_eq(u->of[FILE_WRITE].small, 1);
	ck_assert_uint_eq(u->of[FILE_WRITE].least, 100);
	ck_assert_uint_eq(u->of[FILE_WRITE].most, 5000);
	ck_assert_uint_eq(u->of[FILE_READ].calls, 0);
	ck_assert_uint_eq(u->of[FILE_READ].bytes, 77);
	ck_assert_uint_eq(u->of[FILE_READ].rest, 77);
	ck_assert_uint_eq(AT(A)->extra->io[RECORD_IO_WRITE].operations, 3);
	ck_assert_uint_eq(AT(A)->extra->io[RECORD_IO_WRITE].bytes, 5100);
	ck_assert_uint_eq(AT(A)->extra->io[RECORD_IO_READ].operations, 0);
	expect(AT(A), 1, 1);
	ck_assert_uint_eq(slices_of(files_slices(files), 0, SLICE_WRITTEN), 5100);
	ck_assert_uint_eq(slices_of(files_slices(files), 0, SLICE_READ), 77);
}
END_TEST

START_TEST(what_is_left_out)
{
	ck_assert(name(1, "/proc/self/stat"));
	in(A);
	call(FILE_READ, 1, 0, 100, MARK | 1);
	call(FILE_READ, 0, 0, 10, MARK | 1);
	out(A);
	end();
	ck_assert(use_of(1)->left_out);
	ck_assert(!use_of(1)->used);
	ck_assert(use_of(0)->used);
	ck_assert_ptr_null(use_of(0)->name);
	ck_assert_uint_eq(AT(A)->extra->io[RECORD_IO_READ].bytes, 10);
	ck_assert_uint_eq(slices_of(files_slices(files), 0, SLICE_READ), 10);
}
END_TEST

START_TEST(names_that_cannot_be)
{
	ck_assert(!name(0, "none"));
	ck_assert(!name(FILE_NUMBERS + 1, "too high"));
	ck_assert(!name(UINT32_MAX, "too high"));
	ck_assert(!name(3, ""));
	ck_assert(name(FILE_NUMBERS, "the last one"));
}
END_TEST

static const uint64_t wrong[] = {
	(uint64_t)FILE_CALLS << 16 | 1, (uint64_t)0xff << 16, FILE_NUMBERS + 1, 0xffff};

START_TEST(calls_that_cannot_be)
{
	in(A);
	call(FILE_READ, 1, 0, 1, MARK | 1);
	block[used - 3] = wrong[_i] << RECORD_TIME_SHIFT | RECORD_FILE_CALL;
	ck_assert_str_eq(flush(), "a call for a file that cannot be");
}
END_TEST

START_TEST(absurd_sizes_and_times)
{
	in(A);
	call(FILE_READ, 2, 0, INT64_MIN, MARK | 1);
	call(FILE_READ, 2, 0, INT64_MAX, UINT64_MAX);
	call(FILE_READ, 2, FILE_CALL_REST, INT64_MIN, MARK);
	out(A);
	end();
	ck_assert_uint_eq(use_of(2)->of[FILE_READ].failed, 1);
	ck_assert_uint_eq(use_of(2)->of[FILE_READ].bytes, INT64_MAX);
	ck_assert_uint_le(use_of(2)->of[FILE_READ].ticks, (uint64_t)1 << 36);
}
END_TEST

/* A process for which they were not wanted stores them all the same. */
START_TEST(without_files)
{
	replay_set_files(r, NULL);
	in(A);
	call(FILE_READ, 2, 0, 5, MARK | 1);
	out(A);
	end();
	ck_assert_ptr_null(use_of(2));
	expect(AT(A), 1, 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {calls_of_a_file, what_is_left_out, names_that_cannot_be,
		absurd_sizes_and_times, without_files};
	Suite *s = suite_create("replay-files");
	TCase *c = tcase_create("replay-files");

	tcase_add_checked_fixture(c, setup_files, teardown_files);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, calls_that_cannot_be, 0, ARRAY_SIZE(wrong));
	suite_add_tcase(s, c);
	return run_suite(s);
}
