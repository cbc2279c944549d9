/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of words in one text, and what a node is. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/machine.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/words.h"
#include "t/lib/suite.h"

#define BYTES_MOST 100

static const struct {
	char *words[5];
	const char *shell;
} lists[] = {
	{{NULL}, ""},
	{{"./a.out", NULL}, "./a.out"},
	{{"mpirun", "-np", "2", "./a b", NULL}, "mpirun -np 2 './a b'"},
	{{"", "a", "", NULL}, "'' a ''"},
	{{"it's", "two\nlines\n", "back\\slash\\n", "\\", NULL},
		"'it'\\''s' 'two\nlines\n' 'back\\slash\\n' '\\'"},
	{{"\xff\x1b[31m", "$(rm)", "a;b", "x=1", NULL}, "'\xff\x1b[31m' '$(rm)' 'a;b' x=1"},
};

START_TEST(words_come_back)
{
	size_t left;
	char *list = words_list(lists[_i].words, BYTES_MOST, &left), *shell = words_for_shell(list),
	     *word;
	const char *at = list;

	ck_assert_uint_eq(left, 0);
	ck_assert_str_eq(shell, lists[_i].shell);
	for (char *const *wanted = lists[_i].words; *wanted; wanted++) {
		word = words_next(&at);
		ck_assert_ptr_nonnull(word);
		ck_assert_str_eq(word, *wanted);
		free(word);
	}
	ck_assert_ptr_null(words_next(&at));
	free(shell);
	free(list);
}
END_TEST

START_TEST(what_does_not_fit_is_counted)
{
	char *const words[] = {"123", "\n\n", "1234", "5", NULL};
	static const struct {
		size_t most, left;
		const char *list;
	} rows[] = {{0, 4, ""}, {3, 4, ""}, {4, 3, "123\n"}, {8, 3, "123\n"},
		{9, 2, "123\n\\n\\n\n"}, {15, 1, "123\n\\n\\n\n1234\n"},
		{16, 0, "123\n\\n\\n\n1234\n5\n"}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t left;
		char *list = words_list(words, rows[i].most, &left);

		ck_assert_uint_eq(left, rows[i].left);
		ck_assert_str_eq(list, rows[i].list);
		free(list);
	}
}
END_TEST

/* Any text is a list: of a damaged file. */
START_TEST(any_text_is_a_list)
{
	static const struct {
		const char *list, *shell;
	} rows[] = {{"\n", "''"}, {"a", "a"}, {"a\\", "'a\\'"}, {"a\\\nb", "'a\\' b"},
		{"\\q\n", "q"}, {"\n\n", "'' ''"}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *shell = words_for_shell(rows[i].list);

		ck_assert_str_eq(shell, rows[i].shell);
		free(shell);
	}
}
END_TEST

START_TEST(escaped_text_has_no_character_of_a_shell)
{
	char all[256], *plain, *again;

	for (int i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = '\0';
	plain = words_escape(all);
	ck_assert_uint_eq(strspn(plain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					"0123456789/._-%"),
		strlen(plain));
	again = words_unescape(plain);
	ck_assert_str_eq(again, all);
	free(again);
	free(plain);
	again = words_unescape("%%41%4%zz%00%");
	ck_assert_str_eq(again, "%A%4%zz%00%");
	free(again);
}
END_TEST

START_TEST(model_of_the_first_cpu)
{
	static const struct {
		const char *cpuinfo, *model; /* NULL: none */
	} rows[] = {
		{"processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC \nflags : model name\n"
		 "model name\t: other\n",
			"AMD EPYC"},
		{"cpu family\t: 6\ncpu MHz\t: 1\n", NULL},
		{"cpu\t\t: POWER9, altivec supported\nclock\t: 2\n", "POWER9, altivec supported"},
		{"CPU implementer\t: 0x41\nCPU part\t: 0xd0c", "0xd0c"},
		{"model name:x", "x"},
		{"model name\t:  \n", NULL},
		{"model name", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *model = machine_cpu_model(rows[i].cpuinfo);

		if (rows[i].model)
			ck_assert_str_eq(model, rows[i].model);
		else
			ck_assert_ptr_null(model);
		free(model);
	}
}
END_TEST

START_TEST(this_node_is_known)
{
	struct machine m = machine_read();

	ck_assert_uint_ge(m.cpus, 1);
	ck_assert_uint_ge(m.memory_bytes, 1 << 20);
	ck_assert(!strncmp(m.kernel, "Linux ", 6));
	free(m.cpu_model);
	free(m.kernel);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("words");
	TCase *c = tcase_create("words");

	tcase_add_loop_test(c, words_come_back, 0, ARRAY_SIZE(lists));
	tcase_add_test(c, what_does_not_fit_is_counted);
	tcase_add_test(c, any_text_is_a_list);
	tcase_add_test(c, escaped_text_has_no_character_of_a_shell);
	tcase_add_test(c, model_of_the_first_cpu);
	tcase_add_test(c, this_node_is_known);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
