/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters in sampling files: records of all kinds of values there and back, files
 * that are whole, cut short, damaged or nonsense, and Vftrace's own format.
 */
#include <check.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/trace/block.h"
#include "nodeagent/trace/dump/vftrace.h"
#include "nodeagent/trace/counters.h"
#include "nodeagent/trace/dump/text.h"
#include "nodeagent/trace/format.h"
#include "t/unit/trace/vfd-by-hand.h"
#include "t/lib/suite.h"

static char dir[] = "/tmp/u-vfd-counters.XXXXXX";
static char path[64], classic[64];
static uint64_t state = 1;

static uint64_t dice(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 20;
}

/* ---- records ------------------------------------------------------------------------- */

#define RECORDS 2000

struct record {
	uint64_t units, values[VFD_COUNTS_MOST];
	uint32_t n, counters[VFD_COUNTS_MOST];
	bool real[VFD_COUNTS_MOST];
};

static void make_record(struct record *r, const struct record *before)
{
	static const uint64_t odd[] = {
		0, 1, UINT64_MAX, INT64_MAX, (uint64_t)INT64_MIN, 1ull << 62};

	*r = (struct record){.units = before->units + dice() % 5000 - dice() % 50, .n = before->n};
	if (!before->n || dice() % 4 == 0)
		r->n = 1 + (uint32_t)(dice() % (dice() % 8 ? 4 : VFD_COUNTS_MOST));
	for (uint32_t i = 0; i < r->n; i++) {
		double real = (double)(dice() % 1000) / 8;

		r->counters[i] = (uint32_t)(1 + i + dice() % 2 * 100);
		r->real[i] = r->counters[i] % 3 == 0;
		r->values[i] = dice() % 16 ? dice() : odd[dice() % ARRAY_SIZE(odd)];
		if (r->real[i])
			memcpy(&r->values[i], &real, sizeof(real));
	}
}

START_TEST(records_come_back)
{
	struct counts_codec out = {0}, in = {0};
	struct record *all = calloc(RECORDS, sizeof(*all)), first = {.units = 1u << 20};
	unsigned char *buf = malloc(RECORDS * VFD_COUNTS_ROOM), *at = buf;
	uint64_t values[VFD_COUNTS_MOST];
	struct varint_reader r;

	counts_begin(&out, 1u << 20);
	counts_begin(&in, 1u << 20);
	for (int i = 0; i < RECORDS; i++) {
		struct record *one = &all[i];
		unsigned char *from = at;

		make_record(one, i ? &all[i - 1] : &first);
		at = counts_put(&out, at, one->units,
			&(struct vfd_counts){one->n, one->counters, one->values}, one->real);
		ck_assert_uint_le((size_t)(at - from), VFD_COUNTS_ROOM - 8);
	}
	r = (struct varint_reader){buf, at, false};
	for (int i = 0; i < RECORDS; i++) {
		ck_assert(counts_get(&in, &r, values, 1000));
		ck_assert_uint_eq(in.units, all[i].units);
		ck_assert_uint_eq(in.n, all[i].n);
		ck_assert_mem_eq(in.counters, all[i].counters, in.n * sizeof(uint32_t));
		ck_assert_mem_eq(in.real, all[i].real, in.n);
		ck_assert_mem_eq(values, all[i].values, in.n * sizeof(uint64_t));
	}
	ck_assert_ptr_eq(r.at, at);
	ck_assert(!counts_get(&in, &r, values, 1000));
	counts_free(&in);
	counts_free(&out);
	free(all);
	free(buf);
}
END_TEST

START_TEST(records_are_short)
{
	static const uint32_t counters[] = {1, 2};
	static const bool real[] = {false, false};
	struct counts_codec c = {0};
	unsigned char buf[VFD_COUNTS_ROOM], *end = buf;
	uint64_t values[2] = {1000000, 5000000};

	counts_begin(&c, 0);
	for (int i = 0; i < 2; i++) {
		values[0] += 40;
		values[1] += 90;
		end = counts_put(&c, buf, 20u * (unsigned)i,
			&(struct vfd_counts){2, counters, values}, real);
	}
	/* time, and two differences: 1 + 1 + 2 bytes */
	ck_assert_int_eq(end - buf, 4);
	counts_free(&c);
}
END_TEST

