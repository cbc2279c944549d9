/* SPDX-License-Identifier: BSD-3-Clause */
/* Where programs of ours look for what belongs to them. */
#include "nodeagent/base/installed.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *prefix;

/* Signs that glob() takes for a pattern are no signs in a prefix. */
static void make_prefix(void)
{
	char dir[] = "/tmp/vftr-u-installed.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(dir));
	prefix = xasprintf("%s/p[1]*?", dir);
	ck_assert_int_eq(mkdir(prefix, 0700), 0);
}

static void remove_prefix(void)
{
	char *command;

	*strrchr(prefix, '/') = 0;
	command = xasprintf("rm -rf '%s'", prefix);
	ck_assert_int_eq(system(command), 0);
	free(command);
	free(prefix);
}

/* An empty file below the prefix, and its folders. */
static void put_file(const char *folder, const char *name)
{
	char *command = xasprintf(
		"mkdir -p '%s/%s' && touch '%s/%s/%s'", prefix, folder, prefix, folder, name);

	ck_assert_int_eq(system(command), 0);
	free(command);
}

static void expect(char *found, const char *folder)
{
	char *wanted = folder ? xasprintf("%s/%s", prefix, folder) : NULL;

	if (wanted)
		ck_assert_pstr_eq(found, wanted);
	else
		ck_assert_ptr_null(found);
	free(wanted);
	free(found);
}

START_TEST(library_folders_in_their_order)
{
	expect(installed_library_folder(prefix, "libx.so"), NULL);
	put_file("lib/some-linux-gnu", "libx.so");
	expect(installed_library_folder(prefix, "libx.so"), "lib/some-linux-gnu");
	put_file("lib64", "libx.so");
	expect(installed_library_folder(prefix, "libx.so"), "lib64");
	put_file("lib", "libx.so");
	expect(installed_library_folder(prefix, "libx.so"), "lib");
	expect(installed_library_folder(prefix, "liby.so"), NULL);
}
END_TEST

START_TEST(folder_of_plugins_is_found_like_a_file)
{
	put_file("lib64/vftr", "peer.so");
	expect(installed_library_folder(prefix, "vftr"), "lib64");
}
END_TEST

START_TEST(module_beside_headers)
{
	expect(installed_module_folder(prefix, "vftrace"), NULL);
	put_file("include", "vftrace.mod");
	expect(installed_module_folder(prefix, "vftrace"), "include");
}
END_TEST

START_TEST(prefix_of_this_program)
{
	char self[4096], *found = installed_prefix();
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(n, 0);
	self[n] = 0;
	*strrchr(self, '/') = 0;
	*strrchr(self, '/') = 0;
	ck_assert_str_eq(found, self);
	free(found);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("installed");
	TCase *t = tcase_create("installed");

	tcase_add_checked_fixture(t, make_prefix, remove_prefix);
	tcase_add_test(t, library_folders_in_their_order);
	tcase_add_test(t, folder_of_plugins_is_found_like_a_file);
	tcase_add_test(t, module_beside_headers);
	tcase_add_test(t, prefix_of_this_program);
	suite_add_tcase(s, t);
	return run_suite(s);
}
