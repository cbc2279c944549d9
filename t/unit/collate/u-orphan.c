/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an agent sends up, if its parent dies or answers late: who gets it, and that it stays as
 * long as it may be read.
 */
#include "nodeagent/collate/collate.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/collate/tree.h"
#include "nodeagent/profile/profile.h"
#include "t/lib/suite.h"
#include "t/unit/profile/random-profile.h"

enum { PARENT = 2, OWN = 3, AGENTS = 4 };

static bool dies, dead;
static bool asks, asked; /* the parent's proxy, before it acknowledges */
static bool is_late;	 /* a message to the parent does not leave in time */
static int to[4], n_sent;
static void *sent[4];
static size_t sent_bytes[4];
static const void *leaves; /* the message that does not */

static int note_send(
	struct transport *p, int whom, int tag, const void *buf, size_t bytes, double until)
{
	(void)p, (void)until;
	if (tag != TAG_UP)
		return 0;
	ck_assert_int_lt(n_sent, 4);
	sent[n_sent] = xmalloc(bytes);
	memcpy(sent[n_sent], buf, bytes);
	sent_bytes[n_sent] = bytes;
	to[n_sent++] = whom;
	if (!is_late || whom != PARENT)
		return 0;
	leaves = buf;
	return -ETIMEDOUT;
}

static int ask_again(struct transport *p, void **buf, size_t *bytes, int *who)
{
	const uint64_t words[2] = {UINT64_MAX, p->plan->run};

	if (asked)
		return -EIO;
	asked = true;
	*buf = xmalloc(sizeof(words));
	memcpy(*buf, words, sizeof(words));
	*bytes = sizeof(words);
	*who = PARENT;
	return 0;
}

/* Word of the last one that got the profile. */
static int answer(
	struct transport *p, int from, int tag, void **buf, size_t *bytes, int *who, double until)
{
	const int last = n_sent ? to[n_sent - 1] : -1;

	(void)from, (void)until;
	if (last < 0 || (last == PARENT && dead))
		return -ETIMEDOUT;
	if (asks && tag == TAG_ACK && n_sent == 1)
		return ask_again(p, buf, bytes, who);
	ck_assert(tag != TAG_ACK || last); /* agent 0 acknowledges nothing */
	*bytes = tag == TAG_DOWN ? sizeof(struct numbers_head) : 2 * sizeof(uint64_t);
	*buf = xcalloc(1, *bytes);
	memcpy(*buf, &p->plan->run, sizeof(p->plan->run));
	*who = last;
	dead = dies;
	return 0;
}

static bool is_dead(struct transport *p, int rank)
{
	(void)p;
	return rank == PARENT && dead;
}

static void collate(void)
{
	struct transport t = {
		.rank = OWN, .size = AGENTS, .send = note_send, .receive = answer, .gone = is_dead};
	struct dice d = {.state = 1};
	struct profile *mine = random_profile(&d, 0, 200, UINT64_MAX), *whole;
	struct profile_number *numbers;
	size_t n;

	dead = asked = false;
	n_sent = 0;
	leaves = NULL;
	t.plan = xcalloc(1, sizeof(*t.plan));
	*t.plan = (struct collate_plan){
		.n = AGENTS, .position = OWN, .parent = PARENT, .n_levels = 2};
	ck_assert_int_eq(collate_run(&t, mine, 100, &whole, &numbers, &n), 0);
	ck_assert_ptr_null(whole);
	free(numbers);
	collate_plan_free(t.plan);
	profile_free(mine);
}

static void sent_twice(int second)
{
	ck_assert_int_eq(n_sent, 2);
	ck_assert_int_eq(to[0], PARENT);
	ck_assert_int_eq(to[1], second);
	ck_assert_uint_eq(sent_bytes[0], sent_bytes[1]);
	ck_assert_mem_eq(sent[0], sent[1], sent_bytes[0]);
}

static void forget_sent(void)
{
	for (int i = 0; i < n_sent; i++)
		free(sent[i]);
}

START_TEST(the_parent_dies)
{
	dies = true;
	collate();
	sent_twice(0);
	forget_sent();
}
END_TEST

START_TEST(the_parent_lives)
{
	collate();
	ck_assert_int_eq(n_sent, 1);
	forget_sent();
}
END_TEST

START_TEST(the_proxy_of_a_dead_parent_asks_before_anybody_has_acknowledged)
{
	asks = true;
	collate();
	sent_twice(PARENT);
	forget_sent();
}
END_TEST

START_TEST(what_may_leave_later_is_not_freed)
{
	is_late = true;
	collate();
	sent_twice(0);
	ck_assert_ptr_nonnull(leaves);
	ck_assert_mem_eq(leaves, sent[0], sent_bytes[0]);
	free((void *)(uintptr_t)leaves);
	forget_sent();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("orphan");
	TCase *c = tcase_create("orphan");

	tcase_add_test(c, the_parent_dies);
	tcase_add_test(c, the_parent_lives);
	tcase_add_test(c, the_proxy_of_a_dead_parent_asks_before_anybody_has_acknowledged);
	tcase_add_test(c, what_may_leave_later_is_not_freed);
	suite_add_tcase(s, c);
	return run_suite(s);
}
