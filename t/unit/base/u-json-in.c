/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON reader: values, escapes, errors with their lines, whatever the buffer cuts. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/json-read.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

static FILE *text_file(const char *text)
{
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	rewind(f);
	return f;
}

/* Reads text with `read`; its error or NULL. */
static char *reads(const char *text, void (*read)(struct json_in *j))
{
	FILE *f = text_file(text);
	struct json_in j;
	char *error;

	json_in_begin(&j, f);
	read(&j);
	error = json_in_end(&j);
	fclose(f);
	return error;
}

static void expect_error(const char *text, const char *want)
{
	char *error = reads(text, json_in_skip);

	ck_assert_msg(error && strstr(error, want), "%s: %s", text, error ? error : "no error");
	free(error);
}

static double real_value;
static uint64_t uint_value;
static struct text_store texts;

static void take_real(struct json_in *j)
{
	real_value = json_in_real(j);
}

static void take_uint(struct json_in *j)
{
	uint_value = json_in_uint(j);
}

static void take_text(struct json_in *j)
{
	texts.n = 0;
	ck_assert_uint_eq(json_in_text(j, &texts), 0);
}

START_TEST(numbers)
{
	static const struct {
		const char *text;
		double value;
	} reals[] = {{"0", 0}, {"-1", -1}, {"12.5", 12.5}, {"1e3", 1000}, {"-2.5E-1", -0.25},
		{"0.000000001", 1e-9}, {"123456789.123456789", 123456789.123456789},
		{" 18446744073709551615 ", 18446744073709551615.0}, {"null", 0}};

	for (size_t i = 0; i < ARRAY_SIZE(reals); i++) {
		ck_assert_ptr_null(reads(reals[i].text, take_real));
		ck_assert_double_eq(real_value, reals[i].value);
	}
	ck_assert_ptr_null(reads("18446744073709551615", take_uint));
	ck_assert_uint_eq(uint_value, UINT64_MAX);
	free(reads("18446744073709551616", take_uint));
	ck_assert_uint_eq(uint_value, 0);
}
END_TEST

static struct json_in_value any;

static void take_any(struct json_in *j)
{
	texts.n = 0;
	any = json_in_value(j, &texts);
}

START_TEST(values_of_any_kind)
{
	static const struct {
		const char *text;
		enum json_in_kind kind;
		int64_t integer;
		double real;
	} values[] = {{"null", JSON_IN_NULL, 0, 0}, {" true", JSON_IN_BOOL, 1, 0},
		{"false", JSON_IN_BOOL, 0, 0}, {"-7", JSON_IN_INTEGER, -7, 0},
		{"9223372036854775807", JSON_IN_INTEGER, INT64_MAX, 0},
		{"-9223372036854775808", JSON_IN_INTEGER, INT64_MIN, 0},
		{"9223372036854775808", JSON_IN_REAL, 0, 9223372036854775808.0},
		{"1.5", JSON_IN_REAL, 0, 1.5}, {"-2e3", JSON_IN_REAL, 0, -2000},
		{"\"\\u0041\"", JSON_IN_TEXT, 0, 0}};
	static const char *const bad[] = {
		"nul", "tru", "fals", "\"x", "-", "1.5.5", "[]", "{}", ""};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		ck_assert_ptr_null(reads(values[i].text, take_any));
		ck_assert_int_eq(any.kind, values[i].kind);
		ck_assert_int_eq(any.integer, values[i].integer);
		ck_assert_double_eq(any.real, values[i].real);
	}
	ck_assert_str_eq(texts.bytes + any.text, "A");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *error = reads(bad[i], take_any);

		ck_assert_msg(error, "%s", bad[i]);
		free(error);
	}
}
END_TEST

START_TEST(not_numbers)
{
	static const char *const uints[] = {
		"18446744073709551616", "-1", "1.5", "1e3", "\"1\"", "true", "[]", ""};
	static const char *const reals[] = {"1.2.3", "--1", "1e999", "1-1", "{}", "x", "-"};

	for (size_t i = 0; i < ARRAY_SIZE(uints); i++) {
		char *error = reads(uints[i], take_uint);

		ck_assert_msg(error != NULL, "%s", uints[i]);
		free(error);
	}
	for (size_t i = 0; i < ARRAY_SIZE(reals); i++) {
		char *error = reads(reals[i], take_real);

		ck_assert_msg(error != NULL, "%s", reals[i]);
		free(error);
	}
}
END_TEST

