/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sampling files come back as they were given, by every way of writing; damaged
 * ones up to the damage and from behind it. `u-vfd --make FILE` writes one.
 */
#include <math.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nodeagent/trace/block.h"
#include "nodeagent/trace/records.h"
#include "nodeagent/trace/write/sample.h"
#include "t/unit/trace/vfd-by-hand.h"
#include "t/lib/suite.h"

#define RANDOM_EVENTS 20000u

/* For inner loops: Check writes about every assertion to a file. */
#define SURE(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			ck_abort_msg("%s", #what);                                                 \
	} while (0)

static char dir[] = "/tmp/u-vfd.XXXXXX";
static char path[64];

static int64_t ns(uint64_t ticks)
{
	return (int64_t)llrint((double)((int64_t)ticks - HAND_START) / 2);
}

static void make(struct hand *h, struct vfd_setup s, uint32_t events)
{
	s.path = path;
	memset(h, 0, sizeof(*h));
	h->state = 7;
	hand_begin(h, &s);
	hand_run(h, events, 400);
	ck_assert_int_eq(hand_end(h), 0);
}

static struct vfd_file *reopen(void)
{
	char *error;
	struct vfd_file *f = vfd_open(path, &error);

	ck_assert_msg(f, "%s", error);
	return f;
}

static unsigned char *slurp(size_t *n)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	unsigned char *buf;

	ck_assert_int_eq(fstat(fd, &st), 0);
	buf = malloc((size_t)st.st_size + 1);
	ck_assert_int_eq(read(fd, buf, (size_t)st.st_size), st.st_size);
	close(fd);
	*n = (size_t)st.st_size;
	return buf;
}

/* Every enter has its exit, in order; returns the number of events. */
static uint64_t check_balance(struct vfd_file *f, struct vfd_filter filter)
{
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	uint32_t *open[64] = {0}, n_open[64] = {0};
	size_t cap[64] = {0};
	struct vfd_event e;
	int64_t last = INT64_MIN;
	uint64_t n = 0;

	while (vfd_next(c, &e)) {
		size_t n_stacks;

		n++;
		SURE(e.time >= last);
		last = e.time;
		SURE(!filter.from_set || e.time >= filter.from);
		SURE(!filter.to_set || e.time <= filter.to);
		vfd_stacks(f, e.track, &n_stacks);
		SURE(e.stack < n_stacks);
		if (e.track >= 64)
			continue;
		if (e.kind == VFD_ENTER) {
			open[e.track] = grow(open[e.track], n_open[e.track], &cap[e.track], 4);
			open[e.track][n_open[e.track]++] = e.stack;
		} else if (e.kind == VFD_EXIT) {
			SURE(n_open[e.track] > 0);
			SURE(open[e.track][--n_open[e.track]] == e.stack);
		}
	}
	for (int i = 0; i < 64; i++) {
		SURE(n_open[i] == 0);
		free(open[i]);
	}
	SURE(vfd_cursor_progress(c) >= 0);
	vfd_cursor_free(c);
	return n;
}

static void check_samples(struct vfd_file *f, const struct hand *h, bool raw)
{
	struct vfd_filter filter = {.track = VFD_NONE, .raw = raw, .no_messages = true};
	struct vfd_cursor *c = vfd_cursor_new(&f, 1, &filter);
	size_t at[HAND_TRACKS] = {0};
	uint32_t map[HAND_TRACKS][512];
	struct vfd_event e;

	memset(map, 0xff, sizeof(map));
	while (vfd_next(c, &e)) {
		const struct given *g = &h->given[e.track][at[e.track]];

		SURE(at[e.track]++ < h->n_given[e.track]);
		SURE(e.kind == g->kind);
		SURE(e.time == ns(g->ticks));
		SURE(e.count == g->count);
		SURE(!e.implied);
		if (g->kind == VFD_ENTER || g->kind == VFD_EXIT)
			SURE(e.stack == g->stack);
	}
	for (uint32_t i = 0; i < HAND_TRACKS; i++)
		SURE(at[i] == h->n_given[i]);
	vfd_cursor_free(c);
}

