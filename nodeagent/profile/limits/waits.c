/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits of many ranks, in a bounded number of entries: of one kind at one stack those late ranks,
 * or threads of ranks at their stacks, are told apart for which others have waited most, and the
 * rest are one entry. So it does not grow with the ranks of a job. A rank that was among the rest
 * in a part of the job has its waits there, and less by itself.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"

/* Of entries of one place none are equal. */
#define MOST_FIRST (FALLING(ns) ?: RISING(late) ?: RISING(late_thread) ?: RISING(late_stack))

ORDER_POINTERS_BY(most_first, struct profile_wait, MOST_FIRST)

static size_t end_of_place(const struct profile *p, size_t i)
{
	const struct profile_wait *first = &p->waits[i];

	while (i < p->n_waits && p->waits[i].stack == first->stack &&
		p->waits[i].kind == first->kind)
		i++;
	return i;
}

/* Ranks that are told apart, in n entries of which the last one may be all others. */
static size_t told_apart(const struct profile_wait *first, size_t n)
{
	return n - (first[n - 1].late == PROFILE_ELSEWHERE);
}

/* The entry of the rank with the kth most of n, k < n. */
static struct profile_wait nth_of(const struct profile_wait *first, size_t n, size_t k)
{
	const struct profile_wait **by_time = xmalloc(n * sizeof(*by_time));
	struct profile_wait nth;

	for (size_t i = 0; i < n; i++)
		by_time[i] = &first[i];
	qsort(by_time, n, sizeof(*by_time), most_first);
	nth = *by_time[k];
	free(by_time);
	return nth;
}

/* Puts n entries of one place to `to`, which is not behind them. Returns their end there. */
static struct profile_wait *fold_place(
	struct profile_wait *to, const struct profile_wait *first, size_t n)
{
	const size_t ranks = told_apart(first, n);
	struct profile_wait rest = {
		.stack = first->stack, .kind = first->kind, .late = PROFILE_ELSEWHERE};
	const struct profile_wait last = nth_of(first, ranks, PROFILE_LATE_MAX - 1);

	for (size_t i = 0; i < n; i++) {
		struct profile_wait at = first[i];
		const struct profile_wait *x = &at, *y = &last;

		if (i < ranks && MOST_FIRST <= 0)
			*to++ = at;
		else
			profile_record_add(&profile_schema[PROFILE_WAITS], &rest, &at);
	}
	*to++ = rest;
	return to;
}

static void limit_waits(struct profile *p)
{
	struct profile_wait *to = p->waits;

	for (size_t i = 0, end; i < p->n_waits; i = end) {
		end = end_of_place(p, i);
		if (told_apart(&p->waits[i], end - i) > PROFILE_LATE_MAX) {
			to = fold_place(to, &p->waits[i], end - i);
			continue;
		}
		memmove(to, &p->waits[i], (end - i) * sizeof(*to));
		to += end - i;
	}
	p->n_waits = (size_t)(to - p->waits);
}

ORDER_BY(by_late, struct profile_wait, RISING(stack) ?: RISING(kind) ?: RISING(late))

/* Also in entries that have a stack of their own. */
static bool is_told_apart(const struct profile *p, const struct profile_cause *c)
{
	const struct profile_wait key = {.stack = c->stack, .kind = c->kind, .late = c->late};

	return p->n_waits && bsearch(&key, p->waits, p->n_waits, sizeof(key), by_late);
}

/* The end of the causes of one place that begin at i, and how many ranks they are of. */
static size_t end_of_causes(const struct profile *p, size_t i, size_t *ranks)
{
	const struct profile_cause *first = &p->causes[i], *at = first;

	for (*ranks = 0; at < p->causes + p->n_causes && at->stack == first->stack &&
			 at->kind == first->kind;
		at++)
		*ranks += at == first || at->late != at[-1].late;
	return (size_t)(at - p->causes);
}

/* Causes of ranks that are told apart there no more are of the others, too. */
static void limit_causes(struct profile *p)
{
	bool any = false;
	size_t ranks;

	for (size_t i = 0, end; i < p->n_causes; i = end) {
		end = end_of_causes(p, i, &ranks);
		if (ranks <= PROFILE_LATE_MAX + 1)
			continue;
		any = true;
		for (size_t k = i; k < end; k++)
			if (!is_told_apart(p, &p->causes[k]))
				p->causes[k].late = PROFILE_ELSEWHERE;
	}
	if (any)
		profile_combine(p, PROFILE_CAUSES);
}

void profile_waits_limit(struct profile *p)
{
	limit_waits(p);
	limit_causes(p);
}
