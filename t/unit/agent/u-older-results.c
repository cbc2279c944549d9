/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files of results were there before the run. */
#include "nodeagent/agent/results/older-results.c"

#include <check.h>
#include "t/lib/suite.h"

#define SECOND 1700000000

/* ms of the second in which the run began, and in which the file was written. */
static const struct {
	int run_ms, file_ms;
	unsigned long system;
	bool older;
} times[] = {
	{500, 0, TMPFS_MAGIC, true},
	{500, 470, EXT4_SUPER_MAGIC, true},
	/* the clock of files is coarse */
	{500, 495, XFS_SUPER_MAGIC, false},
	{500, 500, TMPFS_MAGIC, false},
	{500, 900, TMPFS_MAGIC, false},
	{0, 999, TMPFS_MAGIC, false},
	/* ... and a server's is another one: NFS, Lustre */
	{500, 0, 0x6969, false},
	{900, 0, 0x0bd00bd0, false},
	{1100, 0, 0x6969, true},
};

START_TEST(in_one_second)
{
	char dir[] = "/tmp/u-older-results.XXXXXX";
	struct host host = {.output_directory = dir,
		.start_s = SECOND,
		.start_exact_s = SECOND + 1e-3 * times[_i].run_ms};
	struct folder f = {.host = &host, .coarse_s = coarse_s_of(times[_i].system)};
	struct kept k = {.name = (char *)"profile.json"};
	const struct timespec written = {SECOND, times[_i].file_ms * 1000000l};
	char *path;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert(!is_older(&f, &k)); /* it is not there */
	path = xasprintf("%s/%s", dir, k.name);
	fclose(fopen(path, "w"));
	ck_assert_int_eq(
		utimensat(AT_FDCWD, path, (const struct timespec[]){written, written}, 0), 0);
	ck_assert_int_eq(is_older(&f, &k), times[_i].older);
	unlink(path);
	free(path);
	rmdir(dir);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("older-results");
	TCase *c = tcase_create("times");

	tcase_add_loop_test(c, in_one_second, 0, ARRAY_SIZE(times));
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
