/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of `vftr top' in terminals of any width: no part of a line is cut; and who has not got
 * an order. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/frame-head.h"
#include "nodeagent/tool/top/orders.h"
#include "nodeagent/tool/top/viewer.h"
#include "t/lib/suite.h"

static struct live_view v;
static struct viewer w;
static char *text[HEAD_LINES];

static void setup(void)
{
	w = (struct viewer){.session = "heat-equation", .agents = 16};
	v = (struct live_view){.program = "heat",
		.job = "4711",
		.n_all = 16,
		.processes = 2048,
		.ranked = 2048,
		.threads = 16384,
		.interval = 1000000000,
		.elapsed = 761 * UINT64_C(1000000000),
		.records = 18200000,
		.calls_now = 9100000,
		.hooks = 213 * UINT64_C(1000000000),
		.messages = 1,
		.messages_now = 1900000,
		.bytes_now = 3200000000,
		.share = UINT64_C(710000) * 2048,
		.share_most = 810000,
		.n_ranks = 3};
	v.classes[LIVE_USEFUL] = 12400 * UINT64_C(1000000000);
	v.classes[LIVE_MPI] = 3984 * UINT64_C(1000000000);
	v.loop = (struct live_loop){.n = 3120, .n_took = LIVE_STEPS_MAX};
	strcpy(v.loop.text, "update_all_cells<main<init");
	for (int i = 0; i < LIVE_STEPS_MAX; i++)
		v.loop.took[i] = i == 50 ? 480000000 : 240000000;
	for (uint32_t i = 0; i < 3; i++)
		v.ranks[i] = (struct live_rank){.rank = 1187 + i, .agent = 9};
	v.nodes[v.n_nodes++] = (struct live_node){.agent = 9, .host = "node-0009.example"};
}

static void make_lines(size_t width, bool ascii)
{
	const struct head_wish wish = {.width = width, .ascii = ascii};

	for (enum head_line i = 0; i < HEAD_LINES; i++) {
		free(text[i]);
		text[i] = frame_head_text(i, &w, &v, &wish);
	}
}

static void must_have(enum head_line line, const char *part)
{
	ck_assert_msg(text[line] && strstr(text[line], part), "`%s' is not in `%s'", part,
		text[line] ?: "");
}

START_TEST(with_room_there_is_all)
{
	make_lines(0, true);
	ck_assert_str_eq(text[HEAD_JOB],
		"vftr top  heat  job 4711  session heat-equation  00:12:41  16 of 16 nodes  "
		"2048 ranks  16384 threads  tracing 1.3 %");
	ck_assert_str_eq(text[HEAD_LOOP],
		"step 3120  of rank 0  update_all_cells  240 ms  last 60 "
		"--------------------------------------------------#---------");
	must_have(HEAD_EFFICIENCY, "efficiency now 71 % (load balance 88, communication 81)");
	must_have(HEAD_EFFICIENCY, "calls 9.1M/s  records 18M/s  messages 1.9M/s  3.2GB/s");
	must_have(HEAD_SHARES, "useful 76 %  MPI 24 % (waiting 0)  OpenMP 0 %");
	must_have(HEAD_SHARES, "  of all this off CPU 0 %");
	must_have(HEAD_MOST, "most useful time: rank 1187 on node-0009.example 0 %  rank 1188");
}
END_TEST

START_TEST(a_loop_may_be_between_calls)
{
	v.loop.between = 1;
	strcpy(v.loop.text, "MPI_Allreduce<main<init");
	make_lines(0, true);
	must_have(HEAD_LOOP, "step 3120  of rank 0  between MPI_Allreduce  240 ms");
}
END_TEST

