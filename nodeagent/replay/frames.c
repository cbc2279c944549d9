/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack of open frames: how they are entered and left. */
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/sequences.h"
#include "nodeagent/base/util.h"

/*
 * Looking for a frame that is not there walks over all that are open. So many
 * frames may be walked over in vain, then only the nearest are looked at.
 */
#define VAIN_MAX   ((uint64_t)1 << 26)
#define VAIN_SITES ((uint64_t)1 << 16)
#define NEAREST	   64

void replay_settle_frame(struct replay *r, const struct frame *f, uint64_t depth, uint64_t t)
{
	const char *why = traffic_left(r->track, (uint32_t)(f - r->base), depth, t);
	if (why)
		r->error = why;
	if (!traffic_pending(r->track))
		r->slow &= ~SLOW_PENDING;
}

static inline void settle_frame(struct replay *r, const struct frame *f, uint64_t depth, uint64_t t)
{
	if (unlikely(r->slow & SLOW_PENDING))
		replay_settle_frame(r, f, depth, t);
}

static void more_room(struct replay *r)
{
	size_t used = (size_t)(r->top - r->base), cap = (size_t)(r->full - r->base) * 2;

	if (used >= FRAMES_MAX) {
		r->error = "more than 4194304 open frames, as no program has";
		return;
	}
	r->base = xrealloc(r->base, (cap + 1) * sizeof(*r->base));
	r->top = r->base + used;
	r->full = r->base + cap;
	r->deep = r->base + DEPTH_MAX - 1;
}

bool replay_frame_room(struct replay *r)
{
	if (r->top == r->full)
		more_room(r);
	return !r->error;
}

/* The nearest frame that has a node. */
static struct frame *frame_with_node(struct frame *f)
{
	while (!f->node)
		f--;
	return f;
}

/* Below DEPTH_MAX: all functions are children of one node, with their own time. */
static void enter_deep(struct replay *r, uint64_t key, uint64_t t)
{
	struct frame *f = frame_with_node(r->top);
	struct node *parent;

	if (f > r->deep)
		f->node->ticks += elapsed(f->since, t);
	parent = calltree_child(r->tree, replay_node(r->deep), NULL, KEY_DEEP);
	calltree_called(parent, t);
	f = ++r->top;
	*f = (struct frame){.node = calltree_child(r->tree, parent, NULL, key), .since = t};
	calltree_called(f->node, t);
	if (r->sampled)
		sample_enter(r, f->node, t);
}

/* Everything the fast way in replay_enter() does not do. */
void replay_open(struct replay *r, uint64_t key, uint64_t t)
{
	struct frame *f;
	struct node *below;

	if (!replay_frame_room(r))
		return;
	if (r->top >= r->deep) {
		enter_deep(r, key, t);
		return;
	}
	f = r->top;
	below = replay_node(f);
	*++r->top =
		(struct frame){.node = calltree_child(r->tree, below, f->last, key), .since = t};
	if (!r->top->node->calls)
		calltree_called(r->top->node, t);
	if (unlikely(key_is_site(key)))
		replay_expect_sites(r);
	else if (f == r->base && r->is_main)
		replay_prelude(r, r->top->node);
	if (r->sampled)
		sample_enter(r, r->top->node, t);
}

void replay_drop_prelude(struct replay *r, int (*is_main)(void *ctx, uint64_t key))
{
	r->is_main = is_main;
}

void replay_begin_main(struct replay *r)
{
	r->is_main = NULL;
	sequences_settle(r->sequences);
	r->counts.calls -= calltree_forget(r->tree);
}

void replay_prelude(struct replay *r, struct node *n)
{
	/* known already, or nothing ran before: no need to know its name */
	if (n->calls || calltree_nodes(r->tree) <= 2 || !r->is_main(r->ctx, n->key))
		return;
	replay_begin_main(r);
}

void replay_open_at(struct replay *r, struct node *n, uint64_t t)
{
	if (!replay_frame_room(r))
		return;
	*++r->top = (struct frame){.node = n, .since = t};
	if (!n->calls)
		calltree_called(n, t);
	if (r->sampled)
		replay_sample_aside(r, n, replay_node(r->top - 1), t);
}

