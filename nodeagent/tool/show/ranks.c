/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of ranks, from the node profiles: the merged one has only their sums. */
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/tool/show/flame.h"

/* Threads' ticks become ns one by one: their sum may differ by so much for each of them. */
#define ROUNDING_NS 2

struct ranks {
	const struct profile *whole;
	struct flame_time *times;
	size_t n_times, cap_times;
	bool known;
};

ORDER_BY(by_rank, struct flame_time, RISING(rank) ?: RISING(stack))

static void add_time(struct ranks *r, uint32_t rank, uint32_t stack, uint64_t ns)
{
	if (ns)
		*LIST_ADD(r, times) = (struct flame_time){rank, stack, ns};
}

/*
 * By stack of a node: the same call path of the run. Both are in the same order (P1). NULL: the
 * run, which was read before, has not all of them, as the job goes on.
 */
static uint32_t *numbers_in(const struct profile *whole, const struct profile *node)
{
	uint32_t *to = xcalloc(node->n_stacks + 1, sizeof(*to)), k = 0;

	for (uint32_t i = 0; i < node->n_stacks; i++) {
		while (k < whole->n_stacks && profile_stack_cmp(whole, k, node, i) < 0)
			k++;
		if (k == whole->n_stacks || profile_stack_cmp(whole, k, node, i)) {
			free(to);
			return NULL;
		}
		to[i] = k;
	}
	return to;
}

static void add_node(struct ranks *r, const struct profile *node)
{
	uint32_t *number = numbers_in(r->whole, node);

	r->known &= number != NULL;
	if (!number)
		return;
	if (node->ranks == 1 && node->n_processes == 1) {
		const uint32_t rank = profile_rank_shown(r->whole, node->processes[0].rank);

		for (uint32_t i = 0; i < node->n_stacks; i++)
			add_time(r, rank, number[i], node->stacks[i].excl_ns);
	} else {
		EACH(const struct profile_thread_stack, s, node->thread_stacks,
			node->n_thread_stacks) {
			const uint32_t rank = node->ended_threads[s->thread].rank;

			add_time(r, profile_rank_shown(r->whole, rank), number[s->stack],
				s->excl_ns);
		}
		r->known &= node->n_thread_stacks > 0;
	}
	free(number);
}

static void read_nodes(struct ranks *r, const struct run *run)
{
	for (size_t i = 0; i < run->n_paths && r->known; i++) {
		char *error = NULL;
		struct profile *node = vfp_read(run->paths[i], &error);

		free(error); /* it was printed when the run was opened */
		if (node && node->unranked && run->n_paths > 1)
			r->known = false; /* their numbers are a node's own */
		else if (node)
			add_node(r, node);
		profile_free(node);
	}
}

/* Times of threads of one rank are one time. */
static void join_threads(struct ranks *r)
{
	size_t n = 0;

	if (r->n_times)
		qsort(r->times, r->n_times, sizeof(*r->times), by_rank);
	for (size_t i = 0; i < r->n_times; i++) {
		if (n && !by_rank(&r->times[n - 1], &r->times[i]))
			r->times[n - 1].ns += r->times[i].ns;
		else
			r->times[n++] = r->times[i];
	}
	r->n_times = n;
}

/* Takes out what is rounding, so that sums are exact; more than that: they are not complete. */
static void settle_sums(struct ranks *r, const struct profile *whole)
{
	const size_t n = whole->n_stacks;
	uint64_t *sum = xcalloc(n, sizeof(*sum));

	for (size_t i = 0; i < r->n_times; i++)
		sum[r->times[i].stack] += r->times[i].ns;
	for (size_t i = 0; i < n && r->known; i++) {
		const uint64_t most = ROUNDING_NS * (uint64_t)whole->threads;
		const uint64_t is = whole->stacks[i].excl_ns;

		r->known = sum[i] <= is + most && is <= sum[i] + most;
	}
	for (size_t i = 0; i < r->n_times && r->known; i++) {
		struct flame_time *t = &r->times[i];
		const uint64_t is = whole->stacks[t->stack].excl_ns;
		const uint64_t rest = sum[t->stack] - t->ns; /* of the other ranks */

		t->ns = rest < is ? is - rest : 0;
		sum[t->stack] = rest + t->ns;
	}
	/* a call path whose time is all rounding */
	for (size_t i = 0; i < n && r->known; i++)
		r->known = sum[i] == whole->stacks[i].excl_ns;
	free(sum);
}

struct flame_time *flame_ranks(const struct run *run, size_t *n)
{
	struct ranks r = {.whole = run->p, .known = true};

	read_nodes(&r, run);
	join_threads(&r);
	if (r.known)
		settle_sums(&r, run->p);
	if (!r.known) {
		free(r.times);
		r = (struct ranks){0};
	}
	*n = r.n_times;
	return r.times;
}
