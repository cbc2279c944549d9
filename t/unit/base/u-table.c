/* SPDX-License-Identifier: BSD-3-Clause */
/* Text tables: widths, alignment, and cells that would break the frame. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

static char *printed(struct table *t)
{
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	table_print(t, f);
	fclose(f);
	table_free(t);
	return text;
}

static void expect(struct table *t, const char *want)
{
	char *text = printed(t);

	ck_assert_str_eq(text, want);
	free(text);
}

START_TEST(frame)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column(t, "Calls", TABLE_RIGHT);
	table_column(t, "Callpath", TABLE_RIGHT);
	table_column(t, "STIDs", TABLE_LEFT);
	table_uint(t, 20);
	table_text(t, "bar<foo<main<init");
	table_text(t, "4,6");
	table_uint(t, 18446744073709551615u);
	table_text(t, "init");
	table_text(t, "1,2,3,...");
	ck_assert_uint_eq(table_rows(t), 2);
	expect(t, "+----------------------+-------------------+-----------+\n"
		  "|        Calls         |     Callpath      |   STIDs   |\n"
		  "+----------------------+-------------------+-----------+\n"
		  "|                   20 | bar<foo<main<init | 4,6       |\n"
		  "| 18446744073709551615 |              init | 1,2,3,... |\n"
		  "+----------------------+-------------------+-----------+\n");
}
END_TEST

START_TEST(list)
{
	struct table *t = table_new(TABLE_LIST);

	table_column(t, "STID", TABLE_RIGHT);
	table_column(t, "Call stack", TABLE_LEFT);
	table_text(t, "STID0");
	table_text(t, "main<init");
	table_text(t, "STID10");
	table_text(t, "reg<foo<main<init");
	expect(t, "    STID   Call stack         \n"
		  "   STID0   main<init          \n"
		  "  STID10   reg<foo<main<init  \n");
}
END_TEST

START_TEST(list_padding_is_bounded)
{
	struct table *t = table_new(TABLE_LIST);
	char path[1001];
	char *text;

	memset(path, 'x', 1000);
	path[1000] = '\0';
	table_column(t, "Call stack", TABLE_LEFT);
	table_text(t, path);
	table_text(t, "init");
	text = printed(t);
	ck_assert_ptr_nonnull(strstr(text, path));
	ck_assert_uint_lt(strlen(text), 1200);
	free(text);
}
END_TEST

START_TEST(numbers)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column(t, "a", TABLE_RIGHT);
	table_column(t, "b", TABLE_RIGHT);
	table_real(t, 0, 3, 0.0405);
	table_real(t, 6, 2, 3.926);
	table_real(t, 0, 3, 1e300);
	table_real(t, 6, 2, -100.0);
	ck_assert_uint_eq(table_rows(t), 2);
	table_uint(t, 1); /* a row that is not complete */
	char *text = printed(t);
	ck_assert_ptr_nonnull(strstr(text, " 0.041 |    3.93 |\n"));
	ck_assert_ptr_nonnull(strstr(text, " | -100.00 |\n"));
	ck_assert_ptr_null(strstr(text, " 1 |"));
	free(text);
}
END_TEST

START_TEST(numbers_that_are_none_or_huge)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column(t, "a\nb", TABLE_RIGHT);
	table_column(t, "c", TABLE_RIGHT);
	table_real(t, 0, 3, NAN);
	table_scientific(t, 3, -INFINITY);
	table_real(t, 0, 3, 999999999999999.0);
	table_real(t, 6, 2, -1e300);
	table_real(t, 0, 1, 1e15);
	table_uint(t, UINT64_MAX);
	expect(t, "+---------------------+----------------------+\n"
		  "|         a?b         |          c           |\n"
		  "+---------------------+----------------------+\n"
		  "|                ---- |                 ---- |\n"
		  "| 999999999999999.000 |           -1.00e+300 |\n"
		  "|             1.0e+15 | 18446744073709551615 |\n"
		  "+---------------------+----------------------+\n");
}
END_TEST

