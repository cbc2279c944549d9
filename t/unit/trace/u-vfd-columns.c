/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of blocks of samples: times come back to the tick from all codes, runs of events as they
 * were given; what makes no sense is refused. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/block.h"
#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/format.h"
#include "nodeagent/trace/time-column.h"
#include "nodeagent/trace/varint.h"
#include "nodeagent/trace/write/keep.h"
#include "t/lib/suite.h"

#define AFTER 7u /* differences behind the last one: time-column.h */

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % n);
}

/* ---- times --------------------------------------------------------------------------------- */

static uint32_t differences[TIMES_MOST + AFTER];

/* Bytes of the column; all codes make the same one, and it has what was given. */
static size_t column_of(size_t n)
{
	static unsigned char column[TIME_COLUMN_ROOM(TIMES_MOST)], other[sizeof(column)];
	const struct time_coding c = time_coding_choose(differences, n);
	unsigned char *end = time_column_put(column, differences, n, &c);
	struct varint_reader r = {column, end, false};
	struct time_column t;
	time_coder *coder;

	for (unsigned i = 0; (coder = time_coder_at(i)); i++) {
		ck_assert_int_eq(
			time_column_put_by(coder, other, differences, n, &c) - other, end - column);
		ck_assert_mem_eq(other, column, (size_t)(end - column));
	}
	ck_assert(time_column_begin(&t, &r, n));
	for (size_t i = 0; i < n; i++) {
		const uint64_t d = time_column_next(&t);

		ck_assert_msg(d == differences[i], "%zu: %lu, not %u", i, d, differences[i]);
	}
	ck_assert(!t.others.bad && t.others.at == t.others.end);
	return (size_t)(end - column);
}

START_TEST(times_come_back)
{
	for (state = 1; state < 1500; state++) {
		const uint64_t seed = state;
		const size_t n = 1 + below(below(4) ? 300 : TIMES_MOST);
		const uint32_t granule = 1 + below(60), spread = 1 + below(1 + below(600));
		const uint32_t from = below(3) ? 0 : below(1000), wild = 1 + below(100);

		for (size_t i = 0; i < n + AFTER; i++) {
			differences[i] = granule * (from + below(spread));
			if (!below(wild))
				differences[i] = below(UINT32_MAX) >> below(32);
		}
		column_of(n);
		state = seed;
	}
}
END_TEST

/* n differences, most one granule, some two, few any number up to 100. */
static void draw_steps(uint32_t granule, size_t n)
{
	for (size_t i = 0; i < n + AFTER; i++) {
		const uint32_t which = below(100);

		differences[i] = granule * (which < 86 ? 1 : which < 97 ? 2 : 3 + below(98));
	}
}

/* A clock that steps needs 2 or 3 bits for an event, whatever its granule is; one that has each
 * tick no more than its jitter. */
START_TEST(times_are_short)
{
	static const uint32_t granules[] = {1, 2, 21, 26, 32, 40, 1000};

	state = 1;
	EACH(const uint32_t, granule, granules, ARRAY_SIZE(granules)) {
		draw_steps(*granule, TIMES_MOST);
		ck_assert_uint_lt(column_of(TIMES_MOST), TIMES_MOST * 32 / 100);
	}
	for (size_t i = 0; i < TIMES_MOST; i++)
		differences[i] = 100 + below(60);
	ck_assert_uint_lt(column_of(TIMES_MOST), TIMES_MOST * 78 / 100);
}
END_TEST

START_TEST(impossible_times_are_refused)
{
	static unsigned char bytes[100];
	struct time_column t;

	for (uint32_t bits = 0; bits < 12; bits++)
		for (size_t n = 0; n < 100; n += 9) {
			unsigned char *end = varint_put(varint_put(varint_put(bytes, 1), 5), bits);
			struct varint_reader r = {bytes, bytes + sizeof(bytes), false};
			const size_t left = sizeof(bytes) - (size_t)(end - bytes);

			ck_assert_int_eq(time_column_begin(&t, &r, n),
				bits && bits <= TIME_BITS_MOST && (n + 7) / 8 * bits <= left);
		}
	/* no difference stands behind the codes that say so */
	memset(varint_put(varint_put(varint_put(bytes, 1), 5), 1), 0xff, 8);
	ck_assert(time_column_begin(&t, &(struct varint_reader){bytes, bytes + 4, false}, 8));
	ck_assert_uint_eq(time_column_next(&t), 0);
	ck_assert(t.others.bad);
}
END_TEST

