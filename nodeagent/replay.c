/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay.h"

#include <stdlib.h>
#include "nodeagent/gpu.h"
#include "nodeagent/replay-internal.h"
#include "nodeagent/traffic.h"
#include "nodeagent/user-counters.h"
#include "nodeagent/util.h"
#include "shm/atomic.h"

#define FUTURE_MAX	  ((uint64_t)1 << 34) /* ticks a stamp may be ahead: seconds */
#define MESSAGE_WORDS_MAX 8

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
	shells_free(r);
	free(r->constructs);
	free(r->base);
	free(r);
}

void replay_set_lane(struct replay *r, struct traffic_lane *lane)
{
	r->lane = lane;
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

/* A record of communication. Returns the words taken. */
static unsigned message(struct replay *r, const uint64_t *word, unsigned left, uint64_t w)
{
	uint64_t copy[MESSAGE_WORDS_MAX] = {w}; /* as its producer may still change it */
	unsigned n = record_words(w);
	struct frame *f = r->top;
	struct traffic_frame place;

	if (n > left) {
		r->error = "a record crosses the end of its block";
		return left;
	}
	if (!(copy[n - 1] = load_acquire(&word[n - 1])))
		return n; /* never completed */
	for (unsigned i = 1; i + 1 < n; i++)
		copy[i] = load_relaxed(&word[i]);
	r->counts.records++;
	if (!r->lane)
		return n;
	place = (struct traffic_frame){.node = replay_node(f),
		.call = f->node &&
			(key_mpi(f->node->key) != KEY_NO_MPI || f->node->key == KEY_CROWD),
		.level = (uint32_t)(f - r->base),
		.depth = f->depth,
		.since = f->since};
	if (r->sampled) {
		place.stack = replay_sample(r, place.node);
		place.entered = vfd_is_entering(r->sampled->lane, place.stack, f->since);
	}
	r->error = traffic_record(r->lane, copy, &place, r->now);
	if (traffic_pending(r->lane))
		r->slow |= SLOW_PENDING;
	return n;
}

void replay_set_gpu(struct replay *r, struct gpu *g)
{
	r->gpu = g;
}

/* The call in whose frame we are has a number. Returns the words taken. */
static unsigned gpu_number(struct replay *r, const uint64_t *word, unsigned left, uint64_t w)
{
	unsigned n = record_words(w);
	uint64_t number;

	if (n > left) {
		r->error = "a record crosses the end of its block";
		return left;
	}
	number = load_acquire(&word[1]);
	if (!number || !r->gpu) /* never completed */
		return n;
	r->counts.records++;
	gpu_call(r->gpu, replay_node(r->top), RECORD_GPU_FUNCTION(w), (uint32_t)number,
		r->top->since);
	if (r->sampled)
		replay_sampled_launch(r, (uint32_t)number);
	return n;
}

/* Records other than a short enter or exit. Returns the words taken. */
static unsigned control(struct replay *r, const uint64_t *word, unsigned left, uint64_t w,
	const struct replay_epoch *epoch)
{
	unsigned n = record_words(w);
	uint64_t t = r->high | w >> RECORD_TIME_SHIFT, payload = 0, last = 0;

	if (n > left) {
		r->error = "a record crosses the end of its block";
		return left;
	}
	if (n > 1 && !(last = load_acquire(&word[n - 1])))
		return n; /* never completed */
	if (n > 1)
		payload = load_relaxed(&word[1]);
	r->counts.records++;
	switch ((uint32_t)w) {
	case RECORD_SYNC:
		r->high = w >> RECORD_TIME_SHIFT << RECORD_TIME_BITS;
		r->counts.records--;
		r->error = check_time(r);
		return n;
	case RECORD_WIDE:
		if (!(w & RECORD_EXIT)) {
			if (r->slow & SLOW_PAUSED) /* recording goes on without a word */
				replay_go_on(r, t, 0);
			replay_enter(r, wide_key(payload, epoch), t);
		} else if (r->slow & SLOW_PAUSED) {
			replay_leave_paused(r, (uint32_t)payload, t);
		} else {
			replay_leave(r, (uint32_t)payload, t);
		}
		break;
	case RECORD_LOST:
		if (!replay_lost(r, payload, t))
			r->error = "more calls lost than there was time for";
		break;
	case RECORD_SITE:
		if (r->slow & SLOW_PAUSED)
			replay_go_on(r, t, 0);
		replay_jump(r, payload, t);
		break;
	case RECORD_PAUSE:
		replay_pause(r, t);
		break;
	case RECORD_RESUME:
		replay_go_on(r, t, payload - 1);
		break;
	case RECORD_CLOSE:
		if (r->slow & SLOW_PAUSED)
			replay_pop(r, t);
		replay_close(r, payload, t);
		if (r->slow & SLOW_PAUSED)
			replay_open(r, KEY_PAUSE, t);
		break;
	case RECORD_FORK:
	case RECORD_TEAM:
	case RECORD_TASK:
	case RECORD_WAIT:
		replay_openmp(r, w, payload, last, t);
		break;
	default:
		r->error = "a record of unknown kind";
	}
	if (t > r->now)
		r->now = t;
	return n;
}

/* Any word, at any time. Returns the words taken. */
static unsigned slow_word(struct replay *r, const uint64_t *word, unsigned left, uint64_t w,
	const struct replay_epoch *epoch)
{
	uint32_t id = (uint32_t)w;
	uint64_t t = r->high | w >> RECORD_TIME_SHIFT;

	if (!w)
		return 1;
	if (id == RECORD_COUNTERS)
		return replay_counters(r, word, left, w);
	if (id == RECORD_GPU_CALL)
		return gpu_number(r, word, left, w);
	if (id == RECORD_OPENACC)
		return replay_openacc(r, word, left, w);
	if (id == RECORD_BLOCKED)
		return replay_blocked(r, word, left, w);
	if (id == RECORD_USER_COUNTER)
		return replay_user_counter(r, word, left, w);
	if (id < RECORD_ID_MPI)
		return record_is_message(id) ? message(r, word, left, w)
					     : control(r, word, left, w, epoch);
	if (r->slow & SLOW_PAUSED) {
		if (!(w & RECORD_EXIT)) { /* recording goes on without a word */
			replay_go_on(r, t, 0);
			return 0;
		}
		replay_leave_paused(r, id, t);
	} else if (w & RECORD_EXIT) {
		replay_leave(r, id, t);
	} else {
		replay_enter(r, (uint64_t)epoch_of(epoch, id) << KEY_EPOCH_SHIFT | id, t);
	}
	r->counts.records++;
	if (t > r->now)
		r->now = t;
	return 1;
}

/* Compiled twice, with and without samples. */
static inline __attribute__((always_inline)) const char *words(struct replay *r,
	const uint64_t *block, unsigned from, unsigned to, const struct replay_epoch *epoch,
	uint64_t now, const bool sampled)
{
	uint64_t above = (uint64_t)epoch->epoch << KEY_EPOCH_SHIFT;
	uint32_t low = epoch->low, bytes = epoch->bytes;
	uint64_t w = load_relaxed(&block[0]);
	uint64_t calls = 0, records = 0, t = r->now;
	unsigned i = from, n_words;

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
		if (unlikely(id < RECORD_ID_MPI || r->slow)) {
			if (t > r->now)
				r->now = t;
			n_words = slow_word(r, block + i, to - i, w, epoch);
			i += n_words;
			if (unlikely(r->slow & SLOW_COUNTED) && n_words)
				replay_counted(r, id);
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
				replay_enter(r, key, t);
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
				if (unlikely(f == r->base && r->is_main))
					replay_prelude(r, n);
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
			if (sampled)
				sample_enter(r, n, t);
		} else {
			struct node *n = f->node;

			if (unlikely(!n || (uint32_t)n->key != id || f > r->deep || f == r->base)) {
				replay_leave(r, id, t);
				continue;
			}
			if (f->depth) {
				f->depth--;
				continue;
			}
			if (sampled)
				sample_exit(r, n, f->since, t);
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

const char *replay_block(struct replay *r, const uint64_t *block, unsigned from, unsigned to,
	const struct replay_epoch *epoch, uint64_t now)
{
	return r->sampled ? words(r, block, from, to, epoch, now, true)
			  : words(r, block, from, to, epoch, now, false);
}

int replay_lost(struct replay *r, uint64_t calls, uint64_t ticks)
{
	/* a slow counter may stand still for some calls */
	if (calls / 1024 > elapsed(r->start, ticks))
		return 0;
	calltree_extra(replay_node(r->slow & SLOW_PAUSED ? r->top - 1 : r->top))->lost += calls;
	if (r->sampled)
		vfd_lost(r->sampled->lane, calls, ticks);
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
		else if (w && record_has_time((uint32_t)w) &&
			 (high | w >> RECORD_TIME_SHIFT) > ticks)
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
		replay_pop(r, t);
	}
	calltree_root(r->tree)->ticks += elapsed(r->base->since, t);
	replay_blocked_end(r);
	r->base->since = t;
	r->now = t;
}

void replay_shrink(struct replay *r)
{
	struct frame root = *r->base;

	free(r->base);
	r->base = r->top = r->deep = r->full = xmalloc(sizeof(root));
	*r->base = root;
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
			replay_open(r, key, ticks);
	}
}
