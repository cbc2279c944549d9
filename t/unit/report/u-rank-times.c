/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times of the ranks of large jobs: whatever the order of merging, those that are kept and the sums
 * of the others are the same, and so are the efficiencies of the job.
 */
#include <check.h>
#include <math.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/report/efficiency.h"
#include "t/lib/dice.h"
#include "t/lib/suite.h"

enum { NODES = 40, MOST = 100, EXTREMES = 5 };

static struct dice dice;

static char *host_of(uint32_t node)
{
	return xasprintf("node%03u", node * 7 % 1000); /* ranks are not in the order of hosts */
}

static uint64_t some_ns(uint32_t part)
{
	return throw_dice(&dice, part) ? 0 : throw_dice(&dice, 1u << 30);
}

/* Times that a rank can have, and what may be wrong with them. */
static void fill_rank(struct profile_rank_time *t, uint32_t rank, bool hybrid)
{
	*t = (struct profile_rank_time){.rank = rank,
		.flags = RANK_LEFT_INIT | RANK_ENTERED_FINALIZE | RANK_HAS_MPI,
		.threads = 1,
		.useful_ns = throw_dice(&dice, 4) * (uint64_t)1000000000,
		.mpi_ns = some_ns(1),
		.gpu_wait_ns = some_ns(10),
		.io_ns = some_ns(10),
		.unknown_ns = some_ns(50),
		.lock_wait_ns = some_ns(20),
		.off_cpu_ns = some_ns(3)};
	if (hybrid) {
		t->flags |= RANK_HAS_OPENMP;
		t->threads += throw_dice(&dice, 5);
		t->openmp_wait_ns = some_ns(1);
	}
	t->team_threads = 1 + throw_dice(&dice, t->threads);
	if (!throw_dice(&dice, 30))
		t->flags ^= RANK_ENTERED_FINALIZE | (throw_dice(&dice, 2) ? RANK_KILLED : 0);
	t->flags |= throw_dice(&dice, 30) ? 0 : RANK_LOST_CALLS;
	t->flags |= t->gpu_wait_ns ? RANK_HAS_GPU : 0;
	t->begin_ns = (int64_t)some_ns(1);
	t->end_ns = t->begin_ns + (int64_t)(profile_outside_mpi_ns(t) + t->mpi_ns);
	t->error_ns = throw_dice(&dice, 1000);
	t->team_most_ns = t->useful_ns + throw_dice(&dice, 1000);
	t->team_useful_ns = t->team_most_ns + throw_dice(&dice, 1000);
	t->all_useful_ns = t->team_useful_ns;
	t->all_mpi_ns = t->mpi_ns + (t->threads > 1 ? some_ns(2) : 0);
	t->mpi_wait_ns = t->mpi_ns / 2;
	t->all_unknown_ns = t->unknown_ns;
	t->all_lock_wait_ns = t->lock_wait_ns;
}

/* A node with so many ranks, and one process without a rank. */
static struct profile *node_of(uint32_t node, uint32_t first, uint32_t ranks, bool hybrid)
{
	struct profile *n = profile_new();
	struct profile_stack *root = ADD_ELEMENT(n, stacks);

	*root = (struct profile_stack){.hash = 1, .parent = PROFILE_NONE, .calls = ranks};
	*ADD_ELEMENT(n, names) = xstrdup("init");
	n->ranks = ranks + 1;
	n->unranked = 1;
	n->world_size = UINT16_MAX;
	*ADD_ELEMENT(n, agents) = (struct profile_agent){.host = host_of(node), .processes = ranks};
	*ADD_ELEMENT(n, rank_ranges) =
		(struct profile_rank_range){first, first + ranks - 1, host_of(node)};
	for (uint32_t i = 0; i < ranks; i++)
		fill_rank(profile_add(n, PROFILE_RANK_TIMES), first + i, hybrid);
	fill_rank(profile_add(n, PROFILE_RANK_TIMES), PROFILE_UNRANKED, false);
	return n;
}

static void put(struct profile *to, const struct profile *from)
{
	for (size_t i = 0; i < from->n_rank_times; i++)
		*(struct profile_rank_time *)profile_add(to, PROFILE_RANK_TIMES) =
			from->rank_times[i];
	for (size_t i = 0; i < from->n_rank_ranges; i++) {
		struct profile_rank_range *range = profile_add(to, PROFILE_RANK_RANGES);

		*range = from->rank_ranges[i];
		range->host = xstrdup(range->host);
	}
	profile_combine(to, PROFILE_RANK_TIMES);
	profile_combine(to, PROFILE_RANK_RANGES);
}

