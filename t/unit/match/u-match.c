/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages made by hand: what matching by time, length or likeness gets wrong, each rule
 * of MPI that decides, each kind of damage, and nonsense. The bytes of a send
 * are its name. Random programs are in m-match.c.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/match/match.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#define ANY_RANK MATCH_ANYWHERE
#define ANYTAG	 MATCH_ANY_TAG

static struct match *m;
static uint64_t now;
static struct told {
	struct match_send s;
	struct match_receive r;
	enum match_label label;
} told[4096];
static size_t n_told, left_sends, left_receives;

static void on_pair(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_label label)
{
	if (n_told < ARRAY_SIZE(told))
		told[n_told] = (struct told){*s, *r, label};
	n_told++;
}

static void on_unmatched(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_reason reason)
{
	ck_assert((s != NULL) != (r != NULL));
	ck_assert(reason < MATCH_REASONS && match_reason_names[reason]);
	left_sends += s != NULL;
	left_receives += r != NULL;
}

static void setup(void)
{
	const struct match_options o = {.latency = 1, .pair = on_pair, .unmatched = on_unmatched};

	m = match_new(&o);
	now = 100;
	n_told = left_sends = left_receives = 0;
}

static void teardown(void)
{
	match_free(m);
}

/* ---- making records: by default of communicator 1, to place 9, thread 0 --------------------- */

static struct match_send a_send(uint64_t from, uint32_t tag, uint32_t ticket, uint64_t bytes)
{
	now += 10;
	return (struct match_send){.comm = 1,
		.source = from,
		.destination = 9,
		.enter = now,
		.leave = now + 2,
		.bytes = bytes,
		.tag = tag,
		.ticket = ticket};
}

static void sent(uint64_t from, uint32_t tag, uint32_t ticket, uint64_t bytes)
{
	struct match_send s = a_send(from, tag, ticket, bytes);

	match_send(m, &s);
}

static struct match_receive a_post(uint64_t from, uint32_t tag, uint32_t ticket)
{
	now += 10;
	return (struct match_receive){.comm = 1,
		.source = from,
		.destination = 9,
		.enter = now,
		.leave = now + 2,
		.tag = tag,
		.ticket = ticket,
		.request = ticket + 1};
}

static void posted(uint64_t from, uint32_t tag, uint32_t ticket)
{
	struct match_receive r = a_post(from, tag, ticket);

	match_receive(m, &r);
}

static struct match_done a_done(uint64_t from, uint32_t tag)
{
	now += 10;
	return (struct match_done){.source = from, .tag = tag, .enter = now, .leave = now + 2};
}

static void done(uint32_t ticket, uint64_t from, uint32_t tag)
{
	struct match_done d = a_done(from, tag);

	match_done(m, 9, ticket + 1, &d);
}

static void cancelled(uint32_t ticket)
{
	const struct match_done d = {.cancelled = true};

	match_done(m, 9, ticket + 1, &d);
}

static void freed(uint32_t ticket)
{
	const struct match_done d = {.unknown = true};

	match_done(m, 9, ticket + 1, &d);
}

static struct match_receive a_receive(uint64_t from, uint32_t tag, uint32_t ticket)
{
	struct match_receive r = a_post(from, tag, ticket);

	r.flags = MATCH_DONE;
	r.done = a_done(from, tag);
	return r;
}

/* A blocking one. */
static void received(uint64_t from, uint32_t tag, uint32_t ticket)
{
	struct match_receive r = a_receive(from, tag, ticket);

	match_receive(m, &r);
}

/* ---- looking -----------------------------------------------------------------------------------
 */

/* The receive with this ticket got the send with this name. */
static void got(uint32_t ticket, uint64_t bytes, enum match_label label)
{
	for (size_t i = 0; i < n_told; i++)
		if (told[i].r.ticket == ticket) {
			ck_assert_uint_eq(told[i].s.bytes, bytes);
			ck_assert_str_eq(
				match_label_names[told[i].label], match_label_names[label]);
			return;
		}
	ck_abort_msg("the receive with ticket %u has got nothing", ticket);
}

static void nothing_left(void)
{
	match_end(m);
	ck_assert_uint_eq(left_sends + left_receives, 0);
	ck_assert_uint_eq(match_in_flight(m), 0);
}

