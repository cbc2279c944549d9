/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP's records (shm/record.h) as frames. Constructs that are open are kept
 * beside the stack of frames, innermost last; each but the part of the thread
 * that made a team has a frame of its own, and ends with it at the latest.
 *
 * The time of a frame that was placed elsewhere goes to the frames of the path
 * where it hangs, and the frames it has suspended begin as much later.
 */
#include <stdlib.h>
#include "nodeagent/replay/openmp/teams.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/base/util.h"

#define NEAREST 512 /* constructs looked at for one that is not on top */

static struct construct_frame *top_of(struct replay *r)
{
	return r->n_constructs ? &r->constructs[r->n_constructs - 1] : NULL;
}

static struct construct_frame *push_construct(
	struct replay *r, enum construct_kind kind, uint64_t t)
{
	struct construct_frame *c;

	c = LIST_ADD(r, constructs);
	*c = (struct construct_frame){.kind = kind, .own = true, .since = t};
	c->frame = (size_t)(r->top - r->base);
	return c;
}

static struct construct_frame *find_construct(
	struct replay *r, enum construct_kind kind, uint32_t team, uint32_t region)
{
	size_t n = r->n_constructs, least = n > NEAREST ? n - NEAREST : 0;

	while (n-- > least) {
		struct construct_frame *c = &r->constructs[n];

		if (c->kind == kind && c->team == team &&
			(c->region == region || kind == OPEN_FORK || kind == OPEN_TEAM))
			return c;
	}
	return NULL;
}

/* The innermost of the team, or of any if team is 0; from above `c` on, or the top. */
static struct construct_frame *find_part(
	struct replay *r, const struct construct_frame *from, uint32_t team)
{
	size_t n = from ? (size_t)(from - r->constructs) : r->n_constructs;
	size_t least = n > NEAREST ? n - NEAREST : 0;

	while (n-- > least) {
		struct construct_frame *c = &r->constructs[n];

		if ((c->kind == OPEN_TEAM || c->kind == OPEN_FORK) && (!team || c->team == team))
			return c;
	}
	return NULL;
}

/* The innermost team that the thread has a part in, or NULL. */
static struct construct_frame *find_team(struct replay *r, const struct construct_frame *from)
{
	struct construct_frame *c = from ? find_part(r, from, 0) : find_part(r, NULL, 0);

	while (c && c->kind != OPEN_TEAM)
		c = find_part(r, c, 0);
	return c;
}

/* ---- frames ------------------------------------------------------------------- */

static bool can_place(struct replay *r)
{
	return r->top < r->deep;
}

/* The frame on top is the construct's: no other exit leaves it. */
static void claim_frame(struct replay *r, bool call)
{
	struct frame *f = r->top;

	f->depth = FRAME_CONSTRUCT;
	f->node->calls += call;
	r->counts.calls += call;
}

/* A frame on top whose node is n, wherever that is. */
static void open_at(struct replay *r, struct node *n, uint64_t t)
{
	replay_open_at(r, n, t);
	if (!r->error)
		r->top->depth = FRAME_CONSTRUCT;
}

/* The constructs and frames above `below` have stood still for d ticks. */
static void suspend_frames(struct replay *r, size_t below, uint64_t d)
{
	for (struct frame *f = r->base + below + 1; f <= r->top; f++)
		f->since += d;
	for (size_t i = r->n_constructs; i-- > 0 && r->constructs[i].frame > below;)
		r->constructs[i].suspended += d;
}

/* ---- how constructs end ---------------------------------------------------------- */

/* Where no frame tells of it: the library sleeps in the C library while it waits for the threads of
 * a team, and for the next team. */
static void note_sleep(struct replay *r, const struct construct_frame *c,
	const struct construct_frame *in, uint64_t d)
{
	if (!r->class_of_region ||
		r->class_of_region(r->ctx, openmp_region_key(c->region)) != TIME_LOCK_WAIT)
		return;
	if (r->top == r->base)
		r->team_times.idle_locks += d;
	else if (in && in->kind == OPEN_FORK && in->left && r->base + in->frame == r->top)
		r->team_times.join_locks += d;
}

/* Waiting in c counts in what it is part of; in a wait it is no more than that. */
static void end_wait(struct replay *r, const struct construct_frame *c, uint64_t d)
{
	struct construct_frame *in = top_of(r);

	note_sleep(r, c, in, d);
	if (!in || in->kind == OPEN_WAIT)
		return;
	in->wait += d;
	if (openmp_is_barrier(r->openmp, c->region))
		in->barrier += d;
}

