/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodeagent/clock/burst.h with 20 proxies as threads, which pass messages through
 * memory: two levels of the tree below agent 0. All clocks are one here, so that
 * every offset should be 0 within its bound.
 */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/clock/burst.h"
#include "nodeagent/clock/internal.h"
#include "nodeagent/clock/sync.h"
#include "nodeagent/clock/ticks.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

#define SIZE	 20
#define MAIL_MAX 4096
#define LATE_S	 0.02 /* a machine that lets threads sleep so much longer is too busy */
#define TRIES	 6

struct mail {
	int from, tag;
	size_t bytes;
	char content[TRANSPORT_SMALL_MAX];
};

static struct node {
	struct transport transport; /* first: converted by a cast */
	pthread_t thread;
	pthread_mutex_t lock;
	struct mail mail[MAIL_MAX];
	size_t n;
	double seconds, late_s; /* how long it lives; after which pause it begins */
	bool dies, deaf;
	struct profile_clock sum;
	int64_t offset, error;
	double last_took;
	double overslept; /* s, at most */
} nodes[SIZE];

/* All times of a try are longer than those of the one before: a busy machine is late by as much. */
static double stretch;

static int post(struct transport *p, int to, int tag, const void *buf, size_t bytes)
{
	struct node *n = &nodes[to];

	ck_assert(to >= 0 && to < SIZE && bytes <= TRANSPORT_SMALL_MAX);
	pthread_mutex_lock(&n->lock);
	if (n->n < MAIL_MAX) {
		n->mail[n->n] = (struct mail){.from = p->rank, .tag = tag, .bytes = bytes};
		memcpy(n->mail[n->n++].content, buf, bytes);
	}
	pthread_mutex_unlock(&n->lock);
	return 0;
}

static int look(struct transport *p, int from, int tag, void *buf, size_t bytes, int *who)
{
	struct node *n = (struct node *)p;
	int error = -EAGAIN;

	pthread_mutex_lock(&n->lock);
	for (size_t i = 0; i < n->n; i++) {
		struct mail *m = &n->mail[i];

		if (m->tag != tag || (from != TRANSPORT_ANY && m->from != from))
			continue;
		*who = m->from;
		memcpy(buf, m->content, m->bytes < bytes ? m->bytes : bytes);
		n->n--;
		memmove(m, m + 1, (n->n - i) * sizeof(*m));
		error = 0;
		break;
	}
	pthread_mutex_unlock(&n->lock);
	return error;
}

static void sleep_s(struct node *n, double s)
{
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
	double began = transport_now(), late;

	if (s > 0)
		nanosleep(&t, NULL);
	late = transport_now() - began - s;
	if (s > 0 && late > n->overslept)
		n->overslept = late;
}

static void *live(void *arg)
{
	struct node *n = arg;
	struct clock_sync copy;
	struct clock_burst *b;
	double until = transport_now() + n->seconds * stretch, since;
	size_t bytes;
	void *packed;

	if (n->deaf)
		return NULL;
	sleep_s(n, n->late_s * stretch);
	b = clock_burst_new(&n->transport, 0.25 * stretch);
	while (transport_now() < until) {
		double wait = clock_burst_next(b);

		if (wait > until - transport_now())
			wait = until - transport_now();
		sleep_s(n, wait);
		clock_burst_run(b, NULL, 0);
	}
	since = transport_now();
	if (n->dies)
		clock_burst_gone(b);
	else
		clock_burst_last(b, 2, NULL, 0);
	n->last_took = transport_now() - since;
	packed = clock_sync_pack(clock_burst_sync(b), &bytes);
	ck_assert(clock_sync_unpack(&copy, packed, bytes));
	clock_sync_settle(&copy);
	clock_sync_sum(&copy, &n->sum);
	n->offset = clock_sync_offset(&copy, (int64_t)clocks_raw_ns(), &n->error);
	clock_sync_clear(&copy);
	clock_burst_free(b);
	free(packed);
	return NULL;
}

static void setup(void)
{
	memset(nodes, 0, sizeof(nodes));
	for (int i = 0; i < SIZE; i++) {
		pthread_mutex_init(&nodes[i].lock, NULL);
		nodes[i].transport =
			(struct transport){.rank = i, .size = SIZE, .post = post, .look = look};
		nodes[i].seconds = 1.3;
	}
}

static void run_once(void)
{
	for (int i = 0; i < SIZE; i++)
		ck_assert(!pthread_create(&nodes[i].thread, NULL, live, &nodes[i]));
	for (int i = 0; i < SIZE; i++)
		pthread_join(nodes[i].thread, NULL);
}

/*
 * Times out of turn are the machine's: then it is tried again, and so if it was not in_time()
 * for another reason: one that gets no processor just when it is to say something.
 */
static void run(void (*arrange)(void), bool (*in_time)(void))
{
	for (int tries = 1;; tries++) {
		double late = 0;

		stretch = tries;
		setup();
		if (arrange)
			arrange();
		run_once();
		for (int i = 0; i < SIZE; i++)
			late = nodes[i].overslept > late ? nodes[i].overslept : late;
		if ((late < LATE_S * stretch && in_time()) || tries == TRIES)
			return;
		fprintf(stderr, "# the machine was %.0f ms late: again\n", late * 1e3);
	}
}