/* ---- weaknesses of matching by likeness ------------------------------------------------------ */

/* W1 and W7: communicators count, and so do all bits of tag, place and length. */
START_TEST(communicators_and_wide_numbers)
{
	struct match_send s = a_send(1, 70000, 0, 1);
	struct match_receive r;

	s.comm = (uint64_t)1 << 40 | 1;
	match_send(m, &s);
	sent(1, 70000, 0, 2);
	sent(1, 70000 - 65536, 1, 3);
	sent(1 + 65536, 70000, 0, (uint64_t)1 << 55);
	received(1, 70000 - 65536, 0);
	received(1, 70000, 1);
	received(1 + 65536, 70000, 2);
	r = a_receive(1, 70000, 0);
	r.comm = s.comm;
	got(0, 3, MATCH_EXACT);
	got(1, 2, MATCH_EXACT);
	got(2, (uint64_t)1 << 55, MATCH_EXACT);
	match_receive(m, &r);
	ck_assert_uint_eq(told[n_told - 1].s.bytes, 1);
	nothing_left();
}
END_TEST

/* W2: same tag and length from two sources. */
START_TEST(sources)
{
	sent(1, 5, 0, 1);
	sent(2, 5, 0, 2);
	received(2, 5, 0);
	received(1, 5, 1);
	got(0, 2, MATCH_EXACT);
	got(1, 1, MATCH_EXACT);
	nothing_left();
}
END_TEST

/* W3 and W4: equal sends are taken one by one, each at once. */
START_TEST(equal_ones)
{
	for (uint32_t i = 0; i < 1000; i++)
		sent(1, 5, i, i);
	for (uint32_t i = 0; i < 1000; i++)
		received(1, 5, i);
	for (uint32_t i = 0; i < 1000; i++)
		got(i, i, MATCH_EXACT);
	nothing_left();
}
END_TEST

/* W5: with the clocks as wrong as can be; it is counted, with the worst. */
START_TEST(clocks)
{
	received(1, 5, 0);
	received(1, 5, 1);
	sent(1, 5, 0, 1);
	sent(1, 5, 1, 2);
	got(0, 1, MATCH_EXACT);
	got(1, 2, MATCH_EXACT);
	ck_assert_uint_eq(match_counts(m)->violations, 2);
	ck_assert_uint_eq(match_counts(m)->worst, told[0].s.enter + 1 - told[0].r.done.leave);
	ck_assert_uint_eq(match_counts(m)->worst_destination, 9);
	nothing_left();
}
END_TEST

/* W6: the length decides nothing; to receive more than was sent is counted. */
START_TEST(lengths)
{
	struct match_receive r = a_receive(1, 5, 1);

	sent(1, 5, 0, 100);
	sent(1, 5, 1, 200);
	received(1, 5, 0); /* 0 bytes */
	r.done.bytes = 201;
	match_receive(m, &r);
	got(0, 100, MATCH_EXACT);
	got(1, 200, MATCH_EXACT);
	ck_assert_uint_eq(match_counts(m)->too_long, 1);
	nothing_left();
}
END_TEST

/* W8: threads are those of the records, of the post and of the completion. */
START_TEST(threads_of_records)
{
	struct match_send s = a_send(1, 5, 0, 1);
	struct match_receive r = a_post(1, 5, 0);
	struct match_done d = a_done(1, 5);

	s.thread = 4;
	r.thread = 2;
	d.thread = 7;
	match_send(m, &s);
	match_receive(m, &r);
	match_done(m, 9, 1, &d);
	ck_assert_uint_eq(told[0].s.thread, 4);
	ck_assert_uint_eq(told[0].r.thread, 2);
	ck_assert_uint_eq(told[0].r.done.thread, 7);
	nothing_left();
}
END_TEST

/* W9: wildcards by what they got; what was cancelled takes nothing. */
START_TEST(wildcards_and_cancel)
{
	struct match_send s = a_send(1, 6, 1, 77);

	posted(ANY_RANK, ANYTAG, 0);
	posted(1, ANYTAG, 1);
	posted(ANY_RANK, 6, 2);
	posted(1, 5, 3);
	sent(1, 5, 0, 1);
	s.flags = MATCH_VOID;
	match_send(m, &s);
	sent(1, 6, 2, 2);
	sent(2, 6, 0, 3);
	done(2, 2, 6);
	ck_assert_uint_eq(n_told, 0); /* held by the first, which may have it */
	cancelled(3);
	done(0, 1, 5);
	done(1, 1, 6);
	got(0, 1, MATCH_EXACT);
	got(1, 2, MATCH_EXACT);
	got(2, 3, MATCH_EXACT);
	nothing_left();
}
END_TEST

