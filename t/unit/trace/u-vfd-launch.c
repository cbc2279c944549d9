/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches in sampling files: both ends of each stand right before the calls that
 * they are of; what a filter does not want, and what was thinned, is not there; and
 * damage, or a kind of block that a later version writes, is no harm.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/block.h"
#include "nodeagent/trace/dump/text.h"
#include "nodeagent/trace/records.h"
#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/write/writer.h"
#include "t/lib/suite.h"

#define LAUNCHES  9000u /* some blocks of them */
#define STEP	  100u	/* ticks of 1 ns */
#define FILE_MOST (1u << 20)

static char path[64];
static unsigned written, left_out;

static uint64_t start_of(unsigned i)
{
	/* in order in the stream; the first ones seem to be earlier than their calls */
	return 400 + (uint64_t)i * (STEP - 1);
}

/* A thread whose calls last 40 ns each start something that lasts 50 ns. */
static void write_file(uint64_t max_size)
{
	const struct vfd_setup setup = {.path = path,
		.host = "node1",
		.application = "app",
		.start_unix_ns = 1000000000,
		.start_ticks = 0,
		.ns_per_tick = 1,
		.max_size = max_size,
		.buffer_bytes = 16 << 20};
	const struct vfd_process process = {.rank = -1, .executable = "/bin/app"};
	struct vfd_function call = {
		.process = VFD_NONE, .kind = VFD_FUNCTION_REGION, .name = "call"};
	struct vfd_function kernel = {.process = VFD_NONE, .kind = VFD_FUNCTION_OTHER, .name = "k"};
	struct vfd_thread thread = {.creator = VFD_NONE, .name = "app"};
	char *error;
	struct vfd_writer *w = vfd_writer_new(&setup, &error);
	struct vfd_track *track, *stream;
	uint32_t here, there;

	ck_assert_msg(w, "%s", error);
	thread.process = vfd_define_process(w, &process);
	track = vfd_track_new(w, &thread);
	thread.number = VFD_THREAD_STREAM;
	stream = vfd_track_new(w, &thread);
	here = vfd_stack_new(track, 0, vfd_define_function(w, &call));
	there = vfd_stack_new(stream, 0, vfd_define_function(w, &kernel));
	written = left_out = 0;
	for (unsigned i = 0; i < LAUNCHES; i++) {
		const uint64_t time = 1000 + (uint64_t)i * STEP, start = start_of(i);
		struct vfd_launch l = {.kind = i % VFD_LAUNCH_KINDS,
			.track = vfd_track_number(track),
			.stack = here,
			.time = (int64_t)time,
			.to_track = vfd_track_number(stream),
			.to_stack = there,
			.start = (int64_t)start,
			.bytes = (uint64_t)i << i % 50};
		bool both;

		vfd_enter(track, here, time);
		both = vfd_is_entering(track, here, time);
		ck_assert(!vfd_is_entering(track, here, time + 1));
		ck_assert(!vfd_is_entering(stream, there, start));
		vfd_enter(stream, there, start);
		both &= vfd_is_entering(stream, there, start);
		vfd_exit(track, here, time + 40);
		ck_assert(!vfd_is_entering(track, here, time + 40));
		vfd_exit(stream, there, start + 50);
		if (both)
			vfd_launch(w, &l);
		written += both;
		left_out += !both;
		if (i % 1000 == 999)
			vfd_writer_flush(w);
	}
	vfd_track_end(track, 2000000);
	vfd_track_end(stream, 2000000);
	ck_assert_int_eq(vfd_writer_close(w, 2000000, 60), 0);
}

static struct vfd_file *open_it(void)
{
	char *error;
	struct vfd_file *f = vfd_open(path, &error);

	ck_assert_msg(f, "%s", error);
	return f;
}

