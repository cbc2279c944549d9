/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of the time that a thread waited for room in its ring. */
#include <stdio.h>
#include <unistd.h>

#include "nodeagent/replay/sampled.h"
#include "nodeagent/trace/read/file.h"
#include "t/unit/replay/replay-by-hand.h"

/* The last record's time is when the wait began. */
static void blocked(uint64_t waited)
{
	ticks += waited;
	put(0, RECORD_BLOCKED, 0);
	block[used - 3] = RECORD_BLOCKED;
	block[used - 2] = waited;
	block[used - 1] = RECORD_BLOCKED_MARK | ticks;
}

/* It is taken off the frame on top and all around it, and off nothing else. */
START_TEST(a_wait_for_room)
{
	in(A);
	in(B);
	blocked(100);
	out(B);
	in(B);
	out(B);
	blocked(1000);
	in(C);
	out(C);
	out(A);
	blocked(10);
	end();
	expect(AT(A), 1, 7);
	expect(AT(A, B), 2, 2);
	expect(AT(A, C), 1, 1);
	ck_assert_uint_eq(replay_blocked_ticks(r), 1110);
	ck_assert_uint_eq(calltree_root(replay_tree(r))->ticks, ticks - START - 1110);
}
END_TEST

START_TEST(a_wait_in_the_deep)
{
	const unsigned depth = DEPTH_MAX + 50;

	for (unsigned i = 0; i < depth; i++)
		in(F(i));
	blocked(1000);
	for (unsigned i = depth; i-- > 0;)
		out(F(i));
	end();
	expect(AT(F(0)), 1, 2 * depth - 1);
}
END_TEST

START_TEST(a_wait_while_paused)
{
	in(A);
	control(RECORD_PAUSE, 0);
	blocked(70);
	ticks += 100;
	control(RECORD_RESUME, 1 + 1);
	blocked(7);
	out(B);
	out(A);
	end();
	expect(AT(A), 1, 104);
	expect(AT(A, KEY_PAUSE), 1, 101);
}
END_TEST

/* Nobody can have waited for longer than there was time, nor twice at once. */
START_TEST(absurd_waits)
{
	in(A);
	blocked(5);
	block[used - 2] = UINT64_MAX;
	blocked(0);
	block[used - 2] = 5;
	out(A);
	ticks -= 2;
	in(B);
	blocked(0);
	block[used - 2] = 1 << 20;
	block[used - 1] = UINT64_MAX;
	out(B);
	ck_assert_ptr_null(flush());
	replay_end(r, ticks);
	expect(AT(A), 1, 1);
	expect(AT(B), 1, 0);
}
END_TEST

START_TEST(a_wait_that_was_not_stored)
{
	in(A);
	blocked(0);
	block[used - 2] = 1;
	block[used - 1] = 0;
	out(A);
	end();
	expect(AT(A), 1, 1);
	ck_assert_uint_eq(replay_counts(r)->records, 2);
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		block[i] = i ? RECORD_BLOCKED : record_sync_word(ticks);
	block[BLOCK_WORDS - 1] = RECORD_BLOCKED;
	used = 1;
	for (unsigned i = 1; i + 1 < BLOCK_WORDS; i++)
		block[i] = 0;
	ck_assert_str_eq(flush(), "a record crosses the end of its block");
}
END_TEST

/* ---- in the sampling file ------------------------------------------------------------------ */

static const uint64_t keys[] = {A, B, KEY_BLOCKED};

static uint32_t function_of(void *ctx, uint64_t key)
{
	const uint64_t *found = FIND(k, keys, ARRAY_SIZE(keys), *k == key);

	(void)ctx;
	ck_assert_ptr_nonnull(found);
	return (uint32_t)(found - keys);
}

static bool is_precise(void *ctx, uint64_t key)
{
	(void)ctx;
	return key == KEY_BLOCKED;
}

static char path[64];

