/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/replay.h"

#include <stdlib.h>
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/sequences.h"
#include "nodeagent/replay/stack-samples.h"
#include "nodeagent/replay/tree/off-cpu.h"
#include "nodeagent/replay/tree/stack-time.h"
#include "nodeagent/base/util.h"
#include "shm/atomic.h"

#define SEQUENCES_FROM 16384u

/* The fast way has no time to look whether a path is new: its first call is noted by the next word.
 */
static void note_path(void *ctx, struct node *n)
{
	struct replay *r = ctx;

	r->fresh = n;
	r->slow |= SLOW_FRESH;
	if (r->window)
		replay_window_path(r, n);
	if (r->iterates)
		replay_iteration_path(r, n);
}

void replay_watch_paths(struct replay *r, bool on)
{
	calltree_watch(r->tree, on ? note_path : NULL, r);
}

/* What the word before has left to do. */
static __attribute__((noinline)) void finish_word(struct replay *r)
{
	if ((r->slow & SLOW_FRESH) && r->top->node == r->fresh)
		calltree_called(r->fresh, r->top->since);
	r->slow &= ~SLOW_FRESH;
	if (r->slow & SLOW_WINDOW)
		replay_window_step(r);
}

struct replay *replay_new(uint64_t start_ticks, replay_same_function same, void *ctx)
{
	struct replay *r = xcalloc(1, sizeof(*r));

	r->tree = calltree_new();
	calltree_watch(r->tree, note_path, r);
	r->base = xmalloc((DEPTH_MAX + 1) * sizeof(*r->base));
	r->full = r->base + DEPTH_MAX;
	r->deep = r->base + DEPTH_MAX - 1;
	r->top = r->base;
	*r->top = (struct frame){.node = calltree_root(r->tree), .since = start_ticks};
	r->now = r->start = start_ticks;
	r->fast_from = r->fast_least = RECORD_ID_MPI;
	r->sequences_from = SEQUENCES_FROM;
	r->same = same;
	r->ctx = ctx;
	return r;
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	sequences_free(r->sequences);
	calltree_free(r->tree);
	orphans_free(r);
	off_cpu_free(r->off);
	replay_free_stack_samples(r);
	free(r->constructs);
	free(r->holds);
	free(r->counted);
	free(r->sites);
	free(r->base);
	free(r);
}

void replay_set_track(struct replay *r, struct traffic_track *track)
{
	r->track = track;
}

/* The ids with an epoch: fixed ones are no low halves, wherever modules were unloaded. */
static void epoch_ids(const struct replay_epoch *e, uint32_t *low, uint32_t *bytes)
{
	uint32_t fixed = e->low < RECORD_ID_FUNCTION ? RECORD_ID_FUNCTION - e->low : 0;

	if (fixed > e->bytes)
		fixed = e->bytes;
	*low = e->low + fixed;
	*bytes = e->bytes - fixed;
}

static uint64_t short_key(uint32_t id, const struct replay_epoch *e)
{
	uint32_t low, bytes;

	epoch_ids(e, &low, &bytes);
	return (uint32_t)(id - low) < bytes ? (uint64_t)e->epoch << KEY_EPOCH_SHIFT | id : id;
}

void replay_set_gpu(struct replay *r, struct gpu *g)
{
	r->gpu = g;
}

/* A short enter or exit, at any time. Returns the words taken: 0, if it is to be taken again. */
static __attribute__((noinline)) unsigned slow_frame(
	struct replay *r, uint64_t w, const struct replay_epoch *epoch)
{
	uint32_t id = (uint32_t)w;
	uint64_t t = r->high | w >> RECORD_TIME_SHIFT;

	if (r->slow & SLOW_PAUSED) {
		if (!(w & RECORD_EXIT)) { /* recording goes on without a word */
			replay_go_on(r, t, 0);
			return 0;
		}
		replay_leave_paused(r, id, t);
	} else if (w & RECORD_EXIT) {
		replay_leave(r, id, t);
	} else if (!r->n_sites || id >= RECORD_ID_REGION || !replay_enter_mpi(r, id, epoch, t)) {
		replay_enter(r, short_key(id, epoch), t);
	}
	if (unlikely(r->slow & SLOW_GOT))
		replay_hold_lock(r, w & RECORD_EXIT, t);
	r->counts.records++;
	if (t > r->now)
		r->now = t;
	return 1;
}

