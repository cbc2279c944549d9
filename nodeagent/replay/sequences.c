/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/sequences.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"
#include "shm/atomic.h"

#define WORDS_MOST   64u /* of a sequence */
#define WORDS_LEAST  8u	 /* a shorter one is not worth it */
#define WORDS_ENOUGH 32u /* then it ends at the next border */
#define SEEN_SLOTS   4096u
#define THREAD_MOST  16384u		/* sequences of a thread */
#define ALL_BYTES    ((size_t)64 << 20) /* of all threads */

/*
 * Where little repeats itself, to look for sequences costs more than they spare. After so many
 * times it is looked whether it was worth it, in instructions, about; if not they rest for a number
 * of blocks, which doubles each time.
 */
#define TRIAL_TIMES 1024u
#define ASK_COSTS   30
#define LEARN_COSTS 120 /* a word */
#define WORD_SPARES 40
#define REST_LEAST  64u
#define REST_MOST   8192u

enum step {
	STEP_ENTER,
	STEP_LEAVE,
	STEP_DEEPEN, /* a direct call of itself: it shares the frame */
	STEP_RISE,   /* its end */
};

/* A call that ends in a sequence. */
struct leaving {
	struct node *node;
	uint8_t at;
	/* where it was entered; of a frame that is open at the begin: -1 for the one on top, -2 for
	 * the one below it, and so on */
	int8_t entered;
};

/* What is before a step, or at the end. */
struct place {
	int8_t enter;	/* the step that entered the frame on top; -1: that was open at the begin */
	uint8_t above;	/* frames above the ones that were open at the begin */
	uint8_t calls;	/* until then */
	int8_t rise;	/* added to the depth of the frame that was on top at the begin */
	uint32_t stack; /* with a run: in the sampling file, of the frame on top */
};

struct sequence {
	uint64_t key;
	struct node *start;	   /* of the frame on top at its begin */
	struct sequence *followed; /* by this one last time, or NULL */
	uint64_t whole;		   /* times it was taken from its begin to its end */
	uint16_t n;
	uint8_t n_leavings;
	uint8_t n_pops;	  /* frames open at the begin that end; each must have depth 0 */
	bool deepens;	  /* the frame on top at the begin is called by itself: n_pops is 0 ... */
	uint8_t needed;	  /* ... and that frame must have at least this depth */
	bool deepens_own; /* a frame of its own is called by itself */
	bool unsettled;
	/* in the sampling file, if the track is still this one: the run, or VFD_NONE; 0: it was not
	 * asked for */
	uint32_t track, run;
	uint64_t *sum;		  /* n: of the times of the words; see take_steps() */
	struct node **popped;	  /* n_pops, and the one below them */
	uint8_t *pops;		  /* n_pops: the steps that end them */
	struct place *place;	  /* n + 1 */
	int8_t *around;		  /* n: of an enter, the enter of the frame around it, or -1 */
	struct node **node;	  /* n: entered or left by each */
	struct leaving *leavings; /* n_leavings */
	int64_t *parts;	  /* n + 1: parts that began there, less those that ended before it */
	uint8_t *step;	  /* n: enum step */
	uint64_t known[]; /* n: the words without their times */
};

struct sequences {
	const struct sequence_code *code;
	struct sequence **learnt, **unsettled;
	size_t n_learnt, cap_learnt, n_unsettled, cap_unsettled;
	struct sequence **table; /* by key; open addressing */
	size_t mask, bytes;
	/* halves of keys without a sequence; the lowest bit is 0 if none begins there */
	uint32_t seen[SEEN_SLOTS];
	struct sequence *before; /* the one that has just ended, or NULL */
	/* the block ended within this one: then the frames were like that */
	struct sequence *cut;
	unsigned cut_at;
	const struct frame *cut_top;
	const struct node *cut_node;
	uint64_t cut_now;
	unsigned asked;		  /* of the trial */
	int64_t spared;		  /* in it */
	uint32_t rest, next_rest; /* blocks */
	uint64_t taken;
	uint32_t track; /* in how many tracks of the sampling file calls have been, before this */
};

static uint64_t bytes_of_all; /* several threads of the agent may learn at once */

struct sequences *sequences_new(void)
{
	struct sequences *all = xcalloc(1, sizeof(*all));

	all->code = sequence_code(0);
	all->next_rest = REST_LEAST;
	all->mask = 255;
	all->table = xcalloc(all->mask + 1, sizeof(struct sequence *));
	return all;
}

