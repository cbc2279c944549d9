/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hidden calls that follow each other on the stack share a frame without a node, whose depth is
 * their number; hidden[] has them all, the outermost first, and direct calls of itself once.
 * Whether a function is seen is told by the path of those that are, but for FILTER_NOT: SLOW_HIDDEN
 * is set while such a call is open.
 */
#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"

void replay_set_filter(struct replay *r, const struct replay_filter *f)
{
	r->filter = f;
}

/* Of a function with these FILTER_ bits that is called from n. */
static bool is_outside(const struct replay *r, const struct node *n, unsigned bits)
{
	const struct replay_filter *f = r->filter;
	bool inside = !f->only || (bits & FILTER_ONLY);
	uint32_t depth = 0;

	for (; n->parent && (!inside || f->depth); n = n->parent) {
		depth += key_is_function(n->key);
		if (key_is_orphan(n->key)) /* it is not known yet what is above */
			inside = true;
		else if (!inside && (key_is_function(n->key) || key_is_region(n->key)))
			inside = f->class_of(r->ctx, n->key) & FILTER_ONLY;
	}
	return !inside || (f->depth && depth >= f->depth);
}

bool replay_hides(const struct replay *r, uint64_t key, bool *all_below)
{
	const bool function = key_is_function(key);
	struct node *n;
	unsigned bits;

	*all_below = false;
	if (!function && !key_is_region(key))
		return false;
	bits = r->filter->class_of(r->ctx, key);
	*all_below = bits & FILTER_NOT;
	if (*all_below || !function || r->n_hidden_whole)
		return *all_below || function;
	n = replay_node(r->top);
	return !calltree_known(r->tree, n, key) && is_outside(r, n, bits);
}

/* The innermost call, if it is hidden and of this key, or NULL. */
static struct hidden_call *hidden_caller(struct replay *r, uint64_t key)
{
	struct hidden_call *h = frame_is_hidden(r->top) ? &r->hidden[r->n_hidden - 1] : NULL;

	return h && h->key == key ? h : NULL;
}

void replay_hide(struct replay *r, uint64_t key, bool all_below, uint64_t t)
{
	struct hidden_call *caller = hidden_caller(r, key);

	if (caller) {
		caller->depth++;
		return;
	}
	if (!replay_frame_room(r))
		return;
	if (r->n_hidden >= FRAMES_MAX) {
		r->error = "more than 4194304 hidden calls are open, as no program has";
		return;
	}
	if (!frame_is_hidden(r->top))
		*++r->top = (struct frame){.since = t};
	*LIST_ADD(r, hidden) = (struct hidden_call){.key = key, .all_below = all_below};
	r->top->depth++;
	if (all_below)
		replay_hide_functions(r, true);
}

bool replay_hides_from(const struct replay *r, uint64_t key, const struct node *to)
{
	return key_is_function(key) && is_outside(r, to, r->filter->class_of(r->ctx, key));
}

void replay_hide_functions(struct replay *r, bool on)
{
	r->n_hidden_whole += on ? 1 : -(size_t)1;
	if (r->n_hidden_whole)
		r->slow |= SLOW_HIDDEN;
	else
		r->slow &= ~SLOW_HIDDEN;
}

bool replay_enter_hidden(struct replay *r, uint64_t key, uint64_t t)
{
	bool all_below;

	if (!replay_hides(r, key, &all_below))
		return false;
	if (r->top == r->base && r->is_main && r->is_main(r->ctx, key))
		replay_begin_main(r);
	replay_hide(r, key, all_below, t);
	return true;
}

void replay_drop_hidden(struct replay *r, uint64_t n)
{
	while (n-- && r->n_hidden)
		if (r->hidden[--r->n_hidden].all_below)
			replay_hide_functions(r, false);
}

void replay_close_hidden(struct replay *r, uint64_t n, uint64_t t)
{
	struct frame *f = r->top;

	if (n >= f->depth) {
		replay_pop(r, t);
		return;
	}
	f->depth -= n;
	replay_drop_hidden(r, n);
}

void replay_leave_hidden(struct replay *r, uint64_t n, uint64_t t)
{
	struct hidden_call *h = &r->hidden[r->n_hidden - n];

	if (!h->depth) {
		replay_close_hidden(r, n, t);
		return;
	}
	h->depth--;
	if (n > 1)
		replay_close_hidden(r, n - 1, t);
}

uint64_t replay_find_hidden(
	const struct replay *r, size_t end, uint64_t n, hidden_test *is, uint64_t what)
{
	for (uint64_t i = 1; i <= n && i <= end; i++)
		if (is(r, r->hidden[end - i].key, what))
			return i;
	return 0;
}
