/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From records of communication to the matcher: two nodes with two processes
 * each, sends that go from one node to the other in batches, and batches that
 * are damaged.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include "nodeagent/match/process.h"
#include "nodeagent/match/wire.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

static struct node {
	struct match_node *n;
	struct match_batch out;
	uint64_t first;	       /* place */
	uint64_t losses, lost; /* how many, place of the last */
} nodes[2];
static struct match_process *process[4]; /* 0 and 1 on the first node */
static uint64_t now, names[64];
static enum match_label labels[64];
static size_t n_told;

static void on_pair(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_label label)
{
	names[r->ticket % 64] = s->bytes;
	labels[r->ticket % 64] = label;
	n_told++;
}

static bool is_here(void *arg, uint64_t proc_id)
{
	const struct node *n = arg;

	return proc_id - n->first < 2;
}

static void ship(void *arg, const struct match_send *s)
{
	match_batch_send(&((struct node *)arg)->out, s);
}

static void ship_loss(void *arg, uint64_t proc_id)
{
	struct node *n = arg;

	n->losses++;
	n->lost = proc_id;
}

static void setup(void)
{
	for (int i = 0; i < 2; i++) {
		struct match_node_options o = {.match = {.pair = on_pair},
			.is_here = is_here,
			.ship = ship,
			.ship_loss = ship_loss,
			.arg = &nodes[i]};

		nodes[i] = (struct node){.n = match_node_new(&o), .first = 2 * (uint64_t)i};
		for (uint64_t k = 0; k < 2; k++)
			process[2 * i + k] =
				match_process_new(nodes[i].n, 2 * (uint64_t)i + k, false);
	}
	now = 1000;
	n_told = 0;
	memset(names, 0, sizeof(names));
}

static void teardown(void)
{
	for (int i = 0; i < 4; i++)
		match_process_end(process[i]);
	for (int i = 0; i < 2; i++) {
		match_node_free(nodes[i].n);
		match_batch_free(&nodes[i].out);
	}
}

/* A record of communicator 5, tag 7, with a name as its bytes. */
static struct message record(
	enum record_id kind, uint32_t ticket, uint32_t request, uint32_t flags, uint64_t name)
{
	return (struct message){.kind = kind,
		.field = 7,
		.ticket = ticket,
		.request = request,
		.flags = flags,
		.bytes = name};
}

static struct match_message call(const struct message *m, uint64_t peer)
{
	now += 10;
	return (struct match_message){
		.m = m, .comm = 5, .peer = peer, .since = now, .until = now + 5};
}

static void give(int p, struct message m, uint64_t peer)
{
	struct match_message c = call(&m, peer);

	match_process_message(process[p], &c);
}

static void probe(int p, struct message m, uint64_t peer)
{
	struct match_message c = call(&m, peer);

	c.probe = true;
	match_process_message(process[p], &c);
}

static void fails(int p, struct message m, uint64_t peer)
{
	struct match_message c = call(&m, peer);

	c.failed = true;
	match_process_message(process[p], &c);
}

static void finish(int p, struct message posted, uint32_t flags, uint64_t source)
{
	struct message m = record(RECORD_DONE, 0, posted.request, flags, posted.bytes);
	struct match_message c = call(&m, source);

	match_process_done(process[p], &posted, &c);
}

static void all_given(int from, int to)
{
	const char *why = match_batch_give(
		nodes[from].out.bytes, nodes[from].out.n, match_node_matcher(nodes[to].n));

	ck_assert_ptr_null(why);
	match_batch_clear(&nodes[from].out);
	if (nodes[from].losses)
		match_lost(match_node_matcher(nodes[to].n), nodes[from].lost);
}

static void got(uint32_t ticket, uint64_t name, enum match_label label)
{
	ck_assert_uint_eq(names[ticket], name);
	ck_assert_str_eq(match_label_names[labels[ticket]], match_label_names[label]);
}

/* ---- one node --------------------------------------------------------------------- */

START_TEST(blocking)
{
	give(0, record(RECORD_SEND, 0, 0, 0, 11), 1);
	fails(0, record(RECORD_SEND, 1, 0, 0, 12), 1);
	give(0, record(RECORD_SEND, 2, 0, 0, 13), 1);
	give(1, record(RECORD_RECV, 0, 0, MESSAGE_ANY_SOURCE | MESSAGE_ANY_TAG, 11), 0);
	give(1, record(RECORD_RECV, 1, 0, 0, 13), 0);
	got(0, 11, MATCH_EXACT);
	got(1, 13, MATCH_EXACT);
	ck_assert_uint_eq(match_in_flight(match_node_matcher(nodes[0].n)), 0);
	ck_assert_uint_eq(nodes[0].out.n, 0);
}
END_TEST

