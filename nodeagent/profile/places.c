/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/profile/places.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "shm/fnv.h"

static bool is_single(const struct profile_rank_range *r)
{
	return r->first == r->last;
}

/* ---- runs that contradict each other ---------------------------------------------------- */

/* The ranks of all runs so far. */
struct taken {
	uint64_t *bits; /* by rank, below n; no run with a step goes beyond */
	uint32_t n;
	uint32_t next; /* behind the ranks of all runs without a step */
};

static struct taken taken_none(const struct profile *p)
{
	struct taken t = {.n = 0};

	EACH(const struct profile_rank_range, r, p->rank_ranges, p->n_rank_ranges)
		if (r->step && r->last >= t.n)
			t.n = r->last + 1;
	if (t.n)
		t.bits = xcalloc(t.n / 64 + 1, sizeof(*t.bits));
	return t;
}

static bool is_taken(const struct taken *t, uint32_t rank)
{
	return t->bits[rank / 64] >> rank % 64 & 1;
}

/*
 * From the last rank of r back to one that is taken: takes these, and returns the first of them, or
 * one behind r's last. So no rank is looked at twice, whatever the runs are, but for one of each.
 */
static uint32_t take_free(struct taken *t, const struct profile_rank_range *r)
{
	const uint32_t step = place_step(r), from = r->step ? r->first : MAX(r->first, t->next);
	uint32_t first = r->last + step;

	if (first > t->n && !r->step)
		first = MAX(from, t->n);
	for (; first > from && !is_taken(t, first - step); first -= step)
		t->bits[(first - step) / 64] |= UINT64_C(1) << (first - step) % 64;
	if (!r->step)
		t->next = MAX(t->next, r->last + 1);
	return first;
}

ORDER_BY(by_first, struct profile_rank_range, RISING(first))

static void drop_taken(struct profile *p)
{
	struct taken t = taken_none(p);
	size_t kept = 0;
	bool moved = false;

	for (size_t i = 0; i < p->n_rank_ranges; i++) {
		struct profile_rank_range r = p->rank_ranges[i];
		const uint32_t first = take_free(&t, &r);

		if (first > r.last) {
			free(r.host);
			continue;
		}
		moved |= first != r.first;
		r.first = first;
		r.step = is_single(&r) ? 0 : r.step;
		p->rank_ranges[kept++] = r;
	}
	p->n_rank_ranges = kept;
	if (moved)
		qsort(p->rank_ranges, kept, sizeof(*p->rank_ranges), by_first);
	free(t.bits);
}

const char *places_fault(const struct profile *p)
{
	struct taken t = taken_none(p);
	bool right = true;

	for (size_t i = 0; right && i < p->n_rank_ranges; i++)
		right = take_free(&t, &p->rank_ranges[i]) == p->rank_ranges[i].first;
	free(t.bits);
	return right ? NULL : "the places overlap or are not sorted";
}

/* ---- making runs -------------------------------------------------------------------------- */

static bool goes_on(const struct profile_rank_range *a, const struct profile_rank_range *b)
{
	return !a->step && !b->step && b->first == a->last + 1 && b->first != PROFILE_UNRANKED &&
	       !strcmp(a->host, b->host);
}

static void join_neighbours(struct profile *p)
{
	struct profile_rank_range *last = NULL, *to = p->rank_ranges;

	EACH(struct profile_rank_range, r, p->rank_ranges, p->n_rank_ranges) {
		if (!last || !goes_on(last, r)) {
			last = to++;
			*last = *r;
			continue;
		}
		last->last = r->last;
		free(r->host);
	}
	p->n_rank_ranges = (size_t)(to - p->rank_ranges);
}

/* Whether b is the rank by `step' behind a. */
static bool is_next(
	const struct profile_rank_range *a, uint32_t step, const struct profile_rank_range *b)
{
	return is_single(b) && b->first < PLACES_STEPS_BELOW && b->first - a->last == step &&
	       !strcmp(a->host, b->host);
}

/* Of n runs of any hosts, by host: how many from the first one on are one with a step. */
static size_t in_step(const struct profile_rank_range *r, size_t n)
{
	const uint32_t step = r->step || n < 2 ? r->step : r[1].first - r->last;
	size_t k = 1;

	if (!r->step && !is_single(r))
		return 1;
	while (k < n && is_next(&r[k - 1], step, &r[k]))
		k++;
	/* any two have a step */
	return k == 2 && !r->step ? 1 : k;
}

ORDER_BY(by_host, struct profile_rank_range, ALPHABETIC(host) ?: RISING(first))

static void make_steps(struct profile *p)
{
	struct profile_rank_range *to = p->rank_ranges;
	size_t singles = 0, n = p->n_rank_ranges, k;

	EACH(const struct profile_rank_range, r, p->rank_ranges, n)
		singles += is_single(r);
	if (!singles)
		return;
	qsort(p->rank_ranges, n, sizeof(*to), by_host);
	for (struct profile_rank_range *r = p->rank_ranges; n; r += k, n -= k) {
		struct profile_rank_range run = *r;

		k = in_step(r, n);
		if (k > 1) {
			run.step = r->step ? r->step : r[1].first - r->first;
			run.last = r[k - 1].last;
		}
		for (size_t i = 1; i < k; i++)
			free(r[i].host);
		*to++ = run;
	}
	p->n_rank_ranges = (size_t)(to - p->rank_ranges);
	qsort(p->rank_ranges, p->n_rank_ranges, sizeof(*to), by_first);
}