/* ---- runs ---------------------------------------------------------------------------------- */

#define STACKS 40u
#define RUNS   50u
#define EVENTS 60000u

static char path[64];

/* A tree of stacks below the root, whose callers have smaller numbers. */
static uint32_t caller_of[STACKS];

static struct run {
	uint32_t number, from, n;
	uint32_t stacks[VFD_RUN_MOST], after[VFD_RUN_MOST]; /* after: innermost then */
} runs[RUNS];
static uint32_t n_runs;

static struct event {
	uint32_t stack; /* entered or left */
	bool exit;
	uint64_t ticks;
} given[EVENTS + VFD_RUN_MOST];
static size_t n_given;
static uint32_t current; /* innermost open stack */
static uint64_t ticks;

static uint64_t keep_bytes; /* 0: straight into a file */

static struct vfd_writer *begin_file(struct vfd_track **l, uint32_t block_bytes)
{
	const struct vfd_setup setup = {.path = path,
		.ns_per_tick = 1,
		.block_bytes = block_bytes,
		.keep_bytes = keep_bytes,
		.keep_ns = (uint64_t)1 << 40};
	const struct vfd_function f = {.process = VFD_NONE, .name = "f"};
	struct vfd_writer *w;
	char *error;

	snprintf(path, sizeof(path), "/tmp/u-vfd-columns-%d.vfd", (int)getpid());
	w = vfd_writer_new(&setup, &error);
	ck_assert_msg(w, "%s", error);
	vfd_define_function(w, &f);
	vfd_define_process(w, &(struct vfd_process){.executable = "/bin/app"});
	*l = vfd_track_new(w, &(struct vfd_thread){.creator = VFD_NONE});
	for (uint32_t i = 1; i < STACKS; i++) {
		caller_of[i] = below(i);
		vfd_stack_new(*l, caller_of[i], 0);
	}
	n_given = n_runs = current = 0;
	ticks = 1000;
	return w;
}

/* A stack that `from' may call, or 0: an exit, if it is not the root. */
static uint32_t some_event(uint32_t from)
{
	for (int i = 0; i < 20; i++) {
		const uint32_t stack = 1 + below(STACKS - 1);

		if (caller_of[stack] == from)
			return stack;
	}
	return 0;
}

static void make_run(struct vfd_track *l)
{
	struct run *run = &runs[n_runs];
	uint32_t top = current;

	run->from = current;
	run->n = 0;
	for (uint32_t n = 8 + below(VFD_RUN_MOST - 7); run->n < n; run->n++) {
		const uint32_t stack = some_event(top);

		if (!stack && !top)
			break;
		top = stack ? stack : caller_of[top];
		run->stacks[run->n] = stack;
		run->after[run->n] = top;
	}
	if (run->n < 2)
		return;
	if (vfd_run_waits(l))
		return;
	run->number = vfd_run_new(l, run->from, run->stacks, run->n);
	/* where little is kept there is no room for them */
	if (run->number == VFD_NONE && keep_bytes && keep_bytes < 1 << 17)
		return;
	ck_assert_uint_eq(run->number, ++n_runs);
}

static uint64_t pass_time(void)
{
	return ticks += below(2000) ? 21 * (1 + below(3)) : (uint64_t)below(3) << 32;
}

static void give(uint32_t stack, uint64_t time)
{
	const bool exit = !stack;

	given[n_given++] = (struct event){exit ? current : stack, exit, time};
	current = exit ? caller_of[current] : stack;
}

static void put_one(struct vfd_track *l, uint32_t stack, uint64_t time)
{
	if (stack)
		vfd_enter(l, stack, time);
	else
		vfd_exit(l, current, time);
	give(stack, time);
}

