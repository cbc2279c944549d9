/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON writer: escapes, texts at any place of its buffer, and when the stream gets them. */
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct json json;
static char *written;
static size_t bytes;

static FILE *open_text(void)
{
	FILE *f = open_memstream(&written, &bytes);

	ck_assert_ptr_nonnull(f);
	return f;
}

static void is_written(FILE *f, const char *wanted)
{
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_str_eq(written, wanted);
	free(written);
}

static const struct {
	const char *text, *shown;
} texts[] = {
	{"", "\"\""},
	{"plain", "\"plain\""},
	{"eight...", "\"eight...\""},
	{"a \"b\" \\c", "\"a \\\"b\\\" \\\\c\""},
	{"12345678\n", "\"12345678\\u000a\""},
	{"\x01\x1f \x7f~", "\"\\u0001\\u001f \\u007f~\""},
	{"1234567\x7f", "\"1234567\\u007f\""},
	{"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
	{"\xff\xc3", "\"\\ufffd\\ufffd\""},
	{"1234567\xff", "\"1234567\\ufffd\""},
};

START_TEST(text_is_escaped)
{
	FILE *f = open_text();

	json_begin(&json, f, 0);
	json_string(&json, NULL, texts[_i].text);
	is_written(f, texts[_i].shown);
}
END_TEST

/* Each text begins at each of 600 places before and behind the end of the buffer. */
START_TEST(across_the_buffer)
{
	for (size_t before = sizeof(json.kept) - 500; before < sizeof(json.kept) + 100; before++) {
		char *filler = malloc(before + 1), *wanted = malloc(before + 100);
		FILE *f = open_text();

		memset(filler, 'x', before);
		filler[before] = '\0';
		json_begin(&json, f, 0);
		json_array(&json, NULL);
		json_string(&json, NULL, filler);
		json_string(&json, NULL, texts[_i].text);
		json_uint(&json, NULL, UINT64_MAX);
		json_close(&json);
		sprintf(wanted, "[\"%s\",%s,18446744073709551615]\n", filler, texts[_i].shown);
		is_written(f, wanted);
		free(filler);
		free(wanted);
	}
}
END_TEST

START_TEST(numbers)
{
	FILE *f = open_text();

	json_begin(&json, f, 0);
	json_array(&json, NULL);
	json_int(&json, NULL, INT64_MIN);
	json_real(&json, NULL, 1e12 / 3);
	json_real(&json, NULL, -0.5);
	json_real(&json, NULL, (double)NAN);
	json_exact(&json, NULL, 0.1);
	json_exact(&json, NULL, (double)-INFINITY);
	json_seconds(&json, NULL, 1);
	json_bool(&json, NULL, false);
	json_string(&json, NULL, NULL);
	json_close(&json);
	is_written(f, "[-9223372036854775808,333333333333.333312988,-0.500000000,null,"
		      "0.10000000000000001,null,0.000000001,false,null]\n");
}
END_TEST

/* Others write to the stream, too, before and after what is outermost. */
/* What is written is read as the same value, and is no longer than it must be. */
START_TEST(shortest_numbers)
{
	static const struct {
		double value;
		const char *shown;
	} values[] = {{0.0, "0"}, {0.1, "0.1"}, {-2.5, "-2.5"}, {3.0, "3"}, {1e-9, "0.000000001"},
		{1e6 + 1e-9 * 7, "1000000.000000007"}, {1.0 / 3.0, "0.33333333333333331"},
		{1e300, "1.0000000000000001e+300"}, {(double)NAN, "null"}};
	uint64_t n = 1;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		FILE *f = open_text();

		json_begin(&json, f, 0);
		json_shortest(&json, NULL, values[i].value);
		is_written(f, values[i].shown);
	}
	for (unsigned i = 0; i < 20000; i++) {
		double value;
		FILE *f = open_text();

		n = n * 6364136223846793005u + 1442695040888963407u;
		value = (double)(n >> 24) / (i % 2 ? 1e9 : 1e7);
		json_begin(&json, f, 0);
		json_shortest(&json, NULL, value);
		ck_assert_int_eq(fclose(f), 0);
		ck_assert_double_eq(strtod(written, NULL), value);
		free(written);
	}
}
END_TEST

START_TEST(stream_is_in_order)
{
	FILE *f = open_text();

	json_begin(&json, f, 0);
	fputs("a", f);
	json_uint(&json, NULL, 1);
	fputs("b", f);
	json_object(&json, NULL);
	json_bool(&json, "key", true);
	json_close(&json);
	fputs("c", f);
	is_written(f, "a1b{\"key\":true}\nc");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json-out");
	TCase *tc = tcase_create("json-out");

	tcase_add_loop_test(tc, text_is_escaped, 0, sizeof(texts) / sizeof(*texts));
	tcase_add_loop_test(tc, across_the_buffer, 0, sizeof(texts) / sizeof(*texts));
	tcase_add_test(tc, numbers);
	tcase_add_test(tc, shortest_numbers);
	tcase_add_test(tc, stream_is_in_order);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
