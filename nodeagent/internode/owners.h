/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which agent has a process, for agent 0 of large jobs: millions of processes, each of which is
 * asked for by several agents. Neighbouring ids of processes are neighbours in memory.
 */
#ifndef VFTR_NODEAGENT_INTERNODE_OWNERS_H
#define VFTR_NODEAGENT_INTERNODE_OWNERS_H

#include <stdint.h>

#include "nodeagent/base/map.h"

#define OWNERS_CHUNK  64
#define OWNERS_NOBODY (-1)

/* Begins as zeros. */
struct owners {
	struct map64 chunks; /* id / OWNERS_CHUNK -> its number in agents[] */
	struct owners_chunk {
		int of[OWNERS_CHUNK]; /* OWNERS_NOBODY: nobody, or two agents claim it */
		uint64_t known;	      /* bits: of[] was set */
	} * agents;
	size_t n_agents, cap_agents;
	uint64_t last; /* id / OWNERS_CHUNK of the chunk that was looked for last; valid if n_agents
			*/
	const struct owners_chunk *last_chunk; /* NULL: there is none */
};

/* An agent has this process. If two say so it is nobody's: two jobs that cannot be told apart. */
void owners_claim(struct owners *o, uint64_t proc_id, int agent);
/* To be called when all have claimed theirs. Returns the agent, or OWNERS_NOBODY. */
int owners_find(struct owners *o, uint64_t proc_id);
void owners_free(struct owners *o);

#endif
