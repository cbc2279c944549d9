/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder of a node that writes no sampling file: there is none, and nothing happens. */
#include <check.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/recorder/recorder.h"
#include "t/lib/suite.h"

static struct conf conf;
static struct host host = {.conf = &conf};

START_TEST(no_file)
{
	ck_assert(!recorder_is_behind(&host));
	recorder_wait(&host);
	ck_assert(recorder_tick(&host) == NEVER_S);
	recorder_round(&host, 1, 1);
	recorder_close(&host);
	ck_assert_int_eq(recorder_rename(&host, "other"), 0);
	ck_assert_ptr_null(recorder_sum(&host).path);
}
END_TEST

START_TEST(no_flight_recorder)
{
	struct flight_event e = {.kind = _i, .number = 1, .stamp = 1};

	ck_assert(!recorder_awaits(&host, e.kind));
	ck_assert(!recorder_event(&host, e, "an event"));
	recorder_event_elsewhere(&host, e);
	ck_assert(!recorder_event_news(&host, &e));
	recorder_request(&host, 2);
	ck_assert_int_eq(host.request.state, REQUEST_NOT_KEPT);
	ck_assert_str_eq(host.request.file, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("recorder");
	TCase *t = tcase_create("recorder");

	tcase_add_test(t, no_file);
	tcase_add_loop_test(t, no_flight_recorder, 0, RESULT_EVENTS);
	suite_add_tcase(s, t);
	return run_suite(s);
}