void sequences_free(struct sequences *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->n_learnt; i++)
		free(all->learnt[i]);
	add_relaxed_u64(&bytes_of_all, -(uint64_t)all->bytes);
	free(all->learnt);
	free(all->unsettled);
	free(all->table);
	free(all);
}

bool sequences_rest(struct sequences *all)
{
	if (!all->rest)
		return false;
	all->rest--;
	return true;
}

uint64_t sequences_taken(const struct sequences *all)
{
	return all->taken;
}

void sequences_new_track(struct sequences *all)
{
	if (all)
		all->track++;
}

void sequences_use(struct sequences *all, const struct sequence_code *code)
{
	all->code = code;
}

void sequences_stop(struct sequences *all)
{
	if (all)
		all->cut = NULL;
}

size_t sequences_unsettled(const struct sequences *all)
{
	return all ? all->n_unsettled : 0;
}

/* ---- learning one ------------------------------------------------------------------------- */

/* What a word will do, from here on. Frames of the sequence itself are own[]. */
struct lesson {
	struct replay *r;
	const struct frame *frame; /* the one of the stack that is on top without own[] */
	struct node *node;	   /* on top */
	struct {
		int8_t entered;
		uint8_t depth;
	} own[WORDS_MOST];
	unsigned n_own, n, calls;
	int rise, least_rise;
	bool deepens, deepens_own;
	struct place place[WORDS_MOST + 1];
	int8_t around[WORDS_MOST];
	struct node *nodes[WORDS_MOST];
	uint64_t known[WORDS_MOST];
	uint8_t step[WORDS_MOST];
	struct leaving leavings[WORDS_MOST];
	unsigned n_leavings, n_pops;
};

/* Its calls are looked at when they end, and their number is. */
static bool is_watched(const struct node *n)
{
	return n->extra && n->extra->watched;
}

/* The enter of the frame on top, or -1. */
static int8_t own_enter(const struct lesson *l)
{
	return l->n_own ? l->own[l->n_own - 1].entered : -1;
}

static struct place place_now(const struct lesson *l)
{
	return (struct place){
		own_enter(l), (uint8_t)l->n_own, (uint8_t)l->calls, (int8_t)l->rise, 0};
}

static void add_leaving(struct lesson *l, int entered)
{
	l->leavings[l->n_leavings++] = (struct leaving){l->node, (uint8_t)l->n, (int8_t)entered};
	l->step[l->n] = STEP_LEAVE;
	l->node = l->node->parent;
}

/* False: the sequence ends before it. */
static bool learn_own_exit(struct lesson *l)
{
	if (l->own[l->n_own - 1].depth) {
		l->own[l->n_own - 1].depth--;
		l->step[l->n] = STEP_RISE;
		return true;
	}
	if (is_watched(l->node))
		return false;
	add_leaving(l, l->own[--l->n_own].entered);
	return true;
}

static bool learn_exit(struct lesson *l, uint32_t id)
{
	const struct frame *f = l->frame;

	if ((uint32_t)l->node->key != id)
		return false;
	if (l->n_own)
		return learn_own_exit(l);
	if (frame_is_construct(f) || f == l->r->base)
		return false;
	if (!l->n_pops && (int64_t)f->depth + l->rise > 0) {
		l->deepens = true;
		l->rise--;
		if (l->rise < l->least_rise)
			l->least_rise = l->rise;
		l->step[l->n] = STEP_RISE;
		return true;
	}
	if (f->depth || l->deepens || is_watched(l->node) || f[-1].node != l->node->parent)
		return false;
	add_leaving(l, -1 - (int)l->n_pops++);
	l->frame--;
	return true;
}

static bool learn_deepening(struct lesson *l)
{
	if (l->n_own) {
		l->own[l->n_own - 1].depth++;
		l->deepens_own = true;
	} else {
		if (l->n_pops || frame_is_construct(l->frame))
			return false;
		l->deepens = true;
		l->rise++;
	}
	l->step[l->n] = STEP_DEEPEN;
	l->calls++;
	return true;
}

