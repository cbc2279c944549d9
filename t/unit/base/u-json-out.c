/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON writer: escapes, texts at any place of its buffer, and when the stream gets them. */
#include "nodeagent/base/digits.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#include <check.h>
#include <errno.h>
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

/* Parts that were escaped before, more and fewer than are copied at once, are one text. */
START_TEST(text_in_parts)
{
	for (size_t before = sizeof(json.kept) - 200; before < sizeof(json.kept) + 10; before++) {
		char *filler = malloc(before + 1), *wanted = malloc(before + 2000);
		char escaped[1000], *to = wanted;
		FILE *f = open_text();

		memset(filler, 'x', before);
		filler[before] = '\0';
		json_begin(&json, f, 0);
		json_array(&json, NULL);
		json_string(&json, NULL, filler);
		json_text_begin(&json, NULL);
		to += sprintf(to, "[\"%s\",\"", filler);
		for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
			const size_t n = strlen(texts[i].shown) - 2;

			ck_assert_ptr_eq(json_escape(escaped, texts[i].text), escaped + n);
			ck_assert(!memcmp(escaped, texts[i].shown + 1, n));
			json_text_add(&json, escaped, n);
			to = mempcpy(to, texts[i].shown + 1, n);
		}
		memset(escaped, 'y', 100);
		json_text_add(&json, escaped, 100);
		to = mempcpy(to, escaped, 100);
		json_text_end(&json);
		json_close(&json);
		strcpy(to, "\"]\n");
		is_written(f, wanted);
		free(filler);
		free(wanted);
	}
}
END_TEST

/* Of random bytes. */
START_TEST(escaped_before_as_when_written)
{
	uint64_t x = 1;

	for (int i = 0; i < 20000; i++) {
		char text[40], escaped[6 * sizeof(text)];
		FILE *f = open_text();
		size_t n = (size_t)i % sizeof(text);

		for (size_t k = 0; k < n; k++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			text[k] = (char)(x >> 60 ? x >> 50 & 0x7f : x >> 50 & 0xff);
			text[k] = text[k] ? text[k] : '"';
		}
		text[n] = '\0';
		json_begin(&json, f, 0);
		json_string(&json, NULL, text);
		ck_assert_int_eq(fclose(f), 0);
		n = (size_t)(json_escape(escaped, text) - escaped);
		ck_assert_uint_eq(n + 2, bytes);
		ck_assert(!memcmp(written + 1, escaped, n));
		free(written);
	}
}
END_TEST

/* One object, by keys made before or not, and as its members stand on lines of their own or not. */
static void write_members(bool is_made, unsigned lines, const char *const *keys, size_t n)
{
	FILE *f = open_text();
	struct json_key made;

	json_begin(&json, f, lines);
	for (unsigned level = 0; level < 3; level++)
		json_object(&json, level ? "a" : NULL);
	for (size_t i = 0; i < 9 * n; i++) {
		const char *key = keys[i / 9];

		made = json_key_of(key);
		json_next(&json, is_made ? &made : NULL);
		switch (i % 9) {
		case 0:
			json_uint(&json, key, i);
			break;
		case 1:
			json_int(&json, key, -(int64_t)i);
			break;
		case 2:
			json_bool(&json, key, i % 2);
			break;
		case 3:
			json_real(&json, key, 1e12);
			break;
		case 4:
			json_seconds(&json, key, i);
			break;
		case 5:
			json_hex(&json, key, i << 60 | 0xabc);
			break;
		case 6:
			json_string(&json, key, i % 2 ? "text" : NULL);
			break;
		case 7:
			json_exact(&json, key, 0.1);
			break;
		default:
			json_array(&json, key);
			json_close(&json);
			break;
		}
		json_uint(&json, "another", i); /* that is not the next */
	}
	for (unsigned level = 0; level < 3; level++)
		json_close(&json);
	ck_assert_int_eq(fclose(f), 0);
}

