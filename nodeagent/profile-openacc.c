/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of a profile about OpenACC: its order, and adding those of several processes. */
#include <string.h>

#include "nodeagent/compare.h"
#include "nodeagent/openacc.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"

int profile_openacc_cmp(const void *x, const void *y)
{
	const struct profile_openacc *a = x, *b = y;

	COMPARE(a->stack, b->stack);
	COMPARE(a->event, b->event);
	COMPARE(a->parent, b->parent);
	return strcmp(a->text, b->text);
}

void profile_openacc_add(void *x, const void *y)
{
	struct profile_openacc *to = x;
	const struct profile_openacc *from = y;

	if (from->calls_min < to->calls_min)
		to->calls_min = from->calls_min;
	if (from->calls_max > to->calls_max)
		to->calls_max = from->calls_max;
	to->ranks += from->ranks;
	to->calls += from->calls;
	to->ns += from->ns;
	to->own_ns += from->own_ns;
	to->bytes += from->bytes;
}

static unsigned line_ends(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

const char *profile_openacc_valid(const struct profile *p)
{
	for (size_t i = 0; i < p->n_openacc; i++) {
		const struct profile_openacc *o = &p->openacc[i];

		if (o->stack >= p->n_stacks)
			return "an event of OpenACC is at a stack that is not in the profile";
		if (!openacc_event_name(o->event) || !o->text ||
			line_ends(o->text) != PROFILE_OPENACC_TEXTS - 1)
			return "an event of OpenACC that is not known";
	}
	return NULL;
}

void profile_openacc_place(struct profile *p, const uint32_t *place)
{
	for (size_t i = 0; i < p->n_openacc; i++)
		p->openacc[i].stack = place[p->openacc[i].stack];
}