static void end_task(struct replay *r, const struct construct_frame *c, uint64_t d)
{
	struct construct_frame *in = find_part(r, NULL, 0);
	struct openmp_task task = {.team = c->team,
		.number = c->number,
		.thread = r->thread,
		.ticks = d,
		.busy = d > c->wait ? d - c->wait : 0,
		.in_join = c->in_join,
		.resumed = c->resumed};

	if (c->in_join && !find_team(r, NULL)) {
		r->team_times.ticks += d;
		r->team_times.wait += c->wait;
	}
	if (!c->placed)
		in = top_of(r);
	if (in && in->kind == OPEN_FORK && c->placed) {
		in->join_tasks += d;
	} else if (in && (c->placed ? in->team == c->team : in->kind != OPEN_WAIT)) {
		in->wait += c->wait;
		in->barrier += c->barrier;
	}
	openmp_task(r->openmp, &task);
}

static void end_team(struct replay *r, const struct construct_frame *c, uint64_t t)
{
	uint64_t all = elapsed(c->since, t), idle = c->suspended + c->wait;
	struct construct_frame *in = top_of(r);
	struct openmp_part part = {.team = c->team,
		.region = c->region,
		.number = c->number,
		.thread = r->thread,
		.ticks = t,
		.duration = all > c->suspended ? all - c->suspended : 0,
		.busy = all > idle ? all - idle : 0,
		.barrier = c->barrier,
		.wait = c->wait};

	openmp_leave(r->openmp, &part);
	r->last_team = c->team;
	r->last_number = c->number;
	if (!c->own && in && in->kind == OPEN_FORK && in->team == c->team) {
		in->left = t;
		in->wait += c->wait;
	}
	if (!find_team(r, NULL)) {
		r->team_times.ticks += part.duration;
		r->team_times.wait += part.wait;
	}
	if (!c->own)
		return;
	if (!r->team_times.parts++)
		r->team_times.from = c->since;
	r->team_times.to = t;
}

/* The thread's wait for the others is a wait in the team around, if there is one. */
static void end_fork(struct replay *r, const struct construct_frame *c, uint32_t size, uint64_t t)
{
	uint64_t join = c->left ? elapsed(c->left, t) : 0;
	struct construct_frame *in = top_of(r);

	openmp_join(r->openmp, c->team, size, t);
	if (join > c->join_tasks)
		r->team_times.join += join - c->join_tasks;
	if (join > c->join_tasks && !find_team(r, NULL))
		r->team_times.outer_join += join - c->join_tasks;
	if (join > c->join_tasks && in)
		in->wait += join - c->join_tasks;
	if (in)
		in->wait += c->wait;
}

/* The innermost construct ends; d: what its frame has taken, if it has one. */
static void end_top(struct replay *r, uint64_t t, uint64_t d)
{
	struct construct_frame c = *top_of(r);

	r->n_constructs--;
	if (c.hides)
		replay_hide_functions(r, false);
	if (c.orphan)
		r->orphans[c.orphan - 1].open--;
	if (c.placed) {
		struct frame *on = r->base + c.below;
		struct node *n = r->base[c.frame].node->parent;

		for (; n && n != on->node; n = n->parent)
			n->ticks += d;
		suspend_frames(r, c.below, d);
	} else if (c.own && r->base[c.frame].node == replay_node(r->top)) {
		r->base[c.frame].node->ticks -= d; /* an overflow node in an overflow node */
	}
	switch (c.kind) {
	case OPEN_WAIT:
		end_wait(r, &c, d);
		break;
	case OPEN_TASK:
		end_task(r, &c, d);
		break;
	case OPEN_TEAM:
		end_team(r, &c, t);
		break;
	case OPEN_FORK:
		end_fork(r, &c, c.level, t);
		break;
	}
}

void construct_left(struct replay *r, uint64_t t, uint64_t d)
{
	size_t frame = (size_t)(r->top - r->base) + 1; /* it is no longer on top */

	while (r->n_constructs && top_of(r)->frame >= frame)
		end_top(r, t, d);
}

bool construct_end_bare(struct replay *r, uint64_t t)
{
	struct construct_frame *c = top_of(r);

	if (!c || c->own || c->frame != (size_t)(r->top - r->base))
		return false;
	end_top(r, t, 0);
	return true;
}

