/* SPDX-License-Identifier: BSD-3-Clause */
/* The name of a run's folder: patterns, and what a command is called. */
#include "nodeagent/agent/launch/program-name.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/results/run-folder.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *pattern(const char *wish, const char *host)
{
	char *error = NULL, *path = run_folder_pattern(wish, "heat", "20261124-1200", host, &error);

	if (path)
		return path;
	ck_assert_ptr_nonnull(error);
	return error;
}

START_TEST(patterns)
{
	static const struct {
		const char *wish, *path;
	} rows[] = {{"x", "x"}, {"%p", "heat"}, {"a/%p-%j", "a/heat-12.server"},
		{"%d%%%h", "20261124-1200%n1"}, {"%%p", "%p"}, {"", ""}};

	setenv("PBS_JOBID", "12.server", 1);
	unsetenv("SLURM_JOB_ID");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *path = pattern(rows[i].wish, "n1");

		ck_assert_str_eq(path, rows[i].path);
		free(path);
	}
}
END_TEST

START_TEST(wrong_patterns)
{
	static const char *const rows[] = {"%", "a%x", "%p%"};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *error = pattern(rows[i], "n1");

		ck_assert_msg(strstr(error, "there is no %"), "%s", error);
		free(error);
	}
	char *error = pattern("%h", NULL);

	ck_assert_msg(strstr(error, "another host on each node"), "%s", error);
	free(error);
}
END_TEST

START_TEST(names_of_commands)
{
	static const struct {
		char *words[6];
		const char *name;
	} rows[] = {
		{{"/bin/ls", "-l"}, "ls"},
		{{"timeout", "10", "/bin/ls"}, "ls"},
		{{"env", "A=b", "nice", "ls"}, "ls"},
		{{"sh", "-c", "ls"}, "sh"},
		{{"sh", "-e", "./job.sh", "x.sh"}, "job"},
		{{"python3", "-u", "./train.py", "job.sh"}, "train"},
		{{"python3", "-m", "bench", "-x"}, "bench"},
		{{"python3", "-m", "mpi4py", "./train.py"}, "train"},
		{{"python3.11", "-c", "print(1)"}, "python3.11"},
		{{"Rscript", "fit.R"}, "fit"},
		{{"./none.py"}, "none"},
	};
	char dir[] = "/tmp/u-run-folder.XXXXXX";
	static const char *const files[] = {"job.sh", "train.py", "fit.R"};

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		fclose(fopen(files[i], "w"));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *name = name_of_command((char *const *)rows[i].words);

		ck_assert_str_eq(name, rows[i].name);
		free(name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlink(files[i]);
	rmdir(dir);
}
END_TEST

static void put_file(const char *dir, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", dir, name);
	FILE *f = fopen(path, "w");

	fputs(text, f);
	fclose(f);
	free(path);
}

/* What was not written is in no folder to which the link leads. */
static const struct {
	const char *name, *text;
	bool failed, leads;
} results[] = {
	{"n1.vfd", "samples", true, false},
	{"profile.json", "", true, false},
	{"profile.json", "{}", true, true},
	{"n1.vfp", "profile", true, true},
	{"n1.vfd", "samples", false, true},
};

START_TEST(link_to_results)
{
	char dir[] = "/tmp/u-run-folder.XXXXXX", to[64] = "";
	struct agent a = {.host.output_directory = dir, .folder_link = NULL};
	char *link, *path;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	link = xasprintf("%s.last", dir);
	path = xasprintf("%s/%s", dir, results[_i].name);
	a.folder_link = link;
	ck_assert_int_eq(symlink("before", link), 0);
	put_file(dir, results[_i].name, results[_i].text);
	run_folder_link(&a, results[_i].failed);
	ck_assert_int_gt(readlink(link, to, sizeof(to) - 1), 0);
	ck_assert_str_eq(to, results[_i].leads ? strrchr(dir, '/') + 1 : "before");
	unlink(path);
	unlink(link);
	rmdir(dir);
	free(path);
	free(link);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("run-folder");
	TCase *t = tcase_create("names");

	tcase_add_test(t, patterns);
	tcase_add_test(t, wrong_patterns);
	tcase_add_test(t, names_of_commands);
	tcase_add_loop_test(t, link_to_results, 0, ARRAY_SIZE(results));
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