/* W10: the order of the posts counts, whatever is waited for first. */
START_TEST(posts_not_waits)
{
	for (uint32_t i = 0; i < 100; i++)
		posted(1, 5, i);
	for (uint32_t i = 0; i < 100; i++)
		sent(1, 5, i, i);
	for (uint32_t i = 100; i-- > 0;) {
		ck_assert_uint_eq(n_told, 0);
		done(i, 1, 5);
	}
	for (uint32_t i = 0; i < 100; i++)
		got(i, i, MATCH_EXACT);
	nothing_left();
}
END_TEST

/* ---- rules of MPI
 * ---------------------------------------------------------------------------------- */

START_TEST(any_order_of_reading)
{
	done(1, 1, 5);
	posted(1, 5, 1);
	sent(1, 5, 2, 3);
	sent(1, 5, 1, 2);
	received(1, 5, 2);
	ck_assert_uint_eq(n_told, 0);
	sent(1, 5, 0, 1);
	received(1, 5, 0);
	got(0, 1, MATCH_EXACT);
	got(1, 2, MATCH_EXACT);
	got(2, 3, MATCH_EXACT);
	ck_assert_uint_eq(match_counts(m)->late, 0);
	sent(1, 5, 1, 2);
	ck_assert_uint_eq(match_counts(m)->late, 1);
	nothing_left();
}
END_TEST

START_TEST(tickets_wrap_around)
{
	struct match_send s = a_send(1, 5, 0, 1);
	uint32_t ticket = 0;

	/* by steps of what a gap may be: half of the range */
	for (int i = 0; i < 2; i++) {
		ticket += (uint32_t)INT32_MAX;
		s.ticket = ticket;
		match_send(m, &s);
	}
	match_end(m);
	ck_assert_uint_eq(match_counts(m)->late, 1);
	ck_assert_uint_eq(match_counts(m)->lost_sends, INT32_MAX);
}
END_TEST

/* A probe takes the message at its place in the order; when it is received does not matter. */
START_TEST(matched_probes)
{
	struct match_receive r = a_post(1, 5, 0);

	r.flags = MATCH_PROBED;
	sent(1, 5, 0, 1);
	sent(1, 5, 1, 2);
	match_receive(m, &r);
	received(1, 5, 1);
	got(1, 2, MATCH_EXACT);
	ck_assert_uint_eq(n_told, 1);
	done(0, 1, 5);
	got(0, 1, MATCH_EXACT);
	r.ticket = 2;
	r.request = 3;
	done(2, 1, 5); /* read before its probe */
	match_receive(m, &r);
	sent(1, 5, 2, 3);
	got(2, 3, MATCH_EXACT);
	r.ticket = 3;
	r.request = 4;
	match_receive(m, &r); /* nobody receives it */
	sent(1, 5, 3, 4);
	nothing_left();
	got(3, 4, MATCH_EXACT);
	ck_assert(!(told[3].r.flags & MATCH_DONE));
}
END_TEST

/* Wherever the message is received: it is done in the probe, which has waited for it. */
START_TEST(probes_that_wait)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct match_receive r = a_post(1, 5, i);

		r.flags = MATCH_PROBED;
		r.probe_path = 77;
		r.thread = 3;
		if (i) /* read before its probe */
			done(i, 1, 5);
		match_receive(m, &r);
		sent(1, 5, i, i + 1);
		if (!i)
			done(i, 1, 5);
		got(i, i + 1, MATCH_EXACT);
		ck_assert_uint_eq(told[i].r.done.enter, r.enter);
		ck_assert_uint_eq(told[i].r.done.leave, r.leave);
		ck_assert_uint_eq(told[i].r.done.path, 77);
		ck_assert_uint_eq(told[i].r.done.thread, 3);
	}
}
END_TEST