/* n members of an object behind a text of so many bytes, in runs or not. */
static void write_run(bool is_run, unsigned lines, const char *filler, size_t n)
{
	const struct json_key key = json_key_of("calls");
	FILE *f = open_text();
	char *to;

	json_begin(&json, f, lines);
	json_object(&json, NULL);
	to = json_run(&json);
	ck_assert_ptr_null(to); /* nothing stands there */
	json_string(&json, "filler", filler);
	to = is_run ? json_run(&json) : NULL;
	for (size_t i = 0; i < n; i++) {
		if (!to) {
			json_uint(&json, key.key, i);
			continue;
		}
		memcpy(to, key.text, JSON_KEY_BYTES);
		to = digits_uint(to + key.bytes, i);
		to = json_run_on(&json, to);
	}
	if (to)
		json_run_end(&json, to);
	json_uint(&json, "last", n);
	json_close(&json);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(members_in_runs)
{
	for (size_t before = sizeof(json.kept) - 300; before < sizeof(json.kept) + 10; before++) {
		char *filler = malloc(before + 1), *wanted;

		memset(filler, 'x', before);
		filler[before] = '\0';
		for (unsigned lines = 0; lines < 2; lines++) {
			write_run(false, lines, filler, 40);
			wanted = written;
			write_run(true, lines, filler, 40);
			ck_assert_str_eq(written, wanted);
			free(wanted);
			free(written);
		}
		free(filler);
	}
}
END_TEST

static void take_nothing(void *ctx, const char *key, const struct json_value *v)
{
	(void)ctx, (void)key, (void)v;
}

START_TEST(no_runs_where_values_are_handed_over)
{
	json_hand(&json, take_nothing, NULL);
	json_object(&json, NULL);
	json_uint(&json, "calls", 1);
	ck_assert_ptr_null(json_run(&json));
	json_close(&json);
}
END_TEST

START_TEST(keys_made_before)
{
	static const char *const keys[] = {"", "calls", "a \"quoted\" one", "gr\xc3\xbc\xc3\x9f",
		"28 bytes are the most of all", "29 bytes are too many of them",
		"a key of many more bytes than are copied at once, which is written as any text"};

	for (unsigned lines = 0; lines < 5; lines++) {
		char *common;

		write_members(false, lines, keys, ARRAY_SIZE(keys));
		common = written;
		write_members(true, lines, keys, ARRAY_SIZE(keys));
		ck_assert_str_eq(written, common);
		free(written);
		free(common);
	}
	ck_assert_uint_gt(json_key_of(keys[4]).bytes, 0);
	ck_assert_uint_eq(json_key_of(keys[5]).bytes, 0);
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
	json_hex(&json, NULL, 0x0123456789abcdef);
	json_string(&json, NULL, NULL);
	json_close(&json);
	is_written(f, "[-9223372036854775808,333333333333.333312988,-0.500000000,null,"
		      "0.10000000000000001,null,0.000000001,false,\"0123456789abcdef\",null]\n");
}
END_TEST

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

/* ---- values that are handed over ----------------------------------------------------------- */

static struct json_value handed;

static void take_value(void *ctx, const char *key, const struct json_value *v)
{
	ck_assert_ptr_eq(ctx, &handed);
	ck_assert_ptr_null(key);
	handed = *v;
}

/* What was handed over last is what is read from its text. */
static void is_read(FILE *f)
{
	const char *digits;
	long long integer;
	double value;

	ck_assert_int_eq(fclose(f), 0);
	digits = written;
	value = strtod(digits, NULL);
	errno = 0;
	integer = strtoll(digits, NULL, 10);
	if (!strcmp(digits, "null"))
		ck_assert_int_eq(handed.kind, JSON_NULL);
	else if (strpbrk(digits, ".e") || errno)
		ck_assert_msg(handed.kind == JSON_REAL && handed.real == value &&
				      !signbit(handed.real) == !signbit(value),
			"%s: %.17g", digits, handed.real);
	else
		ck_assert_msg(handed.kind == JSON_INTEGER && handed.integer == integer, "%s: %lld",
			digits, (long long)handed.integer);
	free(written);
}

#define SAME(write, value)                                                                         \
	do {                                                                                       \
		FILE *f_ = open_text();                                                            \
                                                                                                   \
		json_begin(&json, f_, 0);                                                          \
		write(&json, NULL, value);                                                         \
		json_hand(&json, take_value, &handed);                                             \
		write(&json, NULL, value);                                                         \
		is_read(f_);                                                                       \
	} while (0)

START_TEST(numbers_are_handed_as_they_are_read)
{
	static const double odd[] = {0.0, -0.0, -1e-10, 1e-9, 0.5e-9, 1.5e-9, 2.5e-9, 1e9, 1e15,
		1e16, 1e17, 1e18, 1e300, 0x1p43 / 1e9, 0x1p53, (double)INFINITY, (double)-NAN};
	static const uint64_t counts[] = {0, 1, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX,
		(uint64_t)1 << 53, ((uint64_t)1 << 53) + 1, 999999999, 1000000001};
	uint64_t n = 1;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++) {
		SAME(json_real, odd[i]);
		SAME(json_exact, odd[i]);
		SAME(json_shortest, odd[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		SAME(json_uint, counts[i]);
		SAME(json_int, (int64_t)-counts[i]);
		SAME(json_seconds, counts[i]);
	}
	for (unsigned i = 0; i < 20000; i++) {
		n = n * 6364136223846793005u + 1442695040888963407u;
		SAME(json_seconds, n >> (i % 40));
		SAME(json_real, (double)(int64_t)n * pow(10.0, -(double)(i % 30)));
		SAME(json_real, ((double)(n >> 44) + 0.5) / 1e9); /* next to a half */
		SAME(json_shortest, (double)(n >> 24) / 1e9);
	}
}
END_TEST

START_TEST(texts_are_handed_as_they_are_read)
{
	char text[64];

	*json_text(text, "gr\xc3\xbc\xc3\x9f \"\n\x7f 12345678") = '\0';
	ck_assert_str_eq(text, "gr\xc3\xbc\xc3\x9f \"\n\x7f 12345678");
	*json_text(text, "1234567\xff\xc3") = '\0';
	ck_assert_str_eq(text, "1234567\xef\xbf\xbd\xef\xbf\xbd");
}
END_TEST

/* Others write to the stream, too, before and after what is outermost. */
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
	tcase_add_test(tc, text_in_parts);
	tcase_add_test(tc, escaped_before_as_when_written);
	tcase_add_test(tc, keys_made_before);
	tcase_add_test(tc, members_in_runs);
	tcase_add_test(tc, no_runs_where_values_are_handed_over);
	tcase_add_test(tc, numbers);
	tcase_add_test(tc, shortest_numbers);
	tcase_add_test(tc, numbers_are_handed_as_they_are_read);
	tcase_add_test(tc, texts_are_handed_as_they_are_read);
	tcase_add_test(tc, stream_is_in_order);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
