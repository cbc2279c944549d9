/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sampling file's writer above a disk that is slow, hangs, does half of what it is
 * told, or refuses: io_uring_submit() of this program stands before the library's.
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/write/writer.h"
#include "t/lib/suite.h"

#define KIB   1024u
#define MIB   (1024u * KIB)
#define BLOCK (16 * KIB)
#define CALLS 2000u /* most of a block */

static char dir[] = "/tmp/u-vfd-disk.XXXXXX";
static char path[64];

/* ---- the disk --------------------------------------------------------------------- */

static enum { WORKS, REFUSES, HANGS, HALVES, BREAKS } disk;
static int full_pipe;
static unsigned submitted;

static void change_last(struct io_uring *ring)
{
	struct io_uring_sq *sq = &ring->sq;
	struct io_uring_sqe *q = &sq->sqes[(sq->sqe_tail - 1) & *sq->kring_mask];

	if (disk == HALVES && q->len > 1)
		q->len = q->len / 2 + 1;
	if (disk == BREAKS) { /* -EAGAIN, as when there is no thread for it */
		q->fd = full_pipe;
		q->rw_flags = RWF_NOWAIT;
	}
}

int io_uring_submit(struct io_uring *ring)
{
	int (*real)(struct io_uring *) =
		(int (*)(struct io_uring *))dlsym(RTLD_NEXT, "io_uring_submit");

	submitted++;
	if (disk == REFUSES)
		return -EAGAIN;
	if (disk == HANGS)
		return 0;
	if (io_uring_sq_ready(ring))
		change_last(ring);
	return real(ring);
}

/* ---- a file ------------------------------------------------------------------------ */

static struct vfd_writer *begin(uint64_t buffer_bytes)
{
	struct vfd_setup s = {.path = path, .ns_per_tick = 1, .buffer_bytes = buffer_bytes};
	const struct vfd_process p = {.rank = -1, .parent = VFD_NONE, .executable = "/bin/program"};
	char *error;
	struct vfd_writer *w = vfd_writer_new(&s, &error);

	ck_assert_msg(w, "%s", error);
	ck_assert_int_ne(vfd_writer_written(w).way, OUTFILE_PWRITE);
	vfd_define_process(w, &p);
	return w;
}

static uint32_t define(struct vfd_writer *w, const char *name)
{
	return vfd_define_function(w, &(struct vfd_function){.process = VFD_NONE, .name = name});
}

static struct vfd_track *track(struct vfd_writer *w)
{
	return vfd_track_new(w, &(struct vfd_thread){.creator = VFD_NONE});
}

/* Calls of a stack until the file has grown by this. */
static uint64_t call(
	struct vfd_writer *w, struct vfd_track *l, uint32_t stack, uint64_t bytes, uint64_t ticks)
{
	const uint64_t goal = vfd_writer_written(w).bytes + bytes;

	while (vfd_writer_written(w).bytes < goal && !vfd_writer_written(w).dropped_blocks) {
		vfd_enter(l, stack, ticks += 100);
		vfd_exit(l, stack, ticks += 100);
	}
	return ticks;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void until_ready(struct vfd_writer *w)
{
	const double start = now();

	while (!vfd_writer_ready(w) && now() < start + 60)
		usleep(1000);
	ck_assert(vfd_writer_ready(w));
}

static struct vfd_file *whole_file(void)
{
	char *error;
	struct vfd_file *f = vfd_open(path, &error);
	size_t n;