START_TEST(events_come_back)
{
	static const uint32_t sizes[] = {0, 1024, 4000};
	struct hand h;
	struct vfd_file *f;

	make(&h, (struct vfd_setup){.block_bytes = sizes[_i % 3], .way = _i / 3}, RANDOM_EVENTS);
	f = reopen();
	ck_assert(vfd_facts(f)->closed);
	ck_assert_uint_eq(vfd_facts(f)->messages, h.messages);
	ck_assert_int_eq(vfd_facts(f)->start, 0);
	ck_assert_int_eq(vfd_facts(f)->end, ns(hand_last(&h)));
	check_samples(f, &h, true);
	check_samples(f, &h, false);
	check_balance(f, (struct vfd_filter){.track = VFD_NONE});
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(definitions_come_back)
{
	struct hand h;
	struct vfd_file *f;
	size_t n;
	char *text;

	make(&h, (struct vfd_setup){0}, 2000);
	f = reopen();
	ck_assert_str_eq(vfd_facts(f)->host, "nodeA");
	ck_assert_str_eq(vfd_facts(f)->application, "heat");
	ck_assert_int_eq(vfd_facts(f)->start_unix_ns, 1700000000123456789);
	ck_assert_uint_ge((vfd_processes(f, &n), n), 3);
	ck_assert_int_eq(vfd_processes(f, &n)[1].rank, 1);
	ck_assert_int_eq(vfd_processes(f, &n)[2].rank, -1);
	ck_assert_int_eq(vfd_processes(f, &n)[1].pid, 101);
	ck_assert_str_eq(vfd_processes(f, &n)[1].executable, "/usr/bin/heat");
	ck_assert(vfd_processes(f, &n)[1].ended && !vfd_processes(f, &n)[1].exit_status);
	ck_assert_uint_eq(vfd_threads(f, &n)[3].process, 1);
	ck_assert_uint_eq(vfd_threads(f, &n)[3].number, 1);
	ck_assert_str_eq(vfd_threads(f, &n)[3].name, "worker");
	ck_assert(vfd_threads(f, &n)[1].openmp && vfd_threads(f, &n)[1].openmp_level == 1);
	ck_assert_int_eq(vfd_rank(f, 3), 1);
	ck_assert_int_eq(vfd_rank(f, 99), -1);
	ck_assert_str_eq(vfd_function_name(f, h.functions[0]), "main");
	ck_assert_str_eq(vfd_function_name(f, h.functions[6]), "heat+0x1060");
	ck_assert_str_eq(vfd_function_name(f, h.functions[9]), "MPI_Allreduce");
	ck_assert_str_eq(vfd_function_name(f, h.functions[10]), "phase one");
	ck_assert_str_eq(vfd_function_name(f, 12345678), "(lost)");
	ck_assert(vfd_functions(f, &n)[h.functions[2]].precise);
	ck_assert_uint_eq(vfd_functions(f, &n)[h.functions[0]].build_id[1], 0xab);
	ck_assert_uint_eq(vfd_comm(f, 1)->id, 0x77);
	ck_assert_str_eq(vfd_comm(f, 1)->name, "MPI_COMM_WORLD");
	ck_assert_uint_eq(vfd_comm_rank(vfd_comm(f, 1), 1, false), 1);
	ck_assert_uint_eq(vfd_comm_rank(vfd_comm(f, 1), 2, false), VFD_NONE);
	ck_assert_ptr_null(vfd_comm(f, 2));
	ck_assert_str_eq(vfd_object(f, WIRE_OBJECT_FILE, 1)->name, "/tmp/out.dat");
	for (uint32_t stack = 1; stack < h.n_stacks[0]; stack++) {
		if (vfd_stacks(f, 0, &n)[stack].function == VFD_NONE)
			continue;
		ck_assert_uint_eq(vfd_stacks(f, 0, &n)[stack].caller, h.caller[0][stack]);
		ck_assert_uint_eq(
			vfd_stacks(f, 0, &n)[stack].function, h.functions[h.function[0][stack]]);
	}
	text = vfd_stack_path(f, 0, 0, true);
	ck_assert_str_eq(text, "init");
	free(text);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(source_lines_come_back)
{
	struct hand h = {.state = 1};
	const struct vfd_function *all;
	struct vfd_file *f;
	size_t n;

	hand_begin(&h, &(struct vfd_setup){.path = path});
	vfd_define_source(h.w, h.functions[1], "/src/heat.c", 42);
	vfd_define_source(h.w, 12345678, "/src/heat.c", 43); /* there is no such function */
	ck_assert_int_eq(hand_end(&h), 0);
	f = reopen();
	all = vfd_functions(f, &n);
	ck_assert_str_eq(all[h.functions[1]].file, "/src/heat.c");
	ck_assert_uint_eq(all[h.functions[1]].line, 42);
	ck_assert_str_eq(vfd_function_name(f, h.functions[1]), hand_names[1]);
	ck_assert_ptr_null(all[h.functions[0]].file);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(messages_come_back)
{
	struct vfd_filter only = {.track = VFD_NONE, .no_samples = true};
	uint64_t n = 0, flows[2][512] = {{0}};
	struct vfd_cursor *c;
	struct vfd_event e;
	struct vfd_file *f;
	struct hand h;

	make(&h, (struct vfd_setup){0}, 40000);
	f = reopen();
	c = vfd_cursor_new(&f, 1, &only);
	while (vfd_next(c, &e)) {
		const struct vfd_message *m = e.message;

		n++;
		SURE(e.kind == (VFD_MESSAGE));
		SURE(e.time == (m->start));
		SURE(m->end >= (m->start));
		SURE(m->end < (m->start + 2500));
		SURE(m->peer == (1 - m->track / 2));
		SURE(m->type == (16));
		SURE(m->bytes % 8 == (0));
		SURE(m->comm == (1));
		SURE(m->tag < (100));
		SURE(m->match == (m->kind == VFD_SEND ? VFD_MATCH_NONE : VFD_MATCH_EXACT));
		SURE(m->sender_thread == (m->kind == VFD_SEND ? VFD_NONE : 1));
		SURE(vfd_message_flow(f, m) != (0));
		if (m->ticket < 512)
			flows[m->kind == VFD_RECEIVE][m->ticket] = vfd_message_flow(f, m);
	}
	ck_assert_uint_eq(n, h.messages);
	ck_assert_uint_gt(n, 100);
	for (int i = 0; i < 512; i++)
		for (int k = 0; k < i; k++)
			ck_assert(!flows[0][i] || flows[0][i] != flows[0][k]);
	vfd_cursor_free(c);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(both_ends_of_a_message_have_one_number)
{
	struct vfd_message send = {.kind = VFD_SEND, .comm = 1, .peer = 1, .ticket = 5, .track = 0};
	struct vfd_message recv = {
		.kind = VFD_RECEIVE, .comm = 1, .peer = 0, .ticket = 9, .track = 3};
	struct vfd_file *f;
	struct hand h;

	make(&h, (struct vfd_setup){0}, 100);
	f = reopen();
	ck_assert_uint_eq(vfd_message_flow(f, &recv), 0);
	recv.match = VFD_MATCH_AMBIGUOUS;
	recv.sender_ticket = 5;
	ck_assert_uint_eq(vfd_message_flow(f, &send), vfd_message_flow(f, &recv));
	recv.sender_ticket = 6;
	ck_assert_uint_ne(vfd_message_flow(f, &send), vfd_message_flow(f, &recv));
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(parts_are_balanced_too)
{
	struct vfd_file *f;
	struct hand h;
	int64_t end;

	make(&h, (struct vfd_setup){.block_bytes = 1024}, 10000);
	f = reopen();
	end = vfd_facts(f)->end;
	for (int i = 0; i < 10; i++) {
		struct vfd_filter part = {.track = i == 9 ? 2 : VFD_NONE,
			.ranks = i == 8 ? "1" : NULL,
			.from_set = true,
			.to_set = i % 2,
			.from = end * i / 12,
			.to = end * i / 12 + end / 50};

		ck_assert_uint_gt(check_balance(f, part), 4);
		part.to_set = true;
		part.to = part.from;
		ck_assert_uint_eq(check_balance(f, part), 0);
	}
	vfd_close(f);
	hand_free(&h);
}
END_TEST

static void open_part(const unsigned char *buf, size_t n, uint64_t *events)
{
	struct vfd_filter all = {.track = VFD_NONE};
	char *error;
	/* a copy of just that size, so that reading beyond it is found */
	unsigned char *copy = malloc(n + !n);
	struct vfd_file *f;

	memcpy(copy, buf, n);
	f = vfd_open_bytes(copy, n, "part", &error);
	ck_assert(!f == !!error);
	*events = 0;
	if (f) {
		*events = check_balance(f, all);
		all.raw = true;
		struct vfd_cursor *c = vfd_cursor_new(&f, 1, &all);
		struct vfd_event e;

		while (vfd_next(c, &e))
			;
		vfd_cursor_free(c);
	}
	vfd_close(f);
	free(error);
	free(copy);
}

START_TEST(cut_at_a_thousand_lengths)
{
	uint64_t events, most = 0;
	struct hand h;
	size_t n;

	make(&h, (struct vfd_setup){.block_bytes = 1024}, 2000);
	unsigned char *buf = slurp(&n);
	for (int i = 0; i < 1000; i++) {
		size_t part = ((size_t)hand_dice(&h, 1u << 30) << 20 | hand_dice(&h, 1u << 20)) % n;

		open_part(buf, part, &events);
		if (part < 60)
			ck_assert_uint_eq(events, 0);
		if (events > most)
			most = events;
	}
	ck_assert_uint_gt(most, 1500);
	free(buf);
	hand_free(&h);
}
END_TEST

START_TEST(damage_is_told_and_left_out)
{
	struct vfd_filter raw = {.track = VFD_NONE, .raw = true, .no_messages = true};
	const struct vfd_damage *d;
	uint64_t gaps = 0, n = 0, given = 0;
	struct vfd_cursor *c;
	struct vfd_event e;
	struct vfd_file *f;
	struct hand h;
	size_t bytes, n_damage;
	char *error;

	make(&h, (struct vfd_setup){.block_bytes = 1024}, RANDOM_EVENTS);
	unsigned char *buf = slurp(&bytes);
	buf[bytes / 2] ^= 4;
	f = vfd_open_bytes(buf, bytes, "damaged", &error);
	ck_assert_ptr_nonnull(f);
	d = vfd_damage(f, &n_damage);
	ck_assert_uint_eq(n_damage, 1);
	ck_assert(d->from <= bytes / 2 && d->to > bytes / 2 && d->to - d->from < 40000);
	ck_assert_ptr_nonnull(strstr(d->why, "checksum"));
	ck_assert(vfd_facts(f)->closed);
	c = vfd_cursor_new(&f, 1, &raw);
	for (; vfd_next(c, &e); n++)
		gaps += e.kind == VFD_GAP;
	vfd_cursor_free(c);
	for (uint32_t i = 0; i < HAND_TRACKS; i++)
		given += h.n_given[i];
	ck_assert_uint_gt(n, given * 9 / 10);
	ck_assert_uint_le(gaps, 1);
	check_balance(f, (struct vfd_filter){.track = VFD_NONE});
	vfd_close(f);
	free(buf);
	hand_free(&h);
}
END_TEST

/* As an attacker would: every checksum is right. */
static void sign_all(unsigned char *buf, size_t bytes)
{
	size_t at = sizeof(struct vfd_preamble);

	while (bytes - at >= sizeof(struct vfd_block)) {
		struct vfd_block b;

		memcpy(&b, buf + at, sizeof(b));
		if (b.magic != VFD_BLOCK_MAGIC || b.bytes > bytes - at - sizeof(b))
			return;
		b.crc = 0;
		memcpy(buf + at, &b, sizeof(b));
		b.crc = vfd_crc(0, buf + at, sizeof(b) + vfd_padded(b.bytes));
		memcpy(buf + at, &b, sizeof(b));
		at += sizeof(b) + vfd_padded(b.bytes);
	}
}

START_TEST(wrong_bytes_with_right_checksums_do_no_harm)
{
	uint64_t events;
	struct hand h;
	size_t n;

	make(&h, (struct vfd_setup){.block_bytes = 1024}, 600);
	unsigned char *buf = slurp(&n), *copy = malloc(n);
	for (int i = 0; i < 2000; i++) {
		memcpy(copy, buf, n);
		for (uint32_t k = hand_dice(&h, 4) + 1; k; k--)
			copy[sizeof(struct vfd_preamble) +
				hand_dice(&h, (uint32_t)(n - sizeof(struct vfd_preamble)))] =
				(unsigned char)hand_dice(&h, 256);
		sign_all(copy, n);
		open_part(copy, n, &events);
	}
	free(copy);
	free(buf);
	hand_free(&h);
}
END_TEST

START_TEST(a_file_that_still_grows_can_be_read)
{
	struct vfd_setup s = {.path = path};
	struct hand h = {.state = 3};
	struct vfd_file *f = NULL;
	uint64_t before;

	hand_begin(&h, &s);
	for (int i = 0; i < 5; i++) {
		char *error;

		before = f ? vfd_facts(f)->samples : 0;
		vfd_close(f);
		hand_run(&h, 1000, 400);
		vfd_writer_flush(h.w);
		for (int k = 0; k < 3000; k++) { /* it is on its way */
			f = vfd_open(path, &error);
			if (f && vfd_facts(f)->samples > before)
				break;
			vfd_close(f);
			free(error);
			f = NULL;
			usleep(10000);
		}
		ck_assert_ptr_nonnull(f);
		ck_assert(!vfd_facts(f)->closed);
		check_balance(f, (struct vfd_filter){.track = VFD_NONE});
	}
	vfd_close(f);
	ck_assert_int_eq(hand_end(&h), 0);
	hand_free(&h);
}
END_TEST

START_TEST(with_an_interval_precise_functions_are_all_there)
{
	struct vfd_filter raw = {.track = VFD_NONE, .raw = true, .no_messages = true};
	uint64_t given = 0, found = 0, ordinary = 0;
	struct vfd_cursor *c;
	struct vfd_event e;
	struct vfd_file *f;
	struct hand h;

	make(&h, (struct vfd_setup){.interval_ns = 20000}, RANDOM_EVENTS);
	for (uint32_t i = 0; i < HAND_TRACKS; i++)
		for (size_t k = 0; k < h.n_given[i]; k++) {
			uint32_t function = h.function[i][h.given[i][k].stack];

			given += h.given[i][k].kind <= VFD_EXIT &&
				 (function == 2 || (function >= 7 && function <= 10));
		}
	f = reopen();
	ck_assert_int_eq(vfd_facts(f)->interval_ns, 20000);
	c = vfd_cursor_new(&f, 1, &raw);
	while (vfd_next(c, &e)) {
		if (e.kind > VFD_EXIT)
			continue;
		if (vfd_stack_precise(f, e.track, e.stack))
			found++;
		else
			ordinary++;
	}
	vfd_cursor_free(c);
	ck_assert_uint_eq(found, given);
	ck_assert_uint_gt(ordinary, 5 * (uint64_t)vfd_facts(f)->end / 20000 / 2);
	/* the exit of what suspended others is recorded in any case */
	ck_assert_uint_lt(ordinary, 5 * (uint64_t)vfd_facts(f)->end / 20000 + 300);
	check_balance(f, (struct vfd_filter){.track = VFD_NONE});
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(a_file_with_a_limit_is_thinned)
{
	struct vfd_filter filter = {.track = VFD_NONE, .no_messages = true};
	uint64_t calls = 0, marks = 0, kept = 0, given = 0;
	struct vfd_cursor *c;
	struct vfd_event e;
	struct vfd_file *f;
	struct hand h;

	make(&h, (struct vfd_setup){.max_size = 400000, .block_bytes = 1024}, 400000);
	for (uint32_t i = 0; i < HAND_TRACKS; i++)
		for (size_t k = 0; k < h.n_given[i]; k++)
			given += h.given[i][k].kind == VFD_ENTER;
	f = reopen();
	ck_assert(vfd_facts(f)->thinned);
	ck_assert_uint_le(vfd_facts(f)->bytes, 400000);
	ck_assert_uint_gt(vfd_facts(f)->bytes, 300000);
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e)) {
		marks += e.kind == VFD_THINNING;
		calls += e.kind == VFD_THINNED ? e.count : 0;
		kept += e.kind == VFD_ENTER && !e.implied;
	}
	vfd_cursor_free(c);
	ck_assert_uint_ge(marks, 3 * HAND_TRACKS);
	ck_assert_uint_eq(calls, vfd_facts(f)->thinned_calls);
	/* nothing vanishes without being counted; at the end some still wait to be long enough */
	ck_assert_uint_le(kept + calls, given);
	ck_assert_uint_gt(kept + calls + HAND_TRACKS * 64, given);
	check_balance(f, (struct vfd_filter){.track = VFD_NONE});
	vfd_close(f);
	hand_free(&h);
}
END_TEST

/* Blocks of all threads are open when the file is nearly full, or they are written all the time,
 * also with nothing but a mark. */
START_TEST(many_threads_stay_below_the_limit)
{
	enum { THREADS = 1000 };
	const uint64_t most = 1 << 20;
	const struct vfd_setup s = {.path = path, .max_size = most};
	static struct vfd_track *tracks[THREADS];
	struct hand h = {.state = 7};
	struct vfd_written written;
	struct vfd_file *f;
	uint32_t stacks[THREADS];

	hand_begin(&h, &s);
	for (uint32_t i = 0; i < THREADS; i++) {
		tracks[i] = vfd_track_new(h.w, &(struct vfd_thread){.number = i + 2});
		stacks[i] = vfd_stack_new(tracks[i], 0, h.functions[1]);
	}
	for (uint64_t ticks = HAND_START, k = 0; k < 3000; k++, ticks += 10000000) {
		for (uint32_t i = 0; i < THREADS; i++) {
			vfd_enter(tracks[i], stacks[i], ticks);
			vfd_exit(tracks[i], stacks[i], ticks + 9000000);
			if (_i == 2) /* which is never left out */
				vfd_lost(tracks[i], 1, ticks + 9000000);
		}
		if (_i)
			vfd_writer_flush(h.w);
	}
	written = vfd_writer_written(h.w);
	ck_assert_uint_gt(written.bytes, most / 100 * 65);
	ck_assert_uint_gt(written.thinned, 100000);
	ck_assert_str_eq(vfd_writer_trouble(h.w),
		"the sampling file is as large as sampling.max_size allows: its last parts are "
		"missing");
	ck_assert_int_eq(hand_end(&h), 0);
	f = reopen();
	ck_assert(vfd_facts(f)->closed);
	ck_assert_uint_le(vfd_facts(f)->bytes, most);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

/* Even those of which the end alone would need more than the limit. */
START_TEST(so_many_threads_leave_room_for_calls)
{
	enum { THREADS = 5000 };
	const struct vfd_setup s = {.path = path, .max_size = 1 << 20};
	static struct vfd_track *tracks[THREADS];
	struct hand h = {.state = 7};

	hand_begin(&h, &s);
	for (uint32_t i = 0; i < THREADS; i++)
		tracks[i] = vfd_track_new(h.w, &(struct vfd_thread){.number = i + 2});
	for (uint32_t i = 0; i < 1000; i++) {
		const uint32_t stack = vfd_stack_new(tracks[i], 0, h.functions[1]);

		vfd_enter(tracks[i], stack, HAND_START);
		vfd_exit(tracks[i], stack, HAND_START + 9000000);
	}
	vfd_writer_flush(h.w);
	ck_assert_uint_eq(vfd_writer_written(h.w).dropped_blocks, 0);
	ck_assert_uint_eq(vfd_writer_written(h.w).thinned, 0);
	ck_assert_int_eq(hand_end(&h), 0);
	hand_free(&h);
}
END_TEST

START_TEST(clock_sync_points_bend_time)
{
	struct vfd_setup s = {.path = path};
	struct hand h = {.state = 3};
	struct vfd_filter filter = {.track = 0, .raw = true, .no_messages = true};
	struct vfd_cursor *c;
	struct vfd_event e;
	struct vfd_file *f;
	size_t i = 0;

	hand_begin(&h, &s);
	hand_run(&h, 5000, 4000);
	/* 3 s behind, and gains 1 ns in 1000 */
	for (uint64_t k = 0; k < 3; k++)
		vfd_clock_sync_point(h.w, 5000000000 + k * 1000000000,
			3000000000 + (int64_t)k * 1000000, 40 + k);
	vfd_clock_zero(h.w, 7000000000);
	ck_assert_int_eq(hand_end(&h), 0);
	f = reopen();
	ck_assert(vfd_facts(f)->synchronised);
	ck_assert_int_eq(vfd_facts(f)->clock_error_ns, 42);
	c = vfd_cursor_new(&f, 1, &filter);
	while (vfd_next(c, &e)) {
		int64_t raw = ns(h.given[0][i++].ticks);

		ck_assert_int_le(labs(e.time - (1000000000 + raw + raw / 1000)), 1);
	}
	ck_assert_uint_eq(i, h.n_given[0]);
	vfd_cursor_free(c);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(a_full_disk_leaves_a_readable_file)
{
	const unsigned room = 9001 + 30011 * (unsigned)(_i / 3); /* anywhere in a block */
	struct vfd_setup s = {.path = path, .way = (enum outfile_way)(_i % 3)};
	struct rlimit before, small;
	struct hand h = {.state = 3};
	struct vfd_file *f;

	/* what the limit of the file's size does is what a full disk does */
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	small = before;
	small.rlim_cur = room;
	setrlimit(RLIMIT_FSIZE, &small);
	hand_begin(&h, &s);
	hand_run(&h, 300000, 400);
	ck_assert_int_eq(hand_end(&h), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	f = reopen();
	ck_assert(!vfd_facts(f)->closed);
	ck_assert_uint_le(vfd_facts(f)->bytes, room);
	/* all but the block that did not fit, and what lay behind it */
	ck_assert_uint_ge(vfd_facts(f)->bytes + (64 << 10), room);
	if (room > 100000)
		ck_assert_uint_gt(vfd_facts(f)->samples, room / 12);
	check_balance(f, (struct vfd_filter){.track = VFD_NONE});
	vfd_close(f);
	hand_free(&h);
}
END_TEST

START_TEST(what_is_no_file_is_refused)
{
	struct vfd_setup s = {.path = "/tmp/none/such/file.vfd"};
	char *error;

	ck_assert_ptr_null(vfd_writer_new(&s, &error));
	ck_assert_str_eq(error, "/tmp/none/such/file.vfd: No such file or directory");
	free(error);
	s.path = "/dev/null";
	ck_assert_ptr_null(vfd_writer_new(&s, &error));
	ck_assert_str_eq(error, "/dev/null: not a regular file");
	free(error);
	ck_assert_ptr_null(vfd_open("/dev/null", &error));
	ck_assert_str_eq(error, "/dev/null: not a regular file");
	free(error);
	ck_assert_ptr_null(vfd_open_bytes("VFTRVFX\n0123456701234567", 24, "x", &error));
	ck_assert_str_eq(error, "x: not a sampling file of vftr");
	free(error);
}
END_TEST

/* As where io_uring is forbidden. In a process of its own: there is no way back. */
START_TEST(without_io_uring_it_is_written_all_the_same)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_SIZE(code), code};
	struct vfd_setup s = {.path = path};
	struct hand h = {.state = 3};
	struct vfd_file *f;

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	hand_begin(&h, &s);
	ck_assert_int_eq(vfd_writer_written(h.w).way, OUTFILE_PWRITE);
	ck_assert_str_eq(vfd_writer_trouble(h.w),
		"the sampling file is written without io_uring, and may slow the agent: "
		"io_uring_setup: Operation not permitted");
	hand_run(&h, 20000, 400);
	ck_assert_int_eq(hand_end(&h), 0);
	f = reopen();
	check_samples(f, &h, true);
	vfd_close(f);
	hand_free(&h);
}
END_TEST

/* endless: until it is killed */
static int make_file(const char *name, bool endless)
{
	struct vfd_setup s = {.path = name, .interval_ns = 5000000};
	struct hand h = {.state = 11};
	int error;

	hand_begin(&h, &s);
	do {
		hand_run(&h, 3000, 20000);
		vfd_writer_flush(h.w);
	} while (endless);
	error = hand_end(&h);
	hand_free(&h);
	return error ? 1 : 0;
}

int main(int argc, char **argv)
{
	Suite *s;
	TCase *t;
	int failed;

	program_name = "u-vfd";
	if (argc == 3 && !strcmp(argv[1], "--make"))
		return make_file(argv[2], false);
	if (argc == 3 && !strcmp(argv[1], "--endless"))
		return make_file(argv[2], true);
	s = suite_create("vfd");
	t = tcase_create("all");
	if (!mkdtemp(dir))
		return 99;
	snprintf(path, sizeof(path), "%s/a.vfd", dir);
	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, events_come_back, 0, 9);
	tcase_add_test(t, definitions_come_back);
	tcase_add_test(t, source_lines_come_back);
	tcase_add_test(t, messages_come_back);
	tcase_add_test(t, both_ends_of_a_message_have_one_number);
	tcase_add_test(t, parts_are_balanced_too);
	tcase_add_test(t, cut_at_a_thousand_lengths);
	tcase_add_test(t, damage_is_told_and_left_out);
	tcase_add_test(t, wrong_bytes_with_right_checksums_do_no_harm);
	tcase_add_test(t, a_file_that_still_grows_can_be_read);
	tcase_add_test(t, with_an_interval_precise_functions_are_all_there);
	tcase_add_test(t, a_file_with_a_limit_is_thinned);
	tcase_add_loop_test(t, many_threads_stay_below_the_limit, 0, 3);
	tcase_add_test(t, so_many_threads_leave_room_for_calls);
	tcase_add_test(t, clock_sync_points_bend_time);
	tcase_add_loop_test(t, a_full_disk_leaves_a_readable_file, 0, 63);
	tcase_add_test(t, what_is_no_file_is_refused);
	tcase_add_test(t, without_io_uring_it_is_written_all_the_same);
	suite_add_tcase(s, t);
	failed = run_suite(s);
	unlink(path);
	rmdir(dir);
	return failed;
}
