/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/tree/iterations.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/replay/tree/outliers.h"

#define JUDGED_FROM 64u /* calls; then whenever there are twice as many */
#define COVERED	    3u	/* a main loop has at least this part of the time since it began */

#define CALLEES		  16u /* that are compared with their mean */
#define CALLEES_LOOKED_AT 16u

#define SETTLE_TICKS 16384u /* a call is shorter than it is work to settle a sequence after it */

struct callee {
	uint64_t key, ticks, open; /* of the calls until it was compared last, and since then */
	uint64_t usual; /* ticks, without what it was named for: they are those of other calls */
};

/* Of a run, apart from the rest: waits are told later, of many runs at once, when that is in no
 * cache any more. */
struct begin {
	uint64_t since, wait_ticks;
};

struct iterations {
	uint64_t first; /* when the first call began */
	uint64_t until; /* when the last one ended */
	uint64_t n, ticks;
	uint64_t open_mpi, open_wait; /* of the call that is open */
	struct off_time open_off;     /* the same */
	struct callee callees[CALLEES];
	unsigned n_callees;
	uint64_t n_compared; /* calls after which callees were compared last */
	bool compares;	     /* callees have grown by `open` since then */
	bool compared;	     /* callees that are seen from now on are called for the first time */
	uint64_t last[ITERATION_LAST]; /* ticks of call i: at i modulo its size */
	unsigned shift;
	size_t cap, waited;	   /* waited: the run that was told of a wait last, or any */
	struct iteration_run *run; /* without since and wait_ticks: iterations_run() */
	struct begin *begin;	   /* of these */
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
	free(all->begin);
	free(all->outliers);
	free(all);
}

static void add_run(struct iteration_run *to, const struct iteration_run *from)
{
	to->ticks += from->ticks;
	to->mpi_ticks += from->mpi_ticks;
	off_time_add(&to->off, from->off);
	if (from->least < to->least)
		to->least = from->least;
	if (from->most <= to->most)
		return;
	to->most = from->most;
	to->most_at = from->most_at;
	to->most_mpi = from->most_mpi;
	to->most_key = from->most_key;
}

static void halve_runs(struct iterations *all)
{
	for (size_t i = 0; i < all->cap / 2; i++) {
		all->run[i] = all->run[2 * i];
		add_run(&all->run[i], &all->run[2 * i + 1]);
		all->begin[i] = all->begin[2 * i];
		all->begin[i].wait_ticks += all->begin[2 * i + 1].wait_ticks;
	}
	all->shift++;
}

/* The index of the last one. */
static inline size_t last_run(struct iterations *all)
{
	size_t i = all->n >> all->shift;

	if (i == all->cap && all->cap == ITERATION_RUNS) {
		halve_runs(all);
		i = all->n >> all->shift;
	} else if (i == all->cap) {
		all->cap = all->cap ? 2 * all->cap : 16;
		all->run = xrealloc(all->run, all->cap * sizeof(*all->run));
		all->begin = xrealloc(all->begin, all->cap * sizeof(*all->begin));
	}
	return i;
}

/* Calls that are short, or rare among others, are not those of a main loop. */
static bool may_be_main_loop(const struct iterations *all, uint64_t now, uint64_t least)
{
	if (all->n < JUDGED_FROM || all->n & (all->n - 1))
		return true;
	return all->ticks / all->n >= least && all->ticks >= (now - all->first) / COVERED;
}

/* What is usual for so many calls. */
static uint64_t usual_ticks(const struct iterations *all, const struct callee *c, uint64_t calls)
{
	return all->n_compared ? c->usual / all->n_compared * calls : 0;
}

/* The callee that took longest above its mean since they were compared last, if that is a half of
 * what this call took above its own; NULL: none is. */
static struct callee *longest_callee(struct iterations *all, uint64_t took, uint64_t calls)
{
	const uint64_t mean = all->n ? all->ticks / all->n : 0;
	uint64_t most = took > mean ? (took - mean) / 2 : 0;
	struct callee *longest = NULL;

	EACH(struct callee, c, all->callees, all->n_callees) {
		uint64_t usual = usual_ticks(all, c, calls);

		if (calls > 1) /* what many calls took longer is more than what this one did */
			usual += usual / 8;
		if (c->open > usual && c->open - usual > most) {
			most = c->open - usual;
			longest = c;
		}
	}
	return longest;
}

