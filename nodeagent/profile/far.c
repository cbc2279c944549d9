/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of spawned jobs have the numbers that they get when the profiles of nodes are merged. So a
 * node names one of another node by a hash, in lists that have ANY_RANK, and the node that it runs
 * on has its number for that in far_ranks[].
 */

#include "nodeagent/base/util.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/schema.h"

/* What does not occur twice. */
static const struct profile_far_rank *find_far(const struct profile *p, uint32_t far)
{
	const size_t low = LOWER_BOUND(i, 0, p->n_far_ranks, p->far_ranks[i].far < far);

	return low < p->n_far_ranks && p->far_ranks[low].far == far ? &p->far_ranks[low] : NULL;
}

/* Also ranks of the main job, on a node where that has none. */
static bool is_elsewhere(const struct profile *p, uint32_t rank)
{
	return rank_is_far(rank) || (rank < PROFILE_UNRANKED && !p->world_size);
}

static uint32_t named(const void *arg, uint32_t rank)
{
	const struct profile_far_rank *r = rank_is_far(rank) ? find_far(arg, rank) : NULL;

	if (r)
		return r->rank;
	return is_elsewhere(arg, rank) ? PROFILE_ELSEWHERE : rank;
}

/* The peer of a message is of the same job, but on another node. */
static uint32_t named_peer(const void *arg, uint32_t rank)
{
	return rank_is_far(rank) && !find_far(arg, rank) ? PROFILE_FAR : named(arg, rank);
}

/* Parts of struct profile itself name ranks of their own node, and have 0 where there is none. */
static bool has_any_rank(const struct profile_schema *s)
{
	for (size_t i = 0; s->bytes && i < s->n_fields; i++)
		if (s->fields[i].ref == ANY_RANK)
			return true;
	return false;
}

static bool list_has_far(const struct profile *p, const struct profile_schema *s)
{
	size_t n;
	const char *at = profile_records(p, s, &n);

	for (const struct profile_field *f = s->fields; f < s->fields + s->n_fields; f++)
		for (size_t i = 0; f->ref == ANY_RANK && i < n; i++)
			if (is_elsewhere(p, *(const uint32_t *)(const void *)(at + i * s->bytes +
									      f->offset)))
				return true;
	return false;
}

bool profile_has_far(const struct profile *p)
{
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++)
		if (has_any_rank(&profile_schema[i]) && list_has_far(p, &profile_schema[i]))
			return true;
	return false;
}

static void name_all(struct profile *p)
{
	for (enum profile_list i = 0; i < PROFILE_LISTS; i++) {
		if (!has_any_rank(&profile_schema[i]))
			continue;
		profile_renumber_ranks(p, i, i == PROFILE_PAIRS ? named_peer : named, p);
		profile_combine(p, i);
	}
	profile_pairs_group_threads(p);
	profile_waits_limit(p);
}

void profile_name_far(struct profile *p)
{
	if (profile_has_far(p))
		name_all(p);
	profile_drop_list(p, PROFILE_FAR_RANKS);
}