	ck_assert_msg(f, "%s", error);
	vfd_damage(f, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert(vfd_facts(f)->closed);
	return f;
}

/* ---- tests --------------------------------------------------------------------------- */

START_TEST(as_much_waits_as_the_buffer_holds)
{
	static const unsigned sizes[] = {1, 2, 8, 32, 48, 100};
	const uint64_t buffer = (uint64_t)sizes[_i] * MIB;
	struct vfd_writer *w = begin(buffer);
	struct vfd_track *l = track(w);
	uint32_t stack = vfd_stack_new(l, 0, define(w, "f"));
	uint64_t ticks = 0, bytes;

	disk = REFUSES;
	while (vfd_writer_ready(w) && !vfd_writer_written(w).dropped_blocks)
		ticks = call(w, l, stack, BLOCK, ticks);
	bytes = vfd_writer_written(w).bytes;
	ck_assert_uint_eq(vfd_writer_written(w).dropped_blocks, 0);
	/* parts of 512 KiB, or a 64th of the buffer: one is being filled, one had the header */
	ck_assert_uint_ge(bytes + 2 * (buffer / 64 + 512 * KIB), buffer);
	ck_assert_uint_le(bytes, buffer + 2 * BLOCK);
	disk = WORKS;
	ck_assert_int_eq(vfd_writer_close(w, ticks, 60), 0);
	vfd_close(whole_file());
}
END_TEST

START_TEST(what_was_refused_goes_out_though_nothing_follows)
{
	struct vfd_writer *w = begin(MIB);
	struct vfd_track *l = track(w);
	uint32_t stack = vfd_stack_new(l, 0, define(w, "f"));
	uint64_t ticks = 0;

	disk = REFUSES;
	while (vfd_writer_ready(w))
		ticks = call(w, l, stack, BLOCK, ticks);
	disk = WORKS;
	until_ready(w);
	ck_assert_int_eq(vfd_writer_close(w, ticks, 60), 0);
	vfd_close(whole_file());
}
END_TEST

START_TEST(halves_of_writes_are_continued)
{
	struct vfd_writer *w = begin(0);
	struct vfd_track *l = track(w);
	uint32_t stack = vfd_stack_new(l, 0, define(w, "f"));
	uint64_t ticks;
	struct vfd_file *f;

	disk = HALVES;
	submitted = 0;
	ticks = call(w, l, stack, 3 * MIB, 0);
	ck_assert_int_eq(vfd_writer_close(w, ticks, 60), 0);
	ck_assert_uint_gt(submitted, 50);
	f = whole_file();
	ck_assert_uint_ge(vfd_facts(f)->bytes, 3 * MIB);
	vfd_close(f);
}
END_TEST

START_TEST(without_a_thread_for_it_it_is_written_all_the_same)
{
	struct vfd_writer *w = begin(0);
	struct vfd_track *l = track(w);
	uint32_t stack = vfd_stack_new(l, 0, define(w, "f"));
	uint64_t ticks = call(w, l, stack, MIB, 0);
	const char *trouble;
	struct vfd_file *f;

	disk = BREAKS;
	ticks = call(w, l, stack, 2 * MIB, ticks);
	until_ready(w);
	vfd_writer_flush(w);
	disk = WORKS;
	ticks = call(w, l, stack, 2 * MIB, ticks);
	ck_assert_int_eq(vfd_writer_written(w).way, OUTFILE_PWRITE);
	trouble = vfd_writer_trouble(w);
	ck_assert_ptr_nonnull(trouble);
	ck_assert_ptr_nonnull(strstr(trouble, "without io_uring"));
	ck_assert_int_eq(vfd_writer_close(w, ticks, 60), 0);
	f = whole_file();
	ck_assert_uint_ge(vfd_facts(f)->bytes, 5 * MIB);
	vfd_close(f);
}
END_TEST

START_TEST(a_disk_that_hangs_is_waited_for_once)
{
	struct vfd_writer *w = begin(MIB);
	double start;

	for (int i = 0; i < 100; i++) {
		struct vfd_track *l = track(w);

		vfd_enter(l, vfd_stack_new(l, 0, define(w, "f")), 1);
	}
	disk = HANGS;
	while (vfd_writer_ready(w)) {
		struct vfd_track *l = track(w);

		call(w, l, vfd_stack_new(l, 0, 0), BLOCK, 0);
	}
	start = now();
	ck_assert_int_eq(vfd_writer_close(w, 2, 0.3), -ETIMEDOUT);
	ck_assert_double_lt(now() - start, 10); /* 100 tracks, 30 s */
	disk = WORKS;
}
END_TEST

START_TEST(a_flush_of_thousands_of_tracks_leaves_nothing_out)
{
	static struct vfd_track *tracks[4000];
	const uint32_t n = sizeof(tracks) / sizeof(tracks[0]);
	struct vfd_writer *w = begin(0);
	const uint32_t function = define(w, "f");
	const struct vfd_thread *threads;
	unsigned tries = 0, found = 0;
	struct vfd_file *f;
	size_t most;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t ticks = 0;
		uint32_t stack;

		tracks[i] = track(w);
		stack = vfd_stack_new(tracks[i], 0, function);
		for (unsigned k = 0; k < CALLS; k++) {
			vfd_enter(tracks[i], stack, ticks += 100);
			vfd_exit(tracks[i], stack, ticks += 100);
		}
	}
	until_ready(w);
	disk = REFUSES;
	ck_assert(!vfd_writer_flush(w));
	disk = WORKS;
	do
		until_ready(w);
	while (!vfd_writer_flush(w) && ++tries < 1000);
	ck_assert_uint_eq(vfd_writer_written(w).dropped_blocks, 0);
	ck_assert_int_eq(vfd_writer_close(w, 1u << 20, 60), 0);
	f = whole_file();
	threads = vfd_threads(f, &most);
	for (size_t i = 0; i < most; i++)
		found += threads[i].track != VFD_NONE;
	ck_assert_uint_eq(found, n);
	ck_assert_uint_ge(vfd_facts(f)->samples, (uint64_t)n * 2 * CALLS);
	vfd_close(f);
}
END_TEST

START_TEST(definitions_outlive_a_time_without_memory)
{
	struct vfd_writer *w = begin(MIB);
	struct vfd_track *l = track(w);
	uint32_t stack = vfd_stack_new(l, 0, define(w, "before")), function;
	uint64_t ticks = 0, dropped;
	struct vfd_file *f;
	char *error;

	disk = REFUSES;
	ticks = call(w, l, stack, UINT32_MAX, ticks);
	dropped = vfd_writer_written(w).dropped_blocks;
	ck_assert_uint_gt(dropped, 0);
	function = define(w, "meanwhile");
	vfd_writer_flush(w);
	vfd_writer_flush(w);
	disk = WORKS;
	until_ready(w);
	stack = vfd_stack_new(l, 0, function);
	vfd_enter(l, stack, ticks += 100);
	vfd_exit(l, stack, ticks += 100);
	ck_assert_ptr_nonnull(strstr(vfd_writer_trouble(w), "the disk is too slow"));
	ck_assert_int_eq(vfd_writer_close(w, ticks, 60), 0);
	f = vfd_open(path, &error);
	ck_assert_msg(f, "%s", error);
	ck_assert_str_eq(vfd_function_name(f, function), "meanwhile");
	ck_assert(vfd_facts(f)->closed);
	vfd_close(f);
}
END_TEST

/* A new thread calls f in runs, which need more room than the block that refers to the last one. */
static uint64_t call_in_runs(struct vfd_writer *w, struct vfd_track *l, uint64_t ticks)
{
	uint32_t stacks[VFD_RUN_MOST], run, *difference;

	for (uint32_t i = 0; i < VFD_RUN_MOST; i++)
		stacks[i] = i % 2 ? 0 : vfd_stack_new(l, 0, 0);
	for (int i = 0; i < 200; i++)
		run = vfd_run_new(l, 0, stacks, VFD_RUN_MOST);
	ck_assert_uint_ne(run, VFD_NONE);
	difference = vfd_put_run(l, run, 0, 0, VFD_RUN_MOST, ticks += 100);
	ck_assert_ptr_nonnull(difference);
	for (unsigned i = 0; i < VFD_RUN_MOST; i++)
		difference[i] = i ? 100 : (uint32_t)(ticks - l->units);
	ticks += (VFD_RUN_MOST - 1) * 100;
	vfd_put_run_done(l, 0, VFD_RUN_MOST, ticks);
	return ticks;
}

/* Of a thread that ends while there is room for its calls and not for their runs. */
START_TEST(calls_without_their_runs_are_dropped)
{
	const struct vfd_filter filter = {.track = VFD_NONE};
	struct vfd_writer *w = begin(MIB);
	struct vfd_track *l = track(w), *last = track(w);
	uint32_t stack = vfd_stack_new(l, 0, define(w, "f"));
	uint64_t ticks = 0, dropped, read = 0;
	struct vfd_cursor *c;
	struct vfd_event e;
	struct vfd_file *f;
	char *error;

	disk = REFUSES;
	ticks = call(w, l, stack, UINT32_MAX, ticks);
	dropped = vfd_writer_written(w).dropped_blocks;
	ticks = call_in_runs(w, last, ticks);
	vfd_track_end(last, ticks);
	ck_assert_uint_gt(vfd_writer_written(w).dropped_blocks, dropped);
	disk = WORKS;
	until_ready(w);
	ck_assert_int_eq(vfd_writer_close(w, ticks, 60), 0);
	f = vfd_open(path, &error);
	ck_assert_msg(f, "%s", error);
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e))
		read += e.kind == VFD_ENTER || e.kind == VFD_EXIT;
	ck_assert_uint_ge(read, vfd_facts(f)->samples);
	vfd_cursor_free(c);
	vfd_close(f);
}
END_TEST

