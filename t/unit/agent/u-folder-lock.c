/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock of a folder that hundreds of agents write to. */
#include "nodeagent/agent/results/folder-lock.c"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t/lib/suite.h"

#define WAITERS 100
#define HELD_NS 2000000 /* by each */

static char dir[] = "/tmp/u-folder-lock.XXXXXX";

static void make_folder(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

START_TEST(is_waited_for)
{
	int one, other;

	make_folder();
	one = folder_lock(dir, false);
	ck_assert_int_ge(one, 0);
	other = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert(!lock_within(other, 0.05));
	close(one);
	ck_assert(lock_within(other, 10));
	close(other);
	rmdir(dir);
	ck_assert_int_lt(folder_lock(dir, false), 0);
}
END_TEST

/* All have it, one after the other: none waits for much longer than all of them need. */
START_TEST(of_many)
{
	int status;

	make_folder();
	for (int i = 0; i < WAITERS; i++) {
		if (fork())
			continue;
		int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		bool has = lock_within(fd, 300);
		char name[64];

		snprintf(name, sizeof(name), "%s/held", dir);
		has = has && !mkdir(name, 0700);
		nanosleep(&(struct timespec){.tv_nsec = HELD_NS}, NULL);
		_exit(!has || rmdir(name));
	}
	for (int i = 0; i < WAITERS; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	rmdir(dir);
}
END_TEST

START_TEST(is_of_siblings)
{
	struct timespec before;
	char name[64];
	int fd;

	make_folder();
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	before = changed_at(fd);
	ck_assert(!others_work(fd, true, before));
	snprintf(name, sizeof(name), "%s/result", dir);
	do { /* the clock of files is coarse */
		mkdir(name, 0700);
		rmdir(name);
	} while (!others_work(fd, true, before));
	ck_assert(!others_work(fd, false, before));
	close(fd);
	rmdir(dir);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("folder-lock");
	TCase *c = tcase_create("waiting");

	tcase_set_timeout(c, 600);
	tcase_add_test(c, is_waited_for);
	tcase_add_test(c, of_many);
	tcase_add_test(c, is_of_siblings);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