/* Its key, or 0. */
static __attribute__((noinline)) uint64_t compare_callees(struct iterations *all, uint64_t took)
{
	const uint64_t calls = all->n + 1 - all->n_compared;
	const struct callee *longest = longest_callee(all, took, calls);

	EACH(struct callee, c, all->callees, all->n_callees) {
		c->usual += c == longest ? usual_ticks(all, c, calls) : c->open;
		c->ticks += c->open;
		c->open = 0;
	}
	all->n_compared = all->n + 1;
	all->compares = false;
	return longest ? longest->key : 0;
}

static inline uint64_t at_least_0(uint64_t ns)
{
	return (int64_t)ns > 0 ? ns : 0;
}

/* Each member is set: most calls have a run of their own. */
static inline __attribute__((always_inline)) void set_run(
	struct iteration_run *run, struct iterations *all, uint64_t took)
{
	run->ticks = run->least = run->most = took;
	run->mpi_ticks = run->most_mpi = all->open_mpi < took ? all->open_mpi : took;
	run->most_at = all->n;
	run->off = (struct off_time){
		at_least_0(all->open_off.ns), at_least_0(all->open_off.queued_ns)};
	run->most_key = all->compares ? compare_callees(all, took) : 0;
}

bool iterations_add(struct iterations *all, uint64_t since, uint64_t now, uint64_t least)
{
	const uint64_t took = now > since ? now - since : 0;
	const size_t last = last_run(all);
	struct iteration_run one;

	if (all->n & (((uint64_t)1 << all->shift) - 1)) {
		set_run(&one, all, took);
		add_run(&all->run[last], &one);
		all->begin[last].wait_ticks += all->open_wait;
	} else {
		set_run(&all->run[last], all, took);
		all->begin[last] = (struct begin){since, all->open_wait};
	}
	if (!all->n)
		all->first = since;
	all->open_mpi = all->open_wait = 0;
	all->open_off = (struct off_time){0, 0};
	all->until = now;
	all->ticks += took;
	all->last[all->n % ITERATION_LAST] = took;
	all->n++;
	return may_be_main_loop(all, now, least);
}

void iterations_add_mpi(struct iterations *all, uint64_t ticks)
{
	all->open_mpi += ticks;
}

void iterations_add_off(struct iterations *all, struct off_time off)
{
	off_time_add(&all->open_off, off);
}

static void add_callee(struct iterations *all, uint64_t key, uint64_t ticks)
{
	const uint64_t told = all->compared ? 0 : ticks;
	unsigned i = 0;

	while (i < all->n_callees && all->callees[i].key != key)
		i++;
	if (i == CALLEES)
		return;
	if (i == all->n_callees)
		all->callees[all->n_callees++] =
			(struct callee){.key = key, .ticks = told, .usual = told};
	if (ticks > all->callees[i].ticks) /* time of waits for room may have been taken off */
		all->callees[i].open = ticks - all->callees[i].ticks;
}

bool iterations_compare(const struct iterations *all, uint64_t took, size_t unsettled)
{
	const uint64_t mean = all->n ? all->ticks / all->n : 0;

	return took / SETTLE_TICKS >= unsettled || !(all->n & (all->n - 1)) ||
	       took > mean + mean / 8;
}

void iterations_add_callees(struct iterations *all, const struct node *n)
{
	const struct node *c = n->child;

	for (unsigned left = CALLEES_LOOKED_AT; left && c != &calltree_none; left--) {
		if (key_mpi(c->key) == KEY_NO_MPI)
			add_callee(all, c->key, c->ticks);
		c = c->sibling;
		if (c == n->child)
			break;
	}
	all->compared = all->compares = true;
}

static inline size_t runs_of(const struct iterations *all)
{
	return (all->n + ((uint64_t)1 << all->shift) - 1) >> all->shift;
}

/* Waits are told in the order of time, mostly. */
static bool is_at(const struct iterations *all, size_t i, size_t n, uint64_t at)
{
	return i < n && (int64_t)(at - all->begin[i].since) >= 0 &&
	       (i + 1 == n || (int64_t)(at - all->begin[i + 1].since) < 0);
}