static bool learn_enter(struct lesson *l, uint32_t id)
{
	struct node *n = l->node, *child;

	if ((uint32_t)n->key == id && !RECORD_IS_REGION(n->key))
		return !is_watched(n) && learn_deepening(l);
	if (!n->parent && l->r->is_main)
		return false;
	child = calltree_known(l->r->tree, n, id);
	if (!child || is_watched(child))
		return false;
	l->around[l->n] = own_enter(l);
	l->own[l->n_own].entered = (int8_t)l->n;
	l->own[l->n_own++].depth = 0;
	l->node = child;
	l->step[l->n] = STEP_ENTER;
	l->calls++;
	return true;
}

static void learn_words(struct lesson *l, const uint64_t *word, unsigned n)
{
	while (l->n < n) {
		const uint64_t w = load_relaxed(&word[l->n]);
		const uint32_t id = (uint32_t)w;
		struct node *left = l->node;

		l->place[l->n] = place_now(l);
		if (id < l->r->fast_from)
			return;
		if (!(w & RECORD_EXIT ? learn_exit(l, id) : learn_enter(l, id)))
			return;
		l->nodes[l->n] = w & RECORD_EXIT ? left : l->node;
		l->known[l->n++] = w & (RECORD_EXIT | UINT32_MAX);
		if (l->n >= WORDS_ENOUGH && (w & RECORD_EXIT) && sequences_border(id))
			break;
	}
	l->place[l->n] = place_now(l);
}

/* One piece of memory: what is always read first, and in it the widest members. */
static struct sequence *sequence_new(const struct lesson *l, size_t *bytes)
{
	const size_t n = l->n, k = l->n_leavings;
	struct sequence *s;

	*bytes = sizeof(*s) + (3 * n + l->n_pops + 1) * sizeof(uint64_t) +
		 (n + 1) * (sizeof(*s->place) + sizeof(*s->parts)) + k * sizeof(*s->leavings) +
		 l->n_pops + 2 * n;
	s = xcalloc(1, *bytes);
	s->sum = s->known + n;
	s->popped = (struct node **)(s->sum + n);
	s->node = s->popped + l->n_pops + 1;
	s->leavings = (struct leaving *)(s->node + n);
	s->parts = (int64_t *)(s->leavings + k);
	s->place = (struct place *)(s->parts + n + 1);
	s->pops = (uint8_t *)(s->place + n + 1);
	s->around = (int8_t *)(s->pops + l->n_pops);
	s->step = (uint8_t *)(s->around + n);
	memcpy(s->known, l->known, n * sizeof(*s->known));
	memcpy(s->node, l->nodes, n * sizeof(struct node *));
	memcpy(s->place, l->place, (n + 1) * sizeof(*s->place));
	memcpy(s->leavings, l->leavings, k * sizeof(*s->leavings));
	memcpy(s->around, l->around, n);
	memcpy(s->step, l->step, n);
	for (unsigned i = 0, pops = 0; i < k; i++) {
		if (l->leavings[i].entered >= 0)
			continue;
		s->popped[pops] = l->nodes[l->leavings[i].at];
		s->pops[pops++] = l->leavings[i].at;
		s->popped[pops] = s->popped[pops - 1]->parent;
	}
	s->n = (uint16_t)n;
	s->n_pops = (uint8_t)l->n_pops;
	s->n_leavings = (uint8_t)k;
	s->needed = (uint8_t)-l->least_rise;
	s->deepens = l->deepens;
	s->deepens_own = l->deepens_own;
	return s;
}

static void insert_sequence(struct sequences *all, struct sequence *s)
{
	size_t i = s->key & all->mask;

	while (all->table[i])
		i = (i + 1) & all->mask;
	all->table[i] = s;
}

static void add_sequence(struct sequences *all, struct sequence *s, size_t bytes)
{
	*LIST_ADD(all, learnt) = s;
	all->bytes += bytes;
	add_relaxed_u64(&bytes_of_all, bytes); /* orders nothing: a limit */
	if (all->n_learnt * 2 <= all->mask) {
		insert_sequence(all, s);
		return;
	}
	free(all->table);
	all->mask = all->mask * 2 + 1;
	all->table = xcalloc(all->mask + 1, sizeof(struct sequence *));
	for (size_t i = 0; i < all->n_learnt; i++)
		insert_sequence(all, all->learnt[i]);
}

static struct sequence *learn_sequence(
	struct replay *r, const uint64_t *word, size_t left, uint64_t key)
{
	struct sequences *all = r->sequences;
	struct lesson l = {.r = r, .frame = r->top, .node = r->top->node};
	struct sequence *s;
	size_t bytes;

