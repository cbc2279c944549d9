/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from rank to rank, in a bounded number of entries. Where each rank has many
 * partners they grow with the square of the ranks: if they are too many, ranks of spawned jobs on
 * other nodes become PROFILE_ELSEWHERE, then all ranks beyond the MPI job, while 2, 4, 8 ...
 * neighbouring ranks of that are taken as one, pair_ranks of the profile, until they are few.
 * That number is the least that will do for the whole, whatever the order of merging:
 * a part never needs a greater one, and the whole is above the limit if a part is.
 */
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"
#include "nodeagent/base/util.h"

static uint32_t group_of(uint32_t rank, uint32_t ranks)
{
	return rank < PROFILE_UNRANKED ? rank & ~(ranks - 1) : rank;
}

static void put_pair(struct profile_pair *out, size_t *n, struct profile_pair *q, uint32_t ranks)
{
	struct profile_pair *last = *n ? &out[*n - 1] : NULL;
	uint32_t from = group_of(q->from, ranks), to = group_of(q->to, ranks);

	if (!last || last->from != from || last->to != to) {
		out[*n] = *q;
		out[*n].from = from;
		out[(*n)++].to = to;
		return;
	}
	profile_record_add(&profile_schema[PROFILE_PAIRS], last, q);
}

static size_t end_of_row(const struct profile *p, size_t i)
{
	const uint32_t from = i < p->n_pairs ? p->pairs[i].from : 0;

	while (i < p->n_pairs && p->pairs[i].from == from)
		i++;
	return i;
}

/* Merges two sorted rows, of which the second one begins at `middle`, into one. */
static void fold_rows(struct profile_pair *out, size_t *n, struct profile_pair *rows, size_t middle,
	size_t end, uint32_t ranks)
{
	size_t i = 0, k = middle;

	while (i < middle || k < end) {
		const bool first = k == end || (i < middle && group_of(rows[i].to, ranks) <=
								      group_of(rows[k].to, ranks));

		put_pair(out, n, &rows[first ? i++ : k++], ranks);
	}
}

/* Doubles the size of groups, in place: two rows at a time are elsewhere meanwhile. */
static void fold_pairs(struct profile *p, uint32_t ranks)
{
	struct profile_pair *rows = NULL;
	size_t n = 0, room = 0, end;

	for (size_t i = 0; i < p->n_pairs; i = end) {
		const size_t middle = end_of_row(p, i);

		end = middle;
		if (end < p->n_pairs &&
			group_of(p->pairs[end].from, ranks) == group_of(p->pairs[i].from, ranks))
			end = end_of_row(p, end);
		if (end - i > room) {
			room = end - i;
			rows = xrealloc(rows, room * sizeof(*rows));
		}
		memcpy(rows, &p->pairs[i], (end - i) * sizeof(*rows));
		fold_rows(p->pairs, &n, rows, middle - i, end - i, ranks);
	}
	free(rows);
	if (n < p->n_pairs)
		p->pairs = xrealloc(p->pairs, n * sizeof(*p->pairs));
	p->n_pairs = n;
}

/* Threads of several ranks are not told apart. */
static void fold_thread_pairs(struct profile *p, uint32_t ranks)
{
	EACH(struct profile_thread_pair, q, p->thread_pairs, p->n_thread_pairs) {
		q->from = group_of(q->from, ranks);
		q->to = group_of(q->to, ranks);
		q->from_thread = q->to_thread = PROFILE_NONE;
	}
	profile_combine(p, PROFILE_THREAD_PAIRS);
}

static uint32_t known_below(const void *from, uint32_t rank)
{
	return rank < *(const uint32_t *)from ? rank : PROFILE_ELSEWHERE;
}

static bool are_known(const struct profile *p, enum profile_list which, uint32_t from)
{
	const struct profile_schema *s = &profile_schema[which];
	size_t n;
	const char *at = profile_records(p, s, &n);

	for (const char *end = at + n * s->bytes; at < end; at += s->bytes)
		for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++) {
			const void *rank = at + f->offset;

			if (f->ref == ANY_RANK &&
				*(const uint32_t *)rank !=
					known_below(&from, *(const uint32_t *)rank))
				return false;
		}
	return true;
}

/* Whom nobody tells apart where `ranks` ranks are one: they have no neighbours by their numbers. */
static void put_elsewhere(struct profile *p, enum profile_list which, uint32_t ranks)
{
	const uint32_t from = ranks > 1 ? PROFILE_UNRANKED : PROFILE_FAR;

	if (are_known(p, which, from))
		return;
	profile_renumber_ranks(p, which, known_below, &from);
	profile_combine(p, which);
}

void profile_pairs_fold(struct profile *p, uint32_t ranks)
{
	if (p->pair_ranks >= ranks)
		return;
	put_elsewhere(p, PROFILE_PAIRS, ranks);
	for (uint32_t now = p->pair_ranks ? p->pair_ranks : 1; now < ranks;) {
		now *= 2;
		fold_pairs(p, now);
	}
	p->pair_ranks = ranks;
	profile_pairs_group_threads(p);
}

