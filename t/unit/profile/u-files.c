/* SPDX-License-Identifier: BSD-3-Clause */
/* Files beyond a number are one row, of no more processes than there are. */
#include <check.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"
#include "shm/files.h"
#include "t/lib/suite.h"

enum { FILES = 5, NODES = 8, LIMIT = 3 };

/* One process's files, the first with the most time. All nodes read the first one. */
static void add_files(struct profile *p, int node)
{
	for (int i = 0; i < FILES; i++) {
		struct profile_posix_file *f = profile_add(p, PROFILE_POSIX_FILES);

		*f = (struct profile_posix_file){.ranks = 1,
			.reads = 1,
			.read_ns = 1000u >> i,
			.name = i ? xasprintf("file %d of node %d", i, node) : xstrdup("shared")};
	}
	profile_combine(p, PROFILE_POSIX_FILES);
}

START_TEST(others_are_of_no_more_processes_than_there_are)
{
	struct profile *p = profile_new();
	uint64_t reads = 0;
	bool others = false;

	for (int node = 0; node < NODES; node++) {
		add_files(p, node);
		profile_files_limit(p, LIMIT);
		ck_assert_uint_le(p->n_posix_files, LIMIT);
	}
	EACH(const struct profile_posix_file, f, p->posix_files, p->n_posix_files) {
		const bool is_rest = !strcmp(f->name, FILE_NAME_BEYOND);

		ck_assert_uint_ge(f->ranks, 1);
		ck_assert_uint_le(f->ranks, NODES);
		others |= is_rest;
		reads += f->reads;
	}
	ck_assert(others);
	ck_assert_uint_eq(reads, NODES * FILES);
	profile_free(p);
}
END_TEST

/* Whether the row of the others is among those with the most time or not. */
START_TEST(others_keep_their_processes)
{
	struct profile *p = profile_new();

	for (int i = 0; i < FILES; i++) {
		struct profile_posix_file *f = profile_add(p, PROFILE_POSIX_FILES);
		const bool is_rest = i == (_i ? 0 : FILES - 1);

		*f = (struct profile_posix_file){.ranks = is_rest ? 7 : 2,
			.read_ns = 1000u >> i,
			.name = is_rest ? xstrdup(FILE_NAME_BEYOND) : xasprintf("file %d", i)};
	}
	profile_combine(p, PROFILE_POSIX_FILES);
	profile_files_limit(p, LIMIT);
	EACH(const struct profile_posix_file, f, p->posix_files, p->n_posix_files)
		ck_assert_uint_eq(f->ranks, strcmp(f->name, FILE_NAME_BEYOND) ? 2 : 7);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("files");
	TCase *t = tcase_create("limit");

	tcase_add_test(t, others_are_of_no_more_processes_than_there_are);
	tcase_add_loop_test(t, others_keep_their_processes, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
