/* SPDX-License-Identifier: BSD-3-Clause */
/* Two MPI jobs in one sampling file: whose ranks the members of their communicators are. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_id.h"
#include "nodeagent/base/util.h"
#include "nodeagent/export/export.h"
#include "nodeagent/export/otf2.h"
#include "nodeagent/trace/write/writer.h"
#include "t/lib/suite.h"

#define PROCESSES 6u

static const uint64_t jobs[] = {0x500, 0x300, 0};
static const uint32_t sizes[] = {2, 3, 0};
static bool damaged; /* runs of ranks are longer than their communicators */
static char dir[] = "/tmp/u-jobs.XXXXXX";

/* Process i of the file: job 0x500 has ranks 0 and 1, 0x300 has 0 to 2, and a launcher is in none.
 */
static struct vfd_process process_of(uint32_t i)
{
	const uint32_t job = i < 2 ? 0 : i < 5 ? 1 : 2;
	const struct vfd_process p = {.parent = VFD_NONE,
		.rank = (int32_t)(job == 0   ? i
				  : job == 1 ? i - 2
					     : 0),
		.size = sizes[job],
		.job = jobs[job],
		.pid = 100 + (int32_t)i,
		.executable = "/bin/m"};

	return p;
}

static uint32_t new_comm(struct vfd_writer *w, uint64_t id, const char *name, uint32_t size)
{
	const struct wire_run run = {0, 1, damaged ? INT32_MAX : (int32_t)size};

	return vfd_define_comm(w, &(struct vfd_comm){.id = id,
					  .kind = WIRE_COMM_PREDEFINED,
					  .name = name,
					  .size = size,
					  .runs = &run,
					  .n_runs = 1});
}

/* Rank 0 of each job sends to its rank 1. */
static void make_file(const char *path)
{
	const struct vfd_setup setup = {
		.path = path, .host = "vm", .application = "m", .ns_per_tick = 1};
	char *error;
	struct vfd_writer *w = vfd_writer_new(&setup, &error);
	struct vfd_track *tracks[PROCESSES];
	uint32_t comms[2], send, stacks[PROCESSES];

	ck_assert_ptr_nonnull(w);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		const struct vfd_process p = process_of(i);

		tracks[i] = vfd_track_new(w,
			&(struct vfd_thread){.process = vfd_define_process(w, &p), .tid = p.pid});
	}
	send = vfd_define_function(
		w, &(struct vfd_function){
			   .process = VFD_NONE, .kind = VFD_FUNCTION_MPI, .index = VFTR_MPI_SEND});
	comms[0] = new_comm(w, jobs[0], NULL, sizes[0]);
	comms[1] = new_comm(w, jobs[1], NULL, sizes[1]);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		stacks[i] = vfd_stack_new(tracks[i], 0, send);
		vfd_enter(tracks[i], stacks[i], 1000 + i);
		if (i == 0 || i == 2)
			vfd_message(w, tracks[i],
				&(struct vfd_message){.kind = VFD_SEND,
					.stack = stacks[i],
					.start = 1000 + i,
					.end = 2000,
					.comm = comms[i > 0],
					.peer = 1,
					.flags = VFD_MESSAGE_BLOCKING});
		vfd_exit(tracks[i], stacks[i], 3000 + i);
	}
	ck_assert_int_eq(vfd_writer_close(w, 4000, 10), 0);
}

static struct vfd_file *open_jobs(char **path)
{
	struct vfd_file *f;
	char *error;