void places_join(struct profile *p)
{
	places_forget(p);
	drop_taken(p);
	join_neighbours(p);
	make_steps(p);
}

/* ---- hosts of both of two profiles ---------------------------------------------------------- */

/* What is known of a host; those of one hash are one, which costs time only. */
enum { IN_A = 1, IN_B = 2, HAS_STEP = 4, TO_OPEN = IN_A | IN_B | HAS_STEP };

static uint64_t hash_of(const struct profile_rank_range *r)
{
	return fnv_text(FNV_BEGIN, r->host);
}

static bool has_steps(const struct profile *p)
{
	return ANY(i, p->n_rank_ranges, p->rank_ranges[i].step);
}

static void note_hosts(struct map64 *hosts, const struct profile *p, uint32_t side)
{
	EACH(const struct profile_rank_range, r, p->rank_ranges, p->n_rank_ranges) {
		const uint32_t *known = map64_find(hosts, hash_of(r));

		map64_add(hosts, hash_of(r),
			side | (known ? *known : 0) | (r->step ? (uint32_t)HAS_STEP : 0));
	}
}

static bool is_to_open(const struct map64 *hosts, const struct profile_rank_range *r)
{
	return r->step && *map64_find(hosts, hash_of(r)) == TO_OPEN;
}

/* Ranks; to *bytes that which their runs need is added. */
static size_t ranks_to_open(const struct profile *p, const struct map64 *hosts, size_t *bytes)
{
	size_t n = 0;

	EACH(const struct profile_rank_range, r, p->rank_ranges, p->n_rank_ranges) {
		const size_t ranks = is_to_open(hosts, r) ? place_ranks(r) : 0;

		n += ranks;
		*bytes += ranks * (sizeof(*r) + strlen(r->host) + 1);
	}
	return n;
}

static void open_runs(struct profile *p, const struct map64 *hosts, size_t more)
{
	struct profile_rank_range *all, *to;

	if (!more)
		return;
	all = to = xcalloc(p->n_rank_ranges + more, sizeof(*all));
	EACH(const struct profile_rank_range, r, p->rank_ranges, p->n_rank_ranges) {
		if (!is_to_open(hosts, r)) {
			*to++ = *r;
			continue;
		}
		for (uint32_t rank = r->first; rank <= r->last; rank += r->step)
			*to++ = (struct profile_rank_range){rank, rank, xstrdup(r->host)};
		free(r->host);
	}
	free(p->rank_ranges);
	p->rank_ranges = all;
	p->n_rank_ranges = (size_t)(to - all);
	qsort(all, p->n_rank_ranges, sizeof(*all), by_first);
}

void places_open(struct profile *a, struct profile *b)
{
	struct map64 hosts = {0};
	size_t in_a, in_b, bytes = 0;

	if (!has_steps(a) && !has_steps(b))
		return;
	note_hosts(&hosts, a, IN_A);
	note_hosts(&hosts, b, IN_B);
	in_a = ranks_to_open(a, &hosts, &bytes);
	in_b = ranks_to_open(b, &hosts, &bytes);
	if (bytes <= PLACES_OPEN_MOST) {
		open_runs(a, &hosts, in_a);
		open_runs(b, &hosts, in_b);
	}
	map64_free(&hosts);
}

/* ---- who is where ------------------------------------------------------------------------- */

struct places_index {
	const struct profile_rank_range *runs; /* of this list */
	size_t n_runs;
	uint32_t n;    /* ranks */
	uint32_t at[]; /* by rank: 1 + the run with a step that has it, or 0 */
};

void places_forget(struct profile *p)
{
	free(p->places);
	p->places = NULL;
}

static struct places_index *make_index(const struct profile *p)
{
	struct places_index *x;
	uint32_t n = 0;

	EACH(const struct profile_rank_range, r, p->rank_ranges, p->n_rank_ranges)
		if (r->step && r->last < PLACES_STEPS_BELOW && r->last >= n)
			n = r->last + 1;
	x = xcalloc(1, sizeof(*x) + n * sizeof(*x->at));
	*x = (struct places_index){p->rank_ranges, p->n_rank_ranges, n};
	for (uint32_t i = 0; i < p->n_rank_ranges; i++) {
		const struct profile_rank_range *r = &p->rank_ranges[i];

		for (uint32_t rank = r->first; r->step && rank <= r->last && rank < n;
			rank += r->step)
			x->at[rank] = i + 1;
	}
	return x;
}

static const struct places_index *index_of(const struct profile *p)
{
	if (!p->places || p->places->runs != p->rank_ranges ||
		p->places->n_runs != p->n_rank_ranges) {
		free(p->places);
		((struct profile *)p)->places = make_index(p); /* it is no part of what p says */
	}
	return p->places;
}

const struct profile_rank_range *places_find(const struct profile *p, uint32_t rank)
{
	const struct places_index *x;
	const size_t behind = LOWER_BOUND(i, 0, p->n_rank_ranges, p->rank_ranges[i].first <= rank);
	const struct profile_rank_range *r = behind ? &p->rank_ranges[behind - 1] : NULL;

	if (!r)
		return NULL;
	/* no run begins within one without a step */
	if (!r->step && rank <= r->last)
		return r;
	x = index_of(p);
	return rank < x->n && x->at[rank] ? &p->rank_ranges[x->at[rank] - 1] : NULL;
}

const char *places_host(const struct profile *p, uint32_t rank)
{
	const struct profile_rank_range *r = places_find(p, rank);

	if (r)
		return r->host;
	return p->n_agents == 1 ? p->agents[0].host : NULL;
}
