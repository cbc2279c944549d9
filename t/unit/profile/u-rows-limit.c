/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists with rows for each rank, of large jobs: whatever the order of merging, the same rows are
 * kept and the same sums made of the others; nothing is lost, and the greatest of all is there.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"
#include "t/unit/profile/same-profile.h"

enum { NODES = 30, MOST = 60, EXTREMES = 4, TREES = 20 };

static struct dice dice;

/* ---- the lists --------------------------------------------------------------------------- */

static void throw_words(uint64_t *first, const uint64_t *last)
{
	for (; first <= last; first++)
		*first = throw_dice(&dice, 3) ? throw_dice(&dice, 1u << 30) : throw_dice(&dice, 4);
}

static void add_memory(struct profile *p, uint32_t rank)
{
	struct profile_memory_rank *m = profile_add(p, PROFILE_MEMORY_RANKS);

	m->rank = rank;
	m->processes = 1;
	throw_words(&m->allocations, &m->peak_ns);
}

static void add_streams(struct profile *p, uint32_t rank)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct profile_gpu_stream *s = profile_add(p, PROFILE_GPU_STREAMS);

		*s = (struct profile_gpu_stream){.rank = rank,
			.device = i / 2,
			.context = i % 2 ? 1 : PROFILE_NONE,
			.stream = i % 2 ? 7 : PROFILE_NONE,
			.name = throw_dice(&dice, 2) ? xasprintf("%u", throw_dice(&dice, 9))
						     : NULL};
		throw_words(&s->calls, &s->span_ns);
	}
}

/* UUIDs are not in the order of ranks, nor of nodes. */
static void add_device(struct profile *p, uint32_t rank)
{
	struct profile_gpu_device *g = profile_add(p, PROFILE_GPU_DEVICES);

	*g = (struct profile_gpu_device){.uuid = {throw_dice(&dice, 1u << 30), rank},
		.rank = rank,
		.number = throw_dice(&dice, 4),
		.processes = 1,
		.name = xstrdup("a GPU")};
	throw_words(&g->memory_bytes, &g->sum_ns);
}

static const struct kind {
	enum profile_list list;
	void (*add)(struct profile *p, uint32_t rank);
	void (*limit)(struct profile *p, uint64_t most, size_t extremes);
	size_t others, greatest; /* offsets: of sums, and of a number whose greatest is kept */
} kinds[] = {
#define KIND(list, record, add, limit, greatest)                                                   \
	{                                                                                          \
		list, add, limit, offsetof(struct profile_##record, others),                       \
			offsetof(struct profile_##record, greatest)                                \
	}
	KIND(PROFILE_MEMORY_RANKS, memory_rank, add_memory, profile_memory_ranks_limit, peak_bytes),
	KIND(PROFILE_GPU_STREAMS, gpu_stream, add_streams, profile_gpu_streams_limit, busy_ns),
	KIND(PROFILE_GPU_DEVICES, gpu_device, add_device, profile_gpu_devices_limit, kernel_ns),
};

/* ---- profiles ----------------------------------------------------------------------------- */

/* A node with so many ranks, and the process without a rank of this number. */
static struct profile *node_of(
	const struct kind *k, uint32_t node, uint32_t first, uint32_t ranks, uint32_t unranked)
{
	struct profile *n = profile_new();

	*ADD_ELEMENT(n, stacks) = (struct profile_stack){.hash = 1, .parent = PROFILE_NONE};
	*ADD_ELEMENT(n, names) = xstrdup("init");
	n->ranks = ranks + 1;
	n->unranked = unranked + 1;
	n->world_size = UINT16_MAX;
	*ADD_ELEMENT(n, rank_ranges) = (struct profile_rank_range){
		first, first + ranks - 1, xasprintf("node%03u", node * 7 % 1000)};
	for (uint32_t i = 0; i < ranks; i++)
		k->add(n, first + i);
	k->add(n, PROFILE_UNRANKED + unranked);
	profile_combine(n, k->list);
	return n;
}

static const char *row_at(const struct profile *p, const struct kind *k, size_t i)
{
	size_t n;

	return profile_records(p, &profile_schema[k->list], &n) + i * profile_schema[k->list].bytes;
}

static void put_list(struct profile *to, const struct profile *from, enum profile_list which)
{
	const struct profile_schema *s = &profile_schema[which];
	size_t n;
	const char *at = profile_records(from, s, &n);

	for (size_t i = 0; i < n; i++) {
		void *row = memcpy(profile_add(to, which), at + i * s->bytes, s->bytes);

		profile_record_own_texts(s, row);
	}
	profile_combine(to, which);
}

static void put(struct profile *to, const struct profile *from, enum profile_list which)
{
	put_list(to, from, which);
	put_list(to, from, PROFILE_RANK_RANGES);
}

/* Of some nodes, in any tree. */
static struct profile *merged(const struct kind *k, struct profile **nodes, size_t n, uint64_t most)
{
	const size_t half = n > 1 ? 1 + throw_dice(&dice, (uint32_t)n - 1) : 0;
	const bool swap = throw_dice(&dice, 2);
	struct profile *both = profile_new(), *parts[2];

	if (n == 1) {
		put(both, nodes[0], k->list);
	} else {
		parts[swap] = merged(k, nodes, half, most);
		parts[!swap] = merged(k, nodes + half, n - half, most);
		for (int i = 0; i < 2; i++) {
			put(both, parts[i], k->list);
			profile_free(parts[i]);
		}
	}
	k->limit(both, most, EXTREMES);
	return both;
}

/* ---- what they have ------------------------------------------------------------------------ */

static uint32_t others_of(const struct kind *k, const char *row)
{
	return *(const uint32_t *)(const void *)(row + k->others);
}

static uint64_t word_of(const char *row, size_t offset)
{
	return *(const uint64_t *)(const void *)(row + offset);
}

static uint64_t sum_of(const struct profile *p, const struct kind *k, size_t offset)
{
	uint64_t sum = 0;
	size_t n;

	profile_records(p, &profile_schema[k->list], &n);
	for (size_t i = 0; i < n; i++)
		sum += word_of(row_at(p, k, i), offset);
	return sum;
}

static uint64_t rows_of(const struct profile *p, const struct kind *k)
{
	uint64_t sum = 0;
	size_t n;

	profile_records(p, &profile_schema[k->list], &n);
	for (size_t i = 0; i < n; i++)
		sum += 1 + (uint64_t)others_of(k, row_at(p, k, i));
	return sum;
}

static void same_sums(
	const struct profile *all, const struct profile *limited, const struct kind *k)
{
	const struct profile_schema *s = &profile_schema[k->list];

	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		if (f->role == SUM)
			ck_assert_uint_eq(sum_of(all, k, f->offset), sum_of(limited, k, f->offset));
	ck_assert_uint_eq(rows_of(all, k), rows_of(limited, k));
}

static uint64_t greatest_of(const struct profile *p, const struct kind *k)
{
	uint64_t most = 0;
	size_t n;

	profile_records(p, &profile_schema[k->list], &n);
	for (size_t i = 0; i < n; i++)
		if (!others_of(k, row_at(p, k, i)))
			most = MAX(most, word_of(row_at(p, k, i), k->greatest));
	return most;
}

static void make_nodes(const struct kind *k, struct profile *nodes[NODES])
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < NODES; i++) {
		const uint32_t ranks = 1 + throw_dice(&dice, 12);

		nodes[i] = node_of(k, i, first, ranks, i);
		first += ranks;
	}
}