/* At the end, too, what does not get through is told, and a file that lacks a part has no end. */
START_TEST(what_the_end_leaves_out_is_told)
{
	struct vfd_writer *w = begin(MIB);
	struct vfd_track *l = track(w), *last = track(w);
	const uint32_t stack = vfd_stack_new(l, 0, define(w, "f"));
	const uint64_t ticks = call(w, l, stack, 3 * MIB, 0);
	struct vfd_written before, done;
	char *trouble;

	until_ready(w);
	disk = REFUSES;
	while (!vfd_writer_written(w).dropped_blocks)
		vfd_clock_pair(w, ticks, ticks), call(w, l, stack, BLOCK, ticks);
	before = vfd_writer_written(w);
	vfd_enter(last, vfd_stack_new(last, 0, 0), ticks);
	ck_assert_int_lt(vfd_writer_end(w, ticks, 0.1, &done, &trouble), 0);
	disk = WORKS;
	ck_assert_uint_gt(done.dropped_blocks, before.dropped_blocks);
	ck_assert_ptr_nonnull(trouble);
	ck_assert_ptr_nonnull(strstr(trouble, "the disk is too slow"));
	free(trouble);
}
END_TEST

/* The number of bytes that is told is that of the file. */
START_TEST(where_it_ends_is_told)
{
	const struct rlimit limit = {MIB + 100 + (rlim_t)_i * BLOCK, RLIM_INFINITY};
	struct vfd_writer *w = begin(MIB);
	struct vfd_track *l = track(w);
	const uint32_t stack = vfd_stack_new(l, 0, define(w, "f"));
	struct vfd_written done;
	char *trouble, wanted[100];
	struct stat st;
	uint64_t ticks = 0;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 1000000; i++) { /* 2 MiB and more */
		vfd_enter(l, stack, ticks += 100);
		vfd_exit(l, stack, ticks += 100);
	}
	ck_assert_int_eq(vfd_writer_end(w, ticks, 60, &done, &trouble), -EFBIG);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, limit.rlim_cur);
	ck_assert_uint_eq(done.bytes, limit.rlim_cur);
	snprintf(wanted, sizeof(wanted),
		"ends after %llu bytes: ", (unsigned long long)limit.rlim_cur);
	ck_assert_ptr_nonnull(strstr(trouble, wanted));
	free(trouble);
}
END_TEST