START_TEST(compact_numbers)
{
	static const struct {
		uint64_t value;
		unsigned base;
		const char *text;
	} cases[] = {
		{0, 1000, "."},
		{999, 1000, "999"},
		{1000, 1000, "1.00k"},
		{9994, 1000, "9.99k"},
		{9996, 1000, "10.0k"},
		{99940, 1000, "99.9k"},
		{99960, 1000, "100k"},
		{999499, 1000, "999k"},
		{999501, 1000, "1.00M"},
		{UINT64_MAX, 1000, "18.4E"},
		{1000, 1024, "1000"},
		{1023, 1024, "1023"},
		{1024, 1024, "1.00K"},
		{1048575, 1024, "1.00M"},
		{UINT64_MAX, 1024, "16.0E"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table *t = table_new(TABLE_LIST);
		char want[64];

		table_column(t, "12345", TABLE_RIGHT);
		table_compact(t, cases[i].base, cases[i].value);
		snprintf(want, sizeof(want), "  12345  \n  %5s  \n", cases[i].text);
		expect(t, want);
	}
}
END_TEST

START_TEST(no_rows)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column(t, "STID", TABLE_RIGHT);
	expect(t, "+------+\n| STID |\n+------+\n+------+\n");
	expect(table_new(TABLE_FRAMED), "");
}
END_TEST

START_TEST(names_cannot_break_the_frame)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column(t, "Function", TABLE_RIGHT);
	table_text(t, "a\nb\033[31m\tc");
	table_text(t, "\xc3\xbc"
		      "ber"); /* 4 columns, 5 bytes */
	table_text(t, "\xff\xc3");
	table_text(t, "\xed\xa0\x80\xc0\x80"); /* surrogate, overlong NUL */
	expect(t, "+------------+\n"
		  "|  Function  |\n"
		  "+------------+\n"
		  "| a?b?[31m?c |\n"
		  "|       \xc3\xbc"
		  "ber |\n"
		  "|         ?? |\n"
		  "|      ????? |\n"
		  "+------------+\n");
}
END_TEST

START_TEST(shortened)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", ""},
		{"0123456789", "0123456789"},
		{"0123456789a", "0123...89a"},
		{"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
		 "\xc3\xbc",
			"\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc...\xc3\xbc\xc3\xbc\xc3\xbc"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = text_short(cases[i].text, 10);

		ck_assert_str_eq(text, cases[i].want);
		ck_assert_uint_le(text_columns(text), 10);
		free(text);
	}
}
END_TEST

/* What nobody sees, or turns what is seen, is written as its number; nothing else changes. */
START_TEST(what_is_unseen_is_shown)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"solve", "solve"},
		{"a\\u202eb", "a\\u202eb"},
		{"a\033[31mb\tc\177", "a?[31mb?c?"},
		{"a\xe2\x80\xae"
		 "b",
			"a\\u202eb"},
		{"\xe2\x81\xa6x\xe2\x81\xa9", "\\u2066x\\u2069"},
		{"\xe2\x80\x8b\xef\xbb\xbf\xc2\xad", "\\u200b\\ufeff\\u00ad"},
		{"\xe2\x80\xa8", "\\u2028"},
		{"\xc2\x9b", "\\u009b"},
		{"\xf3\xa0\x81\x81", "\\U000e0041"},
		{"a\xef\xb8\x80\xe1\xa0\x8b\xe1\x9e\xb4", "a\\ufe00\\u180b\\u17b4"},
		{"\xf0\x9b\xb2\xa0\xf0\x9d\x85\xb3", "\\U0001bca0\\U0001d173"},
		{"\xd7\x90\xd7\x91 \xc3\xbc", "\xd7\x90\xd7\x91 \xc3\xbc"},
		{"\xff\xe2\x80", "???"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = text_plain(cases[i].text), *again = text_plain(text);

		ck_assert_str_eq(text, cases[i].want);
		ck_assert_str_eq(again, cases[i].want);
		ck_assert_uint_eq(text_columns(cases[i].text), text_columns(text));
		free(text);
		free(again);
	}
}
END_TEST