	strcpy(strrchr(dir, '.'), ".XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	*path = xasprintf("%s/two.vfd", dir);
	make_file(*path);
	f = vfd_open(*path, &error);
	ck_assert_ptr_nonnull(f);
	return f;
}

static void close_jobs(struct vfd_file *f, char *path)
{
	vfd_close(f);
	remove(path);
	free(path);
	rmdir(dir);
}

START_TEST(test_model)
{
	const struct export_options options = {0};
	char *path;
	struct vfd_file *f = open_jobs(&path);
	struct exporter x = {.options = &options, .files = &f, .n_files = 1};

	export_model_new(&x);
	ck_assert_uint_eq(x.n_jobs, 2);
	ck_assert_uint_eq(x.jobs[0].number, 0x300);
	ck_assert_uint_eq(x.jobs[1].size, 2);
	ck_assert_uint_eq(x.n_comms, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_str_eq(x.comms[i].name, "MPI_COMM_WORLD");
		ck_assert_uint_eq(x.jobs[x.comms[i].job].number, x.comms[i].comm->id);
	}
	for (uint32_t job = 0; job < 2; job++)
		for (int64_t rank = -1; rank < 5; rank++) {
			const uint32_t p = export_process_of(&x, job, rank);

			ck_assert_int_eq(p != EXPORT_NONE, rank >= 0 && rank < x.jobs[job].size);
			if (p == EXPORT_NONE)
				continue;
			ck_assert_uint_eq(x.processes[p].job, x.jobs[job].number);
			ck_assert_int_eq(x.processes[p].rank, rank);
		}
	export_model_free(&x);
	close_jobs(f, path);
}
END_TEST

/* With ranks that are left out, too: these have an empty location. */
START_TEST(test_locations)
{
	const struct export_options options = {.ranks = _i ? "0" : NULL};
	char *path;
	struct vfd_file *f = open_jobs(&path);
	struct exporter x = {.options = &options, .files = &f, .n_files = 1};
	struct otf2 o = {.x = &x};

	export_model_new(&x);
	otf2_find_ranks(&o);
	ck_assert_uint_eq(o.n_ranks, 5);
	ck_assert(!o.strangers);
	ck_assert_uint_eq(o.first_rank[0], 0);
	ck_assert_uint_eq(o.first_rank[1], 3);
	ck_assert_uint_eq(o.n_locations, _i ? 6 : PROCESSES);
	for (uint32_t r = 0; r < 5; r++) {
		const uint32_t job = r >= 3;
		const uint32_t p = export_process_of(&x, job, r - o.first_rank[job]);

		if (p == EXPORT_NONE)
			ck_assert_uint_ge(o.location_of[r], x.n_threads);
		else
			ck_assert_uint_eq(o.location_of[r], x.processes[p].first_thread);
	}
	free(o.first_rank);
	free(o.location_of);
	export_model_free(&x);
	close_jobs(f, path);
}
END_TEST

/* Tasks: the launcher, which has a rank but no job, ranks of 0x300, ranks of 0x500. */
START_TEST(test_paraver)
{
	const struct export_format *format = export_formats;
	static char text[1 << 16];
	struct export_options options = {.quiet = true};
	struct vfd_file *f;
	char *path, *out, *row, *pcf;
	FILE *from;

	damaged = _i;
	f = open_jobs(&path);
	out = xasprintf("%s/out.prv", dir);
	row = xasprintf("%s/out.row", dir);
	pcf = xasprintf("%s/out.pcf", dir);
	while (strcmp(format->name, "paraver"))
		format++;
	options.output = out;
	ck_assert_int_eq(export_run(format, &options, &f, 1, "two"), 0);
	from = fopen(out, "r");
	ck_assert_ptr_nonnull(from);
	text[fread(text, 1, sizeof(text) - 1, from)] = '\0';
	fclose(from);
	ck_assert_ptr_nonnull(strstr(text, "\nc:1:1:2:5:6\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nc:1:2:3:2:3:4\n"));
	remove(out);
	remove(row);
	remove(pcf);
	free(out);
	free(row);
	free(pcf);
	close_jobs(f, path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("jobs");
	TCase *c = tcase_create("two jobs");

	tcase_add_test(c, test_model);
	tcase_add_loop_test(c, test_locations, 0, 2);
	tcase_add_loop_test(c, test_paraver, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
