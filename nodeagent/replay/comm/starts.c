/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/starts.h"

#include <stdlib.h>
#include "nodeagent/base/map.h"

#define NOT_KNOWN UINT32_MAX

struct start {
	uint32_t number; /* of the last one, or NOT_KNOWN */
	uint64_t until;
};

struct starts {
	struct map32 at; /* ticket + 1 -> index */
	struct start *all;
	size_t n_all, cap_all;
};

static struct start *start_of(struct starts *s, size_t *of_process, uint32_t ticket)
{
	const uint32_t *at = map32_find(&s->at, ticket + 1);

	if (at)
		return &s->all[*at];
	if (ticket == UINT32_MAX || s->n_all >= STARTS_MAX || *of_process >= STARTS_ALL_MAX)
		return NULL;
	++*of_process;
	map32_add(&s->at, ticket + 1, (uint32_t)s->n_all);
	*LIST_ADD(s, all) = (struct start){0};
	return &s->all[s->n_all - 1];
}

bool starts_count(struct starts **s, size_t *of_process, uint32_t ticket, uint64_t since,
	uint64_t until, uint32_t *number)
{
	struct start *at;

	if (!*s)
		*s = xcalloc(1, sizeof(**s));
	at = start_of(*s, of_process, ticket);
	if (!at || at->number == NOT_KNOWN)
		return false;
	if (at->number &&
		(int64_t)(since - at->until) < 0) { /* threads are read in another order */
		at->number = NOT_KNOWN;
		return false;
	}
	at->until = until;
	*number = ++at->number;
	return *number != NOT_KNOWN;
}

void starts_free(struct starts *s, size_t *of_process)
{
	if (!s)
		return;
	*of_process -= s->n_all;
	map32_free(&s->at);
	free(s->all);
	free(s);
}