/* Events [first, n) of a run. False: the writer does not take them as such. */
static bool put_part(struct vfd_track *l, const struct run *run, unsigned first, unsigned n)
{
	const uint64_t first_time = pass_time();
	uint32_t *to = vfd_put_run(l, run->number, current, first, n - first, first_time);
	uint64_t before = l->units;

	for (unsigned i = first; i < n; i++) {
		const uint64_t time = i == first ? first_time : (ticks += 21 * (1 + below(4)));

		if (!to) {
			put_one(l, run->stacks[i], time);
			continue;
		}
		to[i - first] = (uint32_t)(time - before);
		before = time;
		give(run->stacks[i], time);
	}
	if (to)
		vfd_put_run_done(l, current, n - first, ticks);
	return to;
}

static unsigned put_run(struct vfd_track *l, const struct run *run)
{
	const unsigned n = below(3) ? run->n : 1 + below(run->n), part = 1 + below(n);
	unsigned taken = put_part(l, run, 0, part);

	if (part < n)
		taken += put_part(l, run, part, n);
	return taken;
}

static void write_kept(struct vfd_writer *w)
{
	uint64_t n;
	char *error;

	ck_assert_msg(vfd_freeze_begin(w, path, &error), "%s", error);
	while (!vfd_freeze_step(w))
		vfd_writer_wait(w, 0.01);
	ck_assert_int_eq(vfd_freeze_end(w, ticks, 10, &n), 0);
}

/* Returns the number of parts of runs that were taken as such. */
static unsigned write_file(uint64_t seed, uint32_t block_bytes)
{
	struct vfd_track *l;
	struct vfd_writer *w;
	unsigned taken = 0;

	state = seed;
	w = begin_file(&l, block_bytes);
	while (n_given < EVENTS) {
		const struct run *run = &runs[below(RUNS)];
		uint32_t stack;

		if (run < runs + n_runs && run->from == current) {
			taken += put_run(l, run);
			continue;
		}
		if (n_runs < RUNS && !below(20) && some_event(current)) {
			make_run(l);
			continue;
		}
		stack = some_event(current);
		if (stack || current)
			put_one(l, stack, pass_time());
	}
	if (keep_bytes)
		write_kept(w);
	ck_assert_int_eq(vfd_writer_close(w, ticks, 10), 0);
	return taken;
}

/* The file has what was given, from event n of it on. Returns the number of that behind the last
 * one. */
static size_t check_events_from(struct vfd_file *f, size_t n)
{
	const struct vfd_filter filter = {.track = VFD_NONE, .raw = true};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	struct vfd_event e;

	while (vfd_next(c, &e)) {
		const struct event *g = &given[n];

		if (e.kind == VFD_GAP)
			continue;
		ck_assert_uint_lt(n++, n_given);
		ck_assert_msg(e.stack == g->stack && (e.kind == VFD_EXIT) == g->exit &&
				      e.time == (int64_t)g->ticks,
			"%zu: stack %u, not %u, time %ld, not %lu", n - 1, e.stack, g->stack,
			e.time, g->ticks);
	}
	vfd_cursor_free(c);
	return n;
}

static size_t check_events(struct vfd_file *f)
{
	return check_events_from(f, 0);
}

/* Returns their number. */
static size_t check_last_events(struct vfd_file *f)
{
	const size_t n = vfd_facts(f)->samples;

	ck_assert_uint_eq(check_events_from(f, n_given - n), n_given);
	return n;
}

START_TEST(runs_come_back)
{
	static const uint32_t blocks[] = {0, 1024, 5000};

	for (uint64_t seed = 1; seed < 13; seed++) {
		const unsigned taken = write_file(seed, blocks[seed % ARRAY_SIZE(blocks)]);
		struct vfd_file *f;
		char *error;
		size_t n;

		ck_assert_uint_gt(taken, 300);
		f = vfd_open(path, &error);
		ck_assert_msg(f, "%s", error);
		vfd_damage(f, &n);
		ck_assert_uint_eq(n, 0);
		ck_assert_uint_eq(vfd_facts(f)->samples, n_given);
		ck_assert_uint_eq(check_events(f), n_given);
		vfd_close(f);
	}
	unlink(path);
}
END_TEST