/* While the disk is behind a run waits, and its stacks are not defined; then it is taken. */
START_TEST(runs_wait_for_the_disk)
{
	struct vfd_writer *w = begin(MIB);
	struct vfd_track *l = track(w), *last = track(w);
	const uint32_t stack = vfd_stack_new(l, 0, define(w, "f"));
	uint32_t stacks[VFD_RUN_MOST], n = 0;
	uint64_t ticks, dropped;
	struct vfd_file *f;

	for (uint32_t i = 0; i < VFD_RUN_MOST; i++)
		stacks[i] = i % 2 ? 0 : vfd_stack_new(last, 0, 0);
	disk = REFUSES;
	ticks = call(w, l, stack, UINT32_MAX, 0);
	dropped = vfd_writer_written(w).dropped_blocks;
	while (n < 10000 && !vfd_run_waits(last)) {
		ck_assert_uint_eq(vfd_run_new(last, 0, stacks, VFD_RUN_MOST), n + 1);
		n++;
	}
	ck_assert_uint_lt(n, 10000);
	ck_assert(vfd_run_waits(last));
	ck_assert_uint_eq(vfd_writer_written(w).dropped_blocks, dropped);
	disk = WORKS;
	until_ready(w);
	ck_assert(vfd_run_waits(last)); /* once per block */
	vfd_enter(last, stacks[0], ticks += 100);
	vfd_writer_flush(w);
	ck_assert(!vfd_run_waits(last));
	ck_assert_uint_eq(vfd_run_new(last, 0, stacks, VFD_RUN_MOST), n + 1);
	ck_assert_int_eq(vfd_writer_close(w, ticks, 60), 0);
	f = vfd_open(path, &(char *){NULL});
	ck_assert_ptr_nonnull(f);
	vfd_close(f);
}
END_TEST

