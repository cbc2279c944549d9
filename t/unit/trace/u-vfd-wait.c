/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What collective calls waited, in a sampling file: a frame below the call, from its
 * enter on, that ends before anything else happens in the track; whenever it was told,
 * whatever is filtered, and whatever a damaged file says.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/block.h"
#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/write/writer.h"
#include "t/lib/suite.h"

#define CALLS	  6000u /* in each of two tracks: some blocks of them */
#define STEP	  1000u /* ticks of 1 ns between calls, which take 800 */
#define START	  100u
#define FILE_MOST (1u << 21)

enum { STACK_MAIN = 1, STACK_BCAST, STACK_OTHER, STACK_WAIT };

static char path[64];

/* How long call i waits: nothing, a while, or all of it; of some calls nothing is known. */
static bool waits(unsigned i, uint64_t *length)
{
	*length = i % 5 * 200;
	return i % 7 != 3;
}

static struct vfd_wait wait_of(uint32_t track, uint32_t function, unsigned i)
{
	const uint64_t since = START + (uint64_t)i * STEP;
	struct vfd_wait w = {.track = track, .stack = STACK_BCAST, .function = function};
	uint64_t length;

	waits(i, &length);
	w.start = (int64_t)since;
	w.end = (int64_t)(since + length);
	return w;
}

/* main calls MPI_Bcast again and again, which sometimes calls back at 300. */
static void write_file(uint64_t max_size)
{
	const struct vfd_setup setup = {.path = path,
		.host = "node1",
		.application = "app",
		.start_unix_ns = 1000000000,
		.ns_per_tick = 1,
		.max_size = max_size,
		.buffer_bytes = 16 << 20};
	const struct vfd_process process = {.rank = 0, .executable = "/bin/app"};
	static const char *const names[] = {"main", "MPI_Bcast", "callback", "MPI_Bcast_sync"};
	struct vfd_thread thread = {.creator = VFD_NONE, .name = "app"};
	uint32_t functions[4], number[2];
	struct vfd_track *track[2];
	char *error;
	struct vfd_writer *w = vfd_writer_new(&setup, &error);
	uint64_t length;

	ck_assert_msg(w, "%s", error);
	thread.process = vfd_define_process(w, &process);
	for (int i = 0; i < 4; i++)
		functions[i] = vfd_define_function(w, &(struct vfd_function){.process = VFD_NONE,
							      .kind = VFD_FUNCTION_REGION,
							      .precise = true,
							      .name = names[i]});
	for (uint32_t i = 0; i < 2; i++) {
		thread.number = i;
		track[i] = vfd_track_new(w, &thread);
		number[i] = vfd_track_number(track[i]);
		ck_assert_uint_eq(vfd_stack_new(track[i], 0, functions[0]), STACK_MAIN);
		ck_assert_uint_eq(vfd_stack_new(track[i], 1, functions[1]), STACK_BCAST);
		ck_assert_uint_eq(vfd_stack_new(track[i], 2, functions[2]), STACK_OTHER);
		vfd_enter(track[i], STACK_MAIN, START - 50);
	}
	for (unsigned i = 0; i < 2 * CALLS; i++) {
		const uint64_t since = START + (uint64_t)(i / 2) * STEP;
		struct vfd_track *l = track[i % 2];
		bool entered;

		vfd_enter(l, STACK_BCAST, since);
		entered = vfd_is_entering(l, STACK_BCAST, since);
		if (i / 2 % 3 == 0) {
			vfd_enter(l, STACK_OTHER, since + 300);
			vfd_exit(l, STACK_OTHER, since + 310);
		}
		vfd_exit(l, STACK_BCAST, since + 800);
		/* those of track 1 after its end */
		if (i % 2 == 0 && entered && waits(i / 2, &length)) {
			const struct vfd_wait x = wait_of(number[0], functions[3], i / 2);

			vfd_wait(w, &x);
		}
		if (i % 1000 == 999)
			vfd_writer_flush(w);
	}
	vfd_track_end(track[0], 10000000);
	vfd_track_end(track[1], 10000000);
	for (unsigned i = 0; i < CALLS && !max_size; i++) {
		const struct vfd_wait x = wait_of(number[1], functions[3], i);

		if (waits(i, &length))
			vfd_wait(w, &x);
	}
	ck_assert_int_eq(vfd_writer_close(w, 10000000, 60), 0);
}

