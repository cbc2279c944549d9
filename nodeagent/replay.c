/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay.h"

#include <stdlib.h>
#include <string.h>
#include "nodeagent/util.h"
#include "shm/atomic.h"
#include "shm/record.h"

#define EPOCH_BITS ((uint64_t)0xfff << KEY_WIDE_EPOCH_SHIFT)

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define FUTURE_MAX ((uint64_t)1 << 34) /* ticks a stamp may be ahead: seconds */
/*
 * Looking for a frame that is not there walks over all that are open. So many
 * frames may be walked over in vain, then only the nearest are looked at.
 */
#define VAIN_MAX   ((uint64_t)1 << 26)
#define VAIN_SITES ((uint64_t)1 << 16)
#define NEAREST	   64

struct frame {
	struct node *node; /* NULL: entered while recording was paused */
	struct node *last; /* the child that ended last */
	uint64_t since;
	uint64_t depth; /* further direct calls of itself that are open */
};

struct replay {
	struct calltree *tree;
	struct frame *base, *top, *full; /* full: no room above */
	struct frame *deep;		 /* frames above this one lie below KEY_DEEP */
	uint64_t high;			 /* time base of the block, shifted */
	uint64_t start;
	uint64_t now;		   /* latest time seen */
	uint64_t not_after;	   /* no stamp may be later */
	uint64_t vain, vain_sites; /* frames walked over in vain */
	int paused;
	struct replay_counts counts;
	replay_same_function same;
	void *ctx;
	const char *error;
};

static uint64_t elapsed(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > 0 ? to - from : 0;
}

struct replay *replay_new(uint64_t start_ticks, replay_same_function same, void *ctx)
{
	struct replay *r = xcalloc(1, sizeof(*r));

	r->tree = calltree_new();
	r->base = xmalloc((DEPTH_MAX + 1) * sizeof(*r->base));
	r->full = r->base + DEPTH_MAX;
	r->deep = r->base + DEPTH_MAX - 1;
	r->top = r->base;
	*r->top = (struct frame){.node = calltree_root(r->tree), .since = start_ticks};
	r->now = r->start = start_ticks;
	r->same = same;
	r->ctx = ctx;
	return r;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	calltree_free(r->tree);
	free(r->base);
	free(r);
}

/* The node that new frames hang on: the nearest frame that has one. */
static struct node *node_below(struct frame *f)
{
	while (!f->node)
		f--;
	return f->node;
}

static void more_room(struct replay *r)
{
	size_t used = (size_t)(r->top - r->base), cap = (size_t)(r->full - r->base) * 2;

	if (used >= FRAMES_MAX) {
		r->error = "more open frames than any program has";
		return;
	}
	r->base = xrealloc(r->base, (cap + 1) * sizeof(*r->base));
	r->top = r->base + used;
	r->full = r->base + cap;
	r->deep = r->base + DEPTH_MAX - 1;
}

/* Below DEPTH_MAX: all functions are children of one node, with their own time. */
static void enter_deep(struct replay *r, uint64_t key, uint64_t t)
{
	struct frame *f = r->top;
	struct node *parent;

	if (f->node && f > r->deep)
		f->node->ticks += elapsed(f->since, t);
	parent = calltree_child(r->tree, node_below(r->deep), NULL, KEY_DEEP);
	f = ++r->top;
	*f = (struct frame){.node = calltree_child(r->tree, parent, NULL, key), .since = t};
}

/* Everything the fast way in enter() does not do. */
static void enter_slow(struct replay *r, uint64_t key, uint64_t t)
{
	struct frame *f;
	struct node *below;

	if (r->top == r->full)
		more_room(r);
	if (r->error)
		return;
	if (r->top >= r->deep) {
		enter_deep(r, key, t);
		return;
	}
	f = r->top;
	below = node_below(f);
	*++r->top =
		(struct frame){.node = calltree_child(r->tree, below, f->last, key), .since = t};
}

