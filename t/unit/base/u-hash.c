/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack hash gives the values that other implementations of the recipe give. */
#include "nodeagent/base/hash.h"
#include "t/lib/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *text;
	size_t nul; /* 1: the terminating NUL is hashed too */
	uint64_t hash;
} known[] = {
	{"", 0, 0x000000006e9984af},
	{"A", 0, 0x820103f007446fd2},
	{"main<init", 0, 0xd6e4c6bb44d413e1},
	{"main<init", 1, 0x521231cc40072b56},
	{"foo<bar<main<init", 0, 0x7039dea2f67cce8e},
	{"foo<bar<main<init", 1, 0xeb4f7f42b2827642},
	{"init", 1, 0xa007422cd48452aa},
};

START_TEST(known_values)
{
	ck_assert_uint_eq(
		stack_hash(known[_i].text, strlen(known[_i].text) + known[_i].nul), known[_i].hash);
}
END_TEST

START_TEST(bytes_above_127_and_any_alignment)
{
	unsigned char text[64 + 8];
	uint64_t first = 0;

	for (int shift = 0; shift < 8; shift++) {
		for (int i = 0; i < 64; i++)
			text[shift + i] = 255 - i;
		if (!shift)
			first = stack_hash(text, 64);
		ck_assert_uint_eq(stack_hash(text + shift, 64), first);
	}
}
END_TEST

START_TEST(long_paths)
{
	size_t n = 1 << 20;
	char *text = malloc(n);
	uint64_t h;

	ck_assert_ptr_nonnull(text);
	memset(text, 'x', n);
	h = stack_hash(text, n);
	text[0] = 'y';
	ck_assert_uint_ne(stack_hash(text, n), h);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hash");
	TCase *t = tcase_create("hash");

	tcase_add_loop_test(t, known_values, 0, sizeof(known) / sizeof(known[0]));
	tcase_add_test(t, bytes_above_127_and_any_alignment);
	tcase_add_test(t, long_paths);
	suite_add_tcase(s, t);
	return run_suite(s);
}