START_TEST(in_80_columns_there_is_what_matters)
{
	make_lines(80, false);
	ck_assert_str_eq(text[HEAD_JOB],
		"heat  job 4711  00:12:41  16 of 16 nodes  2048 ranks  tracing 1.3 %");
	must_have(HEAD_LOOP, "step 3120");
	must_have(HEAD_LOOP, "240 ms  last 20 ");
	must_have(HEAD_EFFICIENCY, "efficiency 71 % (LB 88, comm 81)");
	must_have(HEAD_EFFICIENCY, "messages 1.9M/s  3.2GB/s");
	must_have(HEAD_SHARES, "useful 76 %");
	must_have(HEAD_SHARES, "MPI 24 %");
	must_have(HEAD_MOST, "rank 1187 on node-0009.example");
}
END_TEST

START_TEST(no_line_is_wider_than_it_may)
{
	v.lost_calls = UINT32_MAX;
	memset(v.program, 'p', sizeof(v.program) - 1);
	memset(v.job, 'j', sizeof(v.job) - 1);
	memset(v.loop.text, 'f', 200);
	for (size_t width = 200; width >= 24; width--) {
		make_lines(width, width & 1);
		for (enum head_line i = 0; i < HEAD_LINES; i++)
			if (text[i])
				ck_assert_msg(
					text_columns(text[i]) <= width || !strstr(text[i], "  "),
					"%zu: `%s'", width, text[i]);
	}
	must_have(HEAD_JOB, "tracing 1.3 %");
}
END_TEST

START_TEST(what_is_not_known_is_not_said)
{
	v = (struct live_view){.n_all = 1, .processes = 3, .threads = 3};
	make_lines(0, true);
	ck_assert_str_eq(text[HEAD_JOB],
		"vftr top  session heat-equation  00:00:00  1 of 16 nodes  3 processes  "
		"3 threads  tracing ----");
	ck_assert_ptr_null(text[HEAD_LOOP]);
	ck_assert_ptr_null(text[HEAD_MOST]);
	ck_assert_ptr_null(strstr(text[HEAD_EFFICIENCY], "messages"));
}
END_TEST

static void missing(const char *host, enum live_absence why)
{
	struct live_missing *m = &v.missing[v.n_missing++];

	*m = (struct live_missing){.agent = (uint32_t)v.n_missing, .why = why};
	strcpy(m->host, host);
	v.n_absent++;
}

static void must_be_partly(const char *wanted)
{
	char *said = order_partly(&w, &v, "work", false);

	ck_assert_str_eq(said, wanted);
	free(said);
}

START_TEST(nodes_that_have_ended_get_no_orders)
{
	w.agents = 4;
	v.n_all = 2;
	missing("node3", LIVE_SILENT);
	missing("node2", LIVE_GONE);
	must_be_partly("work is recorded on 2 of 3 nodes; node3 does not answer");
	v.n_missing--;
	missing("", LIVE_SILENT);
	v.n_absent = 2;
	must_be_partly("work is recorded on 2 of 4 nodes; node3, agent 2 do not answer");
	w.agents = 5;
	v.n_absent = 3; /* one more is behind these */
	must_be_partly("work is recorded on 2 of 5 nodes; node3, agent 2 and others do not answer");
	v.n_missing = 0;
	missing("node2", LIVE_GONE);
	v.n_absent = 3;
	must_be_partly("work is recorded on 2 of 4 nodes; others do not answer");
}
END_TEST

START_TEST(a_list_of_nodes_may_be_full)
{
	w.agents = 16 + 40;
	for (int i = 0; i < 10; i++)
		missing("n", LIVE_SILENT);
	while (v.n_missing < LIVE_MISSING_MAX)
		missing("", LIVE_GONE);
	v.n_absent = 40;
	must_be_partly("work is recorded on 16 of 26 nodes; n, n, n, n, n, n, n, n and others do "
		       "not answer");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("the head of vftr top");
	TCase *c = tcase_create("head");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, with_room_there_is_all);
	tcase_add_test(c, a_loop_may_be_between_calls);
	tcase_add_test(c, in_80_columns_there_is_what_matters);
	tcase_add_test(c, no_line_is_wider_than_it_may);
	tcase_add_test(c, what_is_not_known_is_not_said);
	tcase_add_test(c, nodes_that_have_ended_get_no_orders);
	tcase_add_test(c, a_list_of_nodes_may_be_full);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
