/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Communicators of large jobs: whatever the order of merging, the same ones are kept and the others
 * have the same sums, though each may be on several nodes.
 */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "shm/wire.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"
#include "t/unit/profile/same-profile.h"

enum { NODES = 60, COMMS = 20, DIFFERENT = 500, MOST = 40, TREES = 20 };

static struct dice dice;

/* Of its number: the same on all nodes, but for the side of two groups. */
static struct profile_comm comm_of(uint32_t number)
{
	static const uint32_t sizes[] = {1, 1, 1, 2, 3, 255, 256, 511, 512, 1000, UINT32_MAX};
	const bool two_groups = number % 7 == 0;
	struct profile_comm c = {.id = (uint64_t)(number + 1) * 0x9e3779b97f4a7c15u,
		.kind = two_groups ? WIRE_COMM_SPAWN : number % 4,
		.size = sizes[number % ARRAY_SIZE(sizes)],
		.remote_size = two_groups ? sizes[number / 7 % ARRAY_SIZE(sizes)] : 0};

	if (two_groups && throw_dice(&dice, 2))
		c = (struct profile_comm){.id = c.id,
			.kind = WIRE_COMM_PARENT,
			.size = c.remote_size,
			.remote_size = c.size};
	return c;
}

static void add_comm(struct profile *p, uint32_t number)
{
	struct profile_comm *c = profile_add(p, PROFILE_COMMS);

	*c = comm_of(number);
	c->name = throw_dice(&dice, 2) ? xasprintf("comm %u", number) : NULL;
	c->ranks = 1 + throw_dice(&dice, 3);
	for (uint64_t *n = &c->sends; n <= &c->ambiguous_receives; n++)
		*n = throw_dice(&dice, 1u << 30);
}

static struct profile *empty(void)
{
	struct profile *p = profile_new();

	*ADD_ELEMENT(p, stacks) = (struct profile_stack){.hash = 1, .parent = PROFILE_NONE};
	*ADD_ELEMENT(p, names) = xstrdup("init");
	return p;
}

static struct profile *node_of(uint32_t comms)
{
	struct profile *p = empty();

	for (uint32_t i = 0; i < comms; i++)
		add_comm(p, throw_dice(&dice, DIFFERENT));
	profile_combine(p, PROFILE_COMMS);
	return p;
}

static void put(struct profile *to, const struct profile *from)
{
	EACH(const struct profile_comm, c, from->comms, from->n_comms) {
		struct profile_comm *copy = profile_add(to, PROFILE_COMMS);

		*copy = *c;
		copy->name = c->name ? xstrdup(c->name) : NULL;
	}
	EACH(const struct profile_comm_rest, r, from->comm_rests, from->n_comm_rests)
		*(struct profile_comm_rest *)profile_add(to, PROFILE_COMM_RESTS) = *r;
	profile_combine(to, PROFILE_COMMS);
	profile_combine(to, PROFILE_COMM_RESTS);
}

static struct profile *merged(struct profile **nodes, size_t n, size_t most)
{
	const size_t half = n > 1 ? 1 + throw_dice(&dice, (uint32_t)n - 1) : 0;
	const bool swap = throw_dice(&dice, 2);
	struct profile *both = empty(), *parts[2];

	if (n == 1) {
		put(both, nodes[0]);
	} else {
		parts[swap] = merged(nodes, half, most);
		parts[!swap] = merged(nodes + half, n - half, most);
		for (int i = 0; i < 2; i++) {
			put(both, parts[i]);
			profile_free(parts[i]);
		}
	}
	profile_comms_limit(both, most);
	return both;
}