/* The last run that began by then. */
static inline struct begin *run_at(struct iterations *all, uint64_t at)
{
	const size_t n = runs_of(all);

	if (is_at(all, all->waited, n, at))
		return &all->begin[all->waited];
	if (is_at(all, all->waited + 1, n, at))
		return &all->begin[++all->waited];
	all->waited = LOWER_BOUND(i, 1, n, (int64_t)(at - all->begin[i].since) >= 0) - 1;
	return &all->begin[all->waited];
}

static inline void add_wait(struct iterations *all, uint64_t at, uint64_t ticks)
{
	if (!all->n || (int64_t)(at - all->until) >= 0)
		all->open_wait += ticks;
	else if ((int64_t)(at - all->first) >= 0)
		run_at(all, at)->wait_ticks += ticks;
}

void iterations_add_wait(struct iterations *all, uint64_t at, uint64_t ticks)
{
	add_wait(all, at, ticks);
}

/* Ticks from the begin of run k to that of the next one, or to the end of the last call. */
static inline uint64_t length_of(const struct iterations *all, size_t k, size_t n)
{
	const uint64_t end = k + 1 < n ? all->begin[k + 1].since : all->until,
		       length = end - all->begin[k].since;

	return (int64_t)length > 0 ? length : 0;
}

/* From the run on that was told of a wait last; add_wait() for those that are neither in the same
 * run as the wait before nor in the next one. */
void iterations_add_waits(struct iterations *all, const struct waited *w, size_t n)
{
	const size_t runs = runs_of(all);
	size_t k = all->waited < runs ? all->waited : 0;
	uint64_t length = runs ? length_of(all, k, runs) : 0;

	for (size_t i = 0; i < n; i++) {
		if (k + 1 < runs && w[i].at - all->begin[k].since >= length)
			length = length_of(all, ++k, runs);
		if (k < runs && w[i].at - all->begin[k].since < length) {
			all->begin[k].wait_ticks += w[i].times * w[i].ticks;
			continue;
		}
		all->waited = k;
		add_wait(all, w[i].at, w[i].times * w[i].ticks);
		k = all->waited < runs ? all->waited : 0;
		length = runs ? length_of(all, k, runs) : 0;
	}
	all->waited = k;
}

void iterations_begin_at(struct iterations *all, uint64_t since, uint64_t mpi_ticks)
{
	struct iteration_run *run = all->run;
	const uint64_t end = all->n > 1 ? all->begin[1].since : all->until,
		       took = end > since ? end - since : 0;

	if (!all->n || all->shift)
		return;
	all->ticks += took - run->ticks;
	all->first = all->begin->since = since;
	run->ticks = run->least = run->most = took;
	run->mpi_ticks += mpi_ticks;
	if (run->mpi_ticks > took)
		run->mpi_ticks = took;
	run->most_mpi = run->mpi_ticks;
}

void iterations_drop_first(struct iterations *all)
{
	if (all->n < 2 || all->shift)
		return;
	all->ticks -= all->run->ticks;
	all->n--;
	all->n_compared -= all->n_compared > 0;
	memmove(all->run, all->run + 1, all->n * sizeof(*all->run));
	memmove(all->begin, all->begin + 1, all->n * sizeof(*all->begin));
	for (size_t i = 0; i < all->n; i++)
		all->run[i].most_at = i;
	all->first = all->begin->since;
	for (uint64_t i = 0; i < all->n && i < ITERATION_LAST; i++)
		all->last[(all->n - 1 - i) % ITERATION_LAST] = all->run[all->n - 1 - i].ticks;
}

uint64_t iterations_until(const struct iterations *all)
{
	return all->until;
}

uint64_t iterations_since(const struct iterations *all)
{
	return all->first;
}

uint64_t iterations_count(const struct iterations *all, unsigned *shift)
{
	if (shift)
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

size_t iterations_runs(const struct iterations *all)
{
	return runs_of(all);
}

const struct iteration_run *iterations_run(const struct iterations *all, size_t i)
{
	if ((uint64_t)i << all->shift >= all->n)
		return NULL;
	all->run[i].since = all->begin[i].since;
	all->run[i].wait_ticks = all->begin[i].wait_ticks;
	return &all->run[i];
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
