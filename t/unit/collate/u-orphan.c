/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent whose parent dies when it has taken the profile: agent 0 gets it, too. */
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
static int to[4], n_sent;
static void *sent[4];
static size_t sent_bytes[4];

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
	*buf = xcalloc(2, sizeof(uint64_t));
	memcpy(*buf, &p->plan->run, sizeof(p->plan->run));
	*bytes = (tag == TAG_DOWN ? 1 : 2) * sizeof(uint64_t);
	*who = last;
	dead = dies;
	return 0;
}

static bool is_dead(struct transport *p, int rank)
{
	(void)p;
	return rank == PARENT && dead;
}

static void collate(bool parent_dies)
{
	struct transport t = {
		.rank = OWN, .size = AGENTS, .send = note_send, .receive = answer, .gone = is_dead};
	struct dice d = {.state = 1};
	struct profile *mine = random_profile(&d, 0, 200, UINT64_MAX), *whole;
	struct profile_number *numbers;
	size_t n;

	dies = parent_dies;
	dead = false;
	n_sent = 0;
	t.plan = xcalloc(1, sizeof(*t.plan));
	*t.plan = (struct collate_plan){
		.n = AGENTS, .position = OWN, .parent = PARENT, .n_levels = 2};
	ck_assert_int_eq(collate_run(&t, mine, 100, &whole, &numbers, &n), 0);
	ck_assert_ptr_null(whole);
	free(numbers);
	collate_plan_free(t.plan);
	profile_free(mine);
}

START_TEST(the_parent_dies)
{
	collate(true);
	ck_assert_int_eq(n_sent, 2);
	ck_assert_int_eq(to[0], PARENT);
	ck_assert_int_eq(to[1], 0);
	ck_assert_uint_eq(sent_bytes[0], sent_bytes[1]);
	ck_assert_mem_eq(sent[0], sent[1], sent_bytes[0]);
	free(sent[0]);
	free(sent[1]);
}
END_TEST

START_TEST(the_parent_lives)
{
	collate(false);
	ck_assert_int_eq(n_sent, 1);
	free(sent[0]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("orphan");
	TCase *c = tcase_create("orphan");

	tcase_add_test(c, the_parent_dies);
	tcase_add_test(c, the_parent_lives);
	suite_add_tcase(s, c);
	return run_suite(s);
}
