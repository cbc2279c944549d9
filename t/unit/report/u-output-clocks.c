/* SPDX-License-Identifier: BSD-3-Clause */
/* The clocks of several nodes in the summary log and in BASE_all.json. */
#include "t/unit/report/output-files.h"
#include "t/lib/suite.h"

static void add_agent(const char *host, struct profile_clock clock)
{
	struct profile_agent *a = ADD_ELEMENT(p, agents);

	a->host = xstrdup(host);
	a->clock = clock;
}

static const struct profile_clock compared = {.state = PROFILE_CLOCK_COMPARED,
	.from_ns = 5000000000,
	.to_ns = 105000000000,
	.offset_ns = -7198600000000,
	.offset_end_ns = -7198595000000,
	.error_ns = 17300,
	.error_median_ns = 9100,
	.round_trip_ns = 12800,
	.bursts = 14,
	.dropped = 3,
	.missed = 1,
	.checks = 9,
	.check_max_ns = 4200,
	.check_rms_ns = 1100};

START_TEST(table_and_members)
{
	static const char *const cells[] = {"n1 |   reference |", "-7198.600000 |",
		"|     50.000 |", "|      17.3 |", "|              9.1 |", "|           12.8 |",
		"|           4.2 |", "|           1.1 |"};
	cJSON *json, *clocks;
	char *log;

	add_agent("n1", (struct profile_clock){.state = PROFILE_CLOCK_REFERENCE});
	add_agent("n2", compared);
	log = summary();
	ck_assert_ptr_nonnull(strstr(log, "\nClocks\n"));
	for (size_t i = 1; i < ARRAY_SIZE(cells); i++)
		ck_assert_msg(strstr(log, cells[i]) != NULL, "no \"%s\" in\n%s", cells[i], log);
	ck_assert_ptr_null(strstr(log, "could not be compared"));
	free(log);
	json = parsed();
	clocks = cJSON_GetObjectItem(json, "clocks");
	ck_assert_int_eq(cJSON_GetArraySize(clocks), 2);
	ck_assert_str_eq(cJSON_GetObjectItem(cJSON_GetArrayItem(clocks, 0), "state")->valuestring,
		"reference");
	clocks = cJSON_GetArrayItem(clocks, 1);
	ck_assert_str_eq(cJSON_GetObjectItem(clocks, "host")->valuestring, "n2");
	ck_assert_str_eq(cJSON_GetObjectItem(clocks, "state")->valuestring, "compared");
	ck_assert_double_eq(cJSON_GetObjectItem(clocks, "offset_ns")->valuedouble, -7198600000000);
	ck_assert_double_eq(cJSON_GetObjectItem(clocks, "drift_ppm")->valuedouble, 50);
	ck_assert_double_eq(cJSON_GetObjectItem(clocks, "error_s")->valuedouble, 17.3e-6);
	ck_assert_int_eq(cJSON_GetObjectItem(clocks, "slow")->valueint, 3);
	cJSON_Delete(json);
}
END_TEST

START_TEST(what_is_wrong_is_said)
{
	struct profile_clock bad = compared;
	char *log;

	bad.jumps = 2;
	bad.checks_beyond = 4;
	add_agent("n1", (struct profile_clock){.state = PROFILE_CLOCK_REFERENCE});
	add_agent("n2", bad);
	add_agent("n3", (struct profile_clock){0});
	add_agent("n4", (struct profile_clock){.state = 77}); /* of a later version */
	p->agents[3].missing = true;
	log = summary();
	ck_assert_ptr_nonnull(strstr(log, "The clock of n2 jumped 2 times"));
	ck_assert_ptr_nonnull(
		strstr(log, "4 of 9 checks of the clock of n2 were outside of the bounds."));
	ck_assert_ptr_nonnull(strstr(log, "The clock of n3 could not be compared"));
	ck_assert_ptr_null(strstr(log, "The clock of n4"));
	free(log);
	cJSON_Delete(parsed());
}
END_TEST

START_TEST(of_very_many_the_rest_is_counted)
{
	char *log;

	add_agent("n1", (struct profile_clock){.state = PROFILE_CLOCK_REFERENCE});
	for (int i = 0; i < 51; i++)
		add_agent("n2", (struct profile_clock){0});
	log = summary();
	ck_assert_ptr_nonnull(strstr(log, "\n... and 1 clock more that is not as it should be.\n"));
	free(log);
	add_agent("n2", (struct profile_clock){0});
	log = summary();
	ck_assert_ptr_nonnull(
		strstr(log, "\n... and 2 clocks more that are not as they should be.\n"));
	free(log);
}
END_TEST

START_TEST(nothing_without_several_nodes)
{
	cJSON *json;
	char *log;

	add_agent("n1", (struct profile_clock){.state = PROFILE_CLOCK_REFERENCE});
	log = summary();
	ck_assert_ptr_null(strstr(log, "Clocks"));
	free(log);
	json = parsed();
	ck_assert_ptr_null(cJSON_GetObjectItem(json, "clocks"));
	cJSON_Delete(json);
	/* two nodes whose agents did not meet */
	add_agent("n2", (struct profile_clock){0});
	p->agents[0].clock.state = PROFILE_CLOCK_UNKNOWN;
	log = summary();
	ck_assert_ptr_null(strstr(log, "Clocks"));
	ck_assert_ptr_null(strstr(log, "could not be compared"));
	free(log);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("output-clocks");
	TCase *t = tcase_create("output-clocks");

	tcase_add_checked_fixture(t, setup_files, teardown);
	tcase_add_test(t, table_and_members);
	tcase_add_test(t, what_is_wrong_is_said);
	tcase_add_test(t, of_very_many_the_rest_is_counted);
	tcase_add_test(t, nothing_without_several_nodes);
	suite_add_tcase(s, t);
	return run_suite(s);
}