/* Ends a construct and all above it. */
static void end_construct(struct replay *r, struct construct_frame *c, uint64_t t)
{
	size_t at = (size_t)(c - r->constructs);

	replay_close_above(r, r->base + c->frame, t);
	while (r->n_constructs > at + 1) /* others that have no frame */
		end_top(r, t, 0);
	if (r->n_constructs <= at)
		return;
	if (r->constructs[at].own)
		replay_pop(r, t);
	else
		end_top(r, t, 0);
}

/* ---- how they begin ------------------------------------------------------------------ */

/* The new construct. NULL: it is a plain frame, or there was an error. */
static struct construct_frame *begin_plain(
	struct replay *r, enum construct_kind kind, uint32_t team, uint32_t region, uint64_t t)
{
	struct construct_frame *c;

	if (!can_place(r)) {
		replay_enter(r, openmp_region_key(region), t);
		return NULL;
	}
	replay_open(r, openmp_region_key(region), t);
	if (r->error)
		return NULL;
	claim_frame(r, true);
	c = push_construct(r, kind, t);
	c->team = team;
	c->region = region;
	return c;
}

/* The innermost team that what runs now belongs to. */
static const struct construct_frame *team_around(struct replay *r)
{
	size_t n = r->n_constructs, least = n > NEAREST ? n - NEAREST : 0;

	while (n-- > least) {
		const struct construct_frame *c = &r->constructs[n];

		if (c->kind == OPEN_TEAM ||
			(c->kind == OPEN_TASK && c->team && c->number != OPENMP_NONE))
			return c;
	}
	return NULL;
}

static void begin_fork(struct replay *r, uint32_t team, uint32_t region, uint64_t b, uint64_t t)
{
	const struct construct_frame *in = team_around(r);
	struct openmp_fork f = {.team = team,
		.region = region,
		.size = OPENMP_NUMBER(b),
		.parent = in ? in->team : 0,
		.parent_number = in ? in->number : 0,
		.thread = r->thread,
		.ticks = t,
		.hidden = r->n_hidden_whole > 0};

	begin_plain(r, OPEN_FORK, team, region, t);
	if (r->error)
		return;
	f.path = orphan_path(r, replay_node(r->top), &f.base);
	openmp_fork(r->openmp, &f);
}

/* Functions in c, if they are in its team, which is not one of an orphan. */
static void hide_in_team(struct replay *r, struct construct_frame *c, uint32_t team)
{
	c->hides = !c->orphan && openmp_is_hidden(r->openmp, team);
	if (c->hides)
		replay_hide_functions(r, true);
}

static void begin_team(struct replay *r, uint32_t team, uint32_t region, uint64_t b, uint64_t t)
{
	struct openmp_part part = {.team = team,
		.region = region,
		.level = OPENMP_LEVEL(b),
		.size = OPENMP_SIZE(b),
		.number = OPENMP_NUMBER(b),
		.thread = r->thread,
		.ticks = t};
	struct construct_frame *c = part.number ? NULL : find_part(r, NULL, team);
	size_t on = r->n_constructs ? top_of(r)->frame : 0;
	struct node *n;
	uint32_t orphan = 0;

	if (!team || (c && (c->kind != OPEN_FORK || c->entered)))
		return;
	if (!c && !can_place(r)) {
		if (part.number)
			replay_enter(r, openmp_region_key(region), t);
		return;
	}
	openmp_enter(r->openmp, &part);
	if (r->sampled)
		replay_sample_team(r, part.level, part.number);
	if (c) {
		c->entered = true;
		c = push_construct(r, OPEN_TEAM, t);
		c->own = false;
		c->frame = on;
	} else {
		n = orphan_node(r, team, region, &orphan);
		if (n == calltree_root(r->tree))
			n = calltree_child(r->tree, n, NULL, openmp_region_key(region));
		open_at(r, n, t);
		if (r->error)
			return;
		claim_frame(r, true);
		c = push_construct(r, OPEN_TEAM, t);
		c->placed = true;
		c->orphan = orphan;
		hide_in_team(r, c, team);
	}
	c->team = team;
	c->region = region;
	c->level = part.level;
	c->number = part.number;
}

