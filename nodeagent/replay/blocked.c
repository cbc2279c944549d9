/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread has waited for room in its ring. That is no time of the program: it is
 * taken off the frame on top and off all that it lies in. A frame gets its time when
 * it ends, so until then its node may have less than none, modulo 2^64.
 */
#include "nodeagent/replay/internal.h"
#include "shm/atomic.h"

/* No more than there was since the frame was entered and the last wait ended. */
static uint64_t believed(struct replay *r, const struct frame *f, uint64_t waited, uint64_t until)
{
	uint64_t from = f->since > r->blocked_until ? f->since : r->blocked_until, most;

	if (until > r->not_after)
		until = r->not_after;
	most = elapsed(from, until);
	if (until > r->blocked_until)
		r->blocked_until = until;
	return waited < most ? waited : most;
}

/* It follows the event that found no room, so all before it is in the file. */
static void sample_blocked(struct replay *r, struct node *in, uint64_t waited, uint64_t until)
{
	struct sampled_track *l = r->sampled;
	const uint32_t stack = replay_sample_below(r, in, KEY_BLOCKED);
	const uint64_t from = until - waited;

	if (l->interval)
		replay_told_window(r, from);
	vfd_enter(l->track, stack, from);
	vfd_exit(l->track, stack, until);
	if (l->interval)
		replay_told_window(r, until);
}

bool replay_take_blocked(struct replay *r, const struct ring_record *rec)
{
	struct frame *f = r->top;
	uint64_t waited;

	while (!f->node)
		f--;
	waited = believed(r, f, load_relaxed(&rec->word[1]), rec->last & ~RECORD_BLOCKED_MARK);
	if (r->sampled && waited)
		sample_blocked(r, f->node, waited, r->blocked_until);
	for (struct node *at = f->node; at; at = at->parent)
		at->ticks -= waited;
	r->blocked += waited;
	return true;
}

void replay_blocked_end(struct replay *r)
{
	/* a producer that changes its words while they are read gets any sums */
	if (!r->blocked && !r->sequences)
		return;
	for (size_t i = 0; i < calltree_nodes(r->tree); i++) {
		struct node *n = calltree_at(r->tree, i);

		if ((int64_t)n->ticks < 0)
			n->ticks = 0;
	}
}

uint64_t replay_blocked_ticks(const struct replay *r)
{
	return r->blocked;
}
