/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is kept in memory stays below its bound, and each file of it has the last events of each
 * track, all that was open before, and every stack.
 */
#include <math.h>
#include <check.h>
#include <unistd.h>

#include "nodeagent/trace/write/keep.h"
#include "t/unit/trace/vfd-by-hand.h"
#include "t/lib/suite.h"

#define BOUND  (1u << 20)
#define EVENTS 600000u

/* For inner loops: Check writes about every assertion to a file. */
#define SURE(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			ck_abort_msg("%s", #what);                                                 \
	} while (0)

static char dir[] = "/tmp/u-vfd-keep.XXXXXX";
static char path[64];

static int64_t ns(uint64_t ticks)
{
	return (int64_t)llrint((double)((int64_t)ticks - HAND_START) / 2);
}

static struct vfd_file *reopen(void)
{
	char *error;
	struct vfd_file *f = vfd_open(path, &error);

	ck_assert_msg(f, "%s", error);
	ck_assert(vfd_facts(f)->closed);
	return f;
}

static void freeze(struct hand *h)
{
	const uint64_t last = hand_last(h);
	const uint64_t even = last + (last & 1);
	char *error;
	uint64_t bytes;

	ck_assert_msg(vfd_freeze_begin(h->w, path, &error), "%s", error);
	while (!vfd_freeze_step(h->w))
		vfd_writer_wait(h->w, 0.01);
	vfd_clock_pair(h->w, even, 5000000000 + (even - HAND_START) / 2);
	ck_assert_int_eq(vfd_freeze_end(h->w, last, 10, &bytes), 0);
	ck_assert_uint_gt(bytes, 500);
	ck_assert_uint_eq(vfd_writer_kept(h->w).not_written, 0);
}

/* Number of recorded events of each track; they are the last ones that were given. */
static void check_last(struct vfd_file *f, const struct hand *h, size_t n[HAND_TRACKS], bool raw)
{
	const struct vfd_filter filter = {.track = VFD_NONE, .raw = raw, .no_messages = true};
	size_t at[HAND_TRACKS] = {0}, n_stacks;

	for (int pass = 0; pass < 2; pass++) {
		struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
		struct vfd_event e;

		while (vfd_next(c, &e)) {
			const struct given *g;

			if (e.track >= HAND_TRACKS || e.implied || e.kind > VFD_EXIT)
				continue;
			if (!pass) {
				at[e.track]++;
				continue;
			}
			g = &h->given[e.track][h->n_given[e.track] - at[e.track]];
			while (g->kind > VFD_EXIT)
				g++, at[e.track]--;
			SURE(e.kind == g->kind && e.stack == g->stack && e.time == ns(g->ticks));
			SURE(vfd_stacks(f, e.track, &n_stacks)[e.stack].function != VFD_NONE);
			at[e.track]--;
		}
		vfd_cursor_free(c);
		for (uint32_t i = 0; i < HAND_TRACKS; i++) {
			if (!pass) {
				n[i] = at[i];
				/* those of calls that were lost are among them */
				for (size_t k = h->n_given[i], left = n[i]; k-- && left;
					left -= h->given[i][k].kind <= VFD_EXIT)
					at[i] += h->given[i][k].kind > VFD_EXIT;
			} else {
				SURE(!at[i]);
			}
		}
	}
}

/* Each exit is of the last enter; those that nobody recorded come first. */
static void check_balance(struct vfd_file *f)
{
	const struct vfd_filter filter = {.track = VFD_NONE, .no_messages = true};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	uint32_t open[HAND_TRACKS + 1][256], n_open[HAND_TRACKS + 1] = {0};
	struct vfd_event e;

	while (vfd_next(c, &e)) {
		SURE(e.kind != VFD_GAP);
		if (e.kind == VFD_ENTER)
			open[e.track][n_open[e.track]++] = e.stack;
		else if (e.kind == VFD_EXIT)
			SURE(n_open[e.track] && open[e.track][--n_open[e.track]] == e.stack);
		SURE(n_open[e.track] < 256);
	}
	vfd_cursor_free(c);
}

