/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams into memory, also where there is too little of it. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#define LINE	1000
#define ROOM	((rlim_t)64 << 20)
#define TOO_BIG (2 * ROOM)

static char *text;
static size_t bytes;

START_TEST(nothing_is_an_empty_text)
{
	memory_end(memory_begin(&text, &bytes));
	ck_assert_str_eq(text, "");
	ck_assert_uint_eq(bytes, 0);
	free(text);
}
END_TEST

START_TEST(what_was_written_comes_out)
{
	FILE *f = memory_begin(&text, &bytes);
	size_t all = 0;

	for (int i = 0; i < 10000; i++) {
		ck_assert_int_eq(ftell(f), all);
		all += (size_t)fprintf(f, "%d\n", i);
		if (i % 7 == 0)
			all += fwrite("\0", 1, 1, f);
	}
	memory_end(f);
	ck_assert_uint_eq(bytes, all);
	ck_assert_mem_eq(text, "0\n\0001\n2\n3\n4\n5\n6\n7\n\0008\n", 20);
	ck_assert_mem_eq(text + bytes - 10, "9998\n9999\n", 10);
	ck_assert_int_eq(text[bytes], '\0');
	free(text);
}
END_TEST

/* Whoever has half of a text must not show it as a whole. */
START_TEST(without_memory_the_program_ends)
{
	const struct rlimit room = {ROOM, ROOM};
	FILE *f = memory_begin(&text, &bytes);

	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &room), 0);
	for (rlim_t n = 0; n < TOO_BIG; n += LINE)
		fprintf(f, "%*d", LINE, 1);
	memory_end(f);
	exit(0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("streams into memory");
	TCase *c = tcase_create("streams");

	tcase_add_test(c, nothing_is_an_empty_text);
	tcase_add_test(c, what_was_written_comes_out);
	tcase_add_exit_test(c, without_memory_the_program_ends, 125);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