/* Written in pieces that cut characters: each arrives as if it were one. */
START_TEST(a_stream_shows_what_is_unseen)
{
	static const char text[] = "a\xe2\x80\xae"
				   "b\t\xc3\xbc\n\033[1m\xf3\xa0\x81\x81.\0x\xe2\x80";
	static const char wanted[] = "a\\u202eb\t\xc3\xbc\n?[1m\\U000e0041.?x??";

	for (size_t piece = 1; piece < sizeof(text); piece++) {
		char got[2 * sizeof(wanted)] = "";
		FILE *f;
		int ends[2];

		ck_assert(!pipe(ends));
		f = text_stream(ends[1]);
		ck_assert_ptr_nonnull(f);
		setvbuf(f, NULL, _IONBF, 0);
		for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
			const size_t left = sizeof(text) - 1 - at, n = left < piece ? left : piece;

			ck_assert_uint_eq(fwrite(text + at, 1, n, f), n);
		}
		ck_assert_int_eq(fclose(f), 0);
		ck_assert_int_eq(read(ends[0], got, sizeof(got) - 1), sizeof(wanted) - 1);
		ck_assert_str_eq(got, wanted);
		close(ends[0]);
		close(ends[1]);
	}
}
END_TEST

/* Two numbers of a quantity and one that is not known, by unit. */
static struct table *quantities(const double *s, const double *bytes, const double *rate)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column_of(t, "t", TABLE_RIGHT, TABLE_SECONDS);
	table_column_of(t, "Sent", TABLE_RIGHT, TABLE_BYTES);
	table_column_of(t, "Rate", TABLE_RIGHT, TABLE_RATE);
	table_column(t, "Name", TABLE_LEFT);
	for (size_t i = 0; i < 2; i++) {
		ck_assert(table_takes_quantity(t));
		table_quantity(t, s[i]);
		table_quantity(t, bytes[i]);
		table_quantity(t, rate[i]);
		ck_assert(!table_takes_quantity(t));
		table_text(t, "f");
	}
	return t;
}

START_TEST(one_unit_for_a_column)
{
	expect(quantities((double[]){1.5, 0.25e-3}, (double[]){3 << 20, 1 << 10},
		       (double[]){2e9, NAN}),
		"+-------+-----------+-------------+------+\n"
		"| t[s]  | Sent[MiB] | Rate[GiB/s] | Name |\n"
		"+-------+-----------+-------------+------+\n"
		"| 1.500 |      3.00 |        1.86 | f    |\n"
		"| 0.000 |      0.00 |        ---- | f    |\n"
		"+-------+-----------+-------------+------+\n");
	expect(quantities((double[]){0.0015, 0.25e-3}, (double[]){1023, 7}, (double[]){8.5, 2.0}),
		"+-------+---------+-----------+------+\n"
		"| t[ms] | Sent[B] | Rate[B/s] | Name |\n"
		"+-------+---------+-----------+------+\n"
		"| 1.500 |    1023 |       8.5 | f    |\n"
		"| 0.250 |       7 |       2.0 | f    |\n"
		"+-------+---------+-----------+------+\n");
	expect(quantities((double[]){4e-9, 3e-9}, (double[]){0, 0}, (double[]){0x1p10, 0}),
		"+-------+---------+-------------+------+\n"
		"| t[ns] | Sent[B] | Rate[KiB/s] | Name |\n"
		"+-------+---------+-------------+------+\n"
		"|     4 |       0 |        1.00 | f    |\n"
		"|     3 |       0 |        0.00 | f    |\n"
		"+-------+---------+-------------+------+\n");
}
END_TEST