static struct vfd_writer *begin_file(struct sampled_track *l, uint64_t interval)
{
	static const struct sampled_numbers numbers = {
		.function = function_of, .is_precise = is_precise};
	const struct vfd_setup setup = {
		.path = path, .ns_per_tick = 1, .start_ticks = START, .buffer_bytes = 1 << 20};
	struct vfd_writer *w;
	char *error;

	snprintf(path, sizeof(path), "/tmp/u-replay-blocked-%d.vfd", (int)getpid());
	w = vfd_writer_new(&setup, &error);
	ck_assert_msg(w != NULL, "%s", error);
	vfd_define_process(w, &(struct vfd_process){.executable = "/bin/app"});
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		vfd_define_function(w, &(struct vfd_function){.process = VFD_NONE, .name = "f"});
	*l = (struct sampled_track){.numbers = &numbers,
		.interval = interval,
		.long_call = 2 * interval,
		.window.random = 1};
	l->track = vfd_track_new(w, &(struct vfd_thread){.creator = VFD_NONE});
	replay_set_sampled(r, l);
	return w;
}

static struct vfd_file *end_file(struct vfd_writer *w, struct sampled_track *l)
{
	struct vfd_file *f;
	char *error;

	vfd_track_end(l->track, ticks + 10);
	ck_assert_int_eq(vfd_writer_close(w, ticks + 10, 1), 0);
	map64_free(&l->stacks);
	f = vfd_open(path, &error);
	ck_assert_msg(f != NULL, "%s", error);
	unlink(path);
	return f;
}

/* B called twice; it waits in the first call, and A behind it. */
static struct vfd_file *waits_in_file(uint64_t interval)
{
	struct sampled_track l;
	struct vfd_writer *w = begin_file(&l, interval);

	in(A);
	in(B);
	blocked(100);
	out(B);
	blocked(1000);
	in(B);
	out(B);
	out(A);
	end();
	return end_file(w, &l);
}

/* Sets ns[] to the exclusive times of keys[]; returns the waits. */
static unsigned add_up(struct vfd_file *f, int64_t *ns)
{
	const struct vfd_filter filter = {.track = VFD_NONE};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	uint32_t open[8];
	unsigned n = 0, waits = 0;
	int64_t last = 0;
	struct vfd_event e;
	size_t n_stacks;

	while (vfd_next(c, &e)) {
		if (n)
			ns[open[n - 1]] += e.time - last;
		last = e.time;
		if (e.kind == VFD_EXIT)
			n--;
		if (e.kind != VFD_ENTER)
			continue;
		open[n++] = vfd_stacks(f, e.track, &n_stacks)[e.stack].function;
		waits += keys[open[n - 1]] == KEY_BLOCKED;
	}
	ck_assert_uint_eq(n, 0);
	vfd_cursor_free(c);
	return waits;
}

/* It is a frame of its own below the one that it is taken off, at its time. */
START_TEST(waits_in_sampling_file)
{
	struct vfd_file *f = waits_in_file(0);
	int64_t ns[ARRAY_SIZE(keys)] = {0};

	ck_assert_uint_eq(add_up(f, ns), 2);
	ck_assert_int_eq(ns[0], 3); /* A */
	ck_assert_int_eq(ns[1], 2);
	ck_assert_int_eq(ns[2], 1100);
	vfd_close(f);
}
END_TEST

/* Whatever the interval. */
START_TEST(waits_between_samples)
{
	struct vfd_file *f = waits_in_file(1 << 20);
	int64_t ns[ARRAY_SIZE(keys)] = {0};

	ck_assert_uint_eq(add_up(f, ns), 2);
	ck_assert_int_eq(ns[2], 1100);
	vfd_close(f);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {a_wait_for_room, a_wait_in_the_deep, a_wait_while_paused,
		absurd_waits, a_wait_that_was_not_stored, waits_in_sampling_file,
		waits_between_samples};
	Suite *s = suite_create("replay-blocked");
	TCase *c = tcase_create("replay-blocked");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