/* Epochs do not matter: what is open has not been unloaded. */
static int same_function(uint64_t a, uint64_t b)
{
	if (RECORD_IS_REGION(a | b) || ((a | b) & KEY_WIDE))
		return (a & ~EPOCH_BITS) == (b & ~EPOCH_BITS);
	return (uint32_t)a == (uint32_t)b;
}

void replay_enter(struct replay *r, uint64_t key, uint64_t t)
{
	struct frame *f = r->top;

	r->counts.calls++;
	if (f->node && ((same_function(f->node->key, key) && !frame_is_construct(f)) ||
			       f->node->key == KEY_OVERFLOW)) {
		f->depth++;
		f->node->calls++;
		return;
	}
	if (unlikely(r->filter) && replay_enter_hidden(r, key, t)) {
		r->counts.calls--;
		return;
	}
	replay_open(r, key, t);
	if (r->top->node)
		r->top->node->calls++;
}

static void pop_frame(struct replay *r, uint64_t t)
{
	struct frame *f = r->top;
	struct node *n = f->node;

	if (f == r->base)
		return;
	settle_frame(r, f, 0, t);
	r->top--;
	if (!n) {
		replay_drop_hidden(r, f->depth);
		return;
	}
	if (r->sampled)
		sample_exit(r, n, f->since, t);
	n->ticks += elapsed(f->since, t);
	if (unlikely(r->n_holds))
		replay_leave_lock(r, f, n, t);
	if (frame_is_construct(f))
		construct_left(r, t, elapsed(f->since, t));
	if (f > r->deep + 1) {
		f = frame_with_node(r->top);
		if (f > r->deep)
			f->since = t; /* the deep frame below runs again */
		return;
	}
	if (r->activity)
		activity_add(r->activity, n, f->since, t);
	if (n->extra && n->extra->watched)
		replay_iteration_left(r, f, n, t);
	n->parent->child = n->expected;
	r->top->last = n;
}

/* The top frame ends; the root never does. */
void replay_pop(struct replay *r, uint64_t t)
{
	pop_frame(r, t);
	if (unlikely(r->top->node && key_is_site(r->top->node->key)))
		pop_frame(r, t);
}

static int is_frame(const struct frame *f, uint32_t id)
{
	if (frame_is_construct(f) && !frame_is_deep(f))
		return 0;
	if (f->node && key_is_site(f->node->key))
		return 0;
	return f->node && ((uint32_t)f->node->key == id || f->node->key == KEY_OVERFLOW);
}

/* A hidden_test: its id is that. */
static bool has_id(const struct replay *r, uint64_t key, uint64_t id)
{
	return (uint32_t)key == id;
}

/* The same: the code at that site is its. */
static bool has_site(const struct replay *r, uint64_t key, uint64_t site)
{
	return r->same(r->ctx, key, site);
}

/* The frame with this id that is nearest to the top, or NULL. hidden: of a frame of hidden calls,
 * so many of them end, else 0. */
static struct frame *find_open(struct replay *r, uint32_t id, uint64_t *hidden)
{
	size_t left = r->vain > VAIN_MAX ? NEAREST : SIZE_MAX, end = r->n_hidden;
	struct frame *f;

	*hidden = 0;
	for (f = r->top; f > r->base && left--; f--) {
		if (is_frame(f, id))
			return f;
		if (likely(!frame_is_hidden(f)))
			continue;
		*hidden = replay_find_hidden(r, end, MIN(f->depth, left), has_id, id);
		if (*hidden)
			return f;
		end -= f->depth;
		r->vain += f->depth;
	}
	r->vain += (size_t)(r->top - f);
	return NULL;
}

void replay_close_above(struct replay *r, struct frame *f, uint64_t t)
{
	while (r->top > f) {
		r->counts.closed++;
		replay_pop(r, t);
	}
}

void replay_set_mismatch(struct replay *r, replay_mismatch mismatch)
{
	r->mismatch = mismatch;
}