/* Epochs do not matter: what is open has not been unloaded. */
static int same_function(uint64_t a, uint64_t b)
{
	if (RECORD_IS_REGION(a | b) || ((a | b) & KEY_WIDE))
		return (a & ~EPOCH_BITS) == (b & ~EPOCH_BITS);
	return (uint32_t)a == (uint32_t)b;
}

static void enter(struct replay *r, uint64_t key, uint64_t t)
{
	struct frame *f = r->top;

	r->counts.calls++;
	if (f->node && (same_function(f->node->key, key) || f->node->key == KEY_CROWD)) {
		f->depth++;
		f->node->calls++;
		return;
	}
	enter_slow(r, key, t);
	if (r->top->node)
		r->top->node->calls++;
}

/* The top frame ends; the root never does. */
static void pop(struct replay *r, uint64_t t)
{
	struct frame *f = r->top;
	struct node *n = f->node;

	if (f == r->base)
		return;
	r->top--;
	if (!n)
		return;
	n->ticks += elapsed(f->since, t);
	if (f > r->deep + 1) {
		r->top->since = t; /* the deep frame below runs again */
		return;
	}
	n->parent->child = n->next;
	r->top->last = n;
}

static int is_frame(const struct frame *f, uint32_t id)
{
	return f->node && ((uint32_t)f->node->key == id || f->node->key == KEY_CROWD);
}

/* The frame with this id that is nearest to the top, or NULL. */
static struct frame *find_open(struct replay *r, uint32_t id)
{
	size_t left = r->vain > VAIN_MAX ? NEAREST : SIZE_MAX;
	struct frame *f;

	for (f = r->top; f > r->base && left--; f--)
		if (is_frame(f, id))
			return f;
	r->vain += (size_t)(r->top - f);
	return NULL;
}

static void close_above(struct replay *r, struct frame *f, uint64_t t)
{
	while (r->top > f) {
		r->counts.closed++;
		pop(r, t);
	}
}

static void leave(struct replay *r, uint32_t id, uint64_t t)
{
	struct frame *f = r->top;

	if (!is_frame(f, id)) {
		if (!f->node) { /* of a function entered while paused */
			r->top--;
			return;
		}
		f = find_open(r, id);
		if (!f) {
			r->counts.stray++;
			return;
		}
		close_above(r, f, t);
	}
	if (f->depth)
		f->depth--;
	else
		pop(r, t);
}

/* While paused, the time goes to a pseudo-frame on top of the open ones. */
static void pause_begin(struct replay *r, uint64_t t)
{
	if (r->paused)
		return;
	r->paused = 1;
	enter_slow(r, KEY_PAUSE, t);
	if (!r->error)
		r->top->node->calls++;
}

static void pause_end(struct replay *r, uint64_t t, uint64_t unrecorded)
{
	if (r->paused)
		pop(r, t);
	r->paused = 0;
	for (; unrecorded && !r->error; unrecorded--) {
		if (r->top == r->full)
			more_room(r);
		if (!r->error)
			*++r->top = (struct frame){.since = t};
	}
}

static void leave_paused(struct replay *r, uint32_t id, uint64_t t)
{
	pop(r, t);
	leave(r, id, t);
	enter_slow(r, KEY_PAUSE, t);
}

/* After a jump the code at site runs: frames above its function are gone. */
static void resume_at(struct replay *r, uint64_t site, uint64_t t)
{
	size_t left = r->vain_sites > VAIN_SITES ? NEAREST : SIZE_MAX;
	struct frame *f;

	for (f = r->top; r->same && f > r->base && left--; f--)
		if (f->node && r->same(r->ctx, f->node->key, site)) {
			close_above(r, f, t);
			return;
		}
	r->vain_sites += (size_t)(r->top - f);
}

static void close_unrecorded(struct replay *r, uint64_t n, uint64_t t)
{
	for (; n && r->top > r->base; n--) {
		if (r->top->depth)
			r->top->depth--;
		else
			pop(r, t);
	}
}

static uint64_t epoch_of(const struct replay_epoch *e, uint32_t id)
{
	return (uint32_t)(id - e->low) < e->bytes ? e->epoch : 0;
}