/* The times of some nodes, in any tree; `left' of them. */
static struct profile *merged(struct profile **nodes, size_t n, uint64_t most)
{
	const size_t half = n > 1 ? 1 + throw_dice(&dice, (uint32_t)n - 1) : 0;
	struct profile *both = profile_new(), *part;

	both->world_size = UINT16_MAX;
	if (n == 1) {
		put(both, nodes[0]);
	} else {
		const bool swap = throw_dice(&dice, 2);

		part = merged(swap ? nodes + half : nodes, swap ? n - half : half, most);
		put(both, part);
		profile_free(part);
		part = merged(swap ? nodes : nodes + half, swap ? half : n - half, most);
		put(both, part);
		profile_free(part);
	}
	profile_rank_times_limit(both, most, EXTREMES);
	return both;
}

static void same_times(const struct profile *a, const struct profile *b)
{
	ck_assert_uint_eq(a->n_rank_times, b->n_rank_times);
	ck_assert_mem_eq(a->rank_times, b->rank_times, a->n_rank_times * sizeof(*a->rank_times));
}

static void near(double is, double expected)
{
	if (isnan(expected))
		ck_assert(isnan(is));
	else
		ck_assert_msg(fabs(is - expected) <= 1e-12 * fabs(expected), "%.17g, not %.17g", is,
			expected);
}

/* Of first threads: where another thread of a rank calls MPI, it is not known. */
static uint64_t known_waits(const struct profile *p)
{
	uint64_t ns = 0;

	EACH(const struct profile_rank_time, t, p->rank_times, p->n_rank_times)
		if (t->threads == 1 + t->others || t->mpi_ns == t->all_mpi_ns)
			ns += t->mpi_wait_ns;
	return ns;
}

static void same_efficiency(const struct profile *all, const struct profile *limited)
{
	struct efficiency a, b;

	ck_assert(efficiency_of(all, &a));
	ck_assert(efficiency_of(limited, &b));
	ck_assert_uint_eq(b.ranks, a.ranks);
	ck_assert_uint_eq(b.threads, a.threads);
	ck_assert_uint_eq(b.nodes, a.nodes);
	ck_assert_uint_eq(b.doubts, a.doubts);
	ck_assert_mem_eq(b.doubtful, a.doubtful, sizeof(a.doubtful));
	ck_assert_mem_eq(b.doubtful_rank, a.doubtful_rank, sizeof(a.doubtful_rank));
	near(b.window_s, a.window_s);
	near(b.window_error_s, a.window_error_s);
	near(b.useful_s, a.useful_s);
	near(b.useful_max_s, a.useful_max_s);
	near(b.outside_s, a.outside_s);
	near(b.outside_max_s, a.outside_max_s);
	near(b.in_nodes, a.in_nodes);
	near(b.between_nodes, a.between_nodes);
	near(b.parallel, a.parallel);
	near(b.openmp_balance, a.openmp_balance);
	near(efficiency_offload(limited), efficiency_offload(all));
	ck_assert_uint_eq(known_waits(limited), known_waits(all));
	ck_assert_uint_eq(profile_timed_ranks(limited), profile_timed_ranks(all));
	ck_assert_uint_eq(profile_other_ranks(limited), profile_other_ranks(all));
}

/* A rank with the most of each class: of equal ones the lowest. */
static void has_the_greatest(const struct profile *all, const struct profile *limited)
{
	const struct profile_rank_time *first = all->rank_times;

	for (const uint64_t *of = &first->useful_ns; of <= &first->off_cpu_ns; of++) {
		const size_t class = (size_t)(of - &first->useful_ns);
		const struct profile_rank_time *most = first;

		EACH(const struct profile_rank_time, t, first, all->n_rank_times)
			if (t->rank < PROFILE_UNRANKED &&
				(&t->useful_ns)[class] > (&most->useful_ns)[class])
				most = t;
		ck_assert_ptr_nonnull(FIND(x, limited->rank_times, limited->n_rank_times,
			!memcmp(x, most, sizeof(*most))));
	}
}