/* Freed, without wildcards: it takes its message, if it takes one. With: that is not known. */
START_TEST(freed_receives)
{
	posted(1, 5, 0);
	sent(1, 5, 0, 1);
	sent(1, 5, 1, 2);
	freed(0);
	received(1, 5, 1);
	got(0, 1, MATCH_ASSUMED);
	got(1, 2, MATCH_ASSUMED);
	posted(ANY_RANK, 7, 2);
	freed(2);
	sent(2, 7, 0, 3);
	sent(2, 8, 1, 4);
	received(2, 8, 3);
	received(2, 7, 4);
	got(3, 4, MATCH_EXACT);
	ck_assert_uint_eq(n_told, 3);
	match_end(m);
	got(4, 3, MATCH_ASSUMED);
	ck_assert_uint_eq(match_counts(m)->unmatched_receives[MATCH_NOT_COMPLETED], 1);
}
END_TEST

/* Two threads at the same time: ambiguous, but for another tag or source. */
START_TEST(threads_at_once)
{
	struct match_send s[4];
	struct match_receive r[4];

	for (uint32_t i = 0; i < 4; i++) {
		s[i] = a_send(1, i < 3 ? 5 : 6, i, i);
		s[i].enter = i == 2 ? 2000 : 1000 + i;
		s[i].leave = i == 2 ? 2010 : 1500 + i;
		s[i].thread = i;
		s[i].flags = MATCH_CONCURRENT;
	}
	s[3].enter = 2005;
	s[3].leave = 2020;
	for (uint32_t i = 0; i < 4; i++) {
		match_send(m, &s[3 - i]);
		r[i] = a_receive(1, s[i].tag, i);
		match_receive(m, &r[i]);
	}
	match_end(m);
	got(0, 0, MATCH_AMBIGUOUS);
	got(1, 1, MATCH_AMBIGUOUS);
	got(2, 2, MATCH_EXACT);
	got(3, 3, MATCH_EXACT);
}
END_TEST

START_TEST(posts_at_once)
{
	struct match_receive r[4];

	for (uint32_t i = 0; i < 4; i++) {
		sent(1 + i / 2, 5, i % 2, i);
		r[i] = a_receive(1 + i / 2, 5, i);
		r[i].source = ANY_RANK;
		r[i].thread = i % 2;
		r[i].flags |= MATCH_CONCURRENT;
		r[i].enter = i < 2 ? 1000 + i : 2000 + 100 * i;
		r[i].leave = i < 2 ? 1500 : 2050 + 100 * i;
	}
	for (uint32_t i = 4; i-- > 0;)
		match_receive(m, &r[i]);
	match_end(m);
	got(0, 0, MATCH_AMBIGUOUS);
	got(1, 1, MATCH_AMBIGUOUS);
	got(2, 2, MATCH_EXACT);
	got(3, 3, MATCH_EXACT);
}
END_TEST

START_TEST(overtaking)
{
	struct match_send s = a_send(1, 5, 0, 1);

	s.flags = MATCH_OVERTAKING;
	match_send(m, &s);
	received(1, 5, 0);
	got(0, 1, MATCH_GUESS);
	nothing_left();
}
END_TEST

/* With i 1 the clock passes zero meanwhile. */
START_TEST(threads_in_turns)
{
	now = _i ? (uint64_t)-45 : now;
	for (uint32_t i = 0; i < 8; i++) {
		struct match_send s = a_send(1, 5, i, i);

		s.thread = i % 2;
		s.flags = MATCH_CONCURRENT;
		match_send(m, &s);
	}
	for (uint32_t i = 0; i < 8; i++)
		received(1, 5, i);
	match_end(m);
	for (uint32_t i = 0; i < 8; i++)
		got(i, i, MATCH_EXACT);
	nothing_left();
}
END_TEST

/* number: of the start; 0: not known. */
static void start_numbered(uint32_t init, uint32_t tag, uint64_t name, uint64_t at, uint32_t number)
{
	struct match_send s = a_send(1, tag, init, name);

	s.enter = at;
	s.flags = MATCH_PARTITIONED;
	s.start = number;
	match_send(m, &s);
}

static void start(uint32_t init, uint32_t tag, uint64_t name, uint64_t at)
{
	start_numbered(init, tag, name, at, (uint32_t)name);
}