static uint64_t wide_key(uint64_t address, const struct replay_epoch *epoch)
{
	if (RECORD_IS_REGION(address))
		return address;
	return KEY_WIDE | (epoch_of(epoch, (uint32_t)address) & 0xfff) << KEY_WIDE_EPOCH_SHIFT |
	       (address & KEY_ADDRESS_MASK);
}

static const char *check_time(const struct replay *r)
{
	if (r->high > r->not_after)
		return "time stamps from the future";
	if (r->high + (2 * FUTURE_MAX) < r->start)
		return "time stamps from before its start";
	return NULL;
}

/* Records other than a short enter or exit. Returns the words taken. */
static unsigned control(struct replay *r, const uint64_t *word, unsigned left, uint64_t w,
	const struct replay_epoch *epoch)
{
	unsigned n = record_words(w);
	uint64_t t = r->high | w >> RECORD_TIME_SHIFT, payload = 0;

	if (n > left) {
		r->error = "a record crosses the end of its block";
		return left;
	}
	if (n > 1 && !(payload = load_acquire(&word[1])))
		return n; /* never completed */
	r->counts.records++;
	switch ((uint32_t)w) {
	case RECORD_SYNC:
		r->high = w >> RECORD_TIME_SHIFT << RECORD_TIME_BITS;
		r->counts.records--;
		r->error = check_time(r);
		return n;
	case RECORD_WIDE:
		if (!(w & RECORD_EXIT)) {
			if (r->paused) /* recording goes on without a word */
				pause_end(r, t, 0);
			enter(r, wide_key(payload, epoch), t);
		} else if (r->paused) {
			leave_paused(r, (uint32_t)payload, t);
		} else {
			leave(r, (uint32_t)payload, t);
		}
		break;
	case RECORD_LOST:
		if (!replay_lost(r, payload, t))
			r->error = "more calls lost than there was time for";
		break;
	case RECORD_SITE:
		if (r->paused)
			pause_end(r, t, 0);
		resume_at(r, payload, t);
		break;
	case RECORD_PAUSE:
		pause_begin(r, t);
		break;
	case RECORD_RESUME:
		pause_end(r, t, payload - 1);
		break;
	case RECORD_CLOSE:
		if (r->paused)
			pop(r, t);
		close_unrecorded(r, payload, t);
		if (r->paused)
			enter_slow(r, KEY_PAUSE, t);
		break;
	default:
		r->error = "a record of unknown kind";
	}
	if (t > r->now)
		r->now = t;
	return n;
}

const char *replay_block(struct replay *r, const uint64_t *block, unsigned from, unsigned to,
	const struct replay_epoch *epoch, uint64_t now)
{
	uint64_t above = (uint64_t)epoch->epoch << KEY_EPOCH_SHIFT;
	uint32_t low = epoch->low, bytes = epoch->bytes;
	uint64_t w = load_relaxed(&block[0]);
	uint64_t calls = 0, records = 0, t = r->now;
	unsigned i = from;

	if (from == 0) {
		if ((uint32_t)w != RECORD_SYNC || (w & RECORD_EXIT))
			return "a block does not start with its time";
		r->high = w >> RECORD_TIME_SHIFT << RECORD_TIME_BITS;
		r->not_after = now + FUTURE_MAX;
		r->error = check_time(r);
		if (r->error)
			return r->error;
		i = 1;
	}
	while (i < to) {
		uint32_t id;
		struct frame *f = r->top;

		w = load_relaxed(&block[i]);
		id = (uint32_t)w;
		if (unlikely(id < RECORD_ID_MPI || r->paused)) {
			if (!w) {
				i++;
			} else if (id >= RECORD_ID_MPI && (w & RECORD_EXIT)) {
				leave_paused(r, id, r->high | w >> RECORD_TIME_SHIFT);
				records++;
				i++;
			} else {
				if (id >= RECORD_ID_MPI) /* recording goes on without a word */
					pause_end(r, r->high | w >> RECORD_TIME_SHIFT, 0);
				else
					i += control(r, block + i, to - i, w, epoch);
			}
			if (unlikely(r->error))
				break;
			continue;
		}
		t = r->high | w >> RECORD_TIME_SHIFT;
		records++;
		i++;
		if (!(w & RECORD_EXIT)) {
			uint64_t key = unlikely(id - low < bytes) ? above | id : id;
			struct node *parent = f->node, *n;

			calls++;
			if (unlikely(!parent || f >= r->deep || f + 1 >= r->full)) {
				calls--;
				enter(r, key, t);
				if (unlikely(r->error))
					break;
				continue;
			}
			/* by the id alone: an epoch may have begun since the frame was entered */
			if ((uint32_t)parent->key == id && !RECORD_IS_REGION(parent->key)) {
				f->depth++;
				parent->calls++;
				continue;
			}
			n = parent->child;
			if (unlikely(n->key != key)) {
				n = calltree_child(r->tree, parent, f->last, key);
				if (unlikely(n == parent)) {
					f->depth++;
					n->calls++;
					continue;
				}
			}
			n->calls++;
			f[1].node = n;
			f[1].last = NULL;
			f[1].since = t;
			f[1].depth = 0;
			r->top = f + 1;
		} else {
			struct node *n = f->node;

			if (unlikely(!n || (uint32_t)n->key != id || f > r->deep || f == r->base)) {
				leave(r, id, t);
				continue;
			}
			if (f->depth) {
				f->depth--;
				continue;
			}
			n->ticks += elapsed(f->since, t);
			n->parent->child = n->next;
			f[-1].last = n;
			r->top = f - 1;
		}
	}
	r->counts.calls += calls;
	r->counts.records += records;
	if (t > r->now)
		r->now = t;
	return r->error;
}