START_TEST(nonsense_is_refused)
{
	struct counts_codec c = {0};
	uint64_t values[VFD_COUNTS_MOST];
	unsigned char buf[64];

	for (int i = 0; i < 20000; i++) {
		struct varint_reader r = {buf, buf + sizeof(buf), false};

		for (size_t k = 0; k < sizeof(buf); k++)
			buf[k] = (unsigned char)(dice() % 3 ? dice() % 16 * 2 + 1 : dice());
		counts_begin(&c, dice() % 100);
		while (r.at < r.end && counts_get(&c, &r, values, 500))
			for (uint32_t k = 0; k < c.n; k++)
				ck_assert_uint_lt(c.counters[k], 500);
	}
	counts_free(&c);
}
END_TEST

/* ---- files ---------------------------------------------------------------------------- */

#define TRACKS 2u
#define ROUNDS 2000u

struct told {
	uint64_t ticks;
	uint32_t counter;
	uint64_t value;
};

static struct told *told[TRACKS];
static size_t n_told[TRACKS], cap_told[TRACKS];
static uint32_t sums[2], level, real_level;

static void tell(struct vfd_track *l, uint32_t track, uint64_t ticks, uint32_t n,
	const uint32_t *counters, const uint64_t *values, bool is_real)
{
	const bool real[2] = {is_real, is_real};

	vfd_counts(l, &(struct vfd_counts){n, counters, values}, real, ticks);
	for (uint32_t i = 0; i < n; i++) {
		told[track] =
			grow(told[track], n_told[track], &cap_told[track], sizeof(struct told));
		told[track][n_told[track]++] = (struct told){ticks, counters[i], values[i]};
	}
}

static void define_counters(struct vfd_writer *w)
{
	struct vfd_counter c = {.process = VFD_NONE, .name = "EVENT_A", .symbol = "A"};
	const struct vfd_observable o = {.name = "ratio", .formula = "B / A", .unit = "1"};
	const struct vfd_observable plain = {.name = "plain", .formula = "A"};

	c.source = "dummy";
	sums[0] = vfd_define_counter(w, &c);
	c.name = "EVENT_B";
	c.symbol = "B";
	c.unit = "ns";
	sums[1] = vfd_define_counter(w, &c);
	c = (struct vfd_counter){.kind = VFD_COUNTER_INTEGER, .name = "queue", .source = "user"};
	level = vfd_define_counter(w, &c);
	c.kind = VFD_COUNTER_REAL;
	c.name = "temperature";
	c.unit = "K";
	real_level = vfd_define_counter(w, &c);
	vfd_define_observable(w, &o);
	vfd_define_observable(w, &plain);
}

/* Calls of two threads with sums at each, and levels now and then, some late. */
static int make_file(void)
{
	struct vfd_setup s = {.path = path,
		.host = "nodeA",
		.application = "app",
		.start_unix_ns = 1700000000000000000,
		.start_ticks = 1000,
		.start_raw_ns = 1000,
		.ns_per_tick = 1,
		.way = OUTFILE_PWRITE};
	struct vfd_process p = {.size = 1, .parent = VFD_NONE, .executable = "/bin/app"};
	struct vfd_function f = {.process = VFD_NONE, .name = "work"};
	char *error;
	struct vfd_writer *w = vfd_writer_new(&s, &error);
	uint64_t ticks = 2000;

	ck_assert_msg(w, "%s", error);
	state = 7;
	p.start = 1000;
	vfd_define_process(w, &p);
	vfd_define_function(w, &f);
	define_counters(w);
	for (uint32_t track = 0; track < TRACKS; track++) {
		struct vfd_thread t = {
			.number = track, .creator = track ? 0 : VFD_NONE, .start = 1000};
		struct vfd_track *l = vfd_track_new(w, &t);
		const uint32_t stack = vfd_stack_new(l, 0, 0);
		uint64_t values[2] = {0, 0};

		n_told[track] = 0;
		for (uint32_t i = 0; i < ROUNDS; i++) {
			const bool enter = i % 2 == 0;

			ticks += dice() % 100;
			values[0] += dice() % 50;
			values[1] += dice() % 100000;
			if (enter)
				vfd_enter(l, stack, ticks);
			else
				vfd_exit(l, stack, ticks);
			tell(l, track, ticks, 2, sums, values, false);
			if (i % 10 == 3) {
				const uint64_t now = (uint64_t)(int64_t)(50 - (int)(dice() % 100));

				/* of the first thread some are late */
				tell(l, track, track ? ticks : ticks - dice() % 2000, 1, &level,
					&now, false);
			}
			if (i % 10 == 6) {
				const double kelvin = 273.25 + (double)(dice() % 100);
				uint64_t bits;

				memcpy(&bits, &kelvin, sizeof(bits));
				tell(l, track, ticks, 1, &real_level, &bits, true);
			}
		}
		vfd_track_end(l, ticks);
	}
	vfd_clock_pair(w, ticks + 1, ticks + 1);
	vfd_define_process_end(w, 0, ticks, 0, 0);
	return vfd_writer_close(w, ticks + 1, 10);
}