static void check_idle(struct vfd_file *f, uint32_t track, uint32_t stack)
{
	const struct vfd_filter filter = {.track = track};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	struct vfd_event e;
	int64_t entered = 0;

	for (uint32_t i = 1; i <= stack; i++) {
		ck_assert(vfd_next(c, &e));
		ck_assert(e.kind == VFD_ENTER && e.implied && e.stack == i);
		entered = e.time;
	}
	ck_assert_str_eq(vfd_stack_name(f, track, stack), "halo");
	ck_assert_int_gt(entered, 0);
	for (uint32_t i = stack; i; i--) {
		ck_assert(vfd_next(c, &e));
		ck_assert(e.kind == VFD_EXIT && e.stack == i);
		ck_assert_int_gt(e.time, entered);
	}
	ck_assert(!vfd_next(c, &e));
	vfd_cursor_free(c);
}

START_TEST(the_last_events_are_in_each_file)
{
	static const uint32_t sizes[] = {0, 1024, 4000};
	const struct vfd_setup s = {
		.keep_bytes = BOUND, .keep_ns = 1000000000000, .block_bytes = sizes[_i]};
	struct vfd_thread t = {.process = 2, .number = 1, .creator = 0, .start = HAND_START};
	struct hand h = {.state = 11};
	struct vfd_track *idle;
	size_t n[HAND_TRACKS], again[HAND_TRACKS];
	uint32_t stack = 0;
	struct vfd_file *f;

	hand_begin(&h, &s);
	idle = vfd_track_new(h.w, &t);
	for (uint32_t i = 0; i < 3; i++) {
		stack = vfd_stack_new(idle, stack, h.functions[i]);
		vfd_enter(idle, stack, HAND_START + i);
	}
	vfd_writer_flush(h.w);
	for (int i = 0; i < 3; i++) {
		hand_run(&h, EVENTS, 400);
		vfd_writer_flush(h.w);
		ck_assert_uint_le(vfd_writer_kept(h.w).most, BOUND);
		freeze(&h);
		f = reopen();
		check_last(f, &h, n, true);
		check_last(f, &h, again, false);
		for (uint32_t k = 0; k < HAND_TRACKS; k++) {
			ck_assert_uint_eq(n[k], again[k]);
			ck_assert_uint_gt(n[k], 10000);
			ck_assert_uint_lt(n[k], h.n_given[k]);
		}
		check_balance(f);
		check_idle(f, HAND_TRACKS, stack);
		ck_assert_str_eq(vfd_function_name(f, h.functions[9]), "MPI_Allreduce");
		ck_assert_uint_gt(vfd_facts(f)->messages, 0);
		vfd_close(f);
	}
	ck_assert_uint_gt(vfd_writer_kept(h.w).pushed_out, 0);
	ck_assert_uint_le(vfd_writer_kept(h.w).most, BOUND);
	printf("# %u bytes are the bound, %llu the most that was taken\n", BOUND,
		(unsigned long long)vfd_writer_kept(h.w).most);
	ck_assert_int_eq(hand_end(&h), 0);
	hand_free(&h);
}
END_TEST

START_TEST(what_is_old_goes)
{
	const struct vfd_setup s = {.keep_bytes = 64 * BOUND, .keep_ns = 1000000};
	struct hand h = {.state = 12};
	size_t n[HAND_TRACKS];
	struct vfd_file *f;

	hand_begin(&h, &s);
	hand_run(&h, EVENTS, 400);
	vfd_writer_flush(h.w);
	usleep(2000);
	hand_run(&h, 50, 400);
	freeze(&h);
	f = reopen();
	check_last(f, &h, n, true);
	for (uint32_t i = 0; i < HAND_TRACKS; i++)
		ck_assert_uint_le(n[i], 50);
	check_balance(f);
	vfd_close(f);
	ck_assert_uint_lt(vfd_writer_kept(h.w).bytes, 1u << 17);
	ck_assert_uint_eq(vfd_writer_kept(h.w).pushed_out, 0);
	ck_assert_int_eq(hand_end(&h), 0);
	hand_free(&h);
}
END_TEST

/* Texts for ever: then nothing more is kept, and that is said. */
START_TEST(definitions_have_a_bound)
{
	const struct vfd_setup s = {.keep_bytes = BOUND, .keep_ns = 1000000000000};
	struct hand h = {.state = 13};
	char name[64];

	hand_begin(&h, &s);
	ck_assert_ptr_null(vfd_writer_trouble(h.w));
	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		vfd_define_function(h.w, &(struct vfd_function){.process = VFD_NONE, .name = name});
	}
	hand_run(&h, 1000, 400);
	vfd_writer_flush(h.w);
	ck_assert_ptr_nonnull(vfd_writer_trouble(h.w));
	ck_assert_uint_le(vfd_writer_kept(h.w).most, BOUND);
	ck_assert_int_eq(hand_end(&h), 0);
	hand_free(&h);
}
END_TEST