/* More threads want a CPU than there are: nothing can be said of times. */
static bool is_busy(void)
{
	double load = 0;

	return getloadavg(&load, 1) == 1 && load > (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static void right(int i)
{
	if (is_busy() && nodes[i].sum.state == PROFILE_CLOCK_UNKNOWN)
		return;
	ck_assert_int_eq(nodes[i].sum.state, PROFILE_CLOCK_COMPARED);
	ck_assert_msg(llabs(nodes[i].offset) <= nodes[i].error, "agent %d: offset %lld, bound %lld",
		i, (long long)nodes[i].offset, (long long)nodes[i].error);
	ck_assert_uint_eq(nodes[i].sum.checks_beyond, 0);
	ck_assert_uint_eq(nodes[i].sum.jumps, 0);
}

/* At 0, 0.25, 0.5, 0.75, 1, 1.25 s, stretched, and at the end; a busy machine misses some. */
static bool half_of_bursts(void)
{
	uint64_t bursts = 0;

	for (int i = 1; i < SIZE; i++)
		bursts += nodes[i].sum.bursts;
	return bursts > 3 * (SIZE - 1);
}

static bool nobody_waited(void)
{
	double most = nodes[0].last_took;

	for (int i = 17; i < SIZE; i++) /* children of 1 */
		most = nodes[i].last_took > most ? nodes[i].last_took : most;
	return most < 1.5;
}

static bool waited_for_windows(void)
{
	return nodes[0].last_took < 3;
}

START_TEST(all_clocks_become_known)
{
	uint64_t checks = 0, bursts = 0;

	run(NULL, half_of_bursts);
	ck_assert_int_eq(nodes[0].sum.state, PROFILE_CLOCK_REFERENCE);
	for (int i = 1; i < SIZE; i++) {
		right(i);
		checks += nodes[i].sum.checks;
		bursts += nodes[i].sum.bursts;
	}
	ck_assert(is_busy() || half_of_bursts());
	ck_assert_uint_le(bursts, 7 * (SIZE - 1));
	ck_assert(is_busy() || checks);
}
END_TEST

static void two_die(void)
{
	nodes[1].dies = nodes[5].dies = true;
	nodes[1].seconds = nodes[5].seconds = 0.6;
}

START_TEST(who_is_gone_is_not_waited_for)
{
	run(two_die, nobody_waited);
	for (int i = 1; i < SIZE; i++)
		right(i);
	ck_assert(is_busy() || nobody_waited());
}
END_TEST

static void one_is_deaf(void)
{
	nodes[1].deaf = true;
	nodes[2].late_s = 0.4;
}

START_TEST(who_never_comes_costs_only_windows)
{
	run(one_is_deaf, waited_for_windows);
	for (int i = 2; i < 17; i++)
		right(i);
	for (int i = 17; i < SIZE; i++)
		ck_assert_int_eq(nodes[i].sum.state, PROFILE_CLOCK_UNKNOWN);
	ck_assert_uint_gt(nodes[17].sum.missed, 0);
	ck_assert(is_busy() || waited_for_windows());
}
END_TEST

/* ---- a parent that lies -------------------------------------------------------------------- */

/* As talk.c sends it. */
struct said {
	uint32_t kind, seq, number, ended;
	int64_t arrived, answered, offset, error;
};
enum { SAY_ASK = 1, SAY_READY, SAY_PING, SAY_PONG };

static struct liar {
	struct transport transport;
	int64_t job_start, offset, error; /* what it says */
	struct said next;
	bool has_next;
} liar;

static int answer_ask(struct transport *p, int to, int tag, const void *buf, size_t bytes)
{
	const int64_t now = (int64_t)clocks_raw_ns();
	struct said m;

	(void)p, (void)to, (void)tag;
	ck_assert_uint_eq(bytes, sizeof(m));
	memcpy(&m, buf, sizeof(m));
	liar.has_next = m.kind == SAY_ASK || m.kind == SAY_PING;
	liar.next = (struct said){.kind = m.kind == SAY_ASK ? SAY_READY : SAY_PONG,
		.seq = m.seq,
		.number = m.number,
		.arrived = m.kind == SAY_ASK ? liar.job_start : now,
		.answered = now,
		.offset = liar.offset,
		.error = liar.error};
	return 0;
}

static int look_at_liar(struct transport *p, int from, int tag, void *buf, size_t bytes, int *who)
{
	(void)p, (void)from;
	if (tag != TAG_CLOCK_PONG || !liar.has_next)
		return -EAGAIN;
	memcpy(buf, &liar.next, bytes < sizeof(liar.next) ? bytes : sizeof(liar.next));
	*who = 0;
	liar.has_next = false;
	return 0;
}

static void make_liar(int64_t job_start, int64_t offset, int64_t error)
{
	liar = (struct liar){
		.transport = {.rank = 1, .size = 2, .post = answer_ask, .look = look_at_liar},
		.job_start = job_start,
		.offset = offset,
		.error = error};
}

/* The second of two agents asks it once. */
static struct clock_burst *ask_liar(int64_t job_start)
{
	struct clock_burst *b;

	make_liar(job_start, 0, 0);
	b = clock_burst_new(&liar.transport, 0.25);
	clock_burst_run(b, NULL, 0);
	return b;
}

START_TEST(a_job_that_began_long_ago_costs_no_time)
{
	struct clock_burst *b = ask_liar(-INT64_MAX / 16);
	const double next = clock_burst_next(b);

	ck_assert_uint_eq(clock_burst_sync(b)->bursts, 1);
	ck_assert_double_le(next, 0.25);
	clock_burst_free(b);
}
END_TEST

START_TEST(a_start_that_makes_no_sense_is_not_known)
{
	struct clock_burst *b = ask_liar(INT64_MIN);

	ck_assert_uint_eq(clock_burst_sync(b)->bursts, 1);
	ck_assert_int_eq(clock_burst_sync(b)->start, 0);
	clock_burst_free(b);
}
END_TEST

/* Else rounds would begin in an hour, or in 36 years. */
START_TEST(a_start_in_the_future_is_not_taken)
{
	static const int64_t ahead[] = {3600 * (int64_t)1000000000, CLOCK_SYNC_TIME_MOST / 2};

	for (size_t i = 0; i < ARRAY_SIZE(ahead); i++) {
		struct clock_burst *b = ask_liar((int64_t)clocks_raw_ns() + ahead[i]);

		ck_assert_uint_eq(clock_burst_sync(b)->bursts, 1);
		ck_assert_int_eq(clock_burst_sync(b)->start, 0);
		ck_assert_double_le(clock_burst_next(b), 0.25);
		clock_burst_free(b);
	}
}
END_TEST

START_TEST(a_start_in_the_past_of_another_clock_is_taken)
{
	const int64_t offset = 3600 * (int64_t)1000000000;
	const int64_t start = (int64_t)clocks_raw_ns() + offset - 1000000;
	struct clock_burst *b;

	make_liar(start, offset, 0);
	b = clock_burst_new(&liar.transport, 0.25);
	clock_burst_run(b, NULL, 0);
	ck_assert_int_eq(clock_burst_sync(b)->start, start);
	clock_burst_free(b);
}
END_TEST

static void ask_again(struct clock_burst *b, uint64_t bursts)
{
	while (clock_burst_sync(b)->bursts < bursts) {
		ck_assert_double_le(clock_burst_next(b), 2);
		while (clock_burst_next(b) > 0)
			sched_yield();
		clock_burst_run(b, NULL, 0);
	}
}

/* 0: then the start lies ahead; 1: then the round does. */
START_TEST(offsets_that_change_by_years_stop_no_round)
{
	const int64_t offset = CLOCK_SYNC_TIME_MOST / 2;
	const int64_t now = (int64_t)clocks_raw_ns(), start = _i ? now : now + offset;
	struct clock_burst *b;

	make_liar(start - 1000000, offset, 0);
	b = clock_burst_new(&liar.transport, 0.25);
	clock_burst_run(b, NULL, 0);
	ck_assert_int_eq(clock_burst_sync(b)->start, start - 1000000);
	liar.offset = 0;
	liar.job_start = now - 1000000;
	ask_again(b, 4);
	ck_assert_double_le(clock_burst_next(b), 2);
	ck_assert_int_eq(clock_burst_sync(b)->start, now - 1000000);
	clock_burst_free(b);
}
END_TEST

START_TEST(offsets_that_make_no_sense_are_not_taken)
{
	static const int64_t offsets[] = {0, INT64_MAX - 1, INT64_MIN, 0},
			     errors[] = {0, 0, 0, -1000000};
	struct clock_sync none = {0};

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct clock_talk t = {.transport = &liar.transport, .sync = &none};
		struct clock_measure m;

		make_liar(0, offsets[i], errors[i]);
		ck_assert_int_eq(clock_talk_ask(&t, 0, CLOCK_EDGE, clock_talk_now() + 50000000, &m),
			i ? -ETIMEDOUT : 0);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("clock-burst");
	TCase *t = tcase_create("clock-burst");

	setpriority(PRIO_PROCESS, 0, -20); /* if it may: what is measured is not the scheduler */
	tcase_set_timeout(t, 120);
	tcase_add_test(t, all_clocks_become_known);
	tcase_add_test(t, who_is_gone_is_not_waited_for);
	tcase_add_test(t, who_never_comes_costs_only_windows);
	tcase_add_test(t, a_job_that_began_long_ago_costs_no_time);
	tcase_add_test(t, a_start_that_makes_no_sense_is_not_known);
	tcase_add_test(t, a_start_in_the_future_is_not_taken);
	tcase_add_test(t, a_start_in_the_past_of_another_clock_is_taken);
	tcase_add_loop_test(t, offsets_that_change_by_years_stop_no_round, 0, 2);
	tcase_add_test(t, offsets_that_make_no_sense_are_not_taken);
	suite_add_tcase(s, t);
	return run_suite(s);
}