static unsigned char *load(const char *name, size_t *n)
{
	struct stat st;
	unsigned char *buf;
	FILE *f = fopen(name, "r");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fstat(fileno(f), &st), 0);
	*n = (size_t)st.st_size;
	buf = malloc(*n + 1);
	ck_assert_uint_eq(fread(buf, 1, *n, f), *n);
	fclose(f);
	return buf;
}

static int by_time(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->ticks != y->ticks)
		return x->ticks < y->ticks ? -1 : 1;
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/* All values of a track, sorted. */
static struct told *read_values(
	struct vfd_file *f, const struct vfd_filter *filter, uint32_t track, size_t *n)
{
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, filter);
	struct told *all = NULL;
	int64_t last = INT64_MIN;
	struct vfd_event e;
	size_t cap = 0;

	*n = 0;
	while (vfd_next(c, &e)) {
		ck_assert_int_ge(e.time, last);
		last = e.time;
		for (uint32_t i = 0; e.kind == VFD_COUNTERS && e.track == track && i < e.counts->n;
			i++) {
			all = grow(all, *n, &cap, sizeof(*all));
			all[(*n)++] = (struct told){(uint64_t)e.time + 1000, e.counts->counters[i],
				e.counts->values[i]};
		}
	}
	vfd_cursor_free(c);
	if (*n)
		qsort(all, *n, sizeof(*all), by_time);
	return all;
}

static struct vfd_file *open_whole(void)
{
	char *error;
	struct vfd_file *f;

	ck_assert_int_eq(make_file(), 0);
	f = vfd_open(path, &error);
	ck_assert_msg(f, "%s", error);
	return f;
}

START_TEST(a_file_has_all_values_and_names)
{
	struct vfd_file *f = open_whole();
	const struct vfd_counter *c;
	const struct vfd_observable *o;
	uint64_t records = 0;
	size_t n;

	c = vfd_counters(f, &n);
	ck_assert_uint_gt(n, real_level);
	ck_assert_uint_eq(c[0].number, 0);
	ck_assert_str_eq(c[sums[0]].name, "EVENT_A");
	ck_assert_str_eq(c[sums[0]].symbol, "A");
	ck_assert_ptr_null(c[sums[0]].unit);
	ck_assert_uint_eq(c[sums[0]].process, VFD_NONE);
	ck_assert_str_eq(c[sums[1]].unit, "ns");
	ck_assert_str_eq(c[sums[1]].source, "dummy");
	ck_assert_int_eq(c[level].kind, VFD_COUNTER_INTEGER);
	ck_assert_uint_eq(c[level].process, 0);
	ck_assert_int_eq(c[real_level].kind, VFD_COUNTER_REAL);
	o = vfd_observables(f, &n);
	ck_assert_uint_gt(n, 2);
	ck_assert_str_eq(o[1].formula, "B / A");
	ck_assert_ptr_null(o[2].unit);
	for (uint32_t track = 0; track < TRACKS; track++) {
		struct told *got = read_values(f, NULL, track, &n);

		ck_assert_uint_eq(n, n_told[track]);
		qsort(told[track], n, sizeof(*got), by_time);
		for (size_t i = 0; i < n; i++)
			if (by_time(&got[i], &told[track][i]))
				ck_abort_msg("value %zu of lane %u", i, track);
		records += ROUNDS + ROUNDS / 5;
		free(got);
	}
	ck_assert_uint_eq(vfd_facts(f)->counts, records);
	vfd_close(f);
}
END_TEST

