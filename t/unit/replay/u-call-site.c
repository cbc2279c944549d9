/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From where MPI functions are called: the frames around them, whatever ends them, and records that
 * no sane program stores.
 */
#include <stdio.h>
#include <unistd.h>

#include "nodeagent/replay/sampled.h"
#include "nodeagent/trace/read/file.h"
#include "t/unit/replay/replay-by-hand.h"

#define SEND	   (RECORD_ID_MPI + 2)
#define RECEIVE	   (RECORD_ID_MPI + 3)
#define FROM(n)	   (KEY_SITE | (0x7f0000000000u + (n)))
#define ADDRESS(n) (0x7f0000000001u + (n)) /* behind the call */

static void from(uint32_t function, unsigned n)
{
	control(RECORD_CALL_SITE, call_site_word(function - RECORD_ID_MPI, ADDRESS(n)));
}

static void once_from(uint32_t function, unsigned n)
{
	control(RECORD_CALL_SITE,
		CALL_SITE_ONCE | call_site_word(function - RECORD_ID_MPI, ADDRESS(n)));
}

/* A word has the place of the last record of its function. */
START_TEST(calls_have_their_places)
{
	from(SEND, 1);
	out(SEND);
	from(RECEIVE, 2);
	out(RECEIVE);
	in(SEND);
	out(SEND);
	in(RECEIVE);
	out(RECEIVE);
	from(SEND, 3);
	out(SEND);
	in(RECEIVE);
	out(RECEIVE);
	in(SEND);
	out(SEND);
	in(A);
	in(SEND);
	out(SEND);
	out(A);
	end();
	expect(AT(FROM(1)), 2, 2);
	expect(AT(FROM(1), SEND), 2, 2);
	expect(AT(FROM(2), RECEIVE), 3, 3);
	expect(AT(FROM(3), SEND), 2, 2);
	expect(AT(A, FROM(3), SEND), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->calls, 9);
	ck_assert_uint_eq(replay_counts(r)->records, 18);
	ck_assert_uint_eq(replay_counts(r)->stray + replay_counts(r)->closed, 0);
}
END_TEST

/* Before the first record of a function its calls have none. */
START_TEST(a_call_before_has_none)
{
	in(SEND);
	out(SEND);
	in(RECEIVE);
	out(RECEIVE);
	from(SEND, 1);
	out(SEND);
	in(RECEIVE);
	out(RECEIVE);
	end();
	expect(AT(SEND), 1, 1);
	expect(AT(RECEIVE), 2, 2);
	expect(AT(FROM(1), SEND), 1, 1);
}
END_TEST

/* A callback's call, which may be the same function, leaves the place of the outer one. */
START_TEST(calls_within_calls)
{
	from(SEND, 1);
	once_from(SEND, 2);
	out(SEND);
	out(SEND);
	in(SEND);
	out(SEND);
	end();
	expect(AT(FROM(1), SEND), 2, 4);
	expect(AT(FROM(1), SEND, FROM(2), SEND), 1, 1);
}
END_TEST

/* However the call ends, the frame of its place ends with it. */
START_TEST(all_ends)
{
	in(A);
	from(SEND, 1);
	out(A); /* by a jump that we were not told of */
	in(A);
	in(SEND);
	site_key = A;
	site_address = 0x1234;
	control(RECORD_SITE, 0x1234);
	in(SEND);
	control(RECORD_CLOSE, 1);
	in(B);
	in(SEND);
	control(RECORD_CLOSE, 2);
	in(C);
	out(C);
	out(A);
	in(SEND);
	end();
	expect(AT(A, FROM(1), SEND), 3, 3);
	expect(AT(A, B, FROM(1), SEND), 1, 1);
	ck_assert_uint_eq(AT(A, C)->calls, 1);
	ck_assert_uint_eq(AT(FROM(1), SEND)->calls, 1);
	ck_assert_uint_eq(replay_counts(r)->closed, 2);
	ck_assert_uint_eq(replay_counts(r)->open, 1);
}
END_TEST

START_TEST(pauses)
{
	from(SEND, 1);
	control(RECORD_PAUSE, 0);
	out(SEND);
	control(RECORD_RESUME, 1);
	in(SEND);
	out(SEND);
	control(RECORD_PAUSE, 0);
	from(SEND, 2); /* recording goes on without a word */
	out(SEND);
	end();
	expect(AT(FROM(1), SEND), 2, 3);
	expect(AT(FROM(2), SEND), 1, 1);
	ck_assert_uint_eq(AT(FROM(1), SEND, KEY_PAUSE)->calls, 1);
}
END_TEST

/* Its producer was killed: neither the place nor the call is there. */
START_TEST(a_record_that_was_not_completed)
{
	from(SEND, 1);
	out(SEND);
	control(RECORD_CALL_SITE, 0);
	in(SEND);
	out(SEND);
	end();
	expect(AT(FROM(1), SEND), 2, 2);
	ck_assert_uint_eq(calltree_nodes(replay_tree(r)), 3);
}
END_TEST

START_TEST(records_of_no_function)
{
	control(RECORD_CALL_SITE, CALL_SITE_MARK | (uint64_t)0xfff << CALL_SITE_SHIFT | 1);
	ck_assert_ptr_nonnull(flush());
}
END_TEST

START_TEST(records_that_are_none)
{
	control(RECORD_CALL_SITE, ADDRESS(1));
	ck_assert_ptr_nonnull(flush());
}
END_TEST