/* No words: the rest of a block that is not full, which of a short child is almost all of it. */
static unsigned count_zeroes(const uint64_t *word, unsigned left)
{
	unsigned n = 1;

	while (n < left && !load_relaxed(&word[n]))
		n++;
	return n;
}

/* Any word, at any time. Returns the words taken, as above. */
static __attribute__((noinline)) unsigned slow_word(struct replay *r, const uint64_t *word,
	unsigned left, uint64_t w, const struct replay_epoch *epoch)
{
	if (!w)
		return count_zeroes(word, left);
	if ((uint32_t)w != RECORD_SYNC)
		sequences_stop(r->sequences);
	if (r->slow & (SLOW_WINDOW | SLOW_FRESH))
		finish_word(r);
	return (uint32_t)w < RECORD_ID_MPI ? replay_record(r, word, left, w, epoch)
					   : slow_frame(r, w, epoch);
}

/*
 * A run over words: what the fast way needs, in registers, as nobody else sees it. Before anything
 * else is called that looks at the replay, run_store() gives it back what has changed; what
 * that may have changed, run_load() takes again.
 */
struct words_run {
	uint64_t above;	     /* what is set in the keys of ids with an epoch ... */
	uint32_t low, bytes; /* ... which these are */
	uint64_t calls;
	struct frame *top;
	uint64_t high;
	uint64_t fast_from; /* smaller ids are for slow_word(), or all of them */
	unsigned wait;	    /* words until sequences are asked */
};

static inline __attribute__((always_inline)) void run_load(
	struct words_run *run, const struct replay *r)
{
	run->top = r->top;
	run->high = r->high;
	run->fast_from = r->slow ? (uint64_t)UINT32_MAX + 1 : r->fast_from;
}

static inline __attribute__((always_inline)) void run_store(
	const struct words_run *run, struct replay *r)
{
	r->top = run->top;
}

static __attribute__((noinline)) struct node *other_child(
	struct replay *r, struct frame *f, uint64_t key)
{
	struct node *n;

	r->top = f;
	n = calltree_child(r->tree, f->node, f->last, key);
	if (unlikely(f == r->base && r->is_main))
		replay_prelude(r, n);
	return n;
}

/* False: r->error. */
static inline __attribute__((always_inline)) bool enter_fast(
	struct replay *r, struct words_run *run, uint32_t id, uint64_t t, const bool sampled)
{
	struct frame *f = run->top;
	struct node *parent = f->node, *n;
	uint64_t key = id;

	if (unlikely(run->bytes) && id - run->low < run->bytes)
		key |= run->above;

	if (unlikely(!parent || f >= r->deep)) {
		run_store(run, r);
		replay_enter(r, key, t);
		run_load(run, r);
		return !r->error;
	}
	run->calls++;
	/* by the id alone: an epoch may have begun since the frame was entered */
	if ((uint32_t)parent->key == id && !RECORD_IS_REGION(parent->key)) {
		f->depth++;
		parent->calls++;
		return true;
	}
	n = parent->child;
	if (unlikely(n->key != key)) {
		n = other_child(r, f, key);
		run_load(run, r);
		if (unlikely(n == parent)) {
			f->depth++;
			n->calls++;
			return true;
		}
	}
	n->calls++;
	f++;
	f->node = n;
	f->last = NULL;
	f->since = t;
	f->depth = 0;
	run->top = f;
	if (sampled) {
		run_store(run, r);
		sample_enter(r, n, t);
	}
	return true;
}

static inline __attribute__((always_inline)) void leave_fast(struct replay *r,
	struct words_run *run, uint32_t id, uint64_t t, const bool sampled, const bool kept)
{
	struct frame *f = run->top;
	struct node *n = f->node;

