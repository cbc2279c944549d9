/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/comm/parts.h"

#include <stddef.h>
#include "nodeagent/replay/tree/calltree.h"

/*
 * To look at one call is a step, of some 5 ns. The agent makes on average one in TICKS_OF_STEP
 * ticks, and at most STEPS_MOST in advance; a look that took more is made up for by later ones.
 */
#define TICKS_OF_STEP 4096u
#define STEPS_MOST    ((int64_t)1 << 18)
#define STEPS_OF_LOOK 16

#define SMALLEST_OF 32 /* of the time of a look: parts below 1 / so much go first */

struct look_budget look_budget_full(void)
{
	return (struct look_budget){.steps = STEPS_MOST};
}

bool look_budget_allows(struct look_budget *b, uint64_t now)
{
	const uint64_t past = now - b->until;
	const uint64_t more = (int64_t)past > 0 ? past / TICKS_OF_STEP : 0;

	if (more) {
		b->steps = more < (uint64_t)(STEPS_MOST - b->steps) ? b->steps + (int64_t)more
								    : STEPS_MOST;
		b->until = now;
	}
	return b->steps > 0;
}

void look_budget_take(struct look_budget *b, uint64_t steps)
{
	b->steps -= (int64_t)steps + STEPS_OF_LOOK;
}

static struct part *part_of(struct parts *p, const struct node *n)
{
	for (unsigned i = p->n; i--;)
		if (p->at[i].node == n)
			return &p->at[i];
	return NULL;
}

static struct part *deepest_of(struct parts *p)
{
	struct part *deepest = NULL;

	for (unsigned i = 0; i < p->n; i++)
		if (!p->at[i].stays && (!deepest || p->at[i].depth > deepest->depth))
			deepest = &p->at[i];
	return deepest;
}

/*
 * What is below `least` counts for its caller, and with others there for the caller of that, until
 * it is enough or at the root.
 */
static void count_small_above(struct parts *p, uint64_t least)
{
	struct part *small, *above;

	for (unsigned i = 0; i < p->n; i++)
		p->at[i].stays = false;
	for (; (small = deepest_of(p)); p->steps++) {
		if (small->ticks >= least || !small->node->parent) {
			small->stays = true;
		} else if ((above = part_of(p, small->node->parent))) {
			above->ticks += small->ticks;
			*small = p->at[--p->n];
		} else {
			small->node = small->node->parent;
			small->depth--;
		}
	}
}

static uint32_t depth_of(const struct node *n)
{
	uint32_t depth = 0;

	while ((n = n->parent))
		depth++;
	return depth;
}

void parts_add(void *arg, struct node *n, uint64_t ticks)
{
	struct parts *p = arg;
	struct part *at = part_of(p, n);

	p->ticks += ticks;
	if (at) {
		at->ticks += ticks;
		return;
	}
	if (p->n == PARTS_MOST) /* then fewer than 16 are that large, and there is the root */
		count_small_above(p, p->ticks / (PARTS_MOST / 2) + 1);
	p->at[p->n++] = (struct part){.node = n, .ticks = ticks, .depth = depth_of(n)};
}

void parts_few(struct parts *p, unsigned most)
{
	/* below a quarter: fewer than 4 stay, and the root */
	for (uint64_t of = SMALLEST_OF; p->n > most; of /= 2)
		count_small_above(p, p->ticks / of + 1);
}
