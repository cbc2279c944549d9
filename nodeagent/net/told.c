/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/net/told.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"

/* What an agent is. */
#define FINAL	   1u /* its last word */
#define OPEN	   2u
#define WAITS	   4u /* to be passed on */
#define OPEN_ABOVE 8u /* the last word that was passed on */

struct told {
	int tag, agents, n_final, n_open, n_open_above;
	bool any_open; /* ever: agents without a word have nothing to say */
	struct by {
		uint64_t number;
		unsigned is;
	} by[];
};

struct told *told_tag(struct told_tags *tags, int tag, int agents)
{
	struct told *t;

	for (size_t i = 0; i < tags->n; i++)
		if (tags->at[i]->tag == tag)
			return tags->at[i];
	if (tags->n == TOLD_TAGS_MOST)
		return NULL;
	t = xcalloc(1, sizeof(*t) + (size_t)agents * sizeof(t->by[0]));
	t->tag = tag;
	t->agents = agents;
	tags->at[tags->n++] = t;
	return t;
}

void told_clear(struct told_tags *tags)
{
	for (size_t i = 0; i < tags->n; i++)
		free(tags->at[i]);
	tags->n = 0;
}

enum told_word told_came(struct told *t, int agent, uint64_t number, bool final)
{
	struct by *b = t ? &t->by[agent] : NULL;
	const unsigned before = b ? b->is : 0;

	if (!b)
		return TOLD_NEW;
	if (number <= b->number)
		return TOLD_OLD;
	b->number = number;
	t->n_final += (int) final - !!(before & FINAL);
	t->n_open += (int)!final - !!(before & OPEN);
	t->any_open |= !final;
	b->is = (before & OPEN_ABOVE) | WAITS | (final ? FINAL : OPEN);
	return final && before & FINAL ? TOLD_AGAIN : TOLD_NEW;
}

void told_went(struct told *t, int agent, bool final)
{
	struct by *b = t ? &t->by[agent] : NULL;

	if (!b)
		return;
	t->n_open_above += (int)!final - !!(b->is & OPEN_ABOVE);
	b->is = (b->is & (FINAL | OPEN)) | (final ? 0 : OPEN_ABOVE);
}

bool told_by_all(const struct told *t, bool (*is_gone)(void *arg, int agent), void *arg)
{
	int missing = !t ? 1 : t->any_open ? t->n_open : t->agents - t->n_final;

	for (int i = 0; t && i < t->agents && missing; i++) {
		const bool is_missing = t->any_open ? t->by[i].is & OPEN : !(t->by[i].is & FINAL);

		missing -= is_missing && is_gone(arg, i);
	}
	return !missing;
}

bool told_of_open(const struct told *t, bool (*is_gone)(void *arg, int agent), void *arg)
{
	for (int i = 0; t && t->n_open_above && i < t->agents; i++)
		if ((t->by[i].is & (OPEN_ABOVE | WAITS)) == OPEN_ABOVE && !is_gone(arg, i))
			return true;
	return false;
}