static unsigned ends(struct vfd_file *f, const struct vfd_filter *filter)
{
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, filter);
	struct vfd_event e;
	unsigned n = 0;

	while (vfd_next(c, &e))
		n += e.kind == VFD_LAUNCH || e.kind == VFD_STARTED;
	vfd_cursor_free(c);
	return n;
}

START_TEST(both_ends_stand_before_their_calls)
{
	struct vfd_event e, before[2] = {{.time = -1}, {.time = -1}};
	unsigned n[2] = {0};
	struct vfd_cursor *c;
	struct vfd_file *f;

	write_file(0);
	ck_assert_uint_eq(left_out, 0);
	f = open_it();
	ck_assert_uint_eq(vfd_facts(f)->launches, LAUNCHES);
	ck_assert_uint_eq(vfd_facts(f)->unknown_blocks, 0);
	c = vfd_cursor_new(&f, 1, &(struct vfd_filter){.track = VFD_NONE, .raw = _i});
	while (vfd_next(c, &e)) {
		const struct vfd_event *last = &before[e.track];

		if (e.kind == VFD_ENTER) {
			ck_assert_int_eq(last->kind, e.track ? VFD_STARTED : VFD_LAUNCH);
			ck_assert_int_eq(last->time, e.time);
			ck_assert_uint_eq(last->stack, e.stack);
		} else if (e.kind == VFD_LAUNCH || e.kind == VFD_STARTED) {
			const struct vfd_launch *l = e.launch;
			const uint64_t i = l->id - 1;

			ck_assert_uint_eq(i, n[e.track]++);
			ck_assert_uint_eq(l->kind, i % VFD_LAUNCH_KINDS);
			ck_assert_uint_eq(l->bytes, i << i % 50);
			ck_assert_uint_eq((uint64_t)l->time, 1000 + i * STEP);
			ck_assert_uint_eq((uint64_t)l->start, start_of((unsigned)i));
			ck_assert_int_eq(e.time, e.track ? l->start : l->time);
		}
		before[e.track] = e;
		before[e.track].launch = NULL;
	}
	vfd_cursor_free(c);
	ck_assert_uint_eq(n[0], LAUNCHES);
	ck_assert_uint_eq(n[1], LAUNCHES);
	vfd_close(f);
}
END_TEST

START_TEST(filters_want_both_ends)
{
	struct vfd_filter filter = {.track = 0};
	struct vfd_file *f;

	write_file(0);
	f = open_it();
	ck_assert_uint_eq(ends(f, &filter), 0);
	filter = (struct vfd_filter){.track = VFD_NONE, .no_messages = true};
	ck_assert_uint_eq(ends(f, &filter), 0);
	filter = (struct vfd_filter){.track = VFD_NONE, .ranks = "0"};
	ck_assert_uint_eq(ends(f, &filter), 0);
	filter = (struct vfd_filter){.track = VFD_NONE, .no_samples = true};
	ck_assert_uint_eq(ends(f, &filter), 2 * LAUNCHES);
	/* calls from 1000 to 1900; what they start began at 400, 499 .. 1291 */
	filter = (struct vfd_filter){.track = VFD_NONE, .to_set = true, .to = 1901};
	ck_assert_uint_eq(ends(f, &filter), 2 * 10);
	filter.from_set = true;
	filter.from = 1000;
	ck_assert_uint_eq(ends(f, &filter), 2 * 3);
	vfd_close(f);
}
END_TEST

START_TEST(what_was_thinned_has_none)
{
	struct vfd_file *f;

	write_file(60000);
	ck_assert_uint_gt(written, 100);
	ck_assert_uint_gt(left_out, 100);
	f = open_it();
	ck_assert(vfd_facts(f)->thinned);
	ck_assert_uint_le(vfd_facts(f)->launches, written);
	ck_assert_uint_gt(vfd_facts(f)->launches, 100);
	vfd_close(f);
}
END_TEST