	if (unlikely(!n || (uint32_t)n->key != id) || unlikely(f > r->deep) ||
		unlikely(f == r->base)) {
		run_store(run, r);
		replay_leave(r, id, t);
		run_load(run, r);
		return;
	}
	if (f->depth) {
		f->depth--;
		return;
	}
	if (sampled || kept)
		run_store(run, r);
	if (sampled)
		sample_exit(r, n, f->since, t);
	if (kept)
		activity_add(r->activity, n, f->since, t);
	if (unlikely(n->extra) && (!sampled || n->extra->watched)) { /* of samples all have one */
		run_store(run, r);
		replay_iteration_left(r, f, n, t);
		run_load(run, r);
	}
	n->ticks += elapsed(f->since, t);
	n->parent->child = n->expected;
	f--;
	f->last = n;
	run->top = f;
}

/* The words that sequences know. Returns their number; the last of them was at *t. */
static __attribute__((noinline)) unsigned take_sequences(struct replay *r, struct words_run *run,
	const uint64_t *word, const uint64_t *end, uint64_t *t)
{
	unsigned n;

	if (*t > r->now)
		r->now = *t;
	run_store(run, r);
	n = sequences_take(r, word, end);
	run_load(run, r);
	run->wait = SEQUENCES_WAIT;
	*t = r->now;
	return n;
}

/* Of a slow word: if it ends a call of MPI with messages, and nothing else is to be done, it is as
 * leave_fast() does it. False: it is another one. */
static inline __attribute__((always_inline)) bool leave_message(
	struct replay *r, struct words_run *run, uint64_t w, const bool sampled, const bool kept)
{
	const struct frame *f = run->top;
	const uint64_t t = run->high | w >> RECORD_TIME_SHIFT;

	if (r->slow != SLOW_PENDING || !(w & RECORD_EXIT) || (uint32_t)w < r->fast_from ||
		!f->node || (uint32_t)f->node->key != (uint32_t)w || f->depth || f > r->deep ||
		f == r->base)
		return false;
	replay_settle_frame(r, f, 0, t);
	run_load(run, r);
	leave_fast(r, run, (uint32_t)w, t, sampled, kept);
	if (t > r->now)
		r->now = t;
	r->counts.records++;
	return true;
}

/* No sequence goes on in most calls of MPI: they have messages. */
static inline __attribute__((always_inline)) bool may_begin_sequence(
	struct words_run *run, uint32_t id)
{
	if (!run->wait)
		return id >= RECORD_ID_REGION;
	run->wait--;
	return false;
}

/*
 * Compiled for each case: with and without samples, calls kept, and sequences. Returns the word
 * before which it has ended: r->error, or from there on calls are kept.
 */
static inline __attribute__((always_inline)) const uint64_t *replay_words(struct replay *r,
	const uint64_t *word, const uint64_t *end, const struct replay_epoch *epoch,
	const bool sampled, const bool kept, const bool sequences)
{
	struct words_run run = {.above = (uint64_t)epoch->epoch << KEY_EPOCH_SHIFT};
	const uint64_t *const first = word;
	size_t slow_words = 0;
	uint64_t t = r->now;

	epoch_ids(epoch, &run.low, &run.bytes);
	run_load(&run, r);
	while (word < end) {
		const uint64_t w = load_relaxed(word);
		const uint32_t id = (uint32_t)w;

		if (unlikely(id < run.fast_from)) {
			unsigned n = 1;

			run_store(&run, r);
			if (t > r->now)
				r->now = t;
			if (leave_message(r, &run, w, sampled, kept))
				run_store(&run, r);
			else
				n = slow_word(r, word, (unsigned)(end - word), w, epoch);
			word += n;
			slow_words += n;
			if (unlikely(r->slow & SLOW_COUNTED) && n)
				replay_counted(r, id);
			run_load(&run, r);
			run.wait = 0;
			if (unlikely(r->error || (!kept && r->activity)))
				break;
			continue;
		}
		if (sequences && may_begin_sequence(&run, id)) {
			word += take_sequences(r, &run, word, end, &t);
			continue;
		}
		t = run.high | w >> RECORD_TIME_SHIFT;
		word++;
		if (w & RECORD_EXIT) {
			leave_fast(r, &run, id, t, sampled, kept);
			if (sequences && sequences_border(id))
				run.wait = 0;
			continue;
		}
		if (unlikely(!enter_fast(r, &run, id, t, sampled)))
			break;
	}
	run_store(&run, r);
	r->counts.calls += run.calls;
	r->counts.records += (size_t)(word - first) - slow_words;
	if (t > r->now)
		r->now = t;
	return word;
}

