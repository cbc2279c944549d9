/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a hook costs on this machine: the fast path of thread.h, compiled once more
 * for a thread that nobody reads, and timed. Takes some microseconds, once in the
 * life of a program; a child of a fork knows it already.
 */
#include "shm/killpoint.h"
#undef KILLPOINT
#define KILLPOINT(name) ((void)0)

#define vftr_thread    scratch_thread
#define vftr_slow      scratch_slow
#define vftr_overtaken scratch_overtaken
#define vftr_gated     scratch_gated
#include "libhook/thread.h"

#include "libhook/hook-cost.h"

#define PAIRS  100
#define ROUNDS 4

#define PUBLISH_MOST 20000 /* ns; another one had the CPU meanwhile */

__thread struct thread scratch_thread;
static uint64_t gate = GATE_NONE;
static uint64_t block[BLOCK_WORDS] __attribute__((aligned(BLOCK_BYTES)));

_Static_assert(2 * PAIRS < BLOCK_WORDS, "the slow path is not part of it");

void scratch_slow(uint64_t ticks, uint64_t exit_bit, uint64_t key, const void *site)
{
	/* the 31 bits of the time have wrapped: this round is not the fastest */
	scratch_thread.high = ticks >> RECORD_TIME_BITS;
}

void scratch_gated(uint64_t exit_bit, uint64_t key, const void *site)
{
}

void scratch_overtaken(
	uint64_t *word, uint64_t value, uint32_t turn, uint64_t key, const void *site)
{
}

static __attribute__((noinline)) void enter(void *function, void *site)
{
	vftr_record(0, (uintptr_t)function, load_relaxed(&gate), site);
}

static __attribute__((noinline)) void leave(void *function, void *site)
{
	vftr_record(RECORD_EXIT, (uintptr_t)function, load_relaxed(&gate), site);
}

static uint64_t round_ns(void)
{
	struct thread *t = &scratch_thread;
	uint64_t from;

	t->cur = block + 1;
	t->limit = block + BLOCK_WORDS;
	t->high = clock_counter() >> RECORD_TIME_BITS;
	from = clock_raw_ns();
	for (int i = 0; i < PAIRS; i++) {
		enter(&block[i], block);
		leave(&block[i], block);
	}
	return clock_raw_ns() - from;
}

static uint64_t known;

uint64_t hook_cost_ps(void)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; !known && i < ROUNDS; i++) {
		uint64_t ns = round_ns();

		if (ns < best)
			best = ns;
	}
	if (!known)
		known = 1 + best * 1000 / (2 * (uint64_t)PAIRS);
	return known;
}

void hook_cost_published(struct control_app_shm *app, uint64_t ns)
{
	static uint64_t all_ns, blocks;

	if (ns > PUBLISH_MOST || !app)
		return;
	/* threads may overtake one another: it is an estimate */
	add_relaxed_u64(&all_ns, ns);
	add_relaxed_u64(&blocks, 1);
	store_relaxed(&app->hook_ps,
		known + 1000 * load_relaxed(&all_ns) / (load_relaxed(&blocks) * (BLOCK_WORDS - 1)));
}