static void start_receive_numbered(
	uint32_t init, uint32_t tag, uint32_t request, uint64_t at, uint32_t number)
{
	struct match_receive r = a_post(1, tag, init);
	struct match_done d = a_done(1, tag);

	r.enter = at;
	r.request = request;
	r.flags = MATCH_PARTITIONED;
	r.start = number;
	match_receive(m, &r);
	d.bytes = request; /* its name; see below */
	match_done(m, 9, request, &d);
}

static void start_receive(uint32_t init, uint32_t tag, uint32_t request, uint64_t at)
{
	start_receive_numbered(init, tag, request, at, request);
}

/* By the order of the inits, then start by start; ordinary messages do not matter. */
START_TEST(partitioned)
{
	sent(1, 5, 0, 1);
	start(1, 5, 11, 2000);
	start(1, 5, 12, 3000);
	start_receive(1, 5, 11, 2001);
	start(0, 5, 2, 2200);
	start(0, 5, 1, 1200);
	start_receive(0, 5, 2, 2201);
	start_receive(0, 5, 1, 1201);
	start_receive(1, 5, 12, 3001);
	ck_assert_uint_eq(n_told, 0);
	match_progress(m, 1, 5000);
	match_progress(m, 9, 2500);
	ck_assert_uint_eq(n_told, 3);
	match_progress(m, 9, 5000);
	ck_assert_uint_eq(n_told, 4);
	start(3, 6, 13, 6000); /* init 2 was never started */
	start_receive(3, 6, 13, 6001);
	received(1, 5, 0);
	match_end(m);
	ck_assert_uint_eq(n_told, 6);
	for (size_t i = 0; i < n_told; i++)
		if (told[i].s.flags & MATCH_PARTITIONED) {
			ck_assert_uint_eq(told[i].s.bytes, told[i].r.done.bytes);
			ck_assert_uint_eq(
				told[i].label, told[i].s.tag == 6 ? MATCH_ASSUMED : MATCH_EXACT);
		}
	nothing_left();
}
END_TEST

/* Starts 1 and 5 are known of the receiver only, 3 of the sender: the others pair by their numbers,
 * in whatever order they come (_i). */
START_TEST(partitioned_left_out)
{
	for (uint32_t i = 1; i <= 5; i++) {
		const uint32_t n = _i ? 6 - i : i;

		if (n != 1 && n != 5)
			start_numbered(0, 5, n, 1000 * n, n);
		if (n != 3)
			start_receive_numbered(0, 5, n, 1000 * n + 1, n);
	}
	match_progress(m, 1, 10000);
	match_progress(m, 9, 10000);
	match_end(m);
	ck_assert_uint_eq(match_counts(m)->pairs[MATCH_EXACT], 2);
	for (size_t i = 0; i < n_told; i++)
		if (told[i].s.bytes && told[i].r.done.bytes) {
			ck_assert_uint_eq(told[i].s.bytes, told[i].r.done.bytes);
			ck_assert_uint_eq(told[i].r.start, told[i].s.bytes);
		}
	ck_assert_uint_eq(match_counts(m)->unmatched_sends[MATCH_NOT_RECEIVED], 1);
	ck_assert_uint_eq(match_counts(m)->unmatched_receives[MATCH_NO_SEND], 2);
}
END_TEST

/* After the first one neither side knows the numbers any more: the others may be any. */
START_TEST(partitioned_not_known)
{
	for (uint32_t i = 1; i <= 3; i++) {
		start_numbered(0, 5, i, 1000 * i, i == 1);
		start_receive_numbered(0, 5, i, 1000 * i + 1, i == 1);
	}
	match_progress(m, 1, 10000);
	match_progress(m, 9, 10000);
	match_end(m);
	ck_assert_uint_eq(match_counts(m)->pairs[MATCH_EXACT], 1);
	ck_assert_uint_eq(match_counts(m)->unmatched_sends[MATCH_NOT_RECEIVED], 2);
	ck_assert_uint_eq(match_counts(m)->unmatched_receives[MATCH_NO_SEND], 2);
}
END_TEST