/* Below DEPTH_MAX there are no places, and above it there are again. */
START_TEST(deep_calls)
{
	for (unsigned i = 0; i < DEPTH_MAX + 10; i++)
		in(F(i));
	from(SEND, 1);
	out(SEND);
	in(SEND);
	out(SEND);
	for (unsigned i = DEPTH_MAX + 10; i--;)
		out(F(i));
	in(SEND);
	out(SEND);
	end();
	expect(AT(FROM(1), SEND), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->calls, DEPTH_MAX + 10 + 3);
	ck_assert_uint_eq(replay_counts(r)->stray + replay_counts(r)->closed, 0);
}
END_TEST

/* Many places: where all paths of the thread are one, calls are still counted. */
START_TEST(more_places_than_paths)
{
	for (unsigned i = 0; i < NODES_MAX / 2 + 1000; i++) {
		from(SEND, i);
		out(SEND);
		in(SEND);
		out(SEND);
	}
	in(A);
	out(A);
	end();
	ck_assert_uint_eq(replay_counts(r)->calls, 2 * (NODES_MAX / 2 + 1000) + 1);
	ck_assert_uint_eq(replay_counts(r)->stray + replay_counts(r)->closed, 0);
	ck_assert_uint_eq(replay_counts(r)->open, 0);
}
END_TEST

static uint32_t any_function(void *writer, uint64_t key)
{
	return vfd_define_function(writer, &(struct vfd_function){.process = VFD_NONE,
						   .kind = VFD_FUNCTION_REGION,
						   .name = key == KEY_OVERFLOW ? "many" : "one"});
}

static bool always(void *writer, uint64_t key)
{
	(void)writer, (void)key;
	return true;
}

/* Frames of a sampling file nest, and end; returns how many there are. */
static uint64_t balanced_frames(const char *path)
{
	const struct vfd_filter filter = {.raw = true};
	char *error;
	struct vfd_file *f = vfd_open(path, &error);
	struct vfd_cursor *c;
	struct vfd_event e;
	uint32_t open[8], n_open = 0;
	uint64_t n = 0;

	ck_assert_msg(f, "%s", error);
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e))
		if (e.kind == VFD_ENTER) {
			ck_assert_uint_lt(n_open, 8);
			open[n_open++] = e.stack;
			n++;
		} else if (e.kind == VFD_EXIT) {
			ck_assert_uint_gt(n_open, 0);
			ck_assert_uint_eq(open[--n_open], e.stack);
		}
	ck_assert_uint_le(n_open, 1); /* that of the thread */
	vfd_cursor_free(c);
	vfd_close(f);
	return n;
}

/* The same with a sampling file: a place that has no path is no frame there. */
START_TEST(more_places_than_paths_in_a_file)
{
	const struct sampled_numbers numbers = {.function = any_function, .is_precise = always};
	const struct vfd_process process = {.rank = 0, .executable = "/bin/app"};
	const struct vfd_thread thread = {.creator = VFD_NONE, .name = "app"};
	char path[64], *error;
	const struct vfd_setup setup = {.path = path,
		.host = "node1",
		.application = "app",
		.ns_per_tick = 1,
		.buffer_bytes = 16 << 20};
	struct sampled_track l = {.numbers = &numbers};

	snprintf(path, sizeof(path), "/tmp/u-call-site-%d.vfd", (int)getpid());
	l.ctx = vfd_writer_new(&setup, &error);
	ck_assert_msg(l.ctx, "%s", error);
	vfd_define_process(l.ctx, &process);
	l.track = vfd_track_new(l.ctx, &thread);
	for (unsigned i = 0; i < NODES_MAX / 2; i++) {
		from(SEND, i);
		out(SEND);
	}
	ck_assert_ptr_null(flush());
	replay_set_sampled(r, &l);
	for (unsigned i = NODES_MAX / 2 - 2; i < NODES_MAX / 2 + 100; i++) {
		from(SEND, i);
		out(SEND);
	}
	end();
	vfd_track_end(l.track, ticks);
	ck_assert_int_eq(vfd_writer_close(l.ctx, ticks, 60), 0);
	ck_assert_uint_gt(balanced_frames(path), 100);
	map64_free(&l.stacks);
	unlink(path);
}
END_TEST

/* A child of fork() goes on in the frames of its parent. */
START_TEST(inherited_frames)
{
	replay_inherit(r, (const uint64_t[]){SEND, FROM(1), A}, 3, ticks);
	out(SEND);
	in(SEND);
	out(SEND);
	out(A);
	end();
	ck_assert_ptr_nonnull(AT(A, FROM(1), SEND));
	expect(AT(A, SEND), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->stray + replay_counts(r)->closed, 0);
}
END_TEST

/* A word has the place of the last record; what was there may have been unloaded since. */
START_TEST(another_library_is_there)
{
	const struct replay_epoch second = {.epoch = 1, .bytes = 0x1000};

	from(SEND, 1);
	out(SEND);
	in(SEND);
	out(SEND);
	ck_assert_ptr_null(flush());
	in(SEND);
	out(SEND);
	ck_assert_ptr_null(replay_block(r, block, 0, BLOCK_WORDS, &second, NOW));
	used = 0;
	end();
	expect(AT(FROM(1), SEND), 2, 2);
	expect(AT(FROM(1) | (uint64_t)1 << KEY_WIDE_EPOCH_SHIFT, SEND), 1, 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {calls_have_their_places, a_call_before_has_none,
		calls_within_calls, all_ends, pauses, a_record_that_was_not_completed,
		records_of_no_function, records_that_are_none, deep_calls, more_places_than_paths,
		more_places_than_paths_in_a_file, inherited_frames, another_library_is_there};
	Suite *s = suite_create("call-site");
	TCase *c = tcase_create("call-site");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 120);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
