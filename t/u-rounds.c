/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile of one round: its processes have numbers of their own, in all lists. */
#include "nodeagent/rounds.c"

#include <check.h>
#include "t/suite.h"

#define FIRST  PROFILE_UNRANKED	      /* a process that ended in the round before */
#define SECOND (PROFILE_UNRANKED + 1) /* the only one of this round */

static struct profile *round_of_second(void)
{
	struct profile *p = profile_new();

	p->names = xcalloc(1, sizeof(char *));
	p->names[0] = xstrdup("init");
	p->n_names = 1;
	p->stacks = xcalloc(1, sizeof(*p->stacks));
	p->stacks[0] = (struct profile_stack){.hash = 1,
		.parent = PROFILE_NONE,
		.ranks = 1,
		.rank_min = SECOND,
		.rank_max = SECOND};
	p->n_stacks = 1;
	p->processes = xcalloc(1, sizeof(*p->processes));
	p->processes[0].rank = SECOND;
	p->n_processes = 1;
	p->agents = xcalloc(1, sizeof(*p->agents));
	p->agents[0].host = xstrdup("node1");
	p->n_agents = 1;
	p->ranks = 1;
	return p;
}

static void add_device(struct profile *p, uint32_t rank, uint32_t number)
{
	p->gpu_devices = xrealloc(
		p->gpu_devices, (p->n_gpu_devices + 1) * sizeof(*p->gpu_devices));
	p->gpu_devices[p->n_gpu_devices++] = (struct profile_gpu_device){
		.uuid = {1, number}, .rank = rank, .number = number, .processes = 1, .calls = 1};
}

static void settle(struct profile *p)
{
	settle_ranks(p);
	settle_places(p);
}

/* What is written of it can be read again. */
static void check_file(const struct profile *p)
{
	unsigned char *buf;
	char *error = NULL;
	struct profile *q;
	size_t bytes;

	ck_assert_ptr_null(profile_valid(p));
	ck_assert_int_eq(vfp_encode(p, &buf, &bytes), 0);
	q = vfp_decode(buf, bytes, &error);
	ck_assert_msg(q, "%s", error);
	ck_assert_uint_eq(q->n_gpu_devices, p->n_gpu_devices);
	profile_free(q);
	free(buf);
}

START_TEST(users_of_gpus_have_the_numbers_of_the_round)
{
	struct profile *p = round_of_second();

	add_device(p, SECOND, 0);
	settle(p);
	ck_assert_uint_eq(p->stacks[0].rank_min, PROFILE_UNRANKED);
	ck_assert_uint_eq(p->gpu_devices[0].rank, PROFILE_UNRANKED);
	check_file(p);
	profile_free(p);
}
END_TEST

START_TEST(a_gpu_whose_first_user_has_ended_is_another_ones)
{
	struct profile *p = round_of_second();

	add_device(p, FIRST, 0);
	settle(p);
	ck_assert_uint_eq(p->n_gpu_devices, 1);
	ck_assert_uint_eq(p->gpu_devices[0].rank, PROFILE_UNRANKED);
	check_file(p);
	profile_free(p);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rounds");
	TCase *c = tcase_create("numbers");

	tcase_add_test(c, users_of_gpus_have_the_numbers_of_the_round);
	tcase_add_test(c, a_gpu_whose_first_user_has_ended_is_another_ones);
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