/* Those of another node come without progress; with i 1 some are from before this one's zero. */
START_TEST(partitioned_elsewhere)
{
	const uint64_t first = _i ? (uint64_t)-1500 : 500;

	for (uint64_t i = 4; i-- > 0;)
		start(0, 5, i + 1, first + 1000 * i);
	for (uint32_t i = 0; i < 4; i++)
		start_receive(0, 5, i + 1, 10000 + i);
	match_end(m);
	ck_assert_uint_eq(n_told, 4);
	for (size_t i = 0; i < n_told; i++)
		ck_assert_uint_eq(told[i].s.bytes, told[i].r.done.bytes);
	nothing_left();
}
END_TEST

/* ---- damage
 * --------------------------------------------------------------------------------------- */

/* One tag: by number, as long as nothing better is known; a send after all receives ends it. */
START_TEST(lost_sends_of_one_tag)
{
	struct match_receive r[4];

	for (uint32_t i = 0; i < 3; i++)
		r[i] = a_receive(1, 5, i);
	for (uint32_t i = 0; i < 4; i++) {
		struct match_send s = a_send(1, 5, i, i);

		s.enter = 100 + i;
		if (i != 1)
			match_send(m, &s);
	}
	for (uint32_t i = 0; i < 3; i++)
		match_receive(m, &r[i]);
	received(1, 5, 3);
	match_gone(m, 2); /* another one */
	ck_assert_uint_eq(n_told, 1);
	match_end(m);
	got(0, 0, MATCH_EXACT);
	got(2, 2, MATCH_ASSUMED);
	got(3, 3, MATCH_ASSUMED);
	ck_assert_uint_eq(match_counts(m)->lost_sends, 1);
	ck_assert_uint_eq(match_counts(m)->unmatched_receives[MATCH_PARTNER_LOST], 1);
}
END_TEST

/* With i 1 the clock passes zero meanwhile, as that of another node may in ticks of this one. */
START_TEST(sound_again)
{
	if (_i)
		now = (uint64_t)-65;
	sent(1, 5, 0, 0);
	received(1, 5, 0);
	now += 10; /* 1, of tag 6, is lost */
	received(1, 6, 1);
	sent(1, 5, 2, 2);
	sent(1, 6, 3, 3);
	received(1, 6, 2);
	received(1, 5, 3);
	match_end(m);
	got(0, 0, MATCH_EXACT);
	got(2, 3, MATCH_EXACT);
	got(3, 2, MATCH_EXACT);
}
END_TEST

START_TEST(broken_until_even)
{
	struct match_receive r[6];
	static const uint32_t tags[] = {5, 6, 5, 6, 5, 6};

	for (uint32_t i = 0; i < 6; i++)
		r[i] = a_receive(1, tags[i], i);
	for (uint32_t i = 0; i < 6; i++) {
		struct match_send s = a_send(1, tags[i], i, i);

		s.enter = 100; /* no help from the clock */
		if (i != 2)
			match_send(m, &s);
	}
	for (uint32_t i = 0; i < 6; i++)
		match_receive(m, &r[i]);
	match_end(m);
	got(0, 0, MATCH_EXACT);
	got(1, 1, MATCH_EXACT);
	for (size_t i = 2; i < n_told; i++)
		ck_assert(told[i].label == MATCH_BROKEN || told[i].label == MATCH_ASSUMED);
}
END_TEST

/* A lost receive may have been of any channel: all are broken until the totals agree. */
START_TEST(lost_receives)
{
	sent(1, 5, 0, 1);
	sent(2, 5, 0, 2);
	received(1, 5, 0);
	for (uint32_t i = 0; i < 2; i++)
		received(2, 6, 2 + i);
	sent(2, 6, 1, 3);
	sent(2, 6, 2, 4);
	match_lost(m, 9);
	for (uint32_t i = 0; i < 70000; i++) {
		sent(1, 7, 1 + i, 1000);
		received(1, 7, 4 + i);
	}
	got(0, 1, MATCH_EXACT);
	got(2, 3, MATCH_BROKEN);
	got(3, 4, MATCH_BROKEN);
	ck_assert_uint_eq(match_counts(m)->lost_receives, 1);
	ck_assert_uint_gt(match_counts(m)->pairs[MATCH_ASSUMED], 60000);
	match_end(m);
	ck_assert_uint_eq(match_counts(m)->unmatched_sends[MATCH_PARTNER_LOST], 1);
	ck_assert_uint_eq(match_counts(m)->pairs[MATCH_EXACT], 1);
}
END_TEST