/* Each with all registers to itself. */
#define WORDS(name, sampled, kept, sequences)                                                      \
	static __attribute__((noinline)) const uint64_t *words_##name(struct replay *r,            \
		const uint64_t *word, const uint64_t *end, const struct replay_epoch *epoch)       \
	{                                                                                          \
		return replay_words(r, word, end, epoch, sampled, kept, sequences);                \
	}

WORDS(plain, false, false, false)
WORDS(kept, false, true, false)
WORDS(sequences, false, false, true)
WORDS(kept_sequences, false, true, true)
WORDS(sampled, true, false, false)
WORDS(sampled_kept, true, true, false)

/* A short thread has no use for them, and keys with an epoch are none that they know. */
static bool has_sequences(struct replay *r, const struct replay_epoch *epoch)
{
	if (r->counts.records < r->sequences_from || epoch->bytes)
		return false;
	if (!r->sequences)
		r->sequences = sequences_new();
	return !sequences_rest(r->sequences);
}

static const uint64_t *replay_as_it_is(struct replay *r, const uint64_t *word, const uint64_t *end,
	const struct replay_epoch *epoch)
{
	if (r->sampled) {
		sequences_stop(r->sequences);
		return r->activity ? words_sampled_kept(r, word, end, epoch)
				   : words_sampled(r, word, end, epoch);
	}
	if (has_sequences(r, epoch))
		return r->activity ? words_kept_sequences(r, word, end, epoch)
				   : words_sequences(r, word, end, epoch);
	sequences_stop(r->sequences);
	return r->activity ? words_kept(r, word, end, epoch) : words_plain(r, word, end, epoch);
}

/* The word that a block starts with. */
static const char *block_time(struct replay *r, uint64_t w, uint64_t now)
{
	if ((uint32_t)w != RECORD_SYNC || (w & RECORD_EXIT))
		return "a block does not start with its time";
	r->not_after = now + FUTURE_MAX;
	replay_set_time_base(r, w);
	return r->error;
}

const char *replay_block(struct replay *r, const uint64_t *block, unsigned from, unsigned to,
	const struct replay_epoch *epoch, uint64_t now)
{
	if (from == 0) {
		const char *why = block_time(r, load_relaxed(&block[0]), now);

		if (why)
			return why;
		from = 1;
	}
	for (const uint64_t *word = block + from; word < block + to && !r->error;)
		word = replay_as_it_is(r, word, block + to, epoch);
	return r->error;
}

int replay_lost(struct replay *r, uint64_t calls, uint64_t ticks)
{
	/* a slow counter may stand still for some calls */
	if (calls / 1024 > elapsed(r->start, ticks))
		return 0;
	calltree_extra(replay_node(r->slow & SLOW_PAUSED ? r->top - 1 : r->top))->lost += calls;
	if (r->sampled)
		vfd_lost(r->sampled->track, calls, ticks);
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

	finish_word(r);
	sequences_settle(r->sequences);
	replay_place_stack_samples(r, UINT64_MAX - 1);
	while (r->top > r->base) {
		r->counts.open++;
		replay_pop(r, t);
	}
	calltree_root(r->tree)->ticks += elapsed(r->base->since, t);
	replay_blocked_end(r);
	if (r->has_stacks) {
		replay_place_sites(r);
		calltree_time_stacks(r->tree);
	}
	sequences_free(r->sequences); /* others may learn some in this memory */
	r->sequences = NULL;
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
	sequences_settle(r->sequences);
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
			key = key & KEY_WIDE ? key & (KEY_SITE | KEY_ADDRESS_MASK) : (uint32_t)key;
		if (key != KEY_PAUSE)
			replay_open(r, key, ticks);
	}
}