/* Sums over all, kept or not: numbers and their order are the same in both records. */
static void sum_up(const struct profile *p, uint64_t *ranks, uint64_t sums[11])
{
	*ranks = 0;
	memset(sums, 0, 11 * sizeof(*sums));
	EACH(const struct profile_comm, c, p->comms, p->n_comms) {
		*ranks += c->ranks;
		for (size_t i = 0; &c->sends + i <= &c->ambiguous_receives; i++)
			sums[i] += (&c->sends)[i];
	}
	EACH(const struct profile_comm_rest, r, p->comm_rests, p->n_comm_rests) {
		*ranks += r->ranks;
		for (size_t i = 0; &r->sends + i <= &r->ambiguous_receives; i++)
			sums[i] += (&r->sends)[i];
	}
}

START_TEST(any_order_gives_the_same)
{
	struct profile *nodes[NODES], *all, *once, *other;
	uint64_t ranks[2], sums[2][11];

	dice = (struct dice){.state = 5 + (uint64_t)_i};
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i] = node_of(throw_dice(&dice, 2) ? COMMS : 3 * COMMS);
	all = merged(nodes, NODES, SIZE_MAX);
	once = merged(nodes, NODES, SIZE_MAX);
	profile_comms_limit(once, MOST);
	assert_valid(once);
	ck_assert_uint_eq(once->n_comms, MOST);
	sum_up(all, &ranks[0], sums[0]);
	sum_up(once, &ranks[1], sums[1]);
	ck_assert_uint_eq(ranks[0], ranks[1]);
	ck_assert_mem_eq(sums[0], sums[1], sizeof(sums[0]));
	for (int i = 0; i < TREES; i++) {
		other = merged(nodes, NODES, MOST);
		assert_same(once, other);
		profile_free(other);
	}
	profile_free(all);
	profile_free(once);
	for (int i = 0; i < NODES; i++)
		profile_free(nodes[i]);
}
END_TEST

START_TEST(the_largest_are_kept)
{
	struct profile *p = empty();

	for (uint32_t i = 0; i < 6; i++)
		*(struct profile_comm *)profile_add(p, PROFILE_COMMS) =
			(struct profile_comm){.id = 10 - i, .size = i / 2, .ranks = 1};
	profile_combine(p, PROFILE_COMMS);
	profile_comms_limit(p, 3);
	ck_assert_uint_eq(p->n_comms, 3);
	ck_assert_uint_eq(p->comms[0].id, 5); /* of size 2 */
	ck_assert_uint_eq(p->comms[1].id, 6);
	ck_assert_uint_eq(p->comms[2].id, 7); /* of size 1, as has 8 */
	ck_assert_uint_eq(p->n_comm_rests, 2);
	ck_assert_uint_eq(p->comm_rests[0].size, 0);
	ck_assert_uint_eq(p->comm_rests[0].ranks, 2);
	ck_assert_uint_eq(p->comm_rests[1].size, 1);
	ck_assert_uint_eq(p->comm_rests[1].ranks, 1);
	profile_free(p);
}
END_TEST

/* By profile_merge(): one for each rank. */
START_TEST(merging_limits)
{
	const uint32_t n = PROFILE_COMMS_MAX / 64 + 2;
	struct profile *whole = NULL;

	for (uint32_t i = 0; i < n; i++) {
		struct profile *p = empty();

		for (uint32_t k = 0; k < 64; k++)
			*(struct profile_comm *)profile_add(p, PROFILE_COMMS) =
				(struct profile_comm){
					.id = 64 * i + k + 1, .size = 1, .ranks = 1, .sends = 2};
		whole = profile_merge(whole, p);
		ck_assert_uint_eq(whole->n_comm_rests, i >= n - 2);
	}
	assert_valid(whole);
	ck_assert_uint_eq(whole->n_comms, PROFILE_COMMS_MAX);
	ck_assert_uint_eq(whole->comm_rests[0].ranks, 128);
	ck_assert_uint_eq(whole->comm_rests[0].sends, 256);
	profile_free(whole);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("comms limit");
	Suite *s = suite_create("comms limit");

	tcase_add_loop_test(t, any_order_gives_the_same, 0, 8);
	tcase_add_test(t, the_largest_are_kept);
	tcase_add_test(t, merging_limits);
	suite_add_tcase(s, t);
	return run_suite(s);
}