/* The node below which a task of the team runs: that of its region's frame, if open here. */
static struct node *task_node(
	struct replay *r, const struct construct_frame *in, uint32_t *orphan, size_t *below)
{
	*orphan = 0;
	*below = 0;
	while (in && in->kind == OPEN_TEAM && !in->own)
		in = find_part(r, in, in->team);
	if (!in)
		return NULL;
	*below = in->frame;
	return r->base[in->frame].node;
}

static void begin_task(struct replay *r, uint32_t team, uint32_t region, uint64_t b, uint64_t t)
{
	struct construct_frame *in = team ? find_part(r, NULL, team) : NULL, *c;
	bool resumed = b & OPENMP_RESUMED, join = !in || in->kind == OPEN_FORK;
	uint32_t number = in && in->kind == OPEN_TEAM ? in->number : 0, orphan;
	struct node *on, *n;
	size_t below;

	if (!team || !can_place(r)) {
		c = begin_plain(r, OPEN_TASK, team, region, t);
		if (!c)
			return;
		c->resumed = resumed;
		c->number = OPENMP_NONE;
		r->top->node->calls -= resumed;
		r->counts.calls -= resumed;
		return;
	}
	if (!in)
		number = r->last_team == team ? r->last_number : OPENMP_NONE;
	on = task_node(r, in, &orphan, &below);
	if (!on)
		on = orphan_node(r, team, OPENMP_NONE, &orphan);
	n = calltree_child(r->tree, on, NULL, openmp_region_key(region));
	if (n == on || n->parent != on)
		below = 0; /* an overflow node */
	open_at(r, n, t);
	if (r->error)
		return;
	claim_frame(r, !resumed);
	c = push_construct(r, OPEN_TASK, t);
	c->placed = true;
	c->below = below;
	c->orphan = orphan;
	c->team = team;
	c->region = region;
	c->number = number;
	c->in_join = join;
	c->resumed = resumed;
	if (!in) /* after the thread's own part, which was hidden like this */
		hide_in_team(r, c, team);
}

/* ---- waits that no record tells ---------------------------------------------------------- */

/*
 * A frame from the end of this thread's part in a team on: of the team's maker until all
 * others have ended theirs too, of a worker until it is called into its next team.
 */
static void begin_idle(struct replay *r, uint32_t team, uint64_t t)
{
	const struct construct_frame *in = top_of(r);
	const size_t top = (size_t)(r->top - r->base);
	uint64_t key = 0;

	if (!r->idle_frames)
		return;
	if (!in && !top)
		key = KEY_IDLE;
	else if (in && in->kind == OPEN_FORK && in->team == team && in->frame == top)
		key = KEY_JOIN;
	if (!key)
		return;
	replay_open(r, key, t);
	if (!r->error)
		r->top->node->calls++;
}

static void end_idle(struct replay *r, uint64_t key, uint64_t t)
{
	if (r->top->node && r->top->node->key == key)
		replay_pop(r, t);
}

/* ---- records --------------------------------------------------------------------------- */

static void enter_construct(struct replay *r, enum construct_kind kind, uint32_t team,
	uint32_t region, uint64_t b, uint64_t t)
{
	struct construct_frame *c;

	switch (kind) {
	case OPEN_FORK:
		begin_fork(r, team, region, b, t);
		break;
	case OPEN_TEAM:
		end_idle(r, KEY_IDLE, t);
		begin_team(r, team, region, b, t);
		break;
	case OPEN_TASK:
		begin_task(r, team, region, b, t);
		break;
	case OPEN_WAIT:
		c = begin_plain(r, OPEN_WAIT, 0, region, t);
		if (c)
			c->number = OPENMP_LOCK(b);
		break;
	}
}

/* b: the last word. */
static void leave_construct(struct replay *r, enum construct_kind kind, uint32_t team,
	uint32_t region, uint64_t b, uint64_t t)
{
	struct construct_frame *c;
	uint64_t since;
	struct node *n;

	if (!r->top->node && !r->top->depth) { /* of what began while paused */
		r->top--;
		return;
	}
	if (kind == OPEN_FORK)
		end_idle(r, KEY_JOIN, t);
	c = find_construct(r, kind, team, region);
	if (!c) { /* it may have begun as a plain frame */
		if (kind == OPEN_FORK)
			openmp_join(r->openmp, team, OPENMP_NUMBER(b), t);
		if (kind != OPEN_TEAM || OPENMP_NUMBER(b))
			replay_leave(r, (uint32_t)openmp_region_key(region), t);
		return;
	}
	if (kind == OPEN_FORK)
		c->level = OPENMP_NUMBER(b); /* its size */
	n = r->base[c->frame].node;
	since = c->since;
	end_construct(r, c, t);
	if (kind == OPEN_WAIT && OPENMP_LOCK(b))
		replay_got_lock(r, b, n, since, t);
	if (kind == OPEN_TEAM)
		begin_idle(r, team, t);
}