static struct vfd_file *open_it(void)
{
	char *error;
	struct vfd_file *f = vfd_open(path, &error);

	ck_assert_msg(f, "%s", error);
	return f;
}

/* Times of a track never go back, frames nest; returns waits and their sum. */
static unsigned balanced(
	struct vfd_file *f, const struct vfd_filter *filter, uint64_t *sum, uint64_t *events)
{
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, filter);
	uint32_t open[2][8], n_open[2] = {0};
	int64_t last[2] = {INT64_MIN, INT64_MIN}, since[2] = {0};
	struct vfd_event e;
	unsigned n = 0;

	*sum = *events = 0;
	while (vfd_next(c, &e)) {
		if (e.kind > VFD_EXIT)
			continue;
		++*events;
		ck_assert_int_ge(e.time, last[e.track]);
		last[e.track] = e.time;
		if (e.kind == VFD_ENTER) {
			ck_assert_uint_lt(n_open[e.track], 8);
			open[e.track][n_open[e.track]++] = e.stack;
			since[e.track] = e.time;
		} else {
			ck_assert_uint_gt(n_open[e.track], 0);
			ck_assert_uint_eq(open[e.track][--n_open[e.track]], e.stack);
		}
		if (e.stack != STACK_WAIT)
			continue;
		if (e.kind == VFD_EXIT) {
			*sum += (uint64_t)(e.time - since[e.track]);
			n++;
		} else {
			ck_assert_uint_eq(open[e.track][n_open[e.track] - 2], STACK_BCAST);
		}
	}
	/* main has no exit of its own */
	ck_assert_uint_eq(n_open[0] + n_open[1], filter->raw ? 2 : 0);
	vfd_cursor_free(c);
	return n;
}

/* What calls [from, to) of one track have. */
static unsigned wanted(unsigned from, unsigned to, uint64_t *sum)
{
	uint64_t length;
	unsigned n = 0;

	*sum = 0;
	for (unsigned i = from; i < to; i++) {
		if (!waits(i, &length))
			continue;
		*sum += i % 3 == 0 && length > 300 ? 300 : length;
		n++;
	}
	return n;
}

START_TEST(frames_below_the_calls)
{
	uint64_t sum, wanted_sum, events;
	struct vfd_filter filter = {.track = VFD_NONE, .raw = _i};
	struct vfd_file *f;
	unsigned n;
	char *stack;

	write_file(0);
	f = open_it();
	n = balanced(f, &filter, &sum, &events);
	ck_assert_uint_eq(n, 2 * wanted(0, CALLS, &wanted_sum));
	ck_assert_uint_eq(sum, 2 * wanted_sum);
	ck_assert_uint_eq(events, vfd_facts(f)->samples + (_i ? 0 : 2));
	ck_assert_uint_eq(vfd_facts(f)->unknown_blocks, 0);
	for (uint32_t track = 0; track < 2; track++) {
		stack = vfd_stack_path(f, track, STACK_WAIT, true);
		ck_assert_str_eq(stack, "MPI_Bcast_sync*<MPI_Bcast*<main*<init");
		free(stack);
	}
	vfd_close(f);
}
END_TEST

