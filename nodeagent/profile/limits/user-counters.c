/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the user's in many processes, in a bounded number of entries: of each counter the
 * processes with the greatest and the least value and mean are kept, and the others are one entry
 * of user_rests[]. Of very many counters the first ones in the alphabet are told apart.
 *
 * Any order of merging gives the same: a process that has others of a part before it has them
 * before it in the whole, and sums of real numbers are exact (profile/exact-sum.h).
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/exact-sum.h"
#include "nodeagent/base/user-value.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/lists.h"
#include "nodeagent/profile/profile.h"

enum measure { GREATEST, LEAST, MEAN, MEASURES };

/* Of an integer or real number: in the order of these. */
static uint64_t in_order(bool real, uint64_t bits)
{
	const uint64_t sign = (uint64_t)1 << 63;

	return real && bits & sign ? ~bits : bits ^ sign;
}

static uint64_t measure_of(const struct profile_user_counter *c, enum measure measure)
{
	if (measure == MEAN)
		return in_order(true, user_value_bits(user_value_real(c->sum) /
						      (double)MAX(c->values, (uint64_t)1)));
	return in_order(c->real, measure == GREATEST ? c->max : c->min);
}

/* ---- those that are kept ------------------------------------------------------------------ */

struct named {
	const char *name;
	bool real;
	uint32_t at; /* in user_counters[] */
	uint64_t value;
};

#define BY_NAME (ALPHABETIC(name) ?: RISING(real))
ORDER_BY(by_name, struct named, BY_NAME ?: RISING(at))
ORDER_BY(by_value, struct named, FALLING(value) ?: RISING(at))

static struct named *counters_by_name(const struct profile *p)
{
	struct named *at = xcalloc(p->n_user_counters + 1, sizeof(*at));

	for (size_t i = 0; i < p->n_user_counters; i++)
		at[i] = (struct named){.name = p->user_counters[i].name,
			.real = p->user_counters[i].real,
			.at = (uint32_t)i};
	qsort(at, p->n_user_counters, sizeof(*at), by_name);
	return at;
}

/* Marks the extremes of n processes of one counter. */
static void mark_extremes(
	const struct profile *p, struct named *first, size_t n, size_t extremes, bool *kept)
{
	for (unsigned i = 0; i < 2 * MEASURES; i++) {
		for (size_t k = 0; k < n; k++)
			first[k].value = measure_of(&p->user_counters[first[k].at], i / 2) ^
					 (i % 2 ? UINT64_MAX : 0);
		qsort(first, n, sizeof(*first), by_value);
		for (size_t k = 0; k < MIN(n, extremes); k++)
			kept[first[k].at] = true;
	}
}

static bool *find_kept(const struct profile *p, size_t extremes)
{
	const size_t n = p->n_user_counters;
	bool *kept = xcalloc(n + 1, sizeof(*kept));
	struct named *at = counters_by_name(p);

	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1;
			end < n && at[end].real == at[i].real && !strcmp(at[end].name, at[i].name);)
			end++;
		mark_extremes(p, at + i, end - i, extremes, kept);
	}
	free(at);
	return kept;
}

/* ---- those that are added up ---------------------------------------------------------------- */

/* Takes over the name. */
static void add_rest(struct profile *p, struct profile_user_counter *c)
{
	struct profile_user_rest *r = profile_add(p, PROFILE_USER_RESTS);

	*r = (struct profile_user_rest){.name = c->name,
		.real = c->real,
		.ranks = 1,
		.values = c->values,
		.min = c->min,
		.max = c->max,
		.min_rank = c->rank,
		.max_rank = c->rank};
	exact_sum_put(&r->sum, user_value_real(c->sum));
}

static void put_rest(struct profile *p, const bool *kept)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_user_counters; i++)
		if (kept[i])
			p->user_counters[n++] = p->user_counters[i];
		else
			add_rest(p, &p->user_counters[i]);
	p->n_user_counters = n;
	profile_combine(p, PROFILE_USER_RESTS);
}

/* The first counter that is not told apart; false: all are. */
static bool find_beyond(const struct profile *p, size_t names, struct named *beyond)
{
	const size_t n = p->n_user_counters + p->n_user_rests;
	struct named *all = xcalloc(n + 1, sizeof(*all));
	size_t i = 0, different = 0;

	EACH(const struct profile_user_counter, c, p->user_counters, p->n_user_counters)
		all[i++] = (struct named){.name = c->name, .real = c->real};
	EACH(const struct profile_user_rest, r, p->user_rests, p->n_user_rests)
		all[i++] = (struct named){.name = r->name, .real = r->real};
	qsort(all, n, sizeof(*all), by_name);
	for (i = 0; i < n && different <= names; i++) {
		const struct named *x = &all[i], *y = i ? x - 1 : x;

		different += x->name[0] && (!i || BY_NAME);
		*beyond = *x;
	}
	free(all);
	return different > names;
}

static bool is_beyond(const char *name, bool real, const struct named *beyond)
{
	const struct named is = {.name = name, .real = real}, *x = &is, *y = beyond;

	return BY_NAME >= 0;
}

/* Values of different counters have no sum. */
static void forget_name(struct profile_user_rest *r)
{
	const struct profile_user_rest was = *r;

	free(r->name);
	*r = (struct profile_user_rest){
		.name = xstrdup(""), .ranks = was.ranks, .values = was.values};
}

static void limit_names(struct profile *p, size_t names)
{
	struct named beyond;
	char *name;
	bool *kept;

	if (!find_beyond(p, names, &beyond))
		return;
	name = xstrdup(beyond.name);
	beyond.name = name;
	kept = xcalloc(p->n_user_counters + 1, sizeof(*kept));
	for (size_t i = 0; i < p->n_user_counters; i++)
		kept[i] = !is_beyond(p->user_counters[i].name, p->user_counters[i].real, &beyond);
	put_rest(p, kept);
	EACH(struct profile_user_rest, r, p->user_rests, p->n_user_rests)
		if (is_beyond(r->name, r->real, &beyond))
			forget_name(r);
	profile_combine(p, PROFILE_USER_RESTS);
	free(kept);
	free(name);
}

void profile_user_counters_limit(struct profile *p, uint64_t most, size_t extremes, size_t names)
{
	uint64_t n = p->n_user_counters;
	bool *kept;

	EACH(const struct profile_user_rest, r, p->user_rests, p->n_user_rests)
		n += r->ranks;
	if (n <= most)
		return;
	kept = find_kept(p, extremes);
	put_rest(p, kept);
	free(kept);
	limit_names(p, names);
}
