/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Since when two lines have gone their own ways: the last moment of one of them of which the
 * other one has got data, or the last arrival at a collective call that both were in.
 */

#include "nodeagent/causal/internal.h"

static uint64_t pair_key(uint32_t line, uint32_t peer)
{
	return (uint64_t)line << 32 | peer;
}

void common_add(struct causal *c, uint32_t line, uint32_t peer, int64_t t, int64_t heard)
{
	const uint32_t at = *map64_at(&c->pair_at, pair_key(line, peer), (uint32_t)c->n_pairs);
	struct in_common *p;

	if (at == c->n_pairs)
		*LIST_ADD(c, pairs) =
			(struct in_common){{INT64_MIN, INT64_MIN}, {INT64_MAX, INT64_MAX}};
	p = &c->pairs[at];
	if (p->heard[0] != heard) {
		p->t[1] = p->t[0];
		p->heard[1] = p->heard[0];
		p->heard[0] = heard;
	}
	p->t[0] = t > p->t[0] ? t : p->t[0];
}

int64_t common_of(const struct causal *c, uint32_t line, uint32_t peer, int64_t before)
{
	const uint32_t *at = map64_find(&c->pair_at, pair_key(line, peer));

	for (unsigned i = 0; at && i < 2; i++)
		if (c->pairs[*at].heard[i] < before)
			return c->pairs[*at].t[i];
	return INT64_MIN;
}

void common_add_all(struct causal *c, uint32_t line, uint32_t group, int64_t t)
{
	struct line *l = &c->lines[line];
	size_t i = 0;

	while (i < l->n_groups && l->groups[i].group != group)
		i++;
	if (i == l->n_groups)
		LIST_ADD(l, groups);
	memmove(l->groups + 1, l->groups, i * sizeof(*l->groups));
	l->groups[0] = (struct comm_time){group, t};
}

int64_t common_in_groups(const struct causal *c, uint32_t line, uint32_t peer)
{
	const struct line *l = &c->lines[line];

	for (size_t i = 0; i < l->n_groups; i++)
		if (map32_find(&c->groups[l->groups[i].group].rank_of, peer + 1))
			return l->groups[i].common;
	return INT64_MIN;
}
