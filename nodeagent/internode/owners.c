/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/internode/owners.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"

static struct owners_chunk *chunk_of(struct owners *o, uint64_t number)
{
	const uint32_t new = (uint32_t)o->n_agents;
	const uint32_t at = *map64_at(&o->chunks, number, new);

	if (at == new) {
		struct owners_chunk *c = LIST_ADD(o, agents);

		c->known = 0;
		for (int i = 0; i < OWNERS_CHUNK; i++)
			c->of[i] = OWNERS_NOBODY;
	}
	return &o->agents[at];
}

void owners_claim(struct owners *o, uint64_t proc_id, int agent)
{
	struct owners_chunk *c = chunk_of(o, proc_id / OWNERS_CHUNK);
	const unsigned i = proc_id % OWNERS_CHUNK;
	const uint64_t bit = UINT64_C(1) << i;

	c->of[i] = c->known & bit ? OWNERS_NOBODY : agent;
	c->known |= bit;
}

int owners_find(struct owners *o, uint64_t proc_id)
{
	const uint64_t number = proc_id / OWNERS_CHUNK;

	if (!o->n_agents)
		return OWNERS_NOBODY;
	if (!o->last_chunk || o->last != number) {
		const uint32_t *at = map64_find(&o->chunks, number);

		o->last = number;
		o->last_chunk = at ? &o->agents[*at] : NULL;
	}
	return o->last_chunk ? o->last_chunk->of[proc_id % OWNERS_CHUNK] : OWNERS_NOBODY;
}

void owners_free(struct owners *o)
{
	map64_free(&o->chunks);
	free(o->agents);
	*o = (struct owners){0};
}