int replay_lost(struct replay *r, uint64_t calls, uint64_t ticks)
{
	/* a slow counter may stand still for some calls */
	if (calls / 1024 > elapsed(r->start, ticks))
		return 0;
	node_below(r->paused ? r->top - 1 : r->top)->lost += calls;
	r->counts.lost += calls;
	return 1;
}

unsigned replay_split(const struct replay *r, const uint64_t *block, unsigned from, uint64_t ticks)
{
	uint64_t high = from ? r->high : 0;
	unsigned i = from;

	while (i < BLOCK_WORDS) {
		uint64_t w = load_relaxed(&block[i]);

		if ((uint32_t)w == RECORD_SYNC)
			high = w >> RECORD_TIME_SHIFT << RECORD_TIME_BITS;
		else if (w && (high | w >> RECORD_TIME_SHIFT) > ticks)
			return i;
		i += w ? record_words(w) : 1;
	}
	return BLOCK_WORDS;
}

void replay_end(struct replay *r, uint64_t end_ticks)
{
	uint64_t t = end_ticks > r->now ? end_ticks : r->now;

	while (r->top > r->base) {
		r->counts.open++;
		pop(r, t);
	}
	calltree_root(r->tree)->ticks += elapsed(r->base->since, t);
	r->base->since = t;
	r->now = t;
}

const struct replay_counts *replay_counts(const struct replay *r)
{
	return &r->counts;
}

struct calltree *replay_tree(struct replay *r)
{
	return r->tree;
}

uint64_t replay_last_ticks(const struct replay *r)
{
	return r->now;
}

size_t replay_stack(const struct replay *r, uint64_t *keys, size_t max)
{
	size_t n = 0;

	for (struct frame *f = r->top; f > r->base && n < max; f--)
		if (f->node)
			keys[n++] = f->node->key;
	return n;
}

struct calltree *replay_take_tree(struct replay *r)
{
	struct calltree *t = r->tree;

	r->tree = NULL;
	return t;
}

void replay_inherit(struct replay *r, const uint64_t *keys, size_t n, uint64_t ticks)
{
	while (n-- && !r->error) {
		uint64_t key = keys[n];

		/* the child announces its modules anew: all are of its first epoch */
		if (!RECORD_IS_REGION(key) && !(key & KEY_INIT))
			key = key & KEY_WIDE ? KEY_WIDE | (key & KEY_ADDRESS_MASK) : (uint32_t)key;
		if (key != KEY_PAUSE)
			enter_slow(r, key, ticks);
	}
}