/* Raw or balanced, a call has its own sums right before it. */
START_TEST(sums_stand_before_their_call)
{
	struct vfd_filter filter = {.track = VFD_NONE, .raw = _i};
	struct vfd_file *f = open_whole();
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	int64_t at[TRACKS] = {-1, -1};
	uint32_t calls = 0;
	struct vfd_event e;

	while (vfd_next(c, &e)) {
		if (e.kind == VFD_COUNTERS && e.counts->counters[0] == sums[0])
			at[e.track] = e.time;
		if (e.kind == VFD_ENTER || e.kind == VFD_EXIT) {
			ck_assert_int_eq(at[e.track], e.time);
			at[e.track] = -1; /* each has its own */
			calls++;
		}
	}
	ck_assert_uint_eq(calls, TRACKS * ROUNDS);
	vfd_cursor_free(c);
	vfd_close(f);
}
END_TEST

START_TEST(a_part_of_the_time)
{
	struct vfd_file *f = open_whole();
	struct vfd_filter filter = {.track = VFD_NONE, .from_set = true, .to_set = true};

	for (uint32_t track = 0; track < TRACKS; track++) {
		size_t n, wanted = 0;
		struct told *got;

		/* some blocks in each */
		filter.from = (int64_t)told[track][n_told[track] / 4].ticks - 1000;
		filter.to = (int64_t)told[track][n_told[track] / 4 * 3].ticks - 1000;
		got = read_values(f, &filter, track, &n);
		for (size_t i = 0; i < n_told[track]; i++)
			wanted += (int64_t)told[track][i].ticks - 1000 >= filter.from &&
				  (int64_t)told[track][i].ticks - 1000 < filter.to;
		ck_assert_uint_eq(n, wanted);
		free(got);
	}
	vfd_close(f);
}
END_TEST

/* Whatever is missing: what is read was told, at its time. */
static void check_subset(struct vfd_file *f)
{
	for (uint32_t track = 0; track < TRACKS; track++) {
		size_t n, k = 0;
		struct told *got = read_values(f, NULL, track, &n);

		for (size_t i = 0; i < n; i++, k++) {
			while (k < n_told[track] && by_time(&told[track][k], &got[i]) < 0)
				k++;
			if (k == n_told[track] || by_time(&told[track][k], &got[i]))
				ck_abort_msg("value %zu of lane %u was never told", i, track);
		}
		free(got);
	}
}

static void check_damaged(const unsigned char *bytes, size_t n)
{
	char *error = NULL;
	struct vfd_file *f = vfd_open_bytes(bytes, n, "damaged", &error);

	if (f)
		check_subset(f);
	else
		free(error);
	vfd_close(f);
}

START_TEST(files_cut_short_and_damaged)
{
	size_t n, at = sizeof(struct vfd_preamble);
	struct vfd_block header;
	unsigned char *bytes;

	vfd_close(open_whole());
	for (uint32_t track = 0; track < TRACKS; track++)
		qsort(told[track], n_told[track], sizeof(struct told), by_time);
	bytes = load(path, &n);
	/* behind the header, as without it times are others */
	memcpy(&header, bytes + at, sizeof(header));
	at += sizeof(header) + vfd_padded(header.bytes);
	for (int i = 0; i < 30; i++)
		check_damaged(bytes, at + dice() % (n - at));
	for (int i = 0; i < 30; i++) {
		unsigned char *one = bytes + at + dice() % (n - at), before = *one;

		*one ^= (unsigned char)(1 + dice() % 255);
		check_damaged(bytes, n);
		*one = before;
	}
	free(bytes);
}
END_TEST