	if (all->n_learnt == THREAD_MOST || load_relaxed(&bytes_of_all) > ALL_BYTES)
		return NULL;
	learn_words(&l, word, left < WORDS_MOST ? (unsigned)left : WORDS_MOST);
	all->spared -= (int64_t)l.n * LEARN_COSTS;
	if (l.n < WORDS_LEAST)
		return NULL;
	s = sequence_new(&l, &bytes);
	s->key = key;
	s->start = r->top->node;
	add_sequence(all, s, bytes);
	return s;
}

/* ---- finding one -------------------------------------------------------------------------- */

static uint64_t key_of(const struct sequences *all, const struct node *n, const uint64_t *word)
{
	uint64_t h = (uintptr_t)n * 0x9e3779b97f4a7c15u ^
		     (load_relaxed(word) & (RECORD_EXIT | UINT32_MAX)) * 0xff51afd7ed558ccdu ^
		     all->code->shape(word) * 0xd6e8feb86659fd93u;

	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	return h ^ h >> 32;
}

static struct sequence *find_sequence(const struct sequences *all, uint64_t key)
{
	struct sequence *s;

	for (size_t i = key & all->mask; (s = all->table[i]); i = (i + 1) & all->mask)
		if (s->key == key)
			return s;
	return NULL;
}

/* Whether the frames are as when it was learnt. */
static bool frames_fit(const struct replay *r, const struct sequence *s)
{
	const struct frame *f = r->top;

	if (f->node != s->start || f + s->n >= r->deep)
		return false;
	if (s->deepens && (frame_is_construct(f) || f->depth < s->needed))
		return false;
	if (!s->n_pops)
		return true;
	if (f - r->base < s->n_pops)
		return false;
	for (unsigned i = 0; i < s->n_pops; i++, f--)
		if (f->node != s->popped[i] || f->depth || f->since > r->now)
			return false;
	return f->node == s->popped[s->n_pops];
}

static struct sequence *sequence_at(struct replay *r, const uint64_t *word, size_t left)
{
	struct sequences *all = r->sequences;
	struct sequence *s = all->before ? all->before->followed : NULL;
	uint64_t key;
	uint32_t *seen, tag;

	if (left < SEQUENCE_SHAPE) /* not enough to look for one */
		return s && frames_fit(r, s) ? s : NULL;
	key = key_of(all, r->top->node, word);
	tag = (uint32_t)(key >> 32) | 1;
	if (!s || s->key != key) {
		s = find_sequence(all, key);
		if (s && all->before)
			all->before->followed = s;
	}
	if (s)
		return frames_fit(r, s) ? s : NULL;
	seen = &all->seen[key % SEEN_SLOTS];
	if (*seen != tag) {
		if (*seen != (tag & ~1u))
			*seen = tag;
		return NULL;
	}
	s = learn_sequence(r, word, left, key);
	if (!s)
		*seen = tag & ~1u;
	return s && frames_fit(r, s) ? s : NULL;
}

/* ---- taking one --------------------------------------------------------------------------- */

static inline uint64_t time_of(const struct replay *r, const uint64_t *word)
{
	return r->high | load_relaxed(word) >> RECORD_TIME_SHIFT;
}

/*
 * Steps [from, to) one by one, with all frames between. word: that of step `from`. A
 * node gets the time of a call as sums of its exit less those of its enter; where one of the two
 * is not in this sequence, or not now, the other one is on the stack: it is taken off the sum.
 */
static void take_steps(
	struct replay *r, struct sequence *s, unsigned from, unsigned to, const uint64_t *word)
{
	struct frame *f = r->top;

	for (unsigned i = from; i < to; i++) {
		const uint64_t t = time_of(r, word + i - from);

		switch (s->step[i]) {
		case STEP_ENTER:
			*++f = (struct frame){.node = s->node[i], .since = t};
			s->sum[i] -= t;
			r->counts.calls++;
			break;
		case STEP_LEAVE:
			if (r->activity)
				activity_add(r->activity, f->node, f->since, t);
			s->sum[i] -= f->since;
			(--f)->last = NULL;
			break;
		case STEP_DEEPEN:
			f->depth++;
			r->counts.calls++;
			break;
		default:
			f->depth--;
			break;
		}
	}
	r->top = f;
	s->parts[from]++;
	s->parts[to]--;
}