void profile_pairs_group_threads(struct profile *p)
{
	if (p->pair_ranks)
		put_elsewhere(p, PROFILE_THREAD_PAIRS, p->pair_ranks);
	if (p->pair_ranks > 1)
		fold_thread_pairs(p, p->pair_ranks);
}

static uint32_t larger_groups(const struct profile *p)
{
	return p->pair_ranks ? 2 * p->pair_ranks : 1;
}

void profile_pairs_limit(struct profile *p, size_t most, size_t left)
{
	while (p->pair_ranks < PROFILE_UNRANKED) {
		const size_t now = p->pair_ranks ? left : most;

		if (p->n_pairs <= now && p->n_thread_pairs <= now)
			break;
		profile_pairs_fold(p, larger_groups(p));
	}
}

/* Whether a list has more than `most` entries in a and b together. */
static bool are_more(
	const struct profile *a, const struct profile *b, enum profile_list which, size_t most)
{
	const struct profile_schema *s = &profile_schema[which];
	size_t n_x, n_y, n = 0;
	const char *x = profile_records(a, s, &n_x), *y = profile_records(b, s, &n_y);

	if (n_x + n_y <= most)
		return false;
	for (; n_x && n_y && n + (n_x > n_y ? n_x : n_y) <= most; n++) {
		const int order = profile_record_cmp(s, x, y);

		if (order <= 0) {
			x += s->bytes;
			n_x--;
		}
		if (order >= 0) {
			y += s->bytes;
			n_y--;
		}
	}
	return n + n_x + n_y > most;
}

void profile_pairs_join(struct profile *a, struct profile *b, size_t most, size_t left)
{
	profile_pairs_fold(a, b->pair_ranks);
	profile_pairs_fold(b, a->pair_ranks);
	while (a->pair_ranks < PROFILE_UNRANKED) {
		const size_t now = a->pair_ranks ? left : most;

		if (!are_more(a, b, PROFILE_PAIRS, now) &&
			!are_more(a, b, PROFILE_THREAD_PAIRS, now))
			break;
		profile_pairs_fold(a, larger_groups(a));
		profile_pairs_fold(b, a->pair_ranks);
	}
}

/* Before they are sorted: those of one group often follow each other. */
static void group_neighbours(struct profile *p)
{
	size_t n = 0;

	if (p->pair_ranks)
		put_elsewhere(p, PROFILE_PAIRS, p->pair_ranks);
	for (size_t i = 0; i < p->n_pairs; i++)
		put_pair(p->pairs, &n, &p->pairs[i], p->pair_ranks ? p->pair_ranks : 1);
	p->n_pairs = n;
}

struct place {
	uint64_t key, at; /* the two ranks; in pairs[] */
};

ORDER_BY(place_cmp, struct place, RISING(key) ?: RISING(at))

/* As profile_combine(), but sorts the keys alone: of millions, the records are far apart. */
static void combine_pairs(struct profile *p)
{
	struct place *places = xmalloc((p->n_pairs + 1) * sizeof(*places));
	struct profile_pair *out;
	size_t n = 0, distinct = 0;

	for (size_t i = 0; i < p->n_pairs; i++)
		places[i] = (struct place){(uint64_t)p->pairs[i].from << 32 | p->pairs[i].to, i};
	qsort(places, p->n_pairs, sizeof(*places), place_cmp);
	for (size_t i = 0; i < p->n_pairs; i++)
		distinct += !i || places[i].key != places[i - 1].key;
	out = xcalloc(distinct, sizeof(*out));
	for (size_t i = 0; i < p->n_pairs; i++)
		put_pair(out, &n, &p->pairs[places[i].at], 1);
	free(places);
	free(p->pairs);
	p->pairs = out;
	p->n_pairs = n;
}

void profile_pairs_settle(struct profile *p)
{
	if (p->n_pairs) {
		group_neighbours(p);
		combine_pairs(p);
	}
	profile_pairs_limit(p, PROFILE_PAIRS_MAX, PROFILE_PAIRS_GROUPED);
}

/* At least half as many as are kept come between two of these: each of them sorts all. */
void profile_pairs_make_room(struct profile *p)
{
	if (p->n_pairs > PROFILE_PAIRS_MAX + PROFILE_PAIRS_MAX / 2)
		profile_pairs_settle(p);
}

const char *profile_pairs_valid(const struct profile *p)
{
	const uint32_t ranks = p->pair_ranks ? p->pair_ranks : 1;

	if (ranks > PROFILE_UNRANKED || (ranks & (ranks - 1)))
		return "the number of ranks of one end of a message is no power of 2";
	for (size_t i = 0; i < p->n_pairs; i++)
		if (p->pairs[i].from != group_of(p->pairs[i].from, ranks) ||
			p->pairs[i].to != group_of(p->pairs[i].to, ranks))
			return "a message's rank is inside of a group of ranks";
	return NULL;
}