/* Without r->openmp: plain frames of the regions. */
static void plain_frame(struct replay *r, uint64_t w, uint64_t b, uint32_t region, uint64_t t)
{
	if ((uint32_t)w == RECORD_TEAM && !OPENMP_NUMBER(b))
		return;
	if (w & RECORD_EXIT)
		replay_leave(r, (uint32_t)openmp_region_key(region), t);
	else
		replay_enter(r, openmp_region_key(region), t);
}

void replay_openmp(struct replay *r, uint64_t w, uint64_t a, uint64_t b, uint64_t t)
{
	static const enum construct_kind kinds[] = {OPEN_FORK, OPEN_TEAM, OPEN_TASK, OPEN_WAIT};
	enum construct_kind kind = kinds[(uint32_t)w - RECORD_FORK];
	uint32_t region = OPENMP_REGION(a);
	uint32_t team = kind == OPEN_WAIT ? 0 : (uint32_t)(a >> 32);
	bool exit = w & RECORD_EXIT, paused = r->slow & SLOW_PAUSED;

	r->slow &= ~SLOW_GOT;

	if (paused && !exit)
		replay_go_on(r, t, 0); /* recording goes on without a word */
	else if (paused)
		replay_pop(r, t);
	if (!r->openmp)
		plain_frame(r, w, b, region, t);
	else if (exit)
		leave_construct(r, kind, team, region, b, t);
	else
		enter_construct(r, kind, team, region, b, t);
	if (paused && exit)
		replay_open(r, KEY_PAUSE, t);
}

void replay_set_openmp(struct replay *r, struct openmp *o, uint32_t thread)
{
	r->openmp = o;
	r->thread = thread;
}

void replay_show_idle(struct replay *r)
{
	r->idle_frames = true;
}

const struct replay_team_times *replay_team_times(const struct replay *r)
{
	return &r->team_times;
}

/* The calls of a frame of hidden ones, which are the last before r->hidden[end]. */
static size_t hidden_keys(
	const struct replay *r, const struct frame *f, size_t end, uint64_t *keys, size_t max)
{
	size_t n = 0;

	for (size_t i = 1; i <= f->depth && i <= end; i++) {
		const struct hidden_call *h = &r->hidden[end - i];

		for (uint64_t k = 0; k <= h->depth && n + 1 < max; k++) {
			keys[n++] = h->key;
			keys[n++] = KEY_HIDDEN | h->all_below;
		}
	}
	return n;
}

/*
 * The keys of a node and those above it, but the root; at most max. For a frame that hangs
 * elsewhere in the tree than on the frame below it on the stack.
 */
static size_t tree_keys(const struct replay *r, const struct node *up, uint64_t *keys, size_t max)
{
	size_t n = 0;

	for (; up->parent && n < max; up = up->parent) {
		uint32_t orphan = (uint32_t)up->key;

		if (!key_is_orphan(up->key))
			keys[n++] = up->key;
		else if (r->orphans[orphan].region != OPENMP_NONE)
			keys[n++] = openmp_region_key(r->orphans[orphan].region);
	}
	return n;
}

size_t replay_stack(const struct replay *r, bool hidden, uint64_t *keys, size_t max)
{
	size_t n = 0, c = r->n_constructs, end = r->n_hidden;

	for (const struct frame *f = r->top; f > r->base && n < max; f--) {
		const struct construct_frame *placed = NULL;
		const struct node *up = f->node;

		while (c && r->constructs[c - 1].frame >= (size_t)(f - r->base))
			placed = &r->constructs[--c];
		if (frame_is_hidden(f)) {
			n += hidden ? hidden_keys(r, f, end, keys + n, max - n) : 0;
			if (n + 1 >= max)
				break;
			end -= f->depth;
		}
		if (!up)
			continue;
		if (!placed || !placed->placed) {
			keys[n++] = up->key;
			continue;
		}
		n += tree_keys(r, up, keys + n, max - n);
		break;
	}
	return n;
}
