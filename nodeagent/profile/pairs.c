/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages from rank to rank, in a bounded number of entries. Where each rank has many
 * partners they grow with the square of the ranks: if they are too many, ranks of spawned jobs on
 * other nodes become PROFILE_ELSEWHERE, then all ranks beyond the MPI job, while 2, 4, 8 ...
 * neighbouring ranks of that are taken as one, pair_ranks of the profile, until they are few.
 * That number is the least that will do for the whole, whatever the order of merging:
 * a part never needs a greater one.
 */
#include <stdlib.h>

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

/* Doubles the size of groups: merges two sorted rows into one. */
static void fold_pairs(struct profile *p, uint32_t ranks)
{
	struct profile_pair *out = xcalloc(p->n_pairs, sizeof(*out));
	size_t n = 0, end;

	for (size_t i = 0; i < p->n_pairs; i = end) {
		const size_t middle = end_of_row(p, i);
		size_t k = middle;

		end = middle;
		if (end < p->n_pairs &&
			group_of(p->pairs[end].from, ranks) == group_of(p->pairs[i].from, ranks))
			end = end_of_row(p, end);
		while (i < middle || k < end) {
			const bool first =
				k == end || (i < middle && group_of(p->pairs[i].to, ranks) <=
								   group_of(p->pairs[k].to, ranks));

			put_pair(out, &n, &p->pairs[first ? i++ : k++], ranks);
		}
	}
	free(p->pairs);
	p->pairs = out;
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

void profile_pairs_limit(struct profile *p, size_t most)
{
	while ((p->n_pairs > most || p->n_thread_pairs > most) && p->pair_ranks < PROFILE_UNRANKED)
		profile_pairs_fold(p, p->pair_ranks ? 2 * p->pair_ranks : 1);
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