START_TEST(texts_and_escapes)
{
	ck_assert_ptr_null(
		reads("\"a\\\"b\\\\c\\/d\\n\\t\\u00e9\\u20ac\\ud83d\\ude00\"", take_text));
	ck_assert_str_eq(texts.bytes, "a\"b\\c/d\n\t\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	/* a NUL would end the text; halves of a pair are no characters */
	ck_assert_ptr_null(reads("\"x\\u0000y\\ud83dz\\ude00\"", take_text));
	ck_assert_str_eq(texts.bytes, "x?y\xef\xbf\xbdz\xef\xbf\xbd");
	ck_assert_ptr_null(reads("null", take_text));
	ck_assert_str_eq(texts.bytes, "");
	expect_error("\"a\nb\"", "control character");
	expect_error("\"\\x\"", "escape");
	expect_error("\"\\u12g4\"", "hexadecimal");
	expect_error("\"abc", "ends inside of a text");
}
END_TEST

START_TEST(structure)
{
	static const char *const good[] = {
		"{}", "[]", " [ ] ", "[[],[{}]]", "{\"a\":[1,2,{\"b\":null}],\"c\":\"d\"}\n"};
	char deep[200];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_ptr_null(reads(good[i], json_in_skip));
	expect_error("{\"a\":1,}", "where a text should be");
	expect_error("[1 2]", "`2' where `,' or `]' should be");
	expect_error("{\"a\" 1}", "`:'");
	expect_error("[1]]", "the end of the file");
	expect_error("[", "the file ends");
	expect_error("", "the file ends");
	expect_error("{\"a\":\n\n?}", "line 3: `?'");
	expect_error("[1}", "`}' where");
	expect_error("[tru]", "word");
	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	expect_error(deep, "nested");
}
END_TEST

/* What is longer than the reader's buffer is cut at every kind of place. */
START_TEST(across_buffers)
{
	enum { N = 20000 };
	FILE *f = tmpfile();
	uint64_t sum = 0, keys = 0;
	struct json_in in;
	struct json out;
	const char *key;
	char *long_text;

	json_begin(&out, f, 1);
	json_object(&out, NULL);
	for (int i = 0; i < N; i++) {
		char *name = xasprintf("key%d\"%s", i, i % 3 ? "" : "\xc3\xa9");

		json_object(&out, name);
		json_string(&out, "text", name);
		json_uint(&out, "n", (uint64_t)i);
		json_close(&out);
		free(name);
	}
	long_text = xmalloc(200001);
	memset(long_text, 'x', 200000);
	long_text[200000] = '\0';
	json_string(&out, "long", long_text);
	json_close(&out);
	rewind(f);

	json_in_begin(&in, f);
	json_in_object(&in);
	while ((key = json_in_member(&in))) {
		char name[JSON_IN_KEY_MAX];

		if (!strcmp(key, "long")) {
			texts.n = 0;
			json_in_text(&in, &texts);
			ck_assert_str_eq(texts.bytes, long_text);
			continue;
		}
		keys++;
		strcpy(name, key);
		json_in_object(&in);
		while ((key = json_in_member(&in))) {
			if (!strcmp(key, "n")) {
				sum += json_in_uint(&in);
				continue;
			}
			texts.n = 0;
			json_in_text(&in, &texts);
			ck_assert_str_eq(texts.bytes, name);
		}
	}
	ck_assert_ptr_null(json_in_end(&in));
	ck_assert_uint_eq(keys, N);
	ck_assert_uint_eq(sum, (uint64_t)N * (N - 1) / 2);
	free(long_text);
	fclose(f);
}
END_TEST

START_TEST(long_keys_are_cut)
{
	FILE *f = text_file(
		"{\"0123456789012345678901234567890123456789012345678901234567890123456789\":1}");
	struct json_in j;

	json_in_begin(&j, f);
	json_in_object(&j);
	ck_assert_uint_eq(strlen(json_in_member(&j)), JSON_IN_KEY_MAX - 1);
	ck_assert_uint_eq(json_in_uint(&j), 1);
	ck_assert_ptr_null(json_in_member(&j));
	ck_assert_ptr_null(json_in_end(&j));
	fclose(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json-in");
	TCase *c = tcase_create("json-in");

	tcase_add_test(c, numbers);
	tcase_add_test(c, values_of_any_kind);
	tcase_add_test(c, not_numbers);
	tcase_add_test(c, texts_and_escapes);
	tcase_add_test(c, structure);
	tcase_add_test(c, across_buffers);
	tcase_add_test(c, long_keys_are_cut);
	suite_add_tcase(s, c);
	return run_suite(s);
}