START_TEST(any_order_gives_the_same)
{
	const bool hybrid = _i % 2;
	struct profile *nodes[NODES], *all, *once, *other;
	uint32_t first = 0;

	dice = (struct dice){.state = 77 + (uint64_t)_i};
	for (uint32_t i = 0; i < NODES; i++) {
		const uint32_t ranks = 1 + throw_dice(&dice, 12);

		nodes[i] = node_of(i, first, ranks, hybrid);
		first += ranks;
		for (size_t k = 0; k < nodes[i]->n_rank_times; k++)
			if (nodes[i]->rank_times[k].rank >= PROFILE_UNRANKED)
				nodes[i]->rank_times[k].rank += i;
	}
	all = merged(nodes, NODES, UINT64_MAX);
	once = merged(nodes, NODES, UINT64_MAX);
	profile_rank_times_limit(once, MOST, EXTREMES);
	ck_assert_uint_lt(once->n_rank_times, all->n_rank_times);
	same_efficiency(all, once);
	has_the_greatest(all, once);
	for (int i = 0; i < 20; i++) {
		other = merged(nodes, NODES, MOST);
		same_times(once, other);
		profile_free(other);
	}
	profile_rank_times_limit(once, MOST, EXTREMES);
	other = merged(nodes, NODES, MOST);
	same_times(once, other);
	profile_free(other);
	profile_free(all);
	profile_free(once);
	for (int i = 0; i < NODES; i++)
		profile_free(nodes[i]);
}
END_TEST

/* As of wrapper scripts: ranks stay though processes without a rank are too many, and so do these.
 */
START_TEST(ranks_and_processes_count_apart)
{
	struct profile *nodes[MOST + 1], *all;

	dice = (struct dice){.state = 6};
	for (uint32_t i = 0; i <= MOST; i++) {
		nodes[i] = node_of(i, i, i < MOST, false);
		nodes[i]->rank_times[nodes[i]->n_rank_times - 1].rank += i;
	}
	all = merged(nodes, MOST + 1, MOST);
	ck_assert_uint_eq(profile_timed_ranks(all), 2 * MOST + 1);
	for (uint32_t i = 0; i < MOST; i++)
		ck_assert(all->rank_times[i].rank == i && !all->rank_times[i].others);
	ck_assert_uint_lt(all->n_rank_times, 2 * MOST + 1);
	profile_free(all);
	for (uint32_t i = 0; i <= MOST; i++)
		profile_free(nodes[i]);
}
END_TEST

START_TEST(few_ranks_stay)
{
	struct profile *nodes[1], *all;

	dice = (struct dice){.state = 5};
	nodes[0] = node_of(0, 0, MOST - 1, false);
	all = merged(nodes, 1, MOST);
	same_times(nodes[0], all);
	profile_free(all);
	profile_free(nodes[0]);
}
END_TEST

/* By profile_merge(): valid, and no more than one entry for each node and what it knows. */
START_TEST(merging_limits)
{
	const uint32_t ranks = 64, n = 2 * PROFILE_RANKS_MAX / ranks;
	struct profile *whole = NULL;
	const char *why;

	dice = (struct dice){.state = 9};
	for (uint32_t i = 0; i < n; i++) {
		struct profile *node = node_of(i, i * ranks, ranks, false);

		why = profile_valid(node);
		ck_assert_msg(!why, "%s", why);
		whole = profile_merge(whole, node);
	}
	why = profile_valid(whole);
	ck_assert_msg(!why, "%s", why);
	ck_assert_uint_eq(profile_timed_ranks(whole), (uint64_t)n * (ranks + 1));
	ck_assert_uint_lt(whole->n_rank_times, PROFILE_RANKS_MAX);
	profile_free(whole);
}
END_TEST

static void refuse(struct profile *n)
{
	const char *why = profile_valid(n);

	ck_assert_ptr_nonnull(why);
	ck_assert_ptr_nonnull(strstr(why, "that cannot be"));
}

START_TEST(sums_that_cannot_be)
{
	struct profile *n;
	struct profile_rank_time *t, was;

	dice = (struct dice){.state = 3};
	n = node_of(0, 0, 1, false);
	t = &n->rank_times[0];
	was = *t;
	t->others = 3;
	refuse(n); /* with fewer threads than ranks */
	t->threads = t->team_threads = 4;
	ck_assert_ptr_null(profile_valid(n));
	t->end_ns = t->begin_ns - 1;
	refuse(n);
	*t = was;
	t->end_ns++;
	ck_assert_ptr_null(profile_valid(n));
	t->end_ns += 1000000000;
	refuse(n); /* one rank has the window that its times add up to */
	profile_free(n);
}
END_TEST

int main(void)
{
	TCase *t = tcase_create("rank times");
	Suite *s = suite_create("rank times");

	tcase_add_loop_test(t, any_order_gives_the_same, 0, 20);
	tcase_add_test(t, ranks_and_processes_count_apart);
	tcase_add_test(t, few_ranks_stay);
	tcase_add_test(t, merging_limits);
	tcase_add_test(t, sums_that_cannot_be);
	suite_add_tcase(s, t);
	return run_suite(s);
}
