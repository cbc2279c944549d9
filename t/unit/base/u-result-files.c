/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of results, and what is read from a name. */
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	enum result_layout layout;
	struct result r;
	const char *name;
} names[] = {
	{LAYOUT_VFTRACE, {"heat", RESULT_SUMMARY, NULL, NULL}, "heat_all.log"},
	{LAYOUT_VFTRACE, {"heat", RESULT_SUMMARY, NULL, "mpi"}, "heat_all_mpi.log"},
	{LAYOUT_VFTRACE, {"he_at", RESULT_PROFILE, NULL, NULL}, "he_at_all.json"},
	{LAYOUT_VFTRACE, {"heat.round2", RESULT_NODE_LOG, "n-1", NULL}, "heat.round2_node_n-1.log"},
	{LAYOUT_VFTRACE, {"heat", RESULT_RANK_LOG, "07", NULL}, "heat_07.log"},
	{LAYOUT_VFTRACE, {"heat", RESULT_RANK_LOG, "07", "mpi"}, "heat_07_mpi.log"},
	{LAYOUT_VFTRACE, {"heat", RESULT_NODE_PROFILE, "n1", NULL}, "heat_n1.vfp"},
	{LAYOUT_VFTRACE, {"heat", RESULT_SAMPLES, "n1", NULL}, "heat_n1.vfd"},
	{LAYOUT_VFTRACE, {"heat", RESULT_SAMPLES, "n1_slow137", NULL}, "heat_n1_slow137.vfd"},
	{LAYOUT_VFTRACE, {"heat_2", RESULT_SAMPLES, "n1_death-rank3", NULL},
		"heat_2_n1_death-rank3.vfd"},
	{LAYOUT_VFTRACE, {"", RESULT_STACKS, "n1", NULL}, "stacks_n1.log"},
	{LAYOUT_RUN, {"", RESULT_SUMMARY, NULL, NULL}, "summary.log"},
	{LAYOUT_RUN, {"", RESULT_SUMMARY, NULL, "mpi"}, "summary-mpi.log"},
	{LAYOUT_RUN, {"round12-", RESULT_SUMMARY, NULL, NULL}, "round12-summary.log"},
	{LAYOUT_RUN, {"", RESULT_PROFILE, NULL, NULL}, "profile.json"},
	{LAYOUT_VFTRACE, {"heat", RESULT_REPORT, NULL, NULL}, "heat_all.html"},
	{LAYOUT_RUN, {"", RESULT_REPORT, NULL, NULL}, "report.html"},
	{LAYOUT_RUN, {"round1-", RESULT_REPORT, NULL, NULL}, "round1-report.html"},
	{LAYOUT_RUN, {"", RESULT_NODE_LOG, "n-1", NULL}, "node-n-1.log"},
	{LAYOUT_RUN, {"", RESULT_RANK_LOG, "3", NULL}, "rank-3.log"},
	{LAYOUT_RUN, {"round1-", RESULT_RANK_LOG, "3", "mpi"}, "round1-rank-3-mpi.log"},
	{LAYOUT_RUN, {"", RESULT_NODE_PROFILE, "n-1", NULL}, "n-1.vfp"},
	{LAYOUT_RUN, {"round1-", RESULT_NODE_PROFILE, "n1", NULL}, "round1-n1.vfp"},
	{LAYOUT_RUN, {"", RESULT_SAMPLES, "n1", NULL}, "n1.vfd"},
	{LAYOUT_RUN, {"", RESULT_SAMPLES, "n1-signal1", NULL}, "n1-signal1.vfd"},
	{LAYOUT_RUN, {"", RESULT_STACKS, "n1", NULL}, "stacks-n1.log"},
};

START_TEST(names_there_and_back)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct result *r = &names[i].r;
		char *name = result_name(names[i].layout, r), *path;
		struct result_parsed p;

		ck_assert_str_eq(name, names[i].name);
		path = result_path(names[i].layout, "a/b", r);
		ck_assert_str_eq(path + strlen("a/b/"), name);
		ck_assert_msg(result_parse(name, &p), "%s", name);
		ck_assert_int_eq(p.layout, names[i].layout);
		ck_assert_int_eq(p.kind, r->kind);
		ck_assert_str_eq(p.base, r->base);
		ck_assert_pstr_eq(p.who, r->who);
		ck_assert_msg(p.part == (r->part != NULL), "%s", name);
		result_parsed_free(&p);
		free(path);
		free(name);
	}
}
END_TEST

START_TEST(other_names)
{
	static const char *const others[] = {"", ".log", ".vfp", "_.log", "notes.log", "heat.json",
		"rank-x.log", "rank-.log", "node-.log", "summaryx.log", "heat_all.json.old",
		"heat.html", "x_y.html", ".html", "heat_n1.vfp.old2",
		"heat_n1.vfp.tmp.vftr-0123456789abcdef", "summary", "profile", "heat_x.json",
		"_all.log", "heat_all_.log.x"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct result_parsed p;

		ck_assert_msg(!result_parse(others[i], &p), "%s", others[i]);
		ck_assert_ptr_null(p.base);
		result_parsed_free(&p);
	}
}
END_TEST

START_TEST(bases)
{
	static const struct {
		enum result_layout layout;
		unsigned round;
		const char *base;
	} rows[] = {{LAYOUT_VFTRACE, 0, "heat"}, {LAYOUT_VFTRACE, 3, "heat.round3"},
		{LAYOUT_RUN, 0, ""}, {LAYOUT_RUN, 3, "round3-"}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *base = result_base(rows[i].layout, "heat", rows[i].round);

		ck_assert_str_eq(base, rows[i].base);
		ck_assert_int_eq(result_is_round(base), rows[i].round != 0);
		free(base);
	}
	ck_assert(!result_is_round("heat.roundup"));
	ck_assert(!result_is_round("heat.round"));
}
END_TEST

START_TEST(events)
{
	ck_assert_str_eq(result_event_in("heat_n1_slow137.vfd"), "slow137.vfd");
	ck_assert_str_eq(result_event_in("n1-death-rank3.vfd"), "death-rank3.vfd");
	ck_assert_str_eq(result_event_in("slow_n1.vfd"), "");
	ck_assert_str_eq(result_event_in("a_slowest_n1.vfd"), "");
	ck_assert(result_is_of("n1", "n1"));
	ck_assert(result_is_of("n1_request2", "n1"));
	ck_assert(result_is_of("n1-death-pid7", "n1"));
	ck_assert(!result_is_of("n11", "n1"));
	ck_assert(!result_is_of("n1-2", "n1"));
	ck_assert(!result_is_of("n1-2-slow1", "n1"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("result-files");
	TCase *t = tcase_create("names");

	tcase_add_test(t, names_there_and_back);
	tcase_add_test(t, other_names);
	tcase_add_test(t, bases);
	tcase_add_test(t, events);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
