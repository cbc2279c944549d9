/* SPDX-License-Identifier: BSD-3-Clause */
/* A set is the number of runs, and of each its first id, the step and the length. */
#include "nodeagent/match/rank-set.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

void words_put(struct words *w, uint64_t word)
{
	*APPEND(w->at, w->n, w->cap) = word;
}

void words_free(struct words *w)
{
	free(w->at);
	*w = (struct words){0};
}

uint64_t words_get(struct words_in *in)
{
	if (!in->n) {
		in->bad = true;
		return 0;
	}
	in->n--;
	return *in->at++;
}

ORDER_BY(proc_id_cmp, uint64_t, ORDER(*x, *y))

static bool is_ascending(const uint64_t *at, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (at[i] < at[i - 1])
			return false;
	return true;
}

/* Sorts at, each id once; returns how many these are. */
static size_t sorted_once(uint64_t *at, size_t n)
{
	size_t distinct = 0;

	if (!is_ascending(at, n))
		qsort(at, n, sizeof(*at), proc_id_cmp);
	for (size_t i = 0; i < n; i++)
		if (!distinct || at[i] != at[distinct - 1])
			at[distinct++] = at[i];
	return distinct;
}

/* Runs of ids that follow each other in at, of this step only; 0: of any. */
static void put_runs(struct words *w, const uint64_t *at, size_t n, uint64_t only)
{
	const size_t head = w->n;

	words_put(w, 0);
	for (size_t i = 0, end; i < n; i = end) {
		const uint64_t step = only ?: i + 1 < n ? at[i + 1] - at[i] : 1;

		for (end = i + 1;
			end < n && at[end] > at[end - 1] && at[end] - at[end - 1] == step;)
			end++;
		words_put(w, at[i]);
		words_put(w, step);
		words_put(w, end - i);
		w->at[head]++;
	}
}

void rank_set_put_most(struct words *w, uint64_t *at, size_t n, size_t most)
{
	const size_t distinct = sorted_once(at, n);

	put_runs(w, at, MIN(distinct, most), 0);
}

static int by_remainder(const void *a, const void *b, void *step)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	const uint64_t by = *(const uint64_t *)step;

	return ORDER(x % by, y % by) ?: ORDER(x, y);
}

void rank_set_put_mixed(struct words *w, uint64_t *at, size_t n, uint64_t step)
{
	const size_t distinct = sorted_once(at, n), most = MIN(distinct, RANK_SET_MAX);
	struct words runs = {0}, mixed = {0};
	uint64_t *copy;

	put_runs(&runs, at, most, 0);
	if (step > 1 && runs.n > 4) {
		copy = xmalloc(most * sizeof(*copy));
		memcpy(copy, at, most * sizeof(*copy));
		qsort_r(copy, most, sizeof(*copy), by_remainder, &step);
		put_runs(&mixed, copy, most, step);
		free(copy);
	}
	for (size_t i = 0; i < runs.n && (!mixed.n || mixed.n >= runs.n); i++)
		words_put(w, runs.at[i]);
	for (size_t i = 0; i < mixed.n && mixed.n < runs.n; i++)
		words_put(w, mixed.at[i]);
	words_free(&runs);
	words_free(&mixed);
}

struct run {
	uint64_t first, step, n;
};

/* The next run after so many ids; does not wrap around. */
static bool get_run(struct words_in *in, uint64_t before, struct run *run)
{
	run->first = words_get(in);
	run->step = words_get(in);
	run->n = words_get(in);
	return run->step && run->n && run->n <= RANK_SET_MAX - before &&
	       run->n - 1 <= (UINT64_MAX - run->first) / run->step;
}

/* Their number; takes the runs out of *in, and finds out whether it is bad. */
static uint64_t count_ids(struct words_in *in, bool mixed)
{
	uint64_t runs = words_get(in), n = 0, last = 0;

	in->bad |= runs > in->n / 3;
	for (; runs && !in->bad; runs--) {
		struct run run;

		in->bad |= !get_run(in, n, &run) || (n && !mixed && run.first <= last);
		last = run.first + (run.n - 1) * run.step;
		n += run.n;
	}
	return in->bad ? 0 : n;
}

void rank_set_skip(struct words_in *in, bool mixed)
{
	count_ids(in, mixed);
}

static void take_runs(struct words_in *in, struct rank_set *p, bool mixed)
{
	struct words_in from = *in;
	const uint64_t n = count_ids(in, mixed);

	*p = (struct rank_set){.at = n ? xmalloc(n * sizeof(*p->at)) : NULL};
	words_get(&from);
	while (p->n < n) {
		struct run run;

		get_run(&from, p->n, &run);
		for (uint64_t k = 0; k < run.n; k++)
			p->at[p->n++] = run.first + k * run.step;
	}
}

void rank_set_get(struct words_in *in, struct rank_set *p)
{
	take_runs(in, p, false);
}

void rank_set_get_mixed(struct words_in *in, struct rank_set *p)
{
	take_runs(in, p, true);
}