static struct table *of_two_names(size_t limit)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_limit(t, limit);
	table_column(t, "Calls", TABLE_RIGHT);
	table_column(t, "Spare", TABLE_RIGHT);
	table_spare(t);
	table_column(t, "Other", TABLE_RIGHT);
	table_column(t, "Function", TABLE_RIGHT);
	table_column(t, "Id", TABLE_RIGHT);
	for (uint64_t i = 1; i < 4; i++)
		table_uint(t, i);
	table_text(t, "a_function_of_a_long_name::that_ends_here");
	table_uint(t, 4);
	return t;
}

/* The number of columns left out, and no line is longer than the limit. */
static size_t left_out(size_t limit, const char *has, const char *hasnt)
{
	char *text;
	size_t bytes, n;
	FILE *f = open_memstream(&text, &bytes);
	struct table *t = of_two_names(limit);

	n = table_print(t, f);
	fclose(f);
	table_free(t);
	ck_assert(strstr(text, has));
	ck_assert(!hasnt || !strstr(text, hasnt));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_uint_le(strlen(line), limit ? limit : 1000);
	free(text);
	return n;
}

/* The unit is chosen by the numbers, and what is no number has no mark. */
START_TEST(estimates_are_marked)
{
	struct table *t = table_new(TABLE_FRAMED);

	table_column_of(t, "t", TABLE_RIGHT, TABLE_SECONDS);
	table_column(t, "n", TABLE_RIGHT);
	table_column(t, "x", TABLE_RIGHT);
	for (int i = 0; i < 2; i++) {
		table_mark(t);
		table_quantity(t, i ? 0.0125 : NAN);
		table_mark(t);
		table_uint(t, 7);
		table_mark(t);
		table_real(t, 0, 2, i ? 1.5 : INFINITY);
	}
	table_quantity(t, 0.001);
	table_uint(t, 8);
	table_real(t, 0, 2, 2.5);
	expect(t, "+---------+----+-------+\n"
		  "|  t[ms]  | n  |   x   |\n"
		  "+---------+----+-------+\n"
		  "|    ---- | ~7 |  ---- |\n"
		  "| ~12.500 | ~7 | ~1.50 |\n"
		  "|   1.000 |  8 |  2.50 |\n"
		  "+---------+----+-------+\n");
}
END_TEST

START_TEST(no_line_is_longer_than_the_limit)
{
	ck_assert_uint_eq(left_out(0, "a_function_of_a_long_name::that_ends_here", NULL), 0);
	ck_assert_uint_eq(left_out(74, "a_function_of_a_long_name::that_ends_here", NULL), 0);
	/* a name is cut before a column goes, then the spare one goes */
	ck_assert_uint_eq(left_out(60, "Spare", "long_name::"), 0);
	ck_assert_uint_eq(left_out(55, "Other", "Spare"), 1);
	ck_assert_uint_eq(left_out(55, "Id", "Spare"), 1);
	/* then one of numbers, but not the first and the last */
	ck_assert_uint_eq(left_out(34, "Id", "Other"), 2);
	ck_assert_uint_eq(left_out(34, "Calls", "Spare"), 2);
}
END_TEST

/* Cut to 12 columns; texts with one beginning and one end are told apart by what is in between. */
START_TEST(what_is_cut_reads_like_nothing_else)
{
	static const char *const texts[] = {"llvm::Constant::clone", "llvm::Context::clone",
		"llvm::Constant::clone", "abcdefghi-01234-klmnopqrs", "abcdefghi-5678-klmnopqrs",
		"abcdefghi-01234-klmnopqrs"};
	struct table *t = table_new(TABLE_FRAMED);
	char *text;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	table_limit(t, 16);
	table_column(t, "x", TABLE_LEFT);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		table_text(t, texts[i]);
	table_print(t, f);
	fclose(f);
	ck_assert_str_eq(text, "+--------------+\n"
			       "|      x       |\n"
			       "+--------------+\n"
			       "| llvm:...lone |\n"
			       "| llvm...clone |\n"
			       "| llvm:...lone |\n"
			       "| abcde...pqrs |\n"
			       "| abcd...opqrs |\n"
			       "| abcde...pqrs |\n"
			       "+--------------+\n");
	table_free(t);
	free(text);
}
END_TEST

