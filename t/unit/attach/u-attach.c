/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that run already: how many descriptors each takes, and what is said if there are none.
 */
#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/attach/attach.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/stack/events.h"
#include "t/lib/suite.h"

#define CHILDREN 60
#define KEPT	 16 /* descriptors of control segments that the store keeps */

static struct host a;
static pid_t children[CHILDREN];

/* "12,13,14": children that do nothing. */
static char *begin_children(int n)
{
	char *pids = xstrdup("");

	for (int i = 0; i < n; i++) {
		children[i] = fork();
		if (!children[i]) {
			pause();
			_exit(0);
		}
		pids = xappend(pids, "%s%d", i ? "," : "", children[i]);
	}
	return pids;
}

static void end_children(int n)
{
	while (n--)
		kill(children[n], SIGKILL);
}

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = -3; /* ., .. and its own */

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void setup(void)
{
	a = (struct host){.conf = conf_default(), .epoll = epoll_create1(EPOLL_CLOEXEC)};
	clocks_init(&a.clocks, "raw");
	a.rings = ring_store_new(RING_SIZE_MIN, ring_store_memory);
}

START_TEST(each_takes_one)
{
	char *pids = begin_children(CHILDREN), *error = NULL;
	const int before = descriptors();

	ck_assert_int_eq(attach_begin(&a, pids, false, &error), 0);
	ck_assert_uint_eq(a.n_live, CHILDREN);
	ck_assert_int_le(descriptors() - before, CHILDREN + KEPT);
	end_children(CHILDREN);
	free(pids);
}
END_TEST

/* left: descriptors that it has. */
static void attach_with(int left, char *pids, char **error)
{
	int last = -1, fd;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64}), 0);
	while ((fd = dup(STDIN_FILENO)) >= 0)
		last = fd;
	while (left--)
		close(last--);
	ck_assert_int_eq(attach_begin(&a, pids, false, error), 0);
}

START_TEST(those_without_one_are_left_out)
{
	char *pids = begin_children(5), *error = NULL;

	attach_with(5, pids, &error);
	ck_assert_uint_gt(a.n_live, 0);
	ck_assert_uint_lt(a.n_live, 5);
	ck_assert_ptr_null(error);
	ck_assert_ptr_nonnull(strstr(a.warnings[0], "is left out: there are no descriptors left"));
	end_children(5);
	free(pids);
}
END_TEST

START_TEST(if_all_are_left_out_it_is_said_why)
{
	char *pids = begin_children(2), *error = NULL;

	attach_with(_i, pids, &error);
	ck_assert_uint_eq(a.n_live, 0);
	ck_assert_ptr_nonnull(error);
	ck_assert_ptr_nonnull(strstr(error, "no descriptors left"));
	end_children(2);
	free(pids);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attach");
	TCase *c = tcase_create("attach");

	tcase_add_checked_fixture(c, setup, NULL);
	if (!stack_events_refused()) {
		tcase_add_test(c, each_takes_one);
		tcase_add_test(c, those_without_one_are_left_out);
		tcase_add_loop_test(c, if_all_are_left_out_it_is_said_why, 0, 2);
	} else {
		puts("# the kernel allows no stack samples: nothing is attached to");
	}
	suite_add_tcase(s, c);
	return run_suite(s);
}