/* A send is not told before it is known not to be cancelled. */
START_TEST(requests)
{
	struct message s[3], r[4];

	for (uint32_t i = 0; i < 3; i++) {
		s[i] = record(RECORD_SEND, i, i + 1, 0, 11 + i);
		give(0, s[i], 1);
	}
	for (uint32_t i = 0; i < 4; i++) {
		r[i] = record(RECORD_POST, i, i + 1, MESSAGE_ANY_SOURCE, 100);
		if (i == 2)
			fails(1, r[i], MATCH_ELSEWHERE);
		else
			give(1, r[i], MATCH_ELSEWHERE);
	}
	finish(1, r[0], 0, 0);
	finish(1, r[1], MESSAGE_CANCELLED, 0);
	finish(1, r[3], 0, 0);
	ck_assert_uint_eq(n_told, 0);
	finish(0, s[2], 0, 1);
	finish(0, s[0], MESSAGE_CANCELLED, 1);
	finish(0, s[1], MESSAGE_AS_POSTED, 1);
	got(0, 12, MATCH_EXACT);
	got(3, 13, MATCH_EXACT);
	ck_assert_uint_eq(n_told, 2);
}
END_TEST

/* Cancelled and then freed, or never completed: it may have been sent. */
START_TEST(unsure)
{
	struct message s = record(RECORD_SEND, 0, 1, 0, 11);

	give(0, s, 1);
	finish(0, s, MESSAGE_CANCELLED | MESSAGE_UNKNOWN, 1);
	give(1, record(RECORD_RECV, 0, 0, 0, 11), 0);
	got(0, 11, MATCH_ASSUMED);
	give(1, record(RECORD_SEND, 0, 1, 0, 12), 0);
	give(0, record(RECORD_RECV, 0, 0, 0, 12), 1);
	ck_assert_uint_eq(n_told, 1);
	match_process_end(process[1]);
	process[1] = NULL;
	got(0, 12, MATCH_ASSUMED);
}
END_TEST

START_TEST(matched_probes)
{
	struct message r = record(RECORD_POST, 1, 2, MESSAGE_MATCHED, 12);

	for (uint32_t i = 0; i < 3; i++)
		give(0, record(RECORD_SEND, i, 0, 0, 11 + i), 1);
	probe(1, record(RECORD_POST, 0, 1, MESSAGE_MATCHED, 11), 0);
	give(1, r, 0); /* an Imrecv that is read before its probe */
	finish(1, r, 0, 0);
	give(1, record(RECORD_RECV, 2, 0, 0, 13), 0);
	probe(1, r, 0);
	give(1, record(RECORD_RECV, 0, 1, MESSAGE_MATCHED, 11), 0); /* Mrecv */
	for (uint32_t i = 0; i < 3; i++)
		got(i, 11 + i, MATCH_EXACT);
	ck_assert_uint_eq(n_told, 3);
}
END_TEST

/* A receive that failed may have taken its message. */
START_TEST(failed_receives)
{
	give(0, record(RECORD_SEND, 0, 0, 0, 11), 1);
	give(0, record(RECORD_SEND, 1, 0, 0, 12), 1);
	fails(1, record(RECORD_RECV, 0, 0, 0, 0), 0);
	give(1, record(RECORD_RECV, 1, 0, 0, 12), 0);
	got(0, 11, MATCH_ASSUMED);
	got(1, 12, MATCH_ASSUMED);
	fails(1, record(RECORD_RECV, 2, 0, MESSAGE_ANY_SOURCE, 0), MATCH_ELSEWHERE);
	ck_assert_uint_eq(nodes[0].losses, 1);
}
END_TEST

START_TEST(too_many_requests)
{
	for (uint32_t i = 0; i < MATCH_HELD_MAX + 1; i++)
		give(0, record(RECORD_SEND, i, i + 1, 0, i), 1);
	give(1, record(RECORD_RECV, 0, 0, 0, 0), 0);
	ck_assert_uint_eq(n_told, 1);
	got(0, 0, MATCH_ASSUMED);
}
END_TEST

/* ---- two nodes, and batches ------------------------------------------------------------ */

START_TEST(other_node)
{
	for (uint32_t i = 0; i < 10; i++) {
		give(0, record(RECORD_SEND, i, 0, 0, 11 + i), 3);
		give(3, record(RECORD_RECV, i, 0, 0, 11 + i), 0);
		if (i == 4)
			all_given(0, 1);
	}
	ck_assert_uint_eq(n_told, 5);
	all_given(0, 1);
	for (uint32_t i = 0; i < 10; i++)
		got(i, 11 + i, MATCH_EXACT);
	ck_assert_uint_eq(match_in_flight(match_node_matcher(nodes[0].n)), 0);
}
END_TEST

