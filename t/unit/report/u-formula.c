/* SPDX-License-Identifier: BSD-3-Clause */
/* Formulas of observables: values, messages, and texts that anyone may have written. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/process/counter/events.h"
#include "nodeagent/report/formula.h"
#include "t/lib/suite.h"

static const char *const names[] = {"A", "B", "L1_miss", "e", "T", "CALLS"};
static const double values[] = {10, 4, 0.5, 7, 2, 3};
#define N (sizeof(names) / sizeof(names[0]))

/* The symbol e hides the constant. */
static const struct {
	const char *text;
	double value;
} good[] = {
	{"1", 1},
	{" 1.5e3 ", 1500},
	{".5", 0.5},
	{"A", 10},
	{"A + B * 2", 18},
	{"(A + B) * 2", 28},
	{"A - B - 1", 5},
	{"A / B / 2", 1.25},
	{"A % B", 2},
	{"2 ^ 3 ^ 2", 64},
	{"-2 ^ 2", 4},
	{"2 ^ -1", 0.5},
	{"--A", 10},
	{"+-+A", -10},
	{"A * -B", -40},
	{"L1_miss / T", 0.25},
	{"CALLS", 3},
	{"e", 7},
	{"pi", 3.14159265358979323846},
	{"pi()", 3.14159265358979323846},
	{"sqrt(16)", 4},
	{"sqrt 16", 4},
	{"sqrt 16 + 9", 13},
	{"sqrt(A + 6)", 4},
	{"abs(-3)", 3},
	{"exp(0)", 1},
	{"ln(exp(2))", 2},
	{"log(1000)", 3},
	{"log10(100)", 2},
	{"pow(2, 10)", 1024},
	{"atan2(0, 1)", 0},
	{"max(A, B) - min(A, B)", 6},
	{"floor(1.7) + ceil(1.2)", 3},
	{"fac(5)", 120},
	{"ncr(5, 2)", 10},
	{"npr(5, 2)", 20},
	{"sin(0) + cos(0) + tan(0)", 1},
	{"1, 2, 3", 3},
	{"(1, 2) * 2", 4},
	{"A / T / 1024 / 1024", 10.0 / 2 / 1024 / 1024},
	{"((((((A))))))", 10},
};

static const struct {
	const char *text, *error;
} bad[] = {
	{"", "no value at its end"},
	{"   ", "no value at its end"},
	{"A +", "no value at its end"},
	{"A + * B", "no value at \"* B\""},
	{"A B", "something that does not belong there at \"B\""},
	{"(A", "no \")\" at its end"},
	{"A)", "something that does not belong there at \")\""},
	{"X", "neither a symbol nor a function at \"X\""},
	{"a", "neither a symbol nor a function at \"a\""},
	{"sqrt", "no value at its end"},
	{"pow(2)", "too few arguments at \")\""},
	{"pow 2", "a function without its arguments at \"2\""},
	{"sqrt(1, 2)", "no \")\" behind the arguments at \", 2)\""},
	{"pi(1)", "an argument too many at \"1)\""},
	{"1 $ 2", "something that does not belong there at \"$ 2\""},
	{"1,", "no value at its end"},
	{"1e", "something that does not belong there at \"e\""},
	{"\"A\"", "no value at \"\"A\"\""},
};

START_TEST(test_value)
{
	char *error;
	struct formula *f = formula_new(good[_i].text, names, N, &error);

	ck_assert_msg(f != NULL, "%s: %s", good[_i].text, error);
	ck_assert_ptr_null(error);
	ck_assert_double_eq_tol(formula_value(f, values), good[_i].value, 1e-9);
	formula_free(f);
}
END_TEST

START_TEST(test_error)
{
	char *error;

	ck_assert_ptr_null(formula_new(bad[_i].text, names, N, &error));
	ck_assert_str_eq(error, bad[_i].error);
	free(error);
}
END_TEST

START_TEST(test_no_number)
{
	static const char *const texts[] = {"A / 0", "0 / 0", "ln(0)", "sqrt(-1)", "fac(-1)",
		"fac(1000)", "ncr(1e9, 5e8)", "A % 0", "1e308 * 10"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char *error;
		struct formula *f = formula_new(texts[i], names, N, &error);

		ck_assert_msg(f != NULL, "%s: %s", texts[i], error);
		ck_assert_msg(!isfinite(formula_value(f, values)), "%s", texts[i]);
		formula_free(f);
	}
}
END_TEST

