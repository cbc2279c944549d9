/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of `vftr top' in terminals of any width: no column of nodes and ranks is cut. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/frame-tables.h"
#include "nodeagent/tool/top/frame.h"
#include "t/lib/suite.h"

static struct live_view v;

static void setup(void)
{
	v = (struct live_view){.n_nodes = 1, .n_ranks = 1, .interval = 1000000000};
	v.nodes[0] = (struct live_node){.agent = 9,
		.host = "node-0009.example",
		.processes = 128,
		.threads = 1024,
		.interval = 1000000000,
		.calls = 9100000};
	v.ranks[0] = (struct live_rank){.rank = 1187,
		.agent = 9,
		.pid = 4194303,
		.threads = 8,
		.interval = 1000000000,
		.first_useful = 812000000};
	v.nodes[0].classes[LIVE_USEFUL] = v.ranks[0].classes[LIVE_USEFUL] = 640;
	v.nodes[0].classes[LIVE_MPI] = v.ranks[0].classes[LIVE_MPI] = 360;
}

static char *table(enum frame_table which, size_t width)
{
	const struct frame_wish wish = {.width = width, .ascii = true, .table = which};

	return frame_table_text(&v, &wish);
}

static void check_widths(const char *text, size_t width)
{
	char *copy = xstrdup(text), *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		ck_assert_msg(text_columns(line) <= width, "%zu columns: `%s'", width, line);
	free(copy);
}

static const struct {
	enum frame_table table;
	size_t narrow; /* below that the rest is cut */
	const char *always, *in_80, *in_200;
} tables[] = {
	{FRAME_NODES, 32, "useful%", "off CPU%", "LOST"},
	{FRAME_RANKS, 45, "first useful%", "waiting%", "OpenMP%"},
};

START_TEST(columns_are_whole)
{
	for (size_t width = tables[_i].narrow; width <= 200; width++) {
		char *text = table(tables[_i].table, width);

		check_widths(text, width);
		ck_assert_msg(strstr(text, tables[_i].always) != NULL, "%zu: %s", width, text);
		ck_assert(strstr(text, "node-0009.example") != NULL);
		ck_assert(width < 80 || strstr(text, tables[_i].in_80));
		ck_assert(width < 120 || strstr(text, tables[_i].in_200));
		free(text);
	}
}
END_TEST

START_TEST(values_stand_below_their_titles)
{
	char *text = table(FRAME_RANKS, 200);

	ck_assert_str_eq(text, "  RANK   NODE                    PID   THREADS   first useful%   "
			       "useful%    MPI%   waiting%   OpenMP%    I/O%   off CPU%  \n"
			       "  1187   node-0009.example   4194303         8            81.2   "
			       "   64.0    36.0        0.0       0.0     0.0        0.0  \n");
	free(text);
}
END_TEST

START_TEST(locks_have_a_column_where_there_are_waits)
{
	char *text;

	v.classes[LIVE_LOCK_WAIT] = v.nodes[0].classes[LIVE_LOCK_WAIT] = 1000;
	text = table(FRAME_NODES, 80);
	ck_assert_msg(strstr(text, "locks%") && strstr(text, " 50.0"), "%s", text);
	check_widths(text, 80);
	free(text);
}
END_TEST

START_TEST(the_help_fits_into_80_columns)
{
	char *text = table(FRAME_HELP, 80);

	check_widths(text, 80);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("top-tables");
	TCase *c = tcase_create("top-tables");

	program_name = "u-top-tables";
	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_loop_test(c, columns_are_whole, 0, (int)ARRAY_SIZE(tables));
	tcase_add_test(c, values_stand_below_their_titles);
	tcase_add_test(c, locks_have_a_column_where_there_are_waits);
	tcase_add_test(c, the_help_fits_into_80_columns);
	suite_add_tcase(s, c);
	return run_suite(s);
}