START_TEST(any_order_gives_the_same)
{
	const struct kind *k = &kinds[_i];
	struct profile *nodes[NODES], *all, *once, *other;

	dice = (struct dice){.state = 77 + (uint64_t)_i};
	make_nodes(k, nodes);
	all = merged(k, nodes, NODES, UINT64_MAX);
	once = merged(k, nodes, NODES, UINT64_MAX);
	k->limit(once, MOST, EXTREMES);
	ck_assert_uint_lt(*profile_n(once, &profile_schema[k->list]),
		*profile_n(all, &profile_schema[k->list]));
	same_sums(all, once, k);
	ck_assert_uint_eq(greatest_of(all, k), greatest_of(once, k));
	for (int i = 0; i < TREES; i++) {
		other = merged(k, nodes, NODES, MOST);
		assert_same(once, other);
		profile_free(other);
	}
	k->limit(once, MOST, EXTREMES);
	other = merged(k, nodes, NODES, MOST);
	assert_same(once, other);
	profile_free(other);
	profile_free(all);
	profile_free(once);
	for (int i = 0; i < NODES; i++)
		profile_free(nodes[i]);
}
END_TEST

START_TEST(few_rows_stay)
{
	const struct kind *k = &kinds[_i];
	struct profile *nodes[NODES], *all, *limited;

	dice = (struct dice){.state = 5};
	make_nodes(k, nodes);
	all = merged(k, nodes, 3, UINT64_MAX);
	limited = merged(k, nodes, 3, rows_of(all, k));
	assert_same(all, limited);
	profile_free(all);
	profile_free(limited);
	for (int i = 0; i < NODES; i++)
		profile_free(nodes[i]);
}
END_TEST

/* By profile_merge(): valid, and no more than the extremes and an entry for each node. */
START_TEST(merging_limits)
{
	const struct kind *k = &kinds[_i];
	const uint32_t ranks = 64, n = 2 * PROFILE_RANKS_MAX / ranks;
	struct profile *whole = NULL;
	uint64_t rows = 0;

	dice = (struct dice){.state = 9};
	for (uint32_t i = 0; i < n; i++) {
		struct profile *node = node_of(k, i, i * ranks, ranks, 0);

		rows += rows_of(node, k);
		assert_valid(node);
		whole = profile_merge(whole, node);
	}
	assert_valid(whole);
	ck_assert_uint_eq(rows_of(whole, k), rows);
	ck_assert_uint_lt(*profile_n(whole, &profile_schema[k->list]), PROFILE_RANKS_MAX);
	profile_free(whole);
}
END_TEST

/* Of two runs: who is in a sum of one of them counts twice. */
START_TEST(same_sum_twice)
{
	const struct kind *k = &kinds[_i];
	struct profile *nodes[NODES], *a, *b;

	dice = (struct dice){.state = 8};
	make_nodes(k, nodes);
	a = merged(k, nodes, NODES, MOST);
	b = profile_new();
	put(b, a, k->list);
	put(b, a, k->list);
	for (size_t i = 0; i < *profile_n(b, &profile_schema[k->list]); i++) {
		const uint32_t was = others_of(k, row_at(a, k, i));

		ck_assert_uint_eq(others_of(k, row_at(b, k, i)), was ? 2 * was + 1 : 0);
	}
	profile_free(a);
	profile_free(b);
	for (int i = 0; i < NODES; i++)
		profile_free(nodes[i]);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("rows limit");
	Suite *s = suite_create("rows limit");

	tcase_add_loop_test(t, any_order_gives_the_same, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(t, few_rows_stay, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(t, merging_limits, 0, ARRAY_SIZE(kinds));
	tcase_add_loop_test(t, same_sum_twice, 0, ARRAY_SIZE(kinds));
	suite_add_tcase(s, t);
	return run_suite(s);
}
