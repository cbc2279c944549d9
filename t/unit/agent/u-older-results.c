/* SPDX-License-Identifier: BSD-3-Clause */
/* Which files of results were there before the run. */
#include "nodeagent/agent/results/older-results.c"

#include <check.h>
#include "conf/conf.h"
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

static void touch_in(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	fclose(file);
	free(path);
}

static bool is_there(const char *dir, const char *name)
{
	char *path = xasprintf("%s/%s", dir, name);
	const bool is = !access(path, F_OK);

	free(path);
	return is;
}

/* Hundreds of agents write to one folder: each but agent 0 looks at its own files alone, unless one
 * of them is to be moved. */
START_TEST(of_other_nodes)
{
	static const char *const names[] = {"x_n1.vfp", "x_node_n1.log", "x_all.json", "x_n2.vfp",
		"x_node_n2.log", "x_n3.vfp.old4", "x_all.log", "x_0.log", "y_n1.vfp"};
	char dir[] = "/tmp/u-older-results.XXXXXX", command[64];
	struct transport transport = {.rank = _i, .size = 3};
	struct agent a = {.several = true,
		.host = {.output_directory = dir,
			.name = (char *)"n1",
			.conf = conf_default(),
			.transport = &transport,
			.results_lock = -1,
			.start_exact_s = SECOND}};
	struct folder f = {.host = &a.host, .base = "x", .part = !moves_all(&a.host)};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		touch_in(dir, names[i]);
	read_folder(&f);
	ck_assert_uint_eq(f.n, _i ? 3 : 8);
	free_folder(&f);
	keep_older(&a.host, "x", false);
	ck_assert(is_there(dir, "x_n1.vfp") && is_there(dir, "x_n2.vfp"));
	a.host.start_exact_s = 2e10; /* all are older */
	keep_older(&a.host, "x", false);
	/* beside what is there with a number */
	ck_assert(is_there(dir, "x_n1.vfp.old5") && is_there(dir, "x_node_n1.log.old5"));
	ck_assert_int_eq(is_there(dir, "x_n2.vfp"), _i != 0);
	ck_assert_int_eq(is_there(dir, "x_all.json"), _i != 0);
	ck_assert(is_there(dir, "y_n1.vfp"));
	conf_free(a.host.conf);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("older-results");
	TCase *c = tcase_create("times"), *nodes = tcase_create("nodes");

	tcase_add_loop_test(c, in_one_second, 0, ARRAY_SIZE(times));
	suite_add_tcase(suite, c);
	tcase_add_loop_test(nodes, of_other_nodes, 0, 2);
	suite_add_tcase(suite, nodes);
	return run_suite(suite);
}