/* Messages 10 to 19 of each 30, from two sources with two tags, were recorded on neither side. */
START_TEST(recorded_on_neither_side)
{
	for (uint32_t i = 0; i < 90; i++) {
		if (i % 30 >= 10 && i % 30 < 20)
			continue;
		sent(1, 5 + i % 2, i, 2 * i);
		sent(2, 5, i, 2 * i + 1);
		received(2, 5, 2 * i);
		received(1, 5 + i % 2, 2 * i + 1);
	}
	if (_i)
		match_lost(m, 9); /* then nobody knows why they are missing */
	match_end(m);
	for (size_t i = 0; i < n_told; i++) {
		const struct told *t = &told[i];

		if (!_i || t->r.ticket < 20)
			got(t->r.ticket, t->r.ticket ^ 1, MATCH_EXACT);
		else
			ck_assert_int_ne(t->label, MATCH_EXACT);
	}
	ck_assert_uint_eq(match_counts(m)->lost_sends, 60);
	ck_assert_uint_eq(match_counts(m)->lost_receives, 60);
	ck_assert_uint_eq(match_in_flight(m), 0);
	if (!_i)
		ck_assert_uint_eq(n_told, 120);
}
END_TEST

/* The completion of the first was lost: the second does not wait for it for ever. */
START_TEST(lost_completions)
{
	posted(1, 5, 0);
	match_lost(m, 9);
	posted(1, 5, 1);
	sent(1, 5, 0, 1);
	sent(1, 5, 1, 2);
	done(1, 1, 5);
	got(0, 1, MATCH_ASSUMED);
	got(1, 2, MATCH_ASSUMED);
	nothing_left();
}
END_TEST

/* What a receive has got is known from a younger one, though nobody saw it complete. */
START_TEST(completions_never_seen)
{
	posted(1, 5, 0);
	posted(1, 5, 1);
	posted(1, 6, 2);
	for (uint32_t i = 0; i < 3; i++)
		sent(1, 5, i, 1 + i);
	done(1, 1, 5);
	received(1, 5, 3);
	match_end(m);
	got(0, 1, MATCH_ASSUMED);
	got(1, 2, MATCH_ASSUMED);
	got(3, 3, MATCH_ASSUMED);
	ck_assert_uint_eq(left_sends, 0);
	ck_assert_uint_eq(match_counts(m)->unmatched_receives[MATCH_NOT_COMPLETED], 1);
	ck_assert_uint_eq(match_in_flight(m), 0);
}
END_TEST

START_TEST(elsewhere_and_leftovers)
{
	struct match_send away = a_send(1, 5, 7, 9), cancelled = away;

	away.destination = cancelled.destination = MATCH_ELSEWHERE;
	cancelled.flags |= MATCH_VOID;
	match_send(m, &away);
	match_send(m, &cancelled);
	ck_assert_uint_eq(left_sends, 1);
	received(MATCH_ELSEWHERE, 5, 0);
	sent(1, 5, 0, 1);
	received(1, 6, 1);
	posted(1, 5, 2);
	match_end(m);
	ck_assert_uint_eq(match_counts(m)->unmatched_receives[MATCH_OF_ELSEWHERE], 1);
	ck_assert_uint_eq(match_counts(m)->unmatched_sends[MATCH_OF_ELSEWHERE], 1);
	ck_assert_uint_eq(match_counts(m)->unmatched_receives[MATCH_NO_SEND], 1);
	ck_assert_uint_eq(match_counts(m)->unmatched_receives[MATCH_NOT_COMPLETED], 1);
	ck_assert_uint_eq(match_counts(m)->unmatched_sends[MATCH_NOT_RECEIVED], 1);
	ck_assert_uint_eq(match_in_flight(m), 0);
}
END_TEST

/* A communicator that is gone takes its memory along, and its identity may come again. */
START_TEST(gone)
{
	for (int i = 0; i < 3; i++) {
		sent(1, 5, 0, 1);
		sent(1, 6, 1, 2);
		posted(1, 6, 0);
		posted(ANY_RANK, ANYTAG, 1);
		start(0, 5, 1, 1);
		match_gone(m, 1);
		ck_assert_uint_eq(match_in_flight(m), 0);
	}
	ck_assert_uint_eq(match_counts(m)->late, 0);
	ck_assert_uint_eq(left_sends, 9);
}
END_TEST

