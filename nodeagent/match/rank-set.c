/* SPDX-License-Identifier: BSD-3-Clause */
/* A set is the number of runs, and of each its first id, the step and the length. */
#include "nodeagent/match/rank-set.h"

#include <stdlib.h>
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

void rank_set_put_most(struct words *w, uint64_t *at, size_t n, size_t most)
{
	size_t head = w->n, distinct = 0;

	if (!is_ascending(at, n))
		qsort(at, n, sizeof(*at), proc_id_cmp);
	for (size_t i = 0; i < n; i++)
		if (!distinct || at[i] != at[distinct - 1])
			at[distinct++] = at[i];
	distinct = distinct < most ? distinct : most;
	words_put(w, 0);
	for (size_t i = 0, end; i < distinct; i = end) {
		uint64_t step = i + 1 < distinct ? at[i + 1] - at[i] : 1;

		for (end = i + 1; end < distinct && at[end] - at[end - 1] == step;)
			end++;
		words_put(w, at[i]);
		words_put(w, step);
		words_put(w, end - i);
		w->at[head]++;
	}
}

/* Does the run go on from the ids before it, without wrapping around? */
static bool is_run(const struct rank_set *p, uint64_t first, uint64_t step, uint64_t count)
{
	return step && count && count <= RANK_SET_MAX - p->n &&
	       (!p->n || first > p->at[p->n - 1]) && (count - 1) <= (UINT64_MAX - first) / step;
}

void rank_set_get(struct words_in *in, struct rank_set *p)
{
	uint64_t runs = words_get(in);

	*p = (struct rank_set){0};
	in->bad |= runs > in->n / 3;
	for (uint64_t i = 0; i < runs && !in->bad; i++) {
		uint64_t first = words_get(in), step = words_get(in), count = words_get(in);

		if (!is_run(p, first, step, count)) {
			in->bad = true;
			break;
		}
		p->at = xrealloc(p->at, (p->n + count) * sizeof(*p->at));
		for (uint64_t k = 0; k < count; k++)
			p->at[p->n++] = first + k * step;
	}
	if (in->bad) {
		free(p->at);
		*p = (struct rank_set){0};
	}
}