START_TEST(a_file_that_cannot_be_made_harms_nothing)
{
	const struct vfd_setup s = {.keep_bytes = BOUND, .keep_ns = 1000000000000};
	struct hand h = {.state = 14};
	char *error;

	hand_begin(&h, &s);
	hand_run(&h, 1000, 400);
	ck_assert(!vfd_freeze_begin(h.w, "/nowhere/at/all.vfd", &error));
	free(error);
	freeze(&h);
	vfd_close(reopen());
	ck_assert_int_eq(hand_end(&h), 0);
	hand_free(&h);
}
END_TEST

static uint32_t enter_main(struct hand *h, uint64_t ticks)
{
	const uint32_t in = vfd_stack_new(h->tracks[0], 0, h->functions[0]);

	vfd_enter(h->tracks[0], in, ticks);
	return vfd_stack_new(h->tracks[0], in, h->functions[3]);
}

static void check_thinned(uint64_t calls)
{
	struct vfd_file *f = reopen();

	ck_assert(vfd_facts(f)->thinned);
	ck_assert_uint_eq(vfd_facts(f)->thinned_calls, calls);
	vfd_close(f);
}

/* Calls that were left out since the last block, or without any. Each file says it. */
START_TEST(short_calls_that_left_nothing_are_counted)
{
	const struct vfd_setup s = {.keep_bytes = BOUND, .keep_ns = 1u << 30, .least_ns = 1000};
	struct hand h = {.state = 5};
	uint64_t ticks = HAND_START;
	uint32_t stack;

	hand_begin(&h, &s);
	stack = enter_main(&h, ticks);
	if (_i) { /* main has a block */
		vfd_enter(h.tracks[0], stack, ticks += 5000);
		vfd_exit(h.tracks[0], stack, ticks += 5000);
	}
	for (unsigned i = 1; i <= 3000; i++) {
		vfd_enter(h.tracks[0], stack, ticks += 10);
		vfd_exit(h.tracks[0], stack, ticks += 10);
		if (i % 1000)
			continue;
		h.ticks[0] = ticks;
		freeze(&h);
		check_thinned(i);
	}
	hand_end(&h);
	hand_free(&h);
}
END_TEST

/* The mark with the least duration stands in the first block, which is gone. */
START_TEST(short_calls_are_told_of_when_the_first_block_is_gone)
{
	const struct vfd_setup s = {.keep_bytes = BOUND, .keep_ns = 1u << 30, .least_ns = 1000};
	struct hand h = {.state = 6};
	uint64_t ticks = HAND_START;
	struct vfd_file *f;
	uint32_t stack;

	hand_begin(&h, &s);
	stack = enter_main(&h, ticks);
	while (!vfd_writer_kept(h.w).pushed_out) {
		vfd_enter(h.tracks[0], stack, ticks += 5000);
		vfd_exit(h.tracks[0], stack, ticks += 5000);
		vfd_enter(h.tracks[0], stack, ticks += 10);
		vfd_exit(h.tracks[0], stack, ticks += 10);
	}
	h.ticks[0] = ticks;
	freeze(&h);
	f = reopen();
	ck_assert(vfd_facts(f)->thinned);
	ck_assert_uint_gt(vfd_facts(f)->thinned_calls, 1000);
	vfd_close(f);
	hand_end(&h);
	hand_free(&h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-keep");
	TCase *t = tcase_create("all");
	int failed;

	if (!mkdtemp(dir))
		return 99;
	snprintf(path, sizeof(path), "%s/a.vfd", dir);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, the_last_events_are_in_each_file, 0, 3);
	tcase_add_test(t, what_is_old_goes);
	tcase_add_loop_test(t, short_calls_that_left_nothing_are_counted, 0, 2);
	tcase_add_test(t, short_calls_are_told_of_when_the_first_block_is_gone);
	tcase_add_test(t, definitions_have_a_bound);
	tcase_add_test(t, a_file_that_cannot_be_made_harms_nothing);
	suite_add_tcase(s, t);
	failed = run_suite(s);
	unlink(path);
	rmdir(dir);
	return failed;
}
