/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of a block, one after the other: the fast way of enters and exits, in which nearly all
 * of the agent's time goes, and the slow way of all others. */
#include "nodeagent/replay/internal.h"
#include "nodeagent/replay/sequences.h"
#include "shm/atomic.h"

void replay_finish_word(struct replay *r)
{
	if ((r->slow & SLOW_FRESH) && r->top->node == r->fresh)
		calltree_called(r->fresh, r->top->since);
	r->slow &= ~SLOW_FRESH;
	if (r->slow & SLOW_WINDOW)
		replay_window_step(r);
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

/*
 * True if a call that calls nothing begins with this word and ends with the next one, where all
 * functions are hidden: it would be put on the stack and taken off it.
 */
static bool is_hidden_leaf(const struct replay *r, const uint64_t *word, unsigned left, uint64_t w)
{
	if (r->slow != SLOW_HIDDEN || left < 2 || (w & RECORD_EXIT) ||
		(uint32_t)w < RECORD_ID_FUNCTION || !frame_is_hidden(r->top))
		return false;
	return (load_relaxed(&word[1]) & (RECORD_EXIT | UINT32_MAX)) == (RECORD_EXIT | (uint32_t)w);
}

/* Both words of one. */
static unsigned take_hidden_leaf(struct replay *r, const uint64_t *word, uint64_t key)
{
	const uint64_t t = r->high | load_relaxed(&word[1]) >> RECORD_TIME_SHIFT;

	r->filter->class_of(r->ctx, key); /* it may be what a pattern looks for */
	r->counts.records += 2;
	if (t > r->now)
		r->now = t;
	return 2;
}

/* A short enter or exit, at any time. Returns the words taken: 0, if it is to be taken again. */
static __attribute__((noinline)) unsigned slow_frame(struct replay *r, const uint64_t *word,
	unsigned left, uint64_t w, const struct replay_epoch *epoch)
{
	uint32_t id = (uint32_t)w;
	uint64_t t = r->high | w >> RECORD_TIME_SHIFT;

	if (is_hidden_leaf(r, word, left, w))
		return take_hidden_leaf(r, word, short_key(id, epoch));
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
		replay_finish_word(r);
	return (uint32_t)w < RECORD_ID_MPI ? replay_record(r, word, left, w, epoch)
					   : slow_frame(r, word, left, w, epoch);
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

/*
 * A hidden call begins here, and the parent is returned, as for a direct call of itself: what the
 * fast way counts for that is taken off before, so that it has no case more.
 */
static struct node *hidden_child(struct replay *r, struct frame *f)
{
	r->counts.calls--;
	f->depth--;
	f->node->calls--;
	return f->node;
}

static __attribute__((noinline)) struct node *other_child(
	struct replay *r, struct frame *f, uint64_t key)
{
	struct node *n;

	r->top = f;
	if (unlikely(r->filter) && replay_enter_hidden(r, key, r->now))
		return hidden_child(r, f);
	n = calltree_child(r->tree, f->node, f->last, key);
	if (unlikely(f == r->base && r->is_main))
		replay_prelude(r, n);
	return n;
}

/* True if an event is neither recorded in the sampling file nor asks for a number there. */
static inline __attribute__((always_inline)) bool is_unsampled(
	const struct sampled_track *l, const struct node *n, uint64_t t, uint64_t took)
{
	const uint32_t stack = n->extra ? n->extra->stack : 0;

	return stack && l->interval && t <= l->wake && took <= l->long_call &&
	       !(stack & SAMPLE_PRECISE);
}

/* The child with that key which an enter in frame f would find; NULL: it is more to find it. */
static __attribute__((noinline)) struct node *own_child(
	struct replay *r, const struct frame *f, uint64_t key)
{
	struct node *n;

	if (f == r->base && r->is_main)
		return NULL;
	n = calltree_known(r->tree, f->node, key);
	if (n && f->last && f->last->parent == f->node)
		f->last->expected = n;
	return n;
}

/* True if enter_fast() changes nothing but this replay. */
static inline __attribute__((always_inline)) bool enter_is_own(
	struct replay *r, const struct words_run *run, uint32_t id, uint64_t t, const bool sampled)
{
	const struct frame *f = run->top;
	const struct node *parent = f->node, *n;
	uint64_t key = id;

	if (unlikely(!parent || f >= r->deep))
		return false;
	if ((uint32_t)parent->key == id && !RECORD_IS_REGION(parent->key))
		return true;
	if (unlikely(run->bytes) && id - run->low < run->bytes)
		key |= run->above;
	n = parent->child;
	if (unlikely(n->key != key))
		n = own_child(r, f, key);
	return n && (!sampled || is_unsampled(r->sampled, n, t, 0));
}

/* The same of leave_fast(). */
static inline __attribute__((always_inline)) bool leave_is_own(const struct replay *r,
	const struct words_run *run, uint32_t id, uint64_t t, const bool sampled)
{
	const struct frame *f = run->top;
	const struct node *n = f->node;

	if (unlikely(!n || (uint32_t)n->key != id) || unlikely(f > r->deep) ||
		unlikely(f == r->base))
		return false;
	if (f->depth)
		return true;
	if (unlikely(n->extra) &&
		(n->extra->watched & WATCH_PROBE || (n->extra->watched && r->tell_slow)))
		return false;
	return !sampled || is_unsampled(r->sampled, n, t, elapsed(f->since, t));
}

static inline __attribute__((always_inline)) bool word_is_own(
	struct replay *r, const struct words_run *run, uint64_t w, const bool sampled)
{
	const uint64_t t = run->high | w >> RECORD_TIME_SHIFT;

	return w & RECORD_EXIT ? leave_is_own(r, run, (uint32_t)w, t, sampled)
			       : enter_is_own(r, run, (uint32_t)w, t, sampled);
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
 * before which it has ended: r->error, or from there on calls are kept. own: or it would change
 * more than this replay.
 */
static inline __attribute__((always_inline)) const uint64_t *take_words(struct replay *r,
	const uint64_t *word, const uint64_t *end, const struct replay_epoch *epoch,
	const bool sampled, const bool kept, const bool sequences, const bool own)
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

			if (own && w)
				break;
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
		if (own && !word_is_own(r, &run, w, sampled))
			break;
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
#define WORDS(name, sampled, kept, sequences, own)                                                 \
	static __attribute__((noinline)) const uint64_t *words_##name(struct replay *r,            \
		const uint64_t *word, const uint64_t *end, const struct replay_epoch *epoch)       \
	{                                                                                          \
		return take_words(r, word, end, epoch, sampled, kept, sequences, own);             \
	}

WORDS(plain, false, false, false, false)
WORDS(kept, false, true, false, false)
WORDS(sequences, false, false, true, false)
WORDS(kept_sequences, false, true, true, false)
WORDS(sampled, true, false, false, false)
WORDS(sampled_kept, true, true, false, false)
WORDS(sampled_sequences, true, false, true, false)
WORDS(sampled_kept_sequences, true, true, true, false)
WORDS(own_plain, false, false, false, true)
WORDS(own_kept, false, true, false, true)
WORDS(own_sequences, false, false, true, true)
WORDS(own_kept_sequences, false, true, true, true)
WORDS(own_sampled, true, false, false, true)
WORDS(own_sampled_kept, true, true, false, true)

/* A short thread has no use for them, and keys with an epoch are none that they know. */
static bool has_sequences(struct replay *r, const struct replay_epoch *epoch)
{
	if (r->counts.records < r->sequences_from || epoch->bytes)
		return false;
	if (!r->sequences)
		r->sequences = sequences_new();
	return !sequences_rest(r->sequences);
}

/* The file gets each call, so sequences can be given to it as such. */
static bool samples_all(const struct sampled_track *l)
{
	return !l->interval && vfd_takes_runs(l->track);
}

static const uint64_t *take_sampled_words(struct replay *r, const uint64_t *word,
	const uint64_t *end, const struct replay_epoch *epoch)
{
	if (samples_all(r->sampled) && has_sequences(r, epoch))
		return r->activity ? words_sampled_kept_sequences(r, word, end, epoch)
				   : words_sampled_sequences(r, word, end, epoch);
	sequences_stop(r->sequences);
	return r->activity ? words_sampled_kept(r, word, end, epoch)
			   : words_sampled(r, word, end, epoch);
}

const uint64_t *replay_take_words(struct replay *r, const uint64_t *word, const uint64_t *end,
	const struct replay_epoch *epoch)
{
	if (r->sampled)
		return take_sampled_words(r, word, end, epoch);
	if (has_sequences(r, epoch))
		return r->activity ? words_kept_sequences(r, word, end, epoch)
				   : words_sequences(r, word, end, epoch);
	sequences_stop(r->sequences);
	return r->activity ? words_kept(r, word, end, epoch) : words_plain(r, word, end, epoch);
}

const uint64_t *replay_take_own_words(struct replay *r, const uint64_t *word, const uint64_t *end,
	const struct replay_epoch *epoch)
{
	/* what goes to a file is not its own; sequences go on there */
	if (r->slow || r->error || (r->sampled && samples_all(r->sampled)))
		return word;
	if (r->sampled) {
		sequences_stop(r->sequences);
		return r->activity ? words_own_sampled_kept(r, word, end, epoch)
				   : words_own_sampled(r, word, end, epoch);
	}
	if (has_sequences(r, epoch))
		return r->activity ? words_own_kept_sequences(r, word, end, epoch)
				   : words_own_sequences(r, word, end, epoch);
	sequences_stop(r->sequences);
	return r->activity ? words_own_kept(r, word, end, epoch)
			   : words_own_plain(r, word, end, epoch);
}
