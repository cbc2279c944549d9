/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/shadow.h"

#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"
#include "shm/switches.h"

void replay_open_frames(const struct replay *r, uint64_t t, replay_open_frame *tell, void *ctx)
{
	const struct node *root = r->base->node, *below = root;

	tell(ctx, root, NULL, elapsed(r->base->since, t));
	for (const struct frame *f = r->base + 1; f <= r->top; f++) {
		if (!f->node)
			continue;
		if (f > r->deep + 1) /* only the frame on top runs */
			below = r->deep->node ? r->deep->node : root;
		if (f <= r->deep || f == r->top)
			tell(ctx, f->node, below, elapsed(f->since, t));
		below = f->node;
	}
}

static bool can_be_copied(const struct replay *r)
{
	if (r->error || (r->slow & SLOW_PAUSED) || r->n_constructs || r->top >= r->deep)
		return false;
	for (const struct frame *f = r->base; f <= r->top; f++)
		if (!f->node && !frame_is_hidden(f))
			return false;
	return true;
}

static void copy_hidden(struct replay *s, const struct replay *r)
{
	for (size_t i = 0; i < r->n_hidden; i++)
		*LIST_ADD(s, hidden) = r->hidden[i];
	s->n_hidden_whole = r->n_hidden_whole;
	s->slow |= r->slow & SLOW_HIDDEN;
	s->filter = r->filter;
}

struct replay *replay_shadow(const struct replay *r)
{
	struct replay *s;

	if (!can_be_copied(r))
		return NULL;
	s = replay_new(r->now, r->same, r->ctx);
	s->high = r->high; /* a part of the block may have been taken */
	s->class_of_region = r->class_of_region;
	s->n_counters = r->n_counters;
	memcpy(s->counter, r->counter, sizeof(s->counter));
	if (r->counted) {
		s->counted = xcalloc(SWITCHES_MAX, sizeof(*s->counted));
		memcpy(s->counted, r->counted, SWITCHES_MAX * sizeof(*s->counted));
	}
	if (r->n_sites) {
		s->sites = xmalloc(r->n_sites * sizeof(*s->sites));
		memcpy(s->sites, r->sites, r->n_sites * sizeof(*s->sites));
		s->n_sites = r->n_sites;
		replay_expect_sites(s);
	}
	s->iterates = r->iterates;
	s->is_shadow = true;
	s->iteration_least = r->iteration_least;
	for (const struct frame *f = r->base + 1; f <= r->top; f++) {
		if (f->node)
			replay_open(s, f->node->key, r->now);
		else
			*++s->top = (struct frame){.since = r->now};
		s->top->depth = f->depth;
	}
	copy_hidden(s, r);
	return s;
}

bool replay_may_be_open(const struct replay *r, uint32_t id)
{
	if (r->error || (r->slow & SLOW_PAUSED))
		return true;
	for (const struct frame *f = r->base + 1; f <= r->top; f++)
		if (f->node ? (uint32_t)f->node->key == id : !frame_is_hidden(f))
			return true;
	return ANY(i, r->n_hidden, (uint32_t)r->hidden[i].key == id);
}

size_t replay_open_nodes(const struct replay *r, const struct node **nodes, size_t max)
{
	const size_t outer = max / 2, inner = max - outer;
	size_t n = 0;

	for (const struct frame *f = r->base; f <= r->top; f++) {
		if (!f->node)
			continue;
		if (n < max)
			nodes[n] = f->node;
		n++;
	}
	if (n > max) {
		const struct frame *f = r->top;

		for (size_t i = 0; i < inner; f--)
			if (f->node)
				nodes[max - ++i] = f->node;
	}
	return n;
}
