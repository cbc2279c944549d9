/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as people read them. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "nodeagent/symbols/demangle.h"
#include "t/lib/suite.h"

enum { PLAIN = 0, MODULES = 1, CXX = 2 };

static const struct {
	const char *raw, *shown;
	int style;
} names[] = {
	{"main", "main", PLAIN},
	{"", "", PLAIN},
	{"solve_", "solve", PLAIN},
	{"solve__", "solve", PLAIN},
	{"MAIN__", "MAIN", PLAIN},
	{"_exit", "_exit", PLAIN},
	{"___", "___", PLAIN},
	{"foo_.t12p", "foo", PLAIN},
	{"foo.t3p", "foo", PLAIN},
	{"foo.tp", "foo.tp", PLAIN},
	{"foo.t3q", "foo.t3q", PLAIN},
	{".t3p", ".t3p", PLAIN},
	{"foo.constprop.0", "foo.constprop.0", PLAIN},
	{"inner.3", "inner.3", MODULES | CXX},
	{"__heat_MOD_step", "__heat_MOD_step", PLAIN},
	{"__heat_MOD_step", "step", MODULES},
	{"heat_mp_step_", "step", MODULES},
	{"heat_MP_step_", "step", MODULES},
	{"__a_MOD_b_MOD_c", "b_MOD_c", MODULES},
	{"__a_mp_b_MOD_c", "b_MOD_c", MODULES},
	{"__a_MOD_", "__a_MOD", MODULES},
	{"__a_MOD_init_", "init", MODULES},
	{"helper@a.c", "helper@a.c", PLAIN},
	{"helper_@a_.f90:2", "helper@a_.f90:2", PLAIN},
	{"__m_MOD_x@a.f90", "x@a.f90", MODULES},
	{"@start", "@start", PLAIN},
	{"_Z1fR1AS0_", "_Z1fR1AS0_", PLAIN},
	{"_Z3addIiET_S0_S0_", "int add<int>(int, int)", CXX},
	{"_ZN4heat4gridIdLi3EE4stepEv", "heat::grid<double, 3>::step()", CXX},
	{"_ZL6helperv@b.cpp", "helper()@b.cpp", CXX},
	{"_ZL6helperv@b.cpp", "_ZL6helperv@b.cpp", MODULES},
	{"_Z3foov.constprop.0", "foo() [clone .constprop.0]", CXX},
	{"_Zwhatever", "_Zwhatever", CXX},
	{"_Z", "_Z", CXX},
	{"i", "i", CXX},
	{"a\033[2Jb", "a?[2Jb", PLAIN},
	{"_Z3fo\nv", "_Z3fo?v", CXX},
	{"f@a\nb.c", "f@a?b.c", PLAIN},
	{"omp_parallel@_ZN4heat4stepEv+0x1c", "omp_parallel@heat::step()+0x1c", CXX},
	{"omp_parallel@_ZN4heat4stepEv+0x1c", "omp_parallel@_ZN4heat4stepEv+0x1c", MODULES},
	{"omp_critical(c)@__heat_MOD_step+0x10", "omp_critical(c)@step+0x10", MODULES},
	{"omp_parallel@step_+0x10", "omp_parallel@step+0x10", PLAIN},
	{"omp_parallel@libheat.so.1+0x10", "omp_parallel@libheat.so.1+0x10", MODULES | CXX},
	{"omp_parallel@step_+0x1g", "omp_parallel@step_+0x1g", PLAIN},
	{"f@+0x1", "f@+0x1", CXX},
	{"gr\303\266\303\237e_", "gr\303\266\303\237e", PLAIN},
};

START_TEST(test_name)
{
	const struct name_style style = {
		.strip_module_names = names[_i].style & MODULES,
		.demangle_cxx = names[_i].style & CXX,
	};
	char *s;

	if (names[_i].style & CXX && !dlopen("libstdc++.so.6", RTLD_NOW))
		return; /* names stay mangled then */
	s = name_shown(names[_i].raw, &style);
	ck_assert_str_eq(s, names[_i].shown);
	free(s);
}
END_TEST

START_TEST(test_long_and_nested)
{
	const struct name_style style = {true, true};
	size_t n = 1 << 20;
	char *raw = malloc(n + 1), *s;

	memset(raw, '_', n);
	raw[n] = 0;
	s = name_shown(raw, &style);
	ck_assert_str_eq(s, raw);
	free(s);
	memset(raw, 'P', n);
	memcpy(raw, "_Z1f", 4);
	s = name_shown(raw, &style);
	ck_assert_ptr_nonnull(s);
	free(s);
	free(raw);
}
END_TEST

START_TEST(test_hundred_thousand)
{
	const struct name_style style = {true, true};
	struct timespec a, b;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	for (int i = 0; i < 50000; i++) {
		free(name_shown("__heat_MOD_step", &style));
		free(name_shown("_ZN4heat4gridIdLi3EE4stepEv", &style));
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	ck_assert_int_lt(b.tv_sec - a.tv_sec, 5);
}
END_TEST

/* 22 pairs, each of the one before twice: 138 MB of text, if somebody writes it */
START_TEST(test_bomb)
{
	static const char digits[] = "0123456789ABCDEFGHIJK";
	const struct name_style style = {false, true};
	char raw[512] = "_Z1fSt4pairIiiES_IS0_S0_E", *s, *at = raw + strlen(raw);
	struct rusage before, after;

	for (int i = 1; digits[i]; i++)
		at += sprintf(at, "S_IS%c_S%c_E", digits[i], digits[i]);
	getrusage(RUSAGE_SELF, &before);
	s = name_shown(raw, &style);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_str_eq(s, raw);
	free(s);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 32 << 10); /* KiB */
	/* much repeated, and no longer than it may be */
	s = name_shown("_Z1fSt4pairIiiES_IS0_S0_ES_IS1_S1_ES_IS2_S2_ES_IS3_S3_ES_IS4_S4_E", &style);
	if (dlopen("libstdc++.so.6", RTLD_NOW))
		ck_assert_int_eq(strncmp(s, "f(std::pair<int, int>, std::pair<std::pair<", 43), 0);
	free(s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("demangle");
	TCase *c = tcase_create("names");

	tcase_add_loop_test(c, test_name, 0, (int)(sizeof(names) / sizeof(names[0])));
	tcase_add_test(c, test_long_and_nested);
	tcase_add_test(c, test_hundred_thousand);
	tcase_add_test(c, test_bomb);
	suite_add_tcase(s, c);
	return run_suite(s);
}
