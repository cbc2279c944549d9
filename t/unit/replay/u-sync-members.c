/* SPDX-License-Identifier: BSD-3-Clause */
/* How many members of a communicator live on a node, however its ranks are told. */
#include "nodeagent/replay/comm/sync.c"

#include "t/lib/dice.h"
#include "t/lib/suite.h"

#define RANKS 64u
#define JOB   7u

/* Some ranks of the job live here, one of them as two processes, and some of another one. */
static void throw_members(struct sync *s, struct dice *d)
{
	s->n_members = 0;
	s->members = xcalloc(3 * RANKS, sizeof(*s->members));
	for (uint32_t rank = 0; rank < RANKS; rank++)
		for (uint32_t left = throw_dice(d, 4); left; left--)
			s->members[s->n_members++] = (struct sync_member){.rank = rank,
				.job = throw_dice(d, 3) ? JOB : JOB + 1,
				.job_known = throw_dice(d, 5)};
}

/* Each rank once, in any order, in runs of up to five. */
static void throw_runs(struct comm *c, struct dice *d)
{
	const int32_t stride = throw_dice(d, 2) ? -3 : 5;
	bool taken[RANKS] = {false};

	c->runs = xcalloc(RANKS, sizeof(*c->runs));
	c->n_runs = c->members = 0;
	for (uint32_t tries = throw_dice(d, 2 * RANKS) + 1; tries; tries--) {
		int32_t rank = (int32_t)throw_dice(d, RANKS);

		if (taken[rank])
			continue;
		c->runs[c->n_runs++] = (struct run){rank, stride, c->members};
		for (uint32_t left = 1 + throw_dice(d, 5);
			left && rank >= 0 && rank < (int32_t)RANKS && !taken[rank]; left--) {
			taken[rank] = true;
			c->members++;
			rank += stride;
		}
	}
	if (c->members - c->runs[c->n_runs - 1].before == 1)
		c->runs[c->n_runs - 1].stride = 0;
	c->size = c->members;
}

START_TEST(by_rank_and_by_member_it_is_the_same)
{
	struct dice d = {.state = (uint64_t)_i + 1};
	struct sync s = {0};
	struct comm c = {0};
	uint32_t n = 0;

	throw_members(&s, &d);
	throw_runs(&c, &d);
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		bool here = false;

		for (size_t i = 0; i < s.n_members; i++)
			here |= s.members[i].rank == rank && is_local(&s.members[i], &c, JOB);
		ck_assert_int_eq(rank_lives_here(&s, &c, rank, JOB), here);
		n += here;
	}
	ck_assert_uint_eq(count_local(&s, &c, JOB), n);
	ck_assert_uint_eq(count_by_rank(&s, &c, JOB), n);
	free(s.members);
	free(c.runs);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sync-members");
	TCase *c = tcase_create("sync-members");

	tcase_add_loop_test(c, by_rank_and_by_member_it_is_the_same, 0, 300);
	suite_add_tcase(s, c);
	return run_suite(s);
}