/* A flight recorder's file has the runs that its blocks refer to, whenever they were told. */
START_TEST(runs_are_kept)
{
	for (keep_bytes = 32768; keep_bytes <= 1 << 20; keep_bytes *= 2) {
		unsigned taken;
		struct vfd_file *f;
		char *error;
		size_t n;

		taken = write_file(keep_bytes, 1024);
		f = vfd_open(path, &error);
		ck_assert_msg(f, "%s", error);
		vfd_damage(f, &n);
		ck_assert_uint_eq(n, 0);
		if (keep_bytes >= 1 << 17)
			ck_assert_uint_gt(taken, 300);
		if (keep_bytes == 1 << 20)
			ck_assert_uint_eq(check_events(f), n_given);
		else
			ck_assert_uint_gt(check_last_events(f), keep_bytes / 16);
		vfd_close(f);
	}
	keep_bytes = 0;
	unlink(path);
}
END_TEST

/* ---- what makes no sense ------------------------------------------------------------------- */

static unsigned char bytes[1 << 20];
static size_t n_bytes;

static void load_file(void)
{
	FILE *f = fopen(path, "r");

	ck_assert_ptr_nonnull(f);
	n_bytes = fread(bytes, 1, sizeof(bytes), f);
	ck_assert_uint_lt(n_bytes, sizeof(bytes));
	fclose(f);
	unlink(path);
}

/* All blocks have right checksums again. */
static void seal_blocks(void)
{
	for (size_t at = sizeof(struct vfd_preamble); at < n_bytes;) {
		struct vfd_block *b = (struct vfd_block *)(bytes + at);

		at += vfd_block_seal(b);
	}
}

/* The first block of a kind that is at, or behind, `from'. */
static struct vfd_block *block_of(enum vfd_kind kind, size_t from)
{
	size_t at = sizeof(struct vfd_preamble);

	while (at < n_bytes) {
		struct vfd_block *b = (struct vfd_block *)(bytes + at);

		if (b->kind == kind && at >= from)
			return b;
		at += sizeof(*b) + vfd_padded(b->bytes);
	}
	return NULL;
}

/* Reads all that can be read; enters and exits are balanced. */
static size_t read_all(struct vfd_file *f)
{
	const struct vfd_filter filter = {.track = VFD_NONE};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	int64_t balance = 0, last = INT64_MIN;
	struct vfd_event e;
	size_t n = 0;

	for (; vfd_next(c, &e); n++) {
		ck_assert(e.time >= last);
		last = e.time;
		balance += (e.kind == VFD_ENTER) - (e.kind == VFD_EXIT);
	}
	ck_assert_int_eq(balance, 0);
	vfd_cursor_free(c);
	return n;
}

START_TEST(nonsense_is_no_harm)
{
	static unsigned char good[sizeof(bytes)];

	write_file(5, 0);
	load_file();
	memcpy(good, bytes, n_bytes);
	for (state = 1; state < 1500; state++) {
		const uint64_t seed = state;
		const enum vfd_kind kind = below(3) ? VFD_BLOCK_SAMPLES : VFD_BLOCK_RUNS;
		struct vfd_block *b;
		struct vfd_file *f;
		char *error;

		memcpy(bytes, good, n_bytes);
		b = block_of(kind, below(2) ? 0 : below((uint32_t)n_bytes / 2));
		for (unsigned i = 1 + below(4); b && i; i--) {
			const uint32_t near = below(2) ? MIN(b->bytes, 40u) : b->bytes;

			((unsigned char *)(b + 1))[below(near)] = (unsigned char)below(256);
		}
		if (b && !below(4))
			b->records = below(100000);
		seal_blocks();
		f = vfd_open_bytes(bytes, n_bytes, "nonsense", &error);
		ck_assert_msg(f, "%s", error);
		read_all(f);
		vfd_close(f);
		state = seed;
	}
}
END_TEST

