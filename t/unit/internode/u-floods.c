/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An agent that never ends what it sends: over a transport that always has one more message, an
 * exchange ends with its time all the same.
 */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/internode/exchange.c"

#include "conf/conf.h"
#include "t/lib/suite.h"

enum { SIZE = 3, HOSTILE = 1 };

static const double time_s = 0.3;
static struct conf conf = {.agent_deadline_s = 1.0, .mpi_waits = true};

static uint64_t received;
static const void *message;
static size_t message_bytes;

/* Another one from the hostile agent, whatever is waited for. */
static int receive_flood(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	(void)p, (void)tag, (void)until;
	if (from != HOSTILE && from != TRANSPORT_ANY)
		return -ETIMEDOUT;
	received++;
	*buf = xmalloc(message_bytes);
	memcpy(*buf, message, message_bytes);
	*bytes = message_bytes;
	*who = HOSTILE;
	return 0;
}

static int send_nothing(
	struct transport *p, int to, int tag, const void *buf, size_t bytes, double until)
{
	(void)p, (void)to, (void)tag, (void)buf, (void)bytes, (void)until;
	return 0;
}

static struct transport flood(const void *what, size_t bytes)
{
	received = 0;
	message = what;
	message_bytes = bytes;
	return (struct transport){
		.rank = 0, .size = SIZE, .send = send_nothing, .receive = receive_flood};
}

/* Took as long as it may, and not much longer. */
static void check_time(double begin, double most)
{
	const double took = transport_now() - begin;

	ck_assert_uint_gt(received, 10);
	ck_assert_double_lt(took, most + 10.0); /* on a busy machine */
}

START_TEST(the_directory)
{
	struct transport t = flood("?", 1);
	const struct directory_entry mine = {.clock_bound_ns = 5};
	const double begin = transport_now();
	struct directory d;

	ck_assert_int_eq(directory_ask(&t, &mine, time_s, &d), 0);
	check_time(begin, time_s);
	directory_free(&d);
}
END_TEST

START_TEST(sends)
{
	static const uint8_t more[] = {MORE};
	struct transport t = flood(more, sizeof(more));
	struct host host = {.conf = &conf};
	struct matching m = {.host = &host};
	int senders[] = {HOSTILE};
	const double begin = transport_now();
	struct exchange x = {.m = &m,
		.transport = &t,
		.until = begin + time_s,
		.patience = time_s,
		.directory = {.senders = senders, .n_senders = 1}};

	take_from(&x, HOSTILE);
	check_time(begin, time_s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("floods");
	TCase *c = tcase_create("floods");

	tcase_add_test(c, the_directory);
	tcase_add_test(c, sends);
	suite_add_tcase(s, c);
	return run_suite(s);
}