/* Calls fn for each block of the file; then their checksums are right again. */
static unsigned char *changed(
	size_t *bytes, void (*fn)(struct vfd_block *b, unsigned char *payload))
{
	unsigned char *all = malloc(FILE_MOST);
	size_t at = sizeof(struct vfd_preamble);
	FILE *from = fopen(path, "r");

	ck_assert(all && from);
	*bytes = fread(all, 1, FILE_MOST, from);
	fclose(from);
	while (at + sizeof(struct vfd_block) <= *bytes) {
		struct vfd_block b;

		memcpy(&b, all + at, sizeof(b));
		fn(&b, all + at + sizeof(b));
		b.crc = 0;
		memcpy(all + at, &b, sizeof(b));
		b.crc = vfd_crc(0, all + at, sizeof(b) + vfd_padded(b.bytes));
		memcpy(all + at, &b, sizeof(b));
		at += sizeof(b) + vfd_padded(b.bytes);
	}
	return all;
}

static void to_later(struct vfd_block *b, unsigned char *payload)
{
	if (b->kind == VFD_BLOCK_LAUNCHES)
		b->kind = VFD_BLOCK_KINDS + 7;
}

START_TEST(kinds_of_a_later_version_are_said)
{
	unsigned char *all;
	char *error, *text = NULL;
	struct vfd_file *f;
	size_t bytes, n;
	FILE *to;

	write_file(0);
	all = changed(&bytes, to_later);
	f = vfd_open_bytes(all, bytes, "x", &error);
	ck_assert_ptr_nonnull(f);
	vfd_damage(f, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_gt(vfd_facts(f)->unknown_blocks, 1);
	ck_assert_uint_eq(ends(f, NULL), 0);
	to = open_memstream(&text, &n);
	vfd_dump_text(f, &(struct vfd_dump){.brief = true}, to);
	fclose(to);
	ck_assert_ptr_nonnull(strstr(text, "blocks of kinds that this vftr does not know"));
	free(text);
	vfd_close(f);
	free(all);
}
END_TEST

static unsigned seed;

static void spoil(struct vfd_block *b, unsigned char *payload)
{
	if (b->kind != VFD_BLOCK_LAUNCHES)
		return;
	for (unsigned i = 0; i < 20; i++)
		payload[(unsigned)rand() % b->bytes] = (unsigned char)rand();
	if (seed % 5 == 0)
		b->records = UINT32_MAX;
	if (seed % 7 == 0)
		b->time = (uint64_t)rand() << 33;
}

START_TEST(nonsense_is_no_harm)
{
	write_file(0);
	for (seed = 1; seed < 20; seed++) {
		struct vfd_event e;
		struct vfd_cursor *c;
		struct vfd_file *f;
		unsigned char *all;
		int64_t last = INT64_MIN;
		size_t bytes, n;
		char *error;

		srand(seed);
		all = changed(&bytes, spoil);
		f = vfd_open_bytes(all, bytes, "x", &error);
		ck_assert_ptr_nonnull(f);
		c = vfd_cursor_new(&f, 1, NULL);
		while (vfd_next(c, &e)) {
			ck_assert(vfd_stacks(f, e.track, &n) && e.stack < n);
			ck_assert_int_ge(e.time, last);
			last = e.time;
			if (e.launch)
				ck_assert_int_lt(e.launch->kind, VFD_LAUNCH_KINDS);
		}
		vfd_cursor_free(c);
		vfd_close(f);
		free(all);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-launch");
	TCase *tc = tcase_create("launches");
	int failed;

	snprintf(path, sizeof(path), "/tmp/vftr-launch.%d.vfd", (int)getpid());
	tcase_add_loop_test(tc, both_ends_stand_before_their_calls, 0, 2);
	tcase_add_test(tc, filters_want_both_ends);
	tcase_add_test(tc, what_was_thinned_has_none);
	tcase_add_test(tc, kinds_of_a_later_version_are_said);
	tcase_add_test(tc, nonsense_is_no_harm);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	failed = run_suite(s);
	unlink(path);
	return failed;
}