/* Whether the kernel, too, says that it is full. */
static bool fill_pipe(void)
{
	static char zeros[4096];
	struct iovec v = {zeros, sizeof(zeros)};
	int ends[2];

	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC))
		return false;
	while (write(ends[1], zeros, sizeof(zeros)) > 0)
		;
	full_pipe = ends[1];
	return pwritev2(full_pipe, &v, 1, -1, RWF_NOWAIT) < 0 && errno == EAGAIN;
}

int main(void)
{
	Suite *s = suite_create("sampling files and the disk");
	TCase *t = tcase_create("disk");
	int failures;

	if (!mkdtemp(dir))
		return 99;
	snprintf(path, sizeof(path), "%s/file.vfd", dir);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, as_much_waits_as_the_buffer_holds, 0, 6);
	tcase_add_test(t, what_was_refused_goes_out_though_nothing_follows);
	tcase_add_test(t, halves_of_writes_are_continued);
	if (fill_pipe())
		tcase_add_test(t, without_a_thread_for_it_it_is_written_all_the_same);
	else
		puts("# one test less: this kernel knows no RWF_NOWAIT for pipes");
	tcase_add_test(t, a_disk_that_hangs_is_waited_for_once);
	tcase_add_test(t, a_flush_of_thousands_of_tracks_leaves_nothing_out);
	tcase_add_test(t, definitions_outlive_a_time_without_memory);
	tcase_add_test(t, calls_without_their_runs_are_dropped);
	tcase_add_test(t, runs_wait_for_the_disk);
	tcase_add_test(t, what_the_end_leaves_out_is_told);
	tcase_add_loop_test(t, where_it_ends_is_told, 0, 3);
	suite_add_tcase(s, t);
	failures = run_suite(s);
	unlink(path);
	rmdir(dir);
	return failures > 0;
}
