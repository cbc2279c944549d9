/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts of processes that have ended, and were let go, stay in views. */
#include <check.h>
#include <stdlib.h>
#include "conf/conf.h"
#include "nodeagent/live/sample/sample.h"
#include "nodeagent/live/view.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "t/lib/suite.h"

#define CALLS 5
#define LOST  2

static struct host host;
static struct live_view view;
static struct sampler *sampler;

static void setup(void)
{
	static char name[] = "host";

	host = (struct host){.name = name, .epoll = -1, .conf = conf_default()};
	clocks_init(&host.clocks, "raw");
	host.symbols = symcache_new(&host);
	sampler = sampler_new(&host);
	sampler_look(sampler, &view);
}

static void teardown(void)
{
	sampler_free(sampler);
	ck_assert_ptr_null(host.samplers);
}

static struct process *ended_process(void)
{
	struct process *p = process_new(&host, -1, 0);

	p->greeted = p->ended = true;
	p->ended_counts.calls = p->ended_counts.records = CALLS;
	p->ended_counts.lost = LOST;
	process_enlist(p);
	host.live = NULL;
	return p;
}

static void let_go(struct process *p)
{
	samplers_let_go(p);
	process_free(p);
}

static void look(unsigned ended, unsigned now)
{
	sampler_look(sampler, &view);
	ck_assert_uint_eq(view.ended, ended);
	ck_assert_uint_eq(view.calls, ended * CALLS);
	ck_assert_uint_eq(view.lost_calls, ended * LOST);
	ck_assert_uint_eq(view.records, now * CALLS);
	ck_assert_uint_eq(view.calls_now, now * CALLS);
}

START_TEST(of_one_that_was_seen)
{
	struct process *p = ended_process();

	look(1, 1);
	let_go(p);
	look(1, 0);
	look(1, 0);
}
END_TEST

START_TEST(of_one_that_came_and_went_between_two_looks)
{
	let_go(ended_process());
	look(1, 1);
	let_go(ended_process());
	let_go(ended_process());
	look(3, 2);
	look(3, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("live-ended");
	TCase *c = tcase_create("let go");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, of_one_that_was_seen);
	tcase_add_test(c, of_one_that_came_and_went_between_two_looks);
	suite_add_tcase(s, c);
	return run_suite(s);
}
