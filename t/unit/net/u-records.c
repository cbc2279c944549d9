/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of messages on their way: taken out in any order, and moved. */
#include "nodeagent/net/records.h"

#include <check.h>
#include <stdlib.h>

#include "t/lib/suite.h"

#define RECORDS_MOST 5

static struct records list;
static struct record *all[RECORDS_MOST];

static void fill(int n)
{
	list = (struct records){0};
	for (int i = 0; i < n; i++)
		records_add(&list, all[i] = record_new(i, 1, 7, "x", 1));
}

/* They have these agents, and one more is added to their end. */
static void has(struct records *of, const int *agents, int n)
{
	const struct record *e;

	records_add(of, record_new(99, 1, 7, "y", 1));
	e = of->first;
	for (int i = 0; i < n; i++, e = e->next)
		ck_assert_int_eq(e->agent, agents[i]);
	ck_assert_int_eq(e->agent, 99);
	ck_assert_ptr_null(e->next);
	records_clear(of);
	ck_assert_ptr_null(of->first);
}

START_TEST(any_is_taken_out)
{
	int left[RECORDS_MOST], n = 0;

	fill(RECORDS_MOST);
	records_take_out(&list, all[_i]);
	free(all[_i]);
	for (int i = 0; i < RECORDS_MOST; i++)
		if (i != _i)
			left[n++] = i;
	has(&list, left, n);
}
END_TEST

START_TEST(they_are_moved)
{
	static const int agents[] = {0, 1, 2, 3, 4};
	struct records to = {0};

	fill(_i);
	records_move(&to, &list);
	ck_assert_ptr_null(list.first);
	if (_i > 1) { /* the first one knows where it is */
		records_take_out(&to, all[0]);
		free(all[0]);
		has(&to, agents + 1, _i - 1);
	} else {
		has(&to, agents, _i);
	}
}
END_TEST

START_TEST(all_are_taken_out)
{
	struct records to = {0};

	fill(RECORDS_MOST);
	records_move(&to, &list);
	for (int i = 0; i < RECORDS_MOST; i++) {
		const int k = (i + 2) % RECORDS_MOST;

		records_take_out(&to, all[k]);
		free(all[k]);
	}
	has(&to, NULL, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("records");
	TCase *c = tcase_create("records");

	tcase_add_loop_test(c, any_is_taken_out, 0, RECORDS_MOST);
	tcase_add_loop_test(c, they_are_moved, 0, RECORDS_MOST + 1);
	tcase_add_test(c, all_are_taken_out);
	suite_add_tcase(s, c);
	return run_suite(s);
}
