/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators that are made, used and freed again and again take no more memory, also where some
 * members have never used them, or are on other nodes; what is left of one is paired all the same.
 */
#include <check.h>

#include "nodeagent/match/gone.c"
#include "t/lib/suite.h"

static struct match *m;
static uint64_t now, pairs, left_over;

static void on_pair(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_label label)
{
	ck_assert_uint_eq(s->bytes, r->done.bytes);
	ck_assert_int_eq(label, MATCH_EXACT);
	pairs++;
}

static void on_unmatched(void *arg, const struct match_send *s, const struct match_receive *r,
	enum match_reason reason)
{
	left_over++;
}

static void setup(void)
{
	const struct match_options o = {.pair = on_pair, .unmatched = on_unmatched};

	m = match_new(&o);
	now = pairs = left_over = 0;
}

static void teardown(void)
{
	match_free(m);
}

static void send_from(uint64_t from, uint64_t comm, uint32_t ticket)
{
	now += 10;
	match_send(m, &(struct match_send){.comm = comm,
			      .source = from,
			      .destination = 1 - from,
			      .enter = now,
			      .leave = now + 2,
			      .bytes = comm + ticket,
			      .ticket = ticket});
}

static void receive_at(uint64_t to, uint64_t comm, uint32_t ticket)
{
	now += 10;
	match_receive(m, &(struct match_receive){.comm = comm,
				 .source = 1 - to,
				 .destination = to,
				 .enter = now,
				 .leave = now + 2,
				 .ticket = ticket,
				 .flags = MATCH_DONE,
				 .done = {.source = 1 - to,
					 .enter = now,
					 .leave = now + 2,
					 .bytes = comm + ticket}});
}

/* Two of four members use each. late: records of one of them are read after those of the other. */
START_TEST(some_members)
{
	const bool late = _i;

	for (uint64_t comm = 1; comm <= 1000; comm++) {
		send_from(0, comm, 0);
		receive_at(0, comm, 0);
		if (late)
			match_member_gone(m, comm, 0, 4);
		send_from(1, comm, 0);
		receive_at(1, comm, 0);
		if (!late)
			match_member_gone(m, comm, 0, 4);
		match_member_gone(m, comm, 1, 4);
		ck_assert_uint_le(m->spaces.used + m->channels.used, 8);
		ck_assert_uint_le(m->gone_at.n, 2);
		ck_assert_uint_le(m->comm_at.n, 2);
	}
	match_end(m);
	ck_assert_uint_eq(pairs, 2000);
	ck_assert_uint_eq(left_over, 0);
}
END_TEST

/* A message that is still to be paired is, whoever has freed the communicator meanwhile. */
START_TEST(a_message_on_its_way)
{
	receive_at(1, 5, 0);
	receive_at(1, 5, 1);
	match_member_gone(m, 5, 1, 4);
	ck_assert_uint_eq(m->spaces.used, 1);
	match_member_gone(m, 5, 2, 4);
	send_from(0, 5, 1);
	match_member_gone(m, 6, 1, 4);
	ck_assert_uint_eq(m->spaces.used, 1);
	send_from(0, 5, 0);
	match_member_gone(m, 6, 2, 4);
	ck_assert_uint_eq(m->spaces.used, 0);
	ck_assert_uint_eq(m->channels.used, 0);
	ck_assert_uint_eq(pairs, 2);
}
END_TEST

/* What a probe has taken may be received much later. */
START_TEST(a_message_that_was_probed)
{
	const struct match_done done = {.source = 0, .bytes = 7};
	struct match_receive r = {.comm = 7,
		.source = 0,
		.destination = 1,
		.enter = 1,
		.leave = 2,
		.flags = MATCH_PROBED,
		.request = 9};

	send_from(0, 7, 0);
	match_receive(m, &r);
	match_member_gone(m, 7, 1, 4);
	ck_assert_uint_eq(m->spaces.used, 1);
	match_done(m, 1, 9, &done);
	ck_assert_uint_eq(pairs, 1);
	match_member_gone(m, 7, 2, 4);
	ck_assert_uint_eq(m->spaces.used, 0);
	ck_assert_uint_eq(match_in_flight(m), 0);
}
END_TEST

/* It is not received; those before it, which went with the space, are not lost. */
START_TEST(a_late_send_to_who_is_gone)
{
	for (uint32_t ticket = 0; ticket < 1000; ticket++) {
		send_from(0, 7, ticket);
		receive_at(1, 7, ticket);
	}
	match_member_gone(m, 7, 1, 4);
	ck_assert_uint_eq(m->spaces.used, 0);
	send_from(0, 7, 1000);
	match_end(m);
	ck_assert_uint_eq(pairs, 1000);
	ck_assert_uint_eq(left_over, 1);
	ck_assert_uint_eq(match_counts(m)->lost_sends, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("match-gone");
	TCase *c = tcase_create("match-gone");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, some_members, 0, 2);
	tcase_add_test(c, a_message_on_its_way);
	tcase_add_test(c, a_message_that_was_probed);
	tcase_add_test(c, a_late_send_to_who_is_gone);
	suite_add_tcase(s, c);
	return run_suite(s);
}