static void keep_leavings(
	struct replay *r, const struct sequence *s, unsigned to, const uint64_t *word)
{
	struct activity *a = r->activity;
	const struct leaving *l = s->leavings, *const end = l + s->n_leavings;
	const uint64_t high = r->high;
	uint64_t n = a->n;

	for (; l < end && l->at < to; l++) {
		struct activity_call *c = &a->at[n++ % ACTIVITY_CALLS];

		c->node = l->node;
		c->since = l->entered < 0
				   ? r->top[l->entered + 1].since
				   : (high | load_relaxed(&word[l->entered]) >> RECORD_TIME_SHIFT);
		c->until = high | load_relaxed(&word[l->at]) >> RECORD_TIME_SHIFT;
	}
	a->n = n;
}

/* Steps [0, to) at once: only frames that are open then are seen on the stack. */
static void take_at_once(struct replay *r, struct sequence *s, unsigned to, const uint64_t *word)
{
	const struct place *p = &s->place[to];
	struct frame *f = r->top;

	if (r->activity)
		keep_leavings(r, s, to, word);
	f->depth += (uint64_t)(int64_t)p->rise;
	for (unsigned i = 0; i < s->n_pops && s->pops[i] < to; i++) {
		s->sum[s->pops[i]] -= f->since;
		(--f)->last = NULL;
	}
	r->top = f = f + p->above;
	for (int i = p->enter; i >= 0; i = s->around[i]) {
		const uint64_t t = time_of(r, word + i);

		*f-- = (struct frame){.node = s->node[i], .since = t};
		s->sum[i] -= t;
	}
	r->counts.calls += p->calls;
	if (to == s->n) {
		s->whole++;
		return;
	}
	s->parts[0]++;
	s->parts[to]--;
}

/* ---- the same in the sampling file --------------------------------------------------------- */

/*
 * Not of frames that may get another place in the file; nor with direct calls of itself, which are
 * not there, so that its words are more than its events.
 */
static void make_run(struct replay *r, struct sequence *s)
{
	uint32_t stacks[WORDS_MOST];

	s->track = r->sequences->track;
	s->run = VFD_NONE;
	if (s->deepens || s->deepens_own || replay_is_in_orphan(r, s->start))
		return;
	s->place[0].stack = replay_sample(r, s->start);
	for (unsigned i = 0; i < s->n; i++) {
		const bool enters = s->step[i] == STEP_ENTER;

		s->place[i + 1].stack = replay_sample(r, enters ? s->node[i] : s->node[i]->parent);
		stacks[i] = enters ? s->place[i + 1].stack : 0;
	}
	s->run = vfd_run_new(r->sampled->track, s->place[0].stack, stacks, s->n);
}

/* Frames that are not called by the one below them end in their own way. */
static bool pops_base(const struct replay *r, const struct sequence *s)
{
	const uint32_t base = r->sampled->track->base;

	return base && ANY(i, s->n_pops, s->place[s->pops[i]].stack == base);
}

/* Steps [from, to), which have been taken, are recorded. False: not as part of a run. */
static bool sample_run(
	struct replay *r, struct sequence *s, unsigned from, unsigned to, const uint64_t *word)
{
	struct vfd_track *l = r->sampled->track;
	const unsigned n = to - from;
	uint32_t *differences;

	if (!s->run || s->track != r->sequences->track) {
		if (vfd_run_waits(l))
			return false;
		make_run(r, s);
	}
	if (s->run == VFD_NONE || pops_base(r, s))
		return false;
	differences = vfd_put_run(l, s->run, s->place[from].stack, from, n, time_of(r, word));
	if (!differences)
		return false;
	/* a block may have begun at the first one */
	r->sequences->code->times(differences, word, n, r->high, l->units);
	vfd_put_run_done(l, s->place[to].stack, n, time_of(r, word + n - 1));
	return true;
}

static void sample_steps(
	struct replay *r, struct sequence *s, unsigned from, unsigned to, const uint64_t *word)
{
	struct vfd_track *l = r->sampled->track;

	if (sample_run(r, s, from, to, word))
		return;
	for (unsigned i = from; i < to; i++) {
		const uint64_t t = time_of(r, word + i - from);

		if (s->step[i] == STEP_ENTER)
			vfd_enter(l, replay_sample(r, s->node[i]), t);
		else if (s->step[i] == STEP_LEAVE)
			vfd_exit(l, replay_sample(r, s->node[i]), t);
	}
}

static void note_unsettled(struct sequences *all, struct sequence *s)
{
	if (s->unsettled)
		return;
	s->unsettled = true;
	*LIST_ADD(all, unsettled) = s;
}

