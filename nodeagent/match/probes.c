/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/match/probes.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"

void match_probes_free(struct match_probes *p)
{
	free(p->at);
	*p = (struct match_probes){0};
}

uint32_t match_probes_add(struct match_probes *p, const struct match_probe *probe)
{
	if (!++p->last) /* numbers begin anew: the old ones of them are no longer known */
		p->last = MATCH_PROBES_MAX;
	if (p->n_at < MATCH_PROBES_MAX)
		*LIST_ADD(p, at) = *probe;
	else
		p->at[(p->last - 1) % MATCH_PROBES_MAX] = *probe;
	return p->last;
}

const struct match_probe *match_probes_find(const struct match_probes *p, uint32_t number)
{
	if (!number || number > p->last || p->last - number >= MATCH_PROBES_MAX)
		return NULL;
	return &p->at[(number - 1) % MATCH_PROBES_MAX];
}
