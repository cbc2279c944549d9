/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/iterations.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/outliers.h"

#define JUDGED_FROM 64u /* calls; then whenever there are twice as many */
#define COVERED	    3u	/* a main loop has at least this part of the time since it began */

struct iterations {
	uint64_t first; /* when the first call began */
	uint64_t n, ticks;
	uint64_t open_mpi;	       /* of the call that is open */
	uint64_t last[ITERATION_LAST]; /* ticks of call i: at i modulo its size */
	unsigned shift;
	size_t cap;
	struct iteration_run *run;
	struct outliers *outliers; /* NULL: nobody has asked */
};

struct iterations *iterations_new(void)
{
	return xcalloc(1, sizeof(struct iterations));
}

void iterations_free(struct iterations *all)
{
	if (!all)
		return;
	free(all->run);
	free(all->outliers);
	free(all);
}

static void add_run(struct iteration_run *to, const struct iteration_run *from)
{
	to->ticks += from->ticks;
	to->mpi_ticks += from->mpi_ticks;
	if (from->least < to->least)
		to->least = from->least;
	if (from->most <= to->most)
		return;
	to->most = from->most;
	to->most_at = from->most_at;
	to->most_mpi = from->most_mpi;
}

static void halve_runs(struct iterations *all)
{
	for (size_t i = 0; i < all->cap / 2; i++) {
		all->run[i] = all->run[2 * i];
		add_run(&all->run[i], &all->run[2 * i + 1]);
	}
	all->shift++;
}

static struct iteration_run *last_run(struct iterations *all)
{
	size_t i = all->n >> all->shift;

	if (i == all->cap && all->cap == ITERATION_RUNS) {
		halve_runs(all);
		i = all->n >> all->shift;
	} else if (i == all->cap) {
		all->cap = all->cap ? 2 * all->cap : 16;
		all->run = xrealloc(all->run, all->cap * sizeof(*all->run));
	}
	return &all->run[i];
}

/* Calls that are short, or rare among others, are not those of a main loop. */
static bool may_be_main_loop(const struct iterations *all, uint64_t now, uint64_t least)
{
	if (all->n < JUDGED_FROM || all->n & (all->n - 1))
		return true;
	return all->ticks / all->n >= least && all->ticks >= (now - all->first) / COVERED;
}

bool iterations_add(struct iterations *all, uint64_t since, uint64_t now, uint64_t least)
{
	const uint64_t took = now > since ? now - since : 0;
	struct iteration_run *run = last_run(all);
	struct iteration_run one = {.ticks = took, .least = took, .most = took, .most_at = all->n};

	one.mpi_ticks = one.most_mpi = all->open_mpi < took ? all->open_mpi : took;
	if (all->n & (((uint64_t)1 << all->shift) - 1))
		add_run(run, &one);
	else
		*run = one;
	if (!all->n)
		all->first = since;
	all->open_mpi = 0;
	all->ticks += took;
	all->last[all->n % ITERATION_LAST] = took;
	all->n++;
	return may_be_main_loop(all, now, least);
}

void iterations_add_mpi(struct iterations *all, uint64_t ticks)
{
	all->open_mpi += ticks;
}

uint64_t iterations_count(const struct iterations *all, unsigned *shift)
{
	*shift = all->shift;
	return all->n;
}

uint64_t iterations_ticks(const struct iterations *all)
{
	return all->ticks;
}

size_t iterations_last(const struct iterations *all, uint64_t *ticks, size_t most)
{
	uint64_t n = all->n < ITERATION_LAST ? all->n : ITERATION_LAST;

	n = n < most ? n : most;
	for (uint64_t i = 0; i < n; i++)
		ticks[i] = all->last[(all->n - n + i) % ITERATION_LAST];
	return n;
}

const struct iteration_run *iterations_run(const struct iterations *all, size_t i)
{
	return (uint64_t)i << all->shift < all->n ? &all->run[i] : NULL;
}

bool iterations_is_slow(struct iterations *all, uint64_t took, uint64_t least, uint64_t *usual)
{
	bool slow;

	if (!all->outliers)
		all->outliers = xcalloc(1, sizeof(*all->outliers));
	slow = outliers_add(all->outliers, took, least);
	*usual = all->outliers->median;
	return slow;
}

bool iterations_cover(const struct iterations *all, uint64_t now)
{
	return all->n > 1 && all->ticks >= (now - all->first) / 2;
}
