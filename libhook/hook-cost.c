/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of a hook on this machine: a function of one load is called repeatedly
 * with the fast path of thread.h, compiled once more for a thread that nobody reads,
 * and without it; a processor hides the call itself behind its hooks, so that these
 * alone would be too much. Takes some microseconds when the process attaches, and again
 * once in many blocks: beside other work, or at another clock rate, it costs more. A
 * child of a fork knows it already.
 */
#include "shm/killpoint.h"
#undef KILLPOINT
#define KILLPOINT(name) ((void)0)

#define vftr_thread	  vftr_scratch_thread
#define vftr_slow	  vftr_scratch_slow
#define vftr_store_slowly vftr_scratch_store_slowly
#define vftr_overtaken	  vftr_scratch_overtaken
#define vftr_gated	  vftr_scratch_gated
#include "libhook/thread.h"

#include "libhook/hook-cost.h"

#define PAIRS  100
#define ROUNDS 4

#define AGAIN	     32	   /* timed blocks from one measurement to the next */
#define AGAIN_MOST   4	   /* times the first one; another one had the CPU meanwhile ... */
#define PUBLISH_MOST 20000 /* ... as it had here; ns */

__thread struct thread vftr_scratch_thread;
static uint64_t gate = UINT32_MAX; /* only 8191 does not pass */
static uint64_t block[BLOCK_WORDS] __attribute__((aligned(BLOCK_BYTES)));

_Static_assert(2 * PAIRS < BLOCK_WORDS, "the slow path is not part of it");

void vftr_scratch_store_slowly(
	uint64_t key, const void *site, uint64_t exit_bit, struct record_time now)
{
	/* the 31 bits of the time have wrapped: this round is not the fastest */
	vftr_scratch_thread.high = now.high;
}

void vftr_scratch_gated(uint64_t key, const void *site, uint64_t exit_bit)
{
}

void vftr_scratch_overtaken(
	uint64_t key, const void *site, uint64_t value, bool is_exit, uint64_t *word, uint64_t base)
{
}

static __attribute__((noinline)) void enter(void *function, void *site)
{
	vftr_record(0, (uintptr_t)function, vftr_is_gated(&gate, (uintptr_t)function), site);
}

static __attribute__((noinline)) void leave(void *function, void *site)
{
	vftr_record(
		RECORD_EXIT, (uintptr_t)function, vftr_is_gated(&gate, (uintptr_t)function), site);
}

static __attribute__((noinline)) uint64_t untraced(const uint64_t *p)
{
	return load_relaxed(p);
}

static __attribute__((noinline)) uint64_t traced(const uint64_t *p)
{
	uint64_t value;

	enter(&block[0], block);
	value = load_relaxed(p);
	leave(&block[0], block);
	return value;
}

/* One thread at a time, as all use the same block. */
static uint64_t round_ns(uint64_t (*call)(const uint64_t *))
{
	struct thread *t = &vftr_scratch_thread;
	uint64_t from, sum = 0;

	t->cur = block + 1;
	t->limit = block + BLOCK_WORDS;
	t->high = (uint32_t)(clock_counter() >> RECORD_TIME_BITS);
	from = clock_raw_ns();
	for (int i = 0; i < PAIRS; i++)
		sum += call(&gate);
	from = clock_raw_ns() - from;
	return from + (sum == 1); /* it is not: the gate has one value */
}

/* The faster one of some rounds: what is not in the caches yet is not in it. */
static uint64_t fastest_ns(uint64_t (*call)(const uint64_t *), int rounds)
{
	uint64_t best = UINT64_MAX;

	while (rounds-- > 0) {
		uint64_t ns = round_ns(call);

		if (ns < best)
			best = ns;
	}
	return best;
}

static uint64_t measured_ps(int rounds)
{
	uint64_t with = fastest_ns(traced, rounds), without = fastest_ns(untraced, rounds);

	return with > without ? 1 + (with - without) * 1000 / (2 * (uint64_t)PAIRS) : 1;
}

static uint64_t first, sum_ps, samples; /* `first' and what followed */
static uint32_t measuring;

uint64_t vftr_hook_cost_ps(void)
{
	if (!first) {
		first = sum_ps = measured_ps(ROUNDS);
		samples = 1;
	}
	return sum_ps / samples;
}

static void measure_again(void)
{
	uint64_t ps;

	if (!claim_u32(&measuring, 0, 1))
		return;
	ps = measured_ps(2);
	if (ps < AGAIN_MOST * first) {
		add_relaxed_u64(&sum_ps, ps);
		add_relaxed_u64(&samples, 1);
	}
	store_release(&measuring, 0);
}

void vftr_hook_cost_published(struct control_app_shm *app, uint64_t ns)
{
	static uint64_t all_ns, blocks;

	if (ns > PUBLISH_MOST || !app)
		return;
	/* threads may overtake one another: it is an estimate */
	add_relaxed_u64(&all_ns, ns);
	add_relaxed_u64(&blocks, 1);
	if (load_relaxed(&blocks) % AGAIN == 0)
		measure_again();
	store_relaxed(&app->hook_ps,
		load_relaxed(&sum_ps) / load_relaxed(&samples) +
			1000 * load_relaxed(&all_ns) / (load_relaxed(&blocks) * (BLOCK_WORDS - 1)));
}