/* Windows that begin and end anywhere: also where a call waits. */
START_TEST(windows)
{
	struct vfd_file *f;

	write_file(0);
	f = open_it();
	for (unsigned i = 0; i < 300; i++) {
		const int64_t from = 37 * (int64_t)i * i, to = from + 100 + 211 * (int64_t)i;
		struct vfd_filter filter = {
			.track = i % 2, .from_set = true, .from = from, .to_set = true, .to = to};
		uint64_t sum, got, events, length;

		balanced(f, &filter, &got, &events);
		sum = 0;
		for (unsigned k = 0; k < CALLS; k++) {
			int64_t since = START + (int64_t)k * STEP, until;

			if (!waits(k, &length))
				continue;
			until = since + (int64_t)(k % 3 == 0 && length > 300 ? 300 : length);
			since = since < from ? from : since;
			until = until > to ? to : until;
			sum += until > since ? (uint64_t)(until - since) : 0;
		}
		ck_assert_msg(got == sum, "[%d, %d): %d, wanted %d", (int)from, (int)to, (int)got,
			(int)sum);
	}
	vfd_close(f);
}
END_TEST

START_TEST(what_was_thinned_has_none)
{
	const struct vfd_filter filter = {.track = 0};
	uint64_t sum, wanted_sum, events;
	struct vfd_file *f;
	unsigned n;

	write_file(60000);
	f = open_it();
	ck_assert(vfd_facts(f)->thinned);
	n = balanced(f, &filter, &sum, &events);
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_lt(n, wanted(0, CALLS, &wanted_sum));
	vfd_close(f);
}
END_TEST

/* ---- damage ---------------------------------------------------------------------------- */

static unsigned char *all;
static size_t n_all;

static void read_all(void)
{
	FILE *in = fopen(path, "r");

	all = xmalloc(FILE_MOST);
	n_all = fread(all, 1, FILE_MOST, in);
	fclose(in);
	ck_assert_uint_lt(n_all, FILE_MOST);
}

/* Waits with other bytes and right checksums: the calls are there, nothing else breaks. */
START_TEST(waits_that_make_no_sense)
{
	uint64_t state = (uint64_t)_i + 1;
	struct vfd_file *f;
	char *error;
	unsigned changed = 0;

	write_file(0);
	read_all();
	for (size_t at = 24; at + sizeof(struct vfd_block) <= n_all;) {
		struct vfd_block *b = (struct vfd_block *)(all + at);

		for (uint32_t i = 0; b->kind == VFD_BLOCK_WAITS && i < 1 + b->bytes / 50; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			((unsigned char *)(b + 1))[(state >> 40) % b->bytes] =
				(unsigned char)(state >> 32);
			changed++;
		}
		if (b->kind == VFD_BLOCK_WAITS)
			vfd_block_seal(b);
		at += sizeof(*b) + vfd_padded(b->bytes);
	}
	ck_assert_uint_gt(changed, 100);
	f = vfd_open_bytes(all, n_all, "x", &error);
	ck_assert_msg(f, "%s", error);
	for (int raw = 0; raw < 2; raw++) {
		const struct vfd_filter any = {.track = VFD_NONE, .raw = raw};
		struct vfd_cursor *c;
		struct vfd_event e;
		unsigned calls = 0;

		c = vfd_cursor_new(&f, 1, &any);
		while (vfd_next(c, &e))
			calls += e.kind == VFD_ENTER && e.stack == STACK_BCAST;
		ck_assert_uint_ge(calls, 2 * CALLS);
		vfd_cursor_free(c);
	}
	vfd_close(f);
	free(all);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-wait");
	TCase *t = tcase_create("all");
	int failed;

	program_name = "u-vfd-wait";
	snprintf(path, sizeof(path), "/tmp/u-vfd-wait-%d.vfd", (int)getpid());
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, frames_below_the_calls, 0, 2);
	tcase_add_test(t, windows);
	tcase_add_test(t, what_was_thinned_has_none);
	tcase_add_loop_test(t, waits_that_make_no_sense, 0, 20);
	suite_add_tcase(s, t);
	failed = run_suite(s);
	unlink(path);
	return failed;
}
