/* SPDX-License-Identifier: BSD-3-Clause */
/* For random-profile.h: what a random profile has left open, and who ended badly. */
#ifndef VFTR_T_RANDOM_ENDS_H
#define VFTR_T_RANDOM_ENDS_H

#include "nodeagent/profile/profile.h"
#include "t/lib/dice.h"

static inline void throw_open(struct dice *d, struct profile *p, uint32_t rank)
{
	for (uint32_t i = 0; i < PROFILE_OPEN_KINDS * p->n_stacks; i++)
		if (!throw_dice(d, 5))
			*ADD_ELEMENT(p, open) = (struct profile_open){i / PROFILE_OPEN_KINDS,
				i % PROFILE_OPEN_KINDS, 1 + throw_dice(d, 3), rank,
				p->unranked ? PROFILE_UNRANKED : rank, 1 + throw_dice(d, 10)};
	for (uint32_t i = 0; i < throw_dice(d, 4); i++)
		*ADD_ELEMENT(p, ends) = (struct profile_bad_end){rank + i, 9, PROCESS_KILLED, 15,
			throw_dice(d, 100), throw_dice(d, 100), throw_dice(d, 3)};
	/* of two functions on all nodes; on some nodes the second one has another file */
	*ADD_ELEMENT(p, sources) =
		(struct profile_source){xstrdup("foo"), xstrdup("/src/foo.c"), 7};
	*ADD_ELEMENT(p, sources) = (struct profile_source){
		xstrdup("main"), xasprintf("/src/main%u.c", rank / 4 % 5 / 4), 9};
	p->begin_known = throw_dice(d, 2);
	p->begin_ns = p->begin_known ? throw_dice(d, 100) : 0;
}

#endif