/* Payloads of nonsense with right checksums. */
START_TEST(garbage)
{
	FILE *null = fopen("/dev/null", "w");
	size_t n;
	unsigned char *whole, *bytes;

	vfd_close(open_whole());
	whole = load(path, &n);
	bytes = malloc(n);
	for (int i = 0; i < 30; i++) {
		size_t at = sizeof(struct vfd_preamble);
		char *error = NULL;
		struct vfd_file *f;

		memcpy(bytes, whole, n);
		while (at + sizeof(struct vfd_block) <= n) {
			struct vfd_block b;

			memcpy(&b, bytes + at, sizeof(b));
			for (uint32_t k = 0; b.kind == VFD_BLOCK_COUNTERS && k < 1 + b.bytes / 50;
				k++)
				bytes[at + sizeof(b) + dice() % b.bytes] = (unsigned char)dice();
			if (b.kind == VFD_BLOCK_COUNTERS && dice() % 4 == 0)
				b.track = (uint32_t)dice() % 8;
			if (b.kind == VFD_BLOCK_COUNTERS && dice() % 4 == 0)
				b.records = (uint32_t)dice();
			if (b.kind == VFD_BLOCK_DEFINITIONS && dice() % 3 == 0)
				bytes[at + sizeof(b) + dice() % b.bytes] = (unsigned char)dice();
			b.crc = 0;
			memcpy(bytes + at, &b, sizeof(b));
			b.crc = vfd_crc(0, bytes + at, sizeof(b) + vfd_padded(b.bytes));
			memcpy(bytes + at, &b, sizeof(b));
			at += sizeof(b) + vfd_padded(b.bytes);
		}
		f = vfd_open_bytes(bytes, n, "garbage", &error);
		if (f) {
			vfd_dump_text(f, &(struct vfd_dump){0}, null);
			vfd_dump_json(f, &(struct vfd_dump){0}, null);
			vfd_close(f);
		}
		free(error);
	}
	fclose(null);
	free(bytes);
	free(whole);
}
END_TEST

/* ---- Vftrace's own format -------------------------------------------------------------- */

static uint64_t word_at(const unsigned char *bytes, size_t at, size_t n)
{
	uint64_t x = 0;

	memcpy(&x, bytes + at, n);
	return x;
}

START_TEST(vftrace_has_them_in_each_call)
{
	static const char info[] =
		"\x08\0\0\0EVENT_A\0\x02\0\0\0A\0\x08\0\0\0EVENT_B\0\x02\0\0\0B\0"
		"\x06\0\0\0ratio\0\x06\0\0\0B / A\0\x02\0\0\0"
		"1\0\x06\0\0\0plain\0\x02\0\0\0A\0\0\0\0\0";
	struct vfd_file *f = open_whole();
	unsigned char *bytes;
	uint64_t at, calls;
	size_t n, k = 0;
	char *error;

	ck_assert_msg(vfd_classic_write(f, 0, classic, &error), "%s", error);
	bytes = load(classic, &n);
	ck_assert_uint_eq(word_at(bytes, 116, 4), 2); /* counters */
	ck_assert_uint_eq(word_at(bytes, 120, 4), 2); /* observables */
	ck_assert_uint_eq(word_at(bytes, 124, 8), 156);
	calls = word_at(bytes, 104, 4);
	ck_assert_uint_eq(calls, TRACKS * ROUNDS + 1);
	ck_assert_uint_eq(word_at(bytes, 132, 8), 156 + calls * (16 + 2 * 8));
	/* those of the first thread come first: nothing of the second is earlier */
	at = 156;
	for (uint32_t i = 0; i < ROUNDS; i++, at += 32) {
		while (told[0][k].counter != sums[0])
			k++;
		ck_assert_uint_eq(word_at(bytes, at, 4), i % 2);
		ck_assert_uint_eq(word_at(bytes, at + 8, 8), told[0][k].ticks - 1000);
		ck_assert_uint_eq(word_at(bytes, at + 16, 8), told[0][k].value);
		ck_assert_uint_eq(word_at(bytes, at + 24, 8), told[0][k + 1].value);
		k++;
	}
	at = word_at(bytes, 148, 8);
	ck_assert_uint_eq(n - at, sizeof(info) - 1);
	ck_assert_mem_eq(bytes + at, info, sizeof(info) - 1);
	free(bytes);
	vfd_close(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vfd-counters");
	TCase *t = tcase_create("all");
	int failed;

	program_name = "u-vfd-counters";
	if (!mkdtemp(dir))
		return 99;
	snprintf(path, sizeof(path), "%s/a.vfd", dir);
	snprintf(classic, sizeof(classic), "%s/a_0.vfd", dir);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, records_come_back);
	tcase_add_test(t, records_are_short);
	tcase_add_test(t, nonsense_is_refused);
	tcase_add_test(t, a_file_has_all_values_and_names);
	tcase_add_loop_test(t, sums_stand_before_their_call, 0, 2);
	tcase_add_test(t, a_part_of_the_time);
	tcase_add_test(t, files_cut_short_and_damaged);
	tcase_add_test(t, garbage);
	tcase_add_test(t, vftrace_has_them_in_each_call);
	suite_add_tcase(s, t);
	failed = run_suite(s);
	unlink(path);
	unlink(classic);
	rmdir(dir);
	return failed;
}