/* A text that fits reads as a cut one would, in each of the ways to cut it; its column says where.
 */
START_TEST(a_column_cuts_its_texts)
{
	static const char whole[] = "abcdefghijklmnop";
	struct table *t = table_new(TABLE_FRAMED);

	table_column(t, "x", TABLE_LEFT);
	table_most(t, 8, TEXT_BEGINNING);
	table_column(t, "whole", TABLE_LEFT);
	table_text(t, whole);
	table_text(t, whole);
	table_text(t, "abcde...");
	table_text(t, "abcde...");
	expect(t, "+----------+------------------+\n"
		  "|    x     |      whole       |\n"
		  "+----------+------------------+\n"
		  "| abcd...p | abcdefghijklmnop |\n"
		  "| abcde... | abcde...         |\n"
		  "+----------+------------------+\n");
}
END_TEST

START_TEST(a_number_is_no_text_that_fits)
{
	struct text_cuts *cuts = text_cuts_new(TEXT_BOTH_ENDS);
	static const char *const taken[] = {"abcde...", "abcd...p", "abc...op", "ab...nop",
		"a...mnop", "...lmnop", "a...p(2)", "a...p(3)"};
	char *cut;

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		text_cuts_whole(cuts, taken[i]);
	for (int i = 0; i < 2; i++) {
		cut = text_cut(cuts, "abcdefghijklmnop", 8);
		ck_assert_str_eq(cut, "a...p(4)");
		free(cut);
	}
	text_cuts_free(cuts);
}
END_TEST

/* Of any number of texts, each of which may come again. */
START_TEST(a_thousand_that_differ_in_the_middle)
{
	struct table *t = table_new(TABLE_FRAMED);
	char *text, *line, *row[2000];
	size_t bytes, n = 0;
	FILE *f = open_memstream(&text, &bytes);

	table_limit(t, 20);
	table_column(t, "x", TABLE_LEFT);
	for (int i = 0; i < 2000; i++) {
		char *name = xasprintf("function_of_%d_with_a_long_end", i % 1000 + 1000);

		table_text(t, name);
		free(name);
	}
	table_print(t, f);
	fclose(f);
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		ck_assert_uint_eq(strlen(line), 20);
		if (line[0] == '|' && !strstr(line, " x "))
			row[n++] = line;
	}
	ck_assert_uint_eq(n, 2000);
	for (size_t i = 0; i < 1000; i++) {
		ck_assert_str_eq(row[i], row[i + 1000]);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(row[i], row[k]);
	}
	table_free(t);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("table");
	TCase *c = tcase_create("table");

	tcase_add_test(c, frame);
	tcase_add_test(c, list);
	tcase_add_test(c, list_padding_is_bounded);
	tcase_add_test(c, numbers);
	tcase_add_test(c, numbers_that_are_none_or_huge);
	tcase_add_test(c, compact_numbers);
	tcase_add_test(c, no_rows);
	tcase_add_test(c, names_cannot_break_the_frame);
	tcase_add_test(c, shortened);
	tcase_add_test(c, what_is_unseen_is_shown);
	tcase_add_test(c, a_stream_shows_what_is_unseen);
	tcase_add_test(c, one_unit_for_a_column);
	tcase_add_test(c, estimates_are_marked);
	tcase_add_test(c, no_line_is_longer_than_the_limit);
	tcase_add_test(c, what_is_cut_reads_like_nothing_else);
	tcase_add_test(c, a_column_cuts_its_texts);
	tcase_add_test(c, a_number_is_no_text_that_fits);
	tcase_add_test(c, a_thousand_that_differ_in_the_middle);
	suite_add_tcase(s, c);
	return run_suite(s);
}