/* Without the definitions of its runs a file has the blocks that do without. */
START_TEST(runs_that_are_lost)
{
	struct vfd_block *b;
	struct vfd_file *f;
	size_t n;
	char *error;

	write_file(7, 1024);
	load_file();
	b = block_of(VFD_BLOCK_RUNS, 0);
	ck_assert_ptr_nonnull(b);
	b->crc ^= 1;
	f = vfd_open_bytes(bytes, n_bytes, "lost", &error);
	ck_assert_msg(f, "%s", error);
	vfd_damage(f, &n);
	ck_assert_uint_eq(n, 1);
	n = read_all(f);
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_lt(n, n_given);
	vfd_close(f);
}
END_TEST

/* Adds a block to bytes[]. */
static void add_block(enum vfd_kind kind, uint32_t track, const void *payload, size_t n)
{
	static uint64_t sequence;
	struct vfd_block *b = (struct vfd_block *)(bytes + n_bytes);

	ck_assert_uint_lt(n_bytes + sizeof(*b) + n + 64, sizeof(bytes));
	*b = (struct vfd_block){.kind = kind,
		.track = track,
		.bytes = (uint32_t)n,
		.records = kind == VFD_BLOCK_RUNS,
		.sequence = sequence++};
	memcpy(b + 1, payload, n);
	n_bytes += vfd_block_seal(b);
}

/* Many tracks cannot each have as many runs as the whole file has room for. */
START_TEST(runs_of_all_tracks_are_bounded)
{
	const struct vfd_preamble preamble = {VFD_MAGIC, VFD_VERSION, 0, VFD_BYTE_ORDER};
	struct vfd_file *f;
	char *error;
	size_t n;

	memcpy(bytes, &preamble, sizeof(preamble));
	n_bytes = sizeof(preamble);
	add_block(VFD_BLOCK_HEADER, VFD_NO_TRACK, "\1", 1);
	for (uint32_t track = 0; track < 2000; track++) {
		unsigned char run[3 * VARINT_MAX];
		unsigned char *end = varint_put(run, 12000);

		end = varint_put(varint_put(end, 0), 0);
		add_block(VFD_BLOCK_RUNS, track, run, (size_t)(end - run));
	}
	f = vfd_open_bytes(bytes, n_bytes, "many", &error);
	ck_assert_msg(f, "%s", error);
	vfd_damage(f, &n);
	ck_assert_uint_gt(n, 0);
	vfd_close(f);
}
END_TEST

/* A block with more tasks than can be suspended at a time, each of which calls something, and then
 * a new stack: the reader, which looks for stacks first, does not know when tasks end. */
START_TEST(many_tasks_in_a_block)
{
	struct vfd_track *l;
	struct vfd_writer *w;
	struct vfd_file *f;
	uint32_t task, called, late;
	char *error;
	size_t n;

	state = 1;
	w = begin_file(&l, 0);
	task = vfd_stack_new(l, 0, 0);
	called = vfd_stack_new(l, task, 0);
	late = vfd_stack_new(l, 0, 0);
	for (int i = 0; i < 400; i++) {
		vfd_enter_aside(l, task, ticks += 10);
		vfd_enter(l, called, ticks += 10);
		vfd_exit(l, called, ticks += 10);
		vfd_exit(l, task, ticks += 10);
	}
	vfd_enter(l, late, ticks += 10);
	vfd_exit(l, late, ticks += 10);
	ck_assert_int_eq(vfd_writer_close(w, ticks, 10), 0);
	f = vfd_open(path, &error);
	ck_assert_msg(f, "%s", error);
	vfd_damage(f, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_uint_eq(read_all(f), 4 * 400 + 2);
	vfd_close(f);
	unlink(path);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {times_come_back, times_are_short,
		impossible_times_are_refused, runs_come_back, runs_are_kept, nonsense_is_no_harm,
		runs_that_are_lost, runs_of_all_tracks_are_bounded, many_tasks_in_a_block};
	Suite *s = suite_create("columns");
	TCase *t = tcase_create("columns");

	tcase_set_timeout(t, 120);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(t, tests[i]);
	suite_add_tcase(s, t);
	return run_suite(s);
}
