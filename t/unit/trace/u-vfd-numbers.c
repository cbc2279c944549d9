/* SPDX-License-Identifier: BSD-3-Clause */
/* Sampling files of a run with several MPI jobs: the numbers by which logs show their ranks. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/write/writer.h"
#include "t/lib/suite.h"

#define FIRST	0x900u
#define SECOND	0x100u
#define SPAWNED 0x500u

struct made {
	uint64_t job;
	int32_t rank, size;
	uint64_t start;
	int32_t number; /* that is expected */
	uint32_t told;	/* its rank becomes known as the so manieth one; 0: with the process */
};

static char dir[] = "/tmp/u-numbers.XXXXXX";

static void setup(void)
{
	strcpy(strrchr(dir, '.'), ".XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	rmdir(dir);
}

static void tell_ranks(struct vfd_writer *w, const struct made *all, size_t n)
{
	for (uint32_t told = 1; told <= n; told++)
		for (size_t i = 0; i < n; i++)
			if (all[i].told == told)
				vfd_define_rank(w, (uint32_t)i, all[i].rank, (uint32_t)all[i].size,
					all[i].job);
}

static struct vfd_file *file_of(const char *host, const struct made *all, size_t n)
{
	char *path = xasprintf("%s/app_%s.vfd", dir, host), *error;
	const struct vfd_setup s = {
		.path = path, .host = host, .application = "app", .ns_per_tick = 1};
	struct vfd_writer *w = vfd_writer_new(&s, &error);
	struct vfd_file *f;

	ck_assert_ptr_nonnull(w);
	EACH(const struct made, m, all, n) {
		const struct vfd_process p = {.parent = VFD_NONE,
			.job = m->told ? 0 : m->job,
			.rank = m->told ? -1 : m->rank,
			.size = (uint32_t)m->size,
			.start = (int64_t)m->start,
			.executable = "/bin/app"};

		vfd_define_process(w, &p);
		/* a parent has a communicator with those that it has spawned */
		if (m->job == SPAWNED)
			vfd_define_link(
				w, &(struct vfd_comm){.number = vfd_define_comm(w,
							      &(struct vfd_comm){.id = m->start,
								      .kind = WIRE_COMM_PREDEFINED,
								      .size = 1}),
					   .link = 1 + m->start,
					   .link_job = SPAWNED});
	}
	tell_ranks(w, all, n);
	ck_assert_int_eq(vfd_writer_close(w, 4000, 10), 0);
	f = vfd_open(path, &error);
	ck_assert_ptr_nonnull(f);
	unlink(path);
	free(path);
	return f;
}

static void expect(struct vfd_file *f, const struct made *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(vfd_rank_number(f, (uint32_t)i) == all[i].number,
			"process %zu has %d, not %d", i, vfd_rank_number(f, (uint32_t)i),
			all[i].number);
	ck_assert_int_eq(vfd_rank_number(f, (uint32_t)n), -1);
}

/* Of the first job, though of a greater number, its ranks; the others by their start. */
START_TEST(one_job_after_the_other)
{
	static const struct made all[] = {{FIRST, 1, 2, 10, 1}, {FIRST, 0, 2, 20, 0},
		{SECOND, 0, 3, 300, 3}, {SECOND, 1, 3, 310, 4}, {SECOND, 2, 3, 299, 2}};
	struct vfd_file *f = file_of("vm", all, ARRAY_SIZE(all));

	/* before that a rank is that of its job */
	ck_assert_int_eq(vfd_rank_number(f, 2), 0);
	vfd_number_ranks(&f, 1);
	expect(f, all, ARRAY_SIZE(all));
	vfd_close(f);
}
END_TEST

/* What has started first is not the first job, if it calls MPI_Init behind another one. */
START_TEST(told_later)
{
	static const struct made all[] = {{FIRST, 0, 2, 10, 2, 3}, {FIRST, 1, 2, 20, 3, 4},
		{SECOND, 1, 2, 300, 1, 1}, {SECOND, 0, 2, 310, 0, 2}};
	struct vfd_file *f = file_of("vm", all, ARRAY_SIZE(all));

	vfd_number_ranks(&f, 1);
	expect(f, all, ARRAY_SIZE(all));
	vfd_close(f);
}
END_TEST

/* Each node has a first job of its own; numbers of the others begin behind the greatest one. */
START_TEST(told_otherwise_on_two_nodes)
{
	static const struct made a[] = {{FIRST, 0, 4, 10, 0, 1}, {SECOND, 0, 2, 20, 4, 2}},
				 b[] = {{FIRST, 1, 4, 10, 5, 2}, {SECOND, 1, 2, 20, 1, 1}};
	struct vfd_file *files[] = {file_of("a", a, ARRAY_SIZE(a)), file_of("b", b, ARRAY_SIZE(b))};

	vfd_number_ranks(files, 2);
	expect(files[0], a, ARRAY_SIZE(a));
	expect(files[1], b, ARRAY_SIZE(b));
	vfd_close(files[0]);
	vfd_close(files[1]);
}
END_TEST

/* Ranks of a spawned job stand in their order, where the launcher has started them. */
START_TEST(spawned)
{
	static const struct made all[] = {{FIRST, 0, 1, 10, 0}, {SPAWNED, 1, 2, 30, 2},
		{SPAWNED, 0, 2, 40, 1}, {0, -1, 0, 50, -1}, {SECOND, 0, 1, 60, 4}};
	struct vfd_file *f = file_of("vm", all, ARRAY_SIZE(all));
	struct map64 jobs = {.n = 0};

	vfd_number_ranks(&f, 1);
	expect(f, all, ARRAY_SIZE(all));
	vfd_spawned_jobs(&f, 1, &jobs);
	ck_assert_ptr_nonnull(map64_find(&jobs, SPAWNED));
	ck_assert_uint_eq(jobs.n, 1);
	map64_free(&jobs);
	vfd_close(f);
}
END_TEST

/*
 * Nodes come by their names. A helper without a rank has a number in logs, too, but no rank; one
 * that only its launcher has given a rank is of the first job.
 */
START_TEST(on_two_nodes)
{
	static const struct made b[] = {
		{FIRST, 2, 4, 10, 2}, {FIRST, 3, 4, 10, 3}, {SECOND, 1, 2, 90, 12}};
	static const struct made a[] = {{FIRST, 0, 4, 11, 0}, {FIRST, 1, 4, 11, 1},
		{0, -1, 0, 50, -1}, {SECOND, 0, 2, 95, 11}, {0, 9, 0, 96, 9}};
	struct vfd_file *files[] = {file_of("b", b, ARRAY_SIZE(b)), file_of("a", a, ARRAY_SIZE(a))};

	vfd_number_ranks(files, 2);
	expect(files[0], b, ARRAY_SIZE(b));
	expect(files[1], a, ARRAY_SIZE(a));
	vfd_close(files[0]);
	vfd_close(files[1]);
}
END_TEST

START_TEST(without_mpi)
{
	static const struct made all[] = {{0, -1, 0, 10, -1}, {0, -1, 0, 20, -1}};
	struct vfd_file *f = file_of("vm", all, ARRAY_SIZE(all));

	vfd_number_ranks(&f, 1);
	vfd_number_ranks(&f, 1);
	expect(f, all, ARRAY_SIZE(all));
	vfd_close(f);
	vfd_number_ranks(NULL, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("numbers");
	TCase *c = tcase_create("numbers");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, one_job_after_the_other);
	tcase_add_test(c, told_later);
	tcase_add_test(c, told_otherwise_on_two_nodes);
	tcase_add_test(c, spawned);
	tcase_add_test(c, on_two_nodes);
	tcase_add_test(c, without_mpi);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
