/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers of the GPUs of large jobs: whatever the order of merging, the same ones are kept and
 * the others have the same sums; the extremes of all are there.
 */
#include <check.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "shm/gpu.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"
#include "t/unit/profile/same-profile.h"

enum { NODES = 60, GPUS = 4, MOST = 100, EXTREMES = 2, MEASURES = 4, KINDS = 6, TREES = 20 };

static struct dice dice;

/* From and to a GPU of the node, or the host. */
static void add_link(struct profile *p, uint32_t node, uint32_t from, uint32_t to, uint32_t detail)
{
	struct profile_gpu_link *l = profile_add(p, PROFILE_GPU_LINKS);

	*l = (struct profile_gpu_link){.from = {from ? (node * 77777u) % 1009 : 0, from},
		.to = {to ? (node * 77777u) % 1009 : 0, to},
		.kind = throw_dice(&dice, 4) ? GPU_COPY : GPU_MEMORY,
		.detail = detail,
		.calls = throw_dice(&dice, 50),
		.bytes = throw_dice(&dice, 1u << 30),
		.ns = throw_dice(&dice, 8) ? throw_dice(&dice, 1u << 30) : 0};
}

static struct profile *empty(void)
{
	struct profile *p = profile_new();

	*ADD_ELEMENT(p, stacks) = (struct profile_stack){.hash = 1, .parent = PROFILE_NONE};
	*ADD_ELEMENT(p, names) = xstrdup("init");
	return p;
}

static struct profile *node_of(uint32_t node)
{
	struct profile *p = empty();

	for (uint32_t i = 1; i <= GPUS; i++) {
		add_link(p, node, 0, i, GPU_COPY_TO_DEVICE);
		add_link(p, node, i, 0, GPU_COPY_TO_HOST);
		add_link(p, node, i, i, GPU_COPY_ON_DEVICE);
		add_link(p, node, i, 1 + i % GPUS, GPU_COPY_PEER);
	}
	add_link(p, node, 0, 0, GPU_COPY_ON_HOST);
	profile_combine(p, PROFILE_GPU_LINKS);
	return p;
}

static void put(struct profile *to, const struct profile *from)
{
	EACH(const struct profile_gpu_link, l, from->gpu_links, from->n_gpu_links)
		*(struct profile_gpu_link *)profile_add(to, PROFILE_GPU_LINKS) = *l;
	EACH(const struct profile_gpu_link_rest, r, from->gpu_link_rests, from->n_gpu_link_rests)
		*(struct profile_gpu_link_rest *)profile_add(to, PROFILE_GPU_LINK_RESTS) = *r;
	profile_combine(to, PROFILE_GPU_LINKS);
	profile_combine(to, PROFILE_GPU_LINK_RESTS);
}

static struct profile *merged(struct profile **nodes, size_t n, uint64_t most)
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
	profile_gpu_links_limit(both, most, EXTREMES);
	return both;
}

struct sums {
	uint64_t links, calls, bytes, ns;
};

static struct sums sums_of(const struct profile *p)
{
	struct sums s = {.links = p->n_gpu_links};

	EACH(const struct profile_gpu_link, l, p->gpu_links, p->n_gpu_links) {
		s.calls += l->calls;
		s.bytes += l->bytes;
		s.ns += l->ns;
	}
	EACH(const struct profile_gpu_link_rest, r, p->gpu_link_rests, p->n_gpu_link_rests) {
		s.links += r->links;
		s.calls += r->calls;
		s.bytes += r->bytes;
		s.ns += r->ns;
	}
	return s;
}

static uint64_t most_bytes(const struct profile *p)
{
	uint64_t most = 0;

	EACH(const struct profile_gpu_link, l, p->gpu_links, p->n_gpu_links)
		most = MAX(most, l->bytes);
	return most;
}

START_TEST(any_order_gives_the_same)
{
	struct profile *nodes[NODES], *all, *once, *other;
	struct sums sums[2];

	dice = (struct dice){.state = 9 + (uint64_t)_i};
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i] = node_of(i);
	all = merged(nodes, NODES, UINT64_MAX);
	once = merged(nodes, NODES, UINT64_MAX);
	profile_gpu_links_limit(once, MOST, EXTREMES);
	assert_valid(once);
	ck_assert_uint_eq(all->n_gpu_link_rests, 0);
	ck_assert_uint_le(once->n_gpu_links, 2 * KINDS * 2 * MEASURES * EXTREMES);
	ck_assert_uint_lt(once->n_gpu_links, all->n_gpu_links);
	sums[0] = sums_of(all);
	sums[1] = sums_of(once);
	ck_assert_mem_eq(&sums[0], &sums[1], sizeof(sums[0]));
	ck_assert_uint_eq(most_bytes(all), most_bytes(once));
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

/* By profile_merge(): a transfer of each of so many GPUs. */
START_TEST(merging_limits)
{
	const uint32_t n = PROFILE_LINKS_MAX / 64 + 2;
	struct profile *whole = NULL;

	dice = (struct dice){.state = 3};
	for (uint32_t i = 0; i < n; i++) {
		struct profile *p = empty();

		for (uint32_t k = 0; k < 64; k++)
			*(struct profile_gpu_link *)profile_add(p, PROFILE_GPU_LINKS) =
				(struct profile_gpu_link){.to = {1, 64 * i + k},
					.kind = GPU_COPY,
					.detail = GPU_COPY_TO_DEVICE,
					.calls = 1,
					.bytes = 64 * i + k,
					.ns = 1000};
		whole = profile_merge(whole, p);
		ck_assert_uint_eq(whole->n_gpu_link_rests, i >= n - 2);
	}
	assert_valid(whole);
	/* the most and the least bytes and speed, and the first ones, which are the least */
	ck_assert_uint_eq(whole->n_gpu_links, 2 * PROFILE_LINK_EXTREMES);
	ck_assert_uint_eq(sums_of(whole).links, 64 * n);
	ck_assert_uint_eq(whole->gpu_link_rests[0].to, PROFILE_LINK_GPU);
	whole->gpu_link_rests[0].to = PROFILE_LINK_ENDS;
	ck_assert_ptr_nonnull(profile_valid(whole));
	profile_free(whole);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("links limit");
	Suite *s = suite_create("links limit");

	tcase_add_loop_test(t, any_order_gives_the_same, 0, 8);
	tcase_add_test(t, merging_limits);
	suite_add_tcase(s, t);
	return run_suite(s);
}