START_TEST(limits)
{
	for (uint32_t i = 0; i < MATCH_CHANNEL_MAX + 10; i++)
		sent(1, 5, i, 1);
	ck_assert_uint_eq(match_counts(m)->overflow, 10);
	ck_assert_uint_eq(match_counts(m)->lost_sends, 10);
	for (uint32_t i = 0; i < MATCH_WAITING_MAX + 1; i++)
		sent(2, 5, 1 + i, 1);
	ck_assert_uint_eq(match_counts(m)->lost_sends, 11);
	for (uint32_t i = 0; i < MATCH_EARLY_MAX + 5; i++)
		done(i, 1, 5);
	ck_assert_uint_eq(match_counts(m)->overflow, 15);
	for (uint32_t i = 0; i < MATCH_INITS_MAX + 5; i++)
		start(i, i, 1, 1);
	ck_assert_uint_eq(match_counts(m)->overflow, 20);
	match_end(m);
	ck_assert_uint_eq(match_in_flight(m), 0);
}
END_TEST

/* ---- nonsense
 * ------------------------------------------------------------------------------------- */

START_TEST(nonsense)
{
	srand((unsigned)_i);
	for (int i = 0; i < 20000; i++) {
		struct match_send s = a_send((uint64_t)rand() % 3, (uint32_t)rand() % 3,
			(uint32_t)(rand() % 8 ? rand() % 64 : rand()), 1);
		struct match_receive r = a_post(rand() % 3 ? (uint64_t)rand() % 3 : ANY_RANK,
			rand() % 3 ? (uint32_t)rand() % 3 : ANYTAG,
			(uint32_t)(rand() % 8 ? rand() % 64 : rand()));
		struct match_done d = a_done((uint64_t)rand() % 4, (uint32_t)rand() % 4);

		s.destination = r.destination = (uint64_t)rand() % 3;
		s.flags = (uint32_t)rand() % 64;
		r.flags = (uint32_t)rand() % 128;
		s.thread = r.thread = (uint32_t)rand() % 3;
		r.request = (uint32_t)rand() % 64;
		s.enter = rand() % 5 ? s.enter : (uint64_t)rand() << 40;
		s.leave = rand() % 3 ? s.leave : (uint64_t)rand() << 20;
		d.cancelled = rand() % 8 == 0;
		d.unknown = rand() % 8 == 0;
		if (rand() % 16 == 0)
			match_lost(m, (uint64_t)rand() % 3);
		if (rand() % 16 == 0)
			match_progress(m, (uint64_t)rand() % 3, (uint64_t)rand() << 20);
		if (rand() % 2000 == 0)
			match_gone(m, 1);
		if (rand() % 3 == 0)
			match_send(m, &s);
		else if (rand() % 2)
			match_receive(m, &r);
		else
			match_done(m, r.destination, r.request, &d);
	}
	match_end(m);
	ck_assert_uint_eq(match_in_flight(m), 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {communicators_and_wide_numbers, sources, equal_ones, clocks,
		lengths, threads_of_records, wildcards_and_cancel, posts_not_waits,
		any_order_of_reading, tickets_wrap_around, matched_probes, probes_that_wait,
		freed_receives, threads_at_once, posts_at_once, overtaking, partitioned,
		partitioned_not_known, lost_sends_of_one_tag, broken_until_even, lost_receives,
		lost_completions, completions_never_seen, elsewhere_and_leftovers, gone, limits};
	Suite *s = suite_create("match");
	TCase *c = tcase_create("match");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	tcase_add_loop_test(c, sound_again, 0, 2);
	tcase_add_loop_test(c, recorded_on_neither_side, 0, 2);
	tcase_add_loop_test(c, threads_in_turns, 0, 2);
	tcase_add_loop_test(c, partitioned_left_out, 0, 2);
	tcase_add_loop_test(c, partitioned_elsewhere, 0, 2);
	tcase_add_loop_test(c, nonsense, 0, 20);
	suite_add_tcase(s, c);
	return run_suite(s);
}