static struct match_send random_send(void)
{
	uint64_t enter = (uint64_t)rand() << (rand() % 33);
	const uint64_t leave = enter + (uint64_t)rand();
	const bool alone = rand() % 2, known = rand() % 3;

	return (struct match_send){.comm = (uint64_t)rand() << 32,
		.source = (uint64_t)rand(),
		.destination = (uint64_t)rand() << 33 | (uint64_t)rand(),
		.enter = enter,
		.leave = leave,
		.done_enter = !known  ? 0
			      : alone ? enter
				      : leave + (uint64_t)rand(),
		.done_leave = !known  ? 0
			      : alone ? leave
				      : leave + 5,
		.path = known ? (uint32_t)rand() : 0,
		.mode = known ? 1 + (uint32_t)rand() % 2 + (alone ? 0 : MATCH_SEND_AMONG) : 0,
		.bytes = (uint64_t)rand() << (rand() % 33),
		.tag = (uint32_t)rand() << 1,
		.ticket = (uint32_t)rand() << 1,
		.thread = (uint32_t)rand(),
		.flags = rand() % 2 ? (uint32_t)MATCH_VOID : 0};
}

static size_t n_left;
static struct match_send expected[100];
static uint32_t was_seen;

/* Not by memcmp(): what lies between the members is any value. */
static bool is_same(const struct match_send *a, const struct match_send *b)
{
	return a->comm == b->comm && a->source == b->source && a->destination == b->destination &&
	       a->enter == b->enter && a->leave == b->leave && a->bytes == b->bytes &&
	       a->tag == b->tag && a->ticket == b->ticket && a->thread == b->thread &&
	       a->flags == b->flags && a->history == b->history && a->path == b->path &&
	       a->mode == b->mode && a->done_enter == b->done_enter &&
	       a->done_leave == b->done_leave;
}

static void on_left(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_reason reason)
{
	n_left++;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		was_seen += is_same(s, &expected[i]);
}

/* What is written is read; cut off anywhere it is noticed, or shorter. */
START_TEST(round_trip)
{
	const struct match_options o = {.unmatched = on_left};
	struct match_batch b = {0};

	srand(7);
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		expected[i] = random_send();
		expected[i].flags = 0;
		expected[i].ticket = 0;
		match_batch_send(&b, &expected[i]);
	}
	for (size_t n = b.n + 1; n-- > 0;) {
		struct match *m = match_new(&o);
		const char *why = match_batch_give(b.bytes, n, m);

		n_left = was_seen = 0;
		match_end(m);
		ck_assert_uint_eq(n_left, was_seen);
		if (n == b.n)
			ck_assert(!why && n_left == ARRAY_SIZE(expected));
		else
			ck_assert(why || n_left < ARRAY_SIZE(expected) || n > b.n - 10);
		match_free(m);
	}
	match_batch_free(&b);
}
END_TEST

START_TEST(sizes)
{
	struct match_batch b = {0};
	struct match_send s = random_send();
	size_t first;

	match_batch_send(&b, &s);
	first = b.n;
	for (uint32_t i = 0; i < 1000; i++) {
		s.ticket++;
		s.enter += 5000;
		s.leave = s.done_leave = s.enter + 800;
		s.done_enter = s.enter;
		s.mode = MATCH_SEND_STANDARD;
		match_batch_send(&b, &s);
	}
	ck_assert_uint_le(first, 100);
	ck_assert_uint_le(b.n - first, 7 * 1000 + 10);
	match_batch_free(&b);
}
END_TEST

START_TEST(garbage)
{
	const struct match_options o = {0};
	uint8_t bytes[512] = {'V', 'M', 'S', 2};

	srand(1);
	for (int k = 0; k < 3000; k++) {
		struct match *m = match_new(&o);

		for (size_t i = 4; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)(rand() % 3 ? rand() % 33 : rand());
		match_batch_give(bytes, (size_t)rand() % sizeof(bytes), m);
		match_end(m);
		ck_assert_uint_eq(match_in_flight(m), 0);
		match_free(m);
	}
	ck_assert_ptr_nonnull(match_batch_give("VMS\1....", 8, NULL));
	ck_assert_ptr_nonnull(match_batch_give("VM", 2, NULL));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {blocking, requests, unsure, matched_probes, failed_receives,
		too_many_requests, other_node, round_trip, sizes, garbage};
	Suite *s = suite_create("match-node");
	TCase *c = tcase_create("match-node");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