/* Neither a deep nor a long one is too much. */
START_TEST(test_large)
{
	static char text[300001];
	struct formula *f;
	char *error;

	memset(text, '(', 100000);
	ck_assert_ptr_null(formula_new(text, names, N, &error));
	ck_assert_ptr_nonnull(strstr(error, "too deep"));
	free(error);
	memset(text, '-', 100000);
	strcpy(text + 100000, "1");
	f = formula_new(text, names, N, &error);
	ck_assert_double_eq(formula_value(f, values), 1);
	formula_free(f);
	for (int i = 0; i < 100000; i++)
		memcpy(text + 2 * i, "1+", 2);
	strcpy(text + 200000, "1");
	f = formula_new(text, names, N, &error);
	ck_assert_double_eq(formula_value(f, values), 100001);
	formula_free(f);
	for (size_t i = 0; i < 150; i++)
		memcpy(text + 3 * i, "1+(", 3);
	memset(text + 450, ')', 150);
	memcpy(text + 450, "1", 1);
	text[601] = '\0';
	text[600] = ')';
	f = formula_new(text, names, N, &error);
	ck_assert_msg(f != NULL, "%s", error);
	ck_assert_double_eq(formula_value(f, values), 151);
	formula_free(f);
}
END_TEST

/* Any text is read to its end, or refused. */
START_TEST(test_random)
{
	static const char *const pieces[] = {"A", "B", "1", ".", "e", "(", ")", ",", "+", "-", "*",
		"/", "%", "^", "sqrt", "pow", "pi", "ncr", " ", "2e5", "$", "max", "\xff", "T"};
	uint64_t seed = 1;
	unsigned formulas = 0;

	for (int k = 0; k < 200000; k++) {
		char text[256] = "", *error;
		struct formula *f;

		for (int i = 0; i < 10; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			if ((seed >> 60) < 3)
				break;
			strcat(text, pieces[(seed >> 33) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		f = formula_new(text, names, N, &error);
		ck_assert_msg(!f == !!error, "%s", text);
		if (f) {
			formula_value(f, values);
			formulas++;
		}
		formula_free(f);
		free(error);
	}
	ck_assert_uint_gt(formulas, 1000);
}
END_TEST

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	uint32_t flags;
} events[] = {
	{"cycles", 0, 0, COUNTER_USER},
	{"cycles:u", 0, 0, COUNTER_USER},
	{"cycles:k", 0, 0, COUNTER_KERNEL},
	{"instructions:uk", 0, 1, 0},
	{"page-faults", 1, 2, 0},
	{"task-clock:u", 1, 1, 0},
	{"L1-dcache-loads", 3, 0, COUNTER_USER},
	{"L1-dcache-load-misses", 3, 0x10000, COUNTER_USER},
	{"LLC-store-misses", 3, 0x10102, COUNTER_USER},
	{"r1a2", 4, 0x1a2, COUNTER_USER},
};

START_TEST(test_event)
{
	struct counter_shm c = {0};
	char *why;

	ck_assert_int_eq(counter_event(events[_i].name, &c, &why), 0);
	ck_assert_uint_eq(c.source, COUNTER_PERF);
	ck_assert_uint_eq(c.type, events[_i].type);
	ck_assert_uint_eq(c.config, events[_i].config);
	ck_assert_uint_eq(c.flags, events[_i].flags);
}
END_TEST

START_TEST(test_no_event)
{
	static const char *const none[] = {"", "x", "cycle", "L1-dcache", "rxyz", "r", ":u", "/",
		"../../../etc/passwd/x/", "../type/", "cpu:k:u"};
	char longer[600], *why;
	struct counter_shm c;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		ck_assert_msg(counter_event(none[i], &c, &why) < 0, "%s", none[i]);
		free(why);
	}
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	ck_assert_int_lt(counter_event(longer, &c, &why), 0);
	free(why);
}
END_TEST

START_TEST(test_io)
{
	struct counter_shm c = {0};

	ck_assert_int_eq(counter_io("io:rchar", &c), 0);
	ck_assert_uint_eq(c.config, 0);
	ck_assert_int_eq(counter_io("io:write_bytes", &c), 0);
	ck_assert_uint_eq(c.config, 5);
	ck_assert_int_lt(counter_io("io:nothing", &c), 0);
	ck_assert_int_lt(counter_io("rchar", &c), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("formula");
	TCase *c = tcase_create("formulas"), *e = tcase_create("events");

	tcase_add_loop_test(c, test_value, 0, (int)(sizeof(good) / sizeof(good[0])));
	tcase_add_loop_test(c, test_error, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(c, test_no_number);
	tcase_add_test(c, test_large);
	tcase_add_test(c, test_random);
	tcase_add_loop_test(e, test_event, 0, (int)(sizeof(events) / sizeof(events[0])));
	tcase_add_test(e, test_no_event);
	tcase_add_test(e, test_io);
	suite_add_tcase(s, c);
	suite_add_tcase(s, e);
	return run_suite(s);
}
