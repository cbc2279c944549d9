/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that were counted and not timed. They are calls of the frame that is open, as if each had
 * begun and ended at once; their time is estimated in the end (tree/estimate.h).
 */
#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"
#include "shm/atomic.h"
#include "shm/switches.h"

/* The node of calls of this function from the frame on top. */
static struct node *counted_node(struct replay *r, uint64_t key)
{
	struct frame *f = r->slow & SLOW_PAUSED ? r->top - 1 : r->top;
	struct node *n = replay_node(f);

	if ((uint32_t)n->key == (uint32_t)key && !RECORD_IS_REGION(n->key))
		return n;
	if (f > r->deep)
		n = n->parent;
	else if (f == r->deep)
		n = calltree_child(r->tree, n, NULL, KEY_DEEP);
	return calltree_child(r->tree, n, NULL, key);
}

/* False: there was no time for so many. */
static bool add_calls(
	struct replay *r, uint32_t number, uint64_t key, uint64_t calls, uint64_t until)
{
	bool all_below;
	struct node *n;
	uint64_t more;

	if (!r->counted)
		r->counted = xcalloc(SWITCHES_MAX, sizeof(*r->counted));
	more = (calls - r->counted[number]) & COUNTED_CALLS;
	if (more / 1024 > elapsed(r->start, until))
		return false;
	r->counted[number] = calls;
	if (!more || (r->filter && replay_hides(r, key, &all_below)))
		return true;
	n = counted_node(r, key);
	if (!n->calls)
		calltree_called(n, r->now);
	n->calls += more;
	calltree_extra(n)->counted += more;
	r->counts.calls += more;
	return true;
}

bool replay_take_counted(struct replay *r, const struct ring_record *rec)
{
	const uint32_t number = COUNTED_NUMBER(rec->last), id = (uint32_t)(rec->head >> 32);

	if (!(rec->last & COUNTED_MARK) || number >= SWITCHES_MAX || id < RECORD_ID_FUNCTION)
		r->error = "a count of calls that makes no sense";
	/* whatever was unloaded since: only of what never was anything is counted */
	else if (!add_calls(r, number, id, rec->last & COUNTED_CALLS, r->not_after))
		r->error = "more calls counted than there was time for";
	return true;
}

void replay_counted_rest(struct replay *r, const struct switched_shm *s,
	const struct switches_shm *ids, uint64_t counted, uint64_t now)
{
	for (uint32_t i = 0; i < SWITCHES_MAX && counted >> i; i++) {
		const uint32_t known = load_relaxed(&ids->id[i]),
			       id = known ? known : load_relaxed(&s->id[i]);
		const uint64_t calls = load_relaxed(&s->calls[i]) & COUNTED_CALLS;

		if (counted >> i & 1 && id >= RECORD_ID_FUNCTION && calls)
			add_calls(r, i, id, calls, now);
	}
}
