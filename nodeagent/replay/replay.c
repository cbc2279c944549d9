/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/replay/replay.h"

#include <stdlib.h>
#include "mpi_id.h"
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
	if (r->track && key_mpi(n->key) == VFTR_MPI_PROBE && traffic_asks_probes(r->track))
		calltree_extra(n)->watched |= WATCH_PROBE;
	if (r->iterates)
		replay_iteration_path(r, n);
}

void replay_watch_paths(struct replay *r, bool on)
{
	calltree_watch(r->tree, on ? note_path : NULL, r);
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
	free(r->hidden);
	free(r->base);
	free(r);
}

void replay_set_track(struct replay *r, struct traffic_track *track)
{
	r->track = track;
}

void replay_set_gpu(struct replay *r, struct gpu *g)
{
	r->gpu = g;
}

/* The word that a block starts with. */
static const char *block_time(struct replay *r, uint64_t w)
{
	if ((uint32_t)w != RECORD_SYNC || (w & RECORD_EXIT))
		return "a block does not start with its time";
	replay_set_time_base(r, w);
	return r->error;
}

const char *replay_block(struct replay *r, const uint64_t *block, unsigned from, unsigned to,
	const struct replay_epoch *epoch, uint64_t now)
{
	r->not_after = now + FUTURE_MAX; /* the rest of a block may be stored much later */
	if (from == 0) {
		const char *why = block_time(r, load_relaxed(&block[0]));

		if (why)
			return why;
		from = 1;
	}
	for (const uint64_t *word = block + from; word < block + to && !r->error;)
		word = replay_take_words(r, word, block + to, epoch);
	return r->error;
}

const char *replay_block_own(struct replay *r, const uint64_t *block, unsigned from,
	const struct replay_epoch *epoch, uint64_t now, unsigned *to)
{
	*to = from;
	r->not_after = now + FUTURE_MAX;
	if (from == 0) {
		const char *why;

		if (r->slow)
			return r->error;
		why = block_time(r, load_relaxed(&block[0]));
		if (why)
			return why;
		from = 1;
	}
	*to = (unsigned)(replay_take_own_words(r, block + from, block + BLOCK_WORDS, epoch) -
			 block);
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

	replay_finish_word(r);
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

/* The child announces its modules anew: all are of its first epoch. */
static uint64_t inherited_key(uint64_t key)
{
	if (RECORD_IS_REGION(key) || (key & KEY_INIT))
		return key;
	return key & KEY_WIDE ? key & (KEY_SITE | KEY_ADDRESS_MASK) : (uint32_t)key;
}

static bool is_hidden_mark(uint64_t key)
{
	return !RECORD_IS_REGION(key) && (key | 1) == (KEY_HIDDEN | 1);
}

void replay_inherit(struct replay *r, const uint64_t *keys, size_t n, uint64_t ticks)
{
	uint64_t mark = 0;

	while (n-- && !r->error) {
		const uint64_t key = inherited_key(keys[n]);

		if (is_hidden_mark(key)) {
			mark = key;
			continue;
		}
		if (mark)
			replay_hide(r, key, mark & 1, ticks);
		else if (key != KEY_PAUSE)
			replay_open(r, key, ticks);
		mark = 0;
	}
}
