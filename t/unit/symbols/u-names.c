/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of a profile: each another one, in tables too, and always the same. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nodeagent/base/table.h"
#include "nodeagent/symbols/names.h"
#include "t/lib/suite.h"

static const struct name_style short_names;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_each_another(const char **texts, size_t n)
{
	qsort(texts, n, sizeof(*texts), by_text);
	for (size_t i = 1; i < n; i++)
		ck_assert_str_ne(texts[i - 1], texts[i]);
}

/* raw: without doubles */
static void check_all(const char *const *raw, size_t n)
{
	struct names *names = names_new(raw, n, &short_names);
	const char **texts = calloc(n, sizeof(*texts));

	for (size_t i = 0; i < n; i++) {
		const struct name *name = names_lookup(names, raw[i]);

		ck_assert_ptr_nonnull(name);
		ck_assert_uint_le(text_columns(name->cell), NAME_COLUMNS);
		ck_assert_ptr_null(strstr(name->shown, " < "));
		if (text_columns(name->shown) <= NAME_COLUMNS)
			ck_assert_str_eq(name->cell, name->shown);
		texts[i] = name->shown;
	}
	check_each_another(texts, n);
	for (size_t i = 0; i < n; i++)
		texts[i] = names_lookup(names, raw[i])->cell;
	check_each_another(texts, n);
	free(texts);
	names_free(names);
}

static void check_shown(
	const char *const *raw, size_t n, const char *const *shown, const char *const *cells)
{
	struct names *names = names_new(raw, n, &short_names);

	for (size_t i = 0; i < n; i++) {
		ck_assert_str_eq(names_lookup(names, raw[i])->shown, shown[i]);
		if (cells)
			ck_assert_str_eq(names_lookup(names, raw[i])->cell, cells[i]);
	}
	names_free(names);
	check_all(raw, n);
}

START_TEST(test_numbered)
{
	static const char *const raw[] = {"_ZN3box3putIidEEvT_T0_", "_ZN3box3putIicEEvT_T0_",
		"_ZN1AC2Ev", "_ZN1AC1Ev", "step", "_Z4stepv", "step_", "init", "init_", "main"};
	static const char *const shown[] = {"box::put #2", "box::put", "A::A #2", "A::A", "step",
		"step #2", "step #3", "init", "init #2", "main"};

	check_shown(raw, 10, shown, shown);
}
END_TEST

/* What looks numbered may be a name of its own. */
START_TEST(test_numbered_names)
{
	static const char *const raw[] = {"f", "f_", "f__", "f #2", "f #2_", "f #3"};
	static const char *const shown[] = {"f", "f #4", "f #5", "f #2", "f #2 #2", "f #3"};

	check_shown(raw, 6, shown, NULL);
}
END_TEST

START_TEST(test_order)
{
	static const char *const one[] = {"_Z1fv", "_Z1fi", "_Z1fd", "g", "g"},
				 *const other[] = {"g", "_Z1fi", "_Z1fv", "_Z1fv", "_Z1fd"};
	struct names *a = names_new(one, 5, &short_names), *b = names_new(other, 5, &short_names);

	for (int i = 0; i < 4; i++)
		ck_assert_str_eq(names_lookup(a, one[i])->shown, names_lookup(b, one[i])->shown);
	ck_assert_str_eq(names_lookup(a, "_Z1fd")->shown, "f");
	ck_assert_str_eq(names_lookup(a, "_Z1fi")->shown, "f #2");
	ck_assert_str_eq(names_lookup(a, "_Z1fv")->shown, "f #3");
	ck_assert_ptr_null(names_lookup(a, "h"));
	names_free(a);
	names_free(b);
	a = names_new(NULL, 0, &short_names);
	ck_assert_ptr_null(names_lookup(a, "h"));
	names_free(a);
	names_free(NULL);
}
END_TEST

#define LONG "a_namespace_with_a_very_long_name"

START_TEST(test_cut)
{
	static const char *const raw[] = {
		"_ZN33" LONG "33" LONG "5Field4sortEv",
		"_ZN33" LONG "33" LONG "5Field4sortEi",
		"_ZN33" LONG "cvN33" LONG "1AEEv",
		LONG LONG,
		"_ZN1A66" LONG LONG "Ev",
		"_ZN33" LONG "33" LONG "1fEv",
	};
	static const char *const cells[] = {
		"a_namespace_with_a_very_long_name::a_name...::Field::sort #2",
		"a_namespace_with_a_very_long_name::a_namespa...::Field::sort",
		"a_namespac...::operator a_namespace_with_a_very_long_name::A",
		"a_namespace_with_a_very_lon...space_with_a_very_long_name #2",
		"a_namespace_with_a_very_long_...espace_with_a_very_long_name",
		"a_namespace_with_a_...::a_namespace_with_a_very_long_name::f",
	};
	struct names *names = names_new(raw, 6, &short_names);

	for (int i = 0; i < 6; i++)
		ck_assert_str_eq(names_lookup(names, raw[i])->cell, cells[i]);
	names_free(names);
	check_all(raw, 6);
}
END_TEST

/* Bytes that are not UTF-8 are shown alike; names of them are not. */
START_TEST(test_bytes)
{
	static const char *const raw[] = {"f\377", "f\376", "f?", "a < b", "a_<_b", "\303\266", ""};

	check_all(raw, 7);
}
END_TEST

/* 30 000 names of which all read alike, and are too long for a table. */
START_TEST(test_many)
{
	enum { MANY = 30000 };
	char **raw = calloc(MANY, sizeof(*raw));
	struct timespec a, b;

	for (int i = 0; i < MANY; i++)
		if (asprintf(&raw[i], "_ZN33" LONG "33" LONG "1fILi%dEEEvv", i) < 0)
			ck_abort();
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	check_all((const char *const *)raw, MANY);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	ck_assert_int_lt(b.tv_sec - a.tv_sec, 5);
	for (int i = 0; i < MANY; i++)
		free(raw[i]);
	free(raw);
}
END_TEST

/* All symbols of C++ in the libraries of this machine that have many, at most 20 000. */
START_TEST(test_libraries)
{
	FILE *f = popen("nm -D --defined-only /usr/lib/*/libstdc++.so.6 /usr/lib/*/libLLVM*.so.1 "
			"2>/dev/null | sed -n 's/.* [A-Za-z] \\(_Z[^@]*\\).*/\\1/p' | "
			"LC_ALL=C sort -u | head -n 20000",
		"r");
	char **raw = NULL, *line = NULL;
	size_t n = 0, cap = 0, known = 0;
	ssize_t bytes;

	ck_assert_ptr_nonnull(f);
	while ((bytes = getline(&line, &cap, f)) > 0) {
		char *shown;

		line[bytes - 1] = '\0';
		raw = realloc(raw, (n + 1) * sizeof(*raw));
		raw[n++] = strdup(line);
		shown = name_shown(line, &short_names);
		known += strncmp(shown, "_Z", 2) != 0;
		free(shown);
	}
	pclose(f);
	free(line);
	printf("# %zu symbols, %zu with short names\n", n, known);
	ck_assert_uint_ge(known + n / 1000, n);
	check_all((const char *const *)raw, n);
	for (size_t i = 0; i < n; i++)
		free(raw[i]);
	free(raw);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("names");
	TCase *c = tcase_create("names");

	tcase_add_test(c, test_numbered);
	tcase_add_test(c, test_numbered_names);
	tcase_add_test(c, test_order);
	tcase_add_test(c, test_cut);
	tcase_add_test(c, test_bytes);
	tcase_add_test(c, test_many);
	tcase_add_test(c, test_libraries);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	return run_suite(s);
}
