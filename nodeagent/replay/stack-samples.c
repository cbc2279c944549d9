/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/stack-samples.h"

#include <stdlib.h>
#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"

#define STACK_DEPTH 512u /* the innermost functions of a path */

struct waiting_stacks {
	struct stack_sample *at;
	size_t from, n, cap; /* at[from .. n) wait */
};

/* Functions of a path, outermost first. */
struct stack_path {
	uint64_t key[STACK_DEPTH];
	unsigned n;
	uint64_t below_runtime;
};

void replay_free_stack_samples(struct replay *r)
{
	if (r->stacks)
		free(r->stacks->at);
	free(r->stacks);
	replay_free_site_paths(r);
}

uint64_t replay_next_stack_sample(const struct replay *r)
{
	const struct waiting_stacks *w = r->stacks;

	return w && w->from < w->n ? w->at[w->from].ticks : UINT64_MAX;
}

void replay_add_stack_sample(struct replay *r, const struct stack_sample *s)
{
	struct waiting_stacks *w = r->stacks;

	if (!w)
		w = r->stacks = xcalloc(1, sizeof(*w));
	if (w->n - w->from >= STACK_SAMPLES_WAITING)
		replay_place_stack_samples(r, w->at[w->from + STACK_SAMPLES_WAITING / 2].ticks);
	if (w->from && w->from >= w->n - w->from) {
		w->n -= w->from;
		memmove(w->at, w->at + w->from, w->n * sizeof(*w->at));
		w->from = 0;
	}
	*APPEND(w->at, w->n, w->cap) = *s;
}

/* ---- which part of the path lies within the open frame -------------------- */

static bool is_function(uint64_t key)
{
	if (RECORD_IS_REGION(key) || (key & KEY_INIT && !(key & KEY_WIDE)))
		return false;
	return key & KEY_WIDE || (uint32_t)key >= RECORD_ID_FUNCTION;
}

static void read_path(struct stack_path *p, const struct node *leaf)
{
	unsigned depth = 0;
	const struct node *n;

	for (n = leaf; n->parent && depth < STACK_DEPTH; n = n->parent)
		depth++;
	p->n = depth;
	p->below_runtime = leaf->calls;
	for (n = leaf; depth; n = n->parent)
		p->key[--depth] = n->key;
}

/* The number of its functions that are not called from one with this key. */
static unsigned within_function(const struct stack_path *p, uint64_t key)
{
	for (unsigned i = p->n; i; i--)
		if ((uint32_t)p->key[i - 1] == (uint32_t)key)
			return i;
	return UINT32_MAX;
}

static bool in_wait(const struct replay *r)
{
	const struct construct_frame *c =
		r->n_constructs ? &r->constructs[r->n_constructs - 1] : NULL;

	return c && c->kind == OPEN_WAIT && c->frame == (size_t)(r->top - r->base);
}

/*
 * The first function of the path that is to be shown below frame `open', or UINT32_MAX: none.
 * Of the frames around it, that of a function or of an OpenMP construct tells it.
 */
static unsigned first_below(
	const struct replay *r, const struct frame *open, const struct stack_path *p)
{
	bool missed = false; /* the compiler has put a function into another one */

	for (const struct frame *f = open; f > r->base; f--) {
		if (!f->node || r->top > r->deep)
			return UINT32_MAX;
		if (frame_is_construct(f))
			return in_wait(r) || p->below_runtime > p->n
				       ? UINT32_MAX
				       : p->n - (unsigned)p->below_runtime;
		if (is_function(f->node->key)) {
			const unsigned first = within_function(p, f->node->key);

			if (first != UINT32_MAX)
				return first;
			missed = true;
		} else if (!key_is_region(f->node->key)) {
			return UINT32_MAX;
		}
	}
	return missed ? UINT32_MAX : 0;
}

/* The function is called from the open frame, and its calls are known: it begins or ends just now,
 * or is in a hook. */
static bool is_exact(const struct replay *r, uint64_t key)
{
	const struct node *n = calltree_known(r->tree, r->top->node, (uint32_t)key);

	return n && n->calls;
}

/* ---- placing --------------------------------------------------------------- */

/* In a call of MPI whose call site is known, and is the one that the stack shows. */
static bool is_at_site(const struct replay *r, const struct stack_sample *s)
{
	const struct node *n = r->top - r->base >= 2 ? r->top->node : NULL;

	return n && s->caller && key_mpi(n->key) != KEY_NO_MPI && key_is_site(n->parent->key) &&
	       r->top[-1].node == n->parent && !((n->parent->key ^ s->site) & KEY_ADDRESS_MASK);
}

static void note_site(struct replay *r, const struct stack_sample *s)
{
	const unsigned depth = calltree_depth(s->caller);
	struct stack_path p;
	unsigned first;

	read_path(&p, s->path);
	first = first_below(r, r->top - 2, &p);
	if (first < depth)
		replay_note_site_path(r, r->top[-1].node, s->caller, depth - first);
}

static void place_sample(struct replay *r, const struct stack_sample *s)
{
	struct stack_path p;
	unsigned first;
	struct node *n = r->top->node;

	if (is_at_site(r, s)) {
		note_site(r, s);
		return;
	}
	read_path(&p, s->path);
	first = first_below(r, r->top, &p);
	if (first >= p.n)
		return;
	for (unsigned i = first; i < p.n && !is_exact(r, p.key[i]); i++) {
		struct node *below = calltree_child(r->tree, n, NULL, p.key[i]);

		if (below->calls) /* the same, in a process whose keys are all wide */
			break;
		n = below;
		if (!calltree_extra(n)->stacks.all++)
			calltree_called(n, s->ticks);
	}
	if (n != r->top->node) {
		n->extra->stacks.own++;
		n->extra->stacks.ticks += s->weight;
	}
}

void replay_place_stack_samples(struct replay *r, uint64_t ticks)
{
	struct waiting_stacks *w = r->stacks;

	if (replay_next_stack_sample(r) > ticks)
		return;
	replay_watch_paths(r, false);
	while (w->from < w->n && w->at[w->from].ticks <= ticks)
		place_sample(r, &w->at[w->from++]);
	replay_watch_paths(r, true);
	r->has_stacks = true;
}
