/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/profile/limits/internal.h"
#include "nodeagent/profile/places.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"

struct rows {
	const struct row_limit *l;
	const struct profile_schema *s;
	char *at;
	uint32_t n;
};

static struct rows rows_of(const struct profile *p, const struct row_limit *l)
{
	struct rows r = {.l = l, .s = &profile_schema[l->list]};
	size_t n;

	r.at = profile_records(p, r.s, &n);
	r.n = (uint32_t)n;
	return r;
}

static char *row_at(const struct rows *r, uint32_t i)
{
	return r->at + i * r->s->bytes;
}

static uint32_t rank_of(const struct rows *r, uint32_t i)
{
	return *(const uint32_t *)(const void *)(row_at(r, i) + r->l->rank);
}

static uint32_t *others_of(const struct rows *r, uint32_t i)
{
	return (uint32_t *)(void *)(row_at(r, i) + r->l->others);
}

/* ---- those that are kept ------------------------------------------------------------------ */

/* Those with the most, the first one of all before the others. */
struct extremes {
	struct {
		uint64_t value;
		uint32_t at; /* of the rows */
	} * of;
	size_t n, most;
};

/* To be called in the order of the rows: of equal ones the first are kept. */
static void add_extreme(struct extremes *x, uint64_t value, uint32_t at)
{
	size_t i = x->n;

	if (x->n == x->most && (!x->most || value <= x->of[x->most - 1].value))
		return;
	if (x->n < x->most)
		x->n++;
	else
		i--;
	for (; i && x->of[i - 1].value < value; i--)
		x->of[i] = x->of[i - 1];
	x->of[i].value = value;
	x->of[i].at = at;
}

/* flip: 0 for those with the most, UINT64_MAX for those with the least. */
static void mark_extremes(const struct rows *r, const unsigned char *class, unsigned of,
	struct extremes *x, unsigned measure, uint64_t flip, bool *kept)
{
	x->n = 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (class[i] == of && !*others_of(r, i))
			add_extreme(x, r->l->measure(row_at(r, i), measure) ^ flip, i);
	for (size_t i = 0; i < x->n; i++)
		kept[x->of[i].at] = true;
}

/* Marks all of a class if they are few enough, else the extremes. */
static void mark_class(const struct rows *r, const unsigned char *class, unsigned of, bool is_few,
	struct extremes *x, bool *kept)
{
	for (uint32_t i = 0; is_few && i < r->n; i++)
		kept[i] |= class[i] == of;
	for (unsigned i = 0; !is_few && i < r->l->measures; i++) {
		mark_extremes(r, class, of, x, i, 0, kept);
		mark_extremes(r, class, of, x, i, UINT64_MAX, kept);
	}
}

/* NULL: all are. */
static bool *find_kept(const struct rows *r, uint64_t most, size_t extremes)
{
	unsigned char *class = xmalloc(r->n + 1);
	uint64_t n[ROW_CLASSES] = {0};
	struct extremes x = {.most = extremes};
	bool *kept = NULL;

	for (uint32_t i = 0; i < r->n; i++) {
		class[i] = (unsigned char)r->l->class(row_at(r, i));
		n[class[i]] += 1 + (uint64_t)*others_of(r, i);
	}
	if (ANY(i, ROW_CLASSES, n[i] > most)) {
		kept = xcalloc(r->n + 1, sizeof(*kept));
		x.of = xcalloc(extremes + 1, sizeof(*x.of));
		for (unsigned i = 0; i < ROW_CLASSES; i++)
			mark_class(r, class, i, n[i] <= most, &x, kept);
		free(x.of);
	}
	free(class);
	return kept;
}

/* ---- those that are added up ---------------------------------------------------------------- */

struct rest {
	const char *host; /* "": not known */
	uint64_t known;	  /* of each of them; its class, too */
	uint32_t at;
};

ORDER_BY(by_host, struct rest, ALPHABETIC(host) ?: RISING(known) ?: RISING(at))

static struct rest rest_of(const struct profile *p, const struct rows *r, uint32_t i)
{
	const struct profile_rank_range *place = places_find(p, rank_of(r, i));
	const uint64_t known = r->l->known ? r->l->known(row_at(r, i)) : 0;

	return (struct rest){.host = place ? place->host : "",
		.known = known << 8 | r->l->class(row_at(r, i)),
		.at = i};
}

static uint32_t number_of(uint64_t n)
{
	return n < PROFILE_UNRANKED ? (uint32_t)n : PROFILE_UNRANKED - 1;
}

static void add_row(const struct rows *r, uint32_t to, uint32_t from)
{
	const uint64_t others = (uint64_t)*others_of(r, to) + *others_of(r, from) + 1;

	if (r->l->add)
		r->l->add(row_at(r, to), row_at(r, from));
	else
		profile_record_add(r->s, row_at(r, to), row_at(r, from));
	*others_of(r, to) = number_of(others);
}

/* Adds the others to the first of each node, and marks these. */
static void add_rest(const struct profile *p, const struct rows *r, bool *kept)
{
	struct rest *rest = xcalloc((size_t)r->n + 1, sizeof(*rest));
	uint32_t n = 0, first = 0;

	for (uint32_t i = 0; i < r->n; i++)
		if (!kept[i])
			rest[n++] = rest_of(p, r, i);
	qsort(rest, n, sizeof(*rest), by_host);
	for (uint32_t i = 0; i < n; i++) {
		const bool is_more = i && !strcmp(rest[i].host, rest[i - 1].host) &&
				     rest[i].known == rest[i - 1].known;

		if (is_more)
			add_row(r, rest[first].at, rest[i].at);
		else
			kept[rest[first = i].at] = true;
	}
	free(rest);
}

void profile_rows_limit(
	struct profile *p, const struct row_limit *l, uint64_t most, size_t extremes)
{
	const struct rows r = rows_of(p, l);
	bool *kept = find_kept(&r, most, extremes);
	size_t n = 0;

	if (!kept)
		return;
	add_rest(p, &r, kept);
	for (uint32_t i = 0; i < r.n; i++) {
		if (!kept[i])
			continue;
		if (n != i)
			memcpy(r.at + n * r.s->bytes, row_at(&r, i), r.s->bytes);
		n++;
	}
	*profile_n(p, r.s) = n;
	*profile_array(p, r.s) = xrealloc(r.at, (n + 1) * r.s->bytes);
	places_forget(p);
	free(kept);
}

uint64_t profile_rows_of(const struct profile *p, const struct row_limit *l)
{
	const struct rows r = rows_of(p, l);
	uint64_t n = 0;

	for (uint32_t i = 0; i < r.n; i++)
		n += 1 + (uint64_t)*others_of(&r, i);
	return n;
}