/* The one in which the block before has ended; *from: its next word. */
static struct sequence *sequence_cut(struct replay *r, unsigned *from)
{
	struct sequences *all = r->sequences;
	struct sequence *s = all->cut;

	all->cut = NULL;
	if (!s || all->cut_top != r->top || all->cut_node != r->top->node || all->cut_now != r->now)
		return NULL;
	*from = all->cut_at;
	return s;
}

static void cut_sequence(struct replay *r, struct sequence *s, unsigned at)
{
	struct sequences *all = r->sequences;

	all->cut = s;
	all->cut_at = at;
	all->cut_top = r->top;
	all->cut_node = r->top->node;
	all->cut_now = r->now;
}

/* It will be compared soon: they are many, and more than fit into a cache near by. */
static void fetch_sequence(const struct sequence *s)
{
	const char *at = (const char *)s;

	for (size_t i = 0; s && i < sizeof(*s) + WORDS_ENOUGH * 2 * sizeof(*s->sum); i += 64)
		__builtin_prefetch(at + i);
}

/* One of them, from its word `from`. Returns the number of words. */
static unsigned take_sequence(
	struct replay *r, struct sequence *s, unsigned from, const uint64_t *word, size_t left)
{
	struct sequences *all = r->sequences;
	const unsigned most = s->n - from < left ? s->n - from : (unsigned)left;
	unsigned n;

	fetch_sequence(s->followed);
	n = all->code->compare(word, s->known + from, s->sum + from, most, r->high, r->now);
	if (!n)
		return 0;
	note_unsettled(all, s);
	if (from || s->deepens_own)
		take_steps(r, s, from, from + n, word);
	else
		take_at_once(r, s, n, word);
	if (r->sampled)
		sample_steps(r, s, from, from + n, word);
	r->now = time_of(r, word + n - 1);
	all->before = from + n == s->n ? s : NULL;
	if (!all->before && n == left)
		cut_sequence(r, s, from + n);
	return n;
}

static void judge_use(struct sequences *all, unsigned taken)
{
	all->taken += taken;
	all->spared += (int64_t)taken * WORD_SPARES - ASK_COSTS;
	if (++all->asked < TRIAL_TIMES)
		return;
	if (all->spared > 0) {
		all->next_rest = REST_LEAST;
	} else {
		all->rest = all->next_rest;
		all->next_rest = all->rest < REST_MOST ? all->rest * 2 : REST_MOST;
	}
	all->asked = 0;
	all->spared = 0;
}

unsigned sequences_take(struct replay *r, const uint64_t *word, const uint64_t *end)
{
	struct sequences *all = r->sequences;
	const uint64_t *at = word;
	unsigned from = 0, n;
	struct sequence *s = sequence_cut(r, &from);

	/* regions that have a lock are left by words of their own */
	while (at < end && r->top->node && r->fast_from == RECORD_ID_MPI) {
		if (!s)
			s = sequence_at(r, at, (size_t)(end - at));
		n = s ? take_sequence(r, s, from, at, (size_t)(end - at)) : 0;
		if (!n)
			break;
		at += n;
		from = 0;
		s = NULL;
	}
	if (at < end)
		all->before = NULL;
	judge_use(all, (unsigned)(at - word));
	return (unsigned)(at - word);
}

/* ---- reading what they have added up ------------------------------------------------------ */

static void settle_sequence(struct sequence *s)
{
	uint64_t times = s->whole;

	for (unsigned i = 0; i < s->n; i++) {
		struct node *n = s->node[i];

		times += (uint64_t)s->parts[i];
		if (s->step[i] == STEP_LEAVE)
			n->ticks += s->sum[i];
		else if (s->step[i] == STEP_ENTER)
			n->ticks -= s->sum[i];
		if (s->step[i] == STEP_ENTER || s->step[i] == STEP_DEEPEN)
			n->calls += times;
	}
	memset(s->sum, 0, s->n * sizeof(*s->sum));
	memset(s->parts, 0, (s->n + 1u) * sizeof(*s->parts));
	s->whole = 0;
	s->unsettled = false;
}

void sequences_settle(struct sequences *all)
{
	if (!all)
		return;
	for (size_t i = 0; i < all->n_unsettled; i++)
		settle_sequence(all->unsettled[i]);
	all->n_unsettled = 0;
}