/* Counts a stray exit; of a region with a long number only half of the key is known. */
static void note_stray(struct replay *r, uint32_t id)
{
	uint64_t number = id - (uint32_t)RECORD_REGION_KEY(0);

	r->counts.stray++;
	if (r->mismatch && key_is_region(id))
		r->mismatch(r->ctx, id, false, 1);
	else if (r->mismatch && (id >> 31) && number >= RECORD_REGIONS_SHORT)
		r->mismatch(r->ctx, RECORD_REGION_KEY(number), false, 1);
}

/* The frames above f have ended without a word of it. */
static void note_missing(struct replay *r, const struct frame *f)
{
	if (!r->mismatch)
		return;
	for (const struct frame *g = f + 1; g <= r->top; g++)
		if (g->node && !frame_is_construct(g) && key_is_region(g->node->key))
			r->mismatch(r->ctx, g->node->key, true, g->depth + 1);
}

/* The innermost call of the top frame ends. */
static void leave_call(struct replay *r, uint64_t t)
{
	struct frame *f = r->top;

	if (frame_is_hidden(f)) {
		replay_leave_hidden(r, 1, t);
	} else if (frame_is_deep(f)) {
		settle_frame(r, f, f->depth, t);
		f->depth--;
	} else if (!construct_end_bare(r, t)) {
		replay_pop(r, t);
	}
}

void replay_leave(struct replay *r, uint32_t id, uint64_t t)
{
	struct frame *f = r->top;
	uint64_t hidden = 0;

	if (frame_is_hidden(f) &&
		has_id(r, r->hidden[r->n_hidden - 1].key, id)) { /* without looking for it */
		replay_leave_hidden(r, 1, t);
		return;
	}
	if (!is_frame(f, id)) {
		if (!f->node && !f->depth) { /* of a function entered while paused */
			r->top--;
			return;
		}
		f = find_open(r, id, &hidden);
		if (!f) {
			note_stray(r, id);
			return;
		}
		note_missing(r, f);
		replay_close_above(r, f, t);
	}
	if (hidden)
		replay_leave_hidden(r, hidden, t);
	else
		leave_call(r, t);
}

void replay_pause(struct replay *r, uint64_t t)
{
	if (r->slow & SLOW_PAUSED)
		return;
	r->slow |= SLOW_PAUSED;
	r->paused = t;
	if (r->track)
		traffic_track_lost(r->track);
	replay_open(r, KEY_PAUSE, t);
	if (!r->error)
		r->top->node->calls++;
}

void replay_go_on(struct replay *r, uint64_t t, uint64_t unrecorded)
{
	if (r->slow & SLOW_PAUSED) {
		replay_pop(r, t);
		r->went_on = t;
	}
	r->slow &= ~SLOW_PAUSED;
	for (; unrecorded && !r->error; unrecorded--) {
		if (r->top == r->full)
			more_room(r);
		if (!r->error)
			*++r->top = (struct frame){.since = t};
	}
}

void replay_leave_paused(struct replay *r, uint32_t id, uint64_t t)
{
	replay_pop(r, t);
	replay_leave(r, id, t);
	replay_open(r, KEY_PAUSE, t);
}

void replay_jump(struct replay *r, uint64_t site, uint64_t t)
{
	size_t left = r->vain_sites > VAIN_SITES ? NEAREST : SIZE_MAX, end = r->n_hidden;
	struct frame *f;
	uint64_t hidden;

	for (f = r->top; r->same && f > r->base && left--; f--) {
		hidden = frame_is_hidden(f)
				 ? replay_find_hidden(r, end, MIN(f->depth, left), has_site, site)
				 : 0;
		if (hidden || (f->node && !key_is_site(f->node->key) &&
				      r->same(r->ctx, f->node->key, site))) {
			replay_close_above(r, f, t);
			if (hidden > 1)
				replay_close_hidden(r, hidden - 1, t);
			return;
		}
		if (frame_is_hidden(f)) {
			end -= f->depth;
			r->vain_sites += f->depth;
		}
	}
	r->vain_sites += (size_t)(r->top - f);
}

void replay_close(struct replay *r, uint64_t n, uint64_t t)
{
	for (; n && r->top > r->base; n--)
		leave_call(r, t);
}
