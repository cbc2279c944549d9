/* SPDX-License-Identifier: BSD-3-Clause */
/* Times to wait for other agents, where nobody gives them: the more agents, the longer. */
#include <stdlib.h>

#include "conf/internal.h"

static const enum conf_id grow[] = {CONF_ID_agent_deadline_s, CONF_ID_agent_start_s};

double conf_more_s(const struct conf *c)
{
	return c->given[CONF_ID_agent_deadline_s] ? 0 : CONF_AGENT_S;
}

void conf_settle_agents(struct conf *c, int agents)
{
	for (size_t i = 0; i < sizeof(grow) / sizeof(grow[0]); i++) {
		const struct conf_option *o = &conf_options[grow[i]];

		if (!c->given[grow[i]] && agents > 1)
			*(double *)((char *)c + o->offset) =
				strtod(o->fallback, NULL) + agents * CONF_AGENT_S;
	}
}
