/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that the gate (thread.h) does not let pass: of functions that are off, or were. For the
 * hooks of functions, which gated.c compiles, and for those of sleds, which sled-hooks.c compiles
 * without vector registers.
 *
 * The table is open addressing over words that are stored at once, so that hooks
 * read it without a lock: id << 32 | state | 1 + number. Entries are only added; that of code
 * that was unloaded becomes id << 32.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_GATED_H
#define VFTR_LIBHOOK_SWITCHES_GATED_H

#include "libhook/process.h"
#include "libhook/switches/call-sites.h"
#include "libhook/switches/count.h"

#define SLOTS	 256u /* a power of two, and always mostly free */
#define NUMBER	 127u
#define ON_AGAIN 128u
#define REMOVED	 256u  /* its calls of the hooks may be taken out: it has no recorded call open */
#define ONCE	 512u  /* it was REMOVED, so there may be open calls that nobody knows of */
#define COUNTED	 1024u /* while it is off, its calls are counted by call path */
#define STATES	 (ON_AGAIN | REMOVED | ONCE | COUNTED)

_Static_assert(SWITCHES_MAX < NUMBER, "bits of their own");
_Static_assert(2 * SWITCHES_MAX < SLOTS, "a search ends");

/* switches.c */
extern uint64_t vftr_switch_table[SLOTS] __attribute__((visibility("hidden")));
/* A function may be on again, or be removed, and where all is off no block is published that would
 * tell. */
void vftr_switches_look(void) __attribute__((visibility("hidden"), noinline, cold));

static inline unsigned switch_slot(uint32_t id)
{
	return (id * 0x9e3779b1u) >> 24;
}

/* 1 + number and its state, or 0. */
static inline uint32_t switch_find(uint32_t id)
{
	uint64_t entry;

	for (unsigned i = switch_slot(id); (entry = load_relaxed(&vftr_switch_table[i]));
		i = (i + 1) % SLOTS)
		if (entry >> 32 == id)
			return (uint32_t)entry;
	return 0;
}

/* A child that is not told of yet would count for its parent; and where modules overlap in the low
 * half, an id may be another function's as well. */
static inline bool may_count(const struct thread *t)
{
	return t->ring.base && load_relaxed(&vftr_own.here) && !vftr_process.modules_wide;
}

static inline bool count_exit(struct switched_shm *s, uint32_t number)
{
	if (!s->open[number])
		return false;
	s->open[number]--;
	return true;
}

static inline void count_call(struct switched_shm *s, uint32_t number, bool by_path)
{
	if (load_relaxed(&vftr_process.pauses))
		return;
	if (by_path && unlikely(vftr_thread.busy))
		vftr_count_slowly(number);
	else if (by_path)
		count_by_path(&vftr_thread, s, number);
	else
		count_one(&s->calls[number]);
}

static inline void count_enter(struct switched_shm *s, uint32_t number, bool by_path)
{
	count_call(s, number, by_path);
	s->open[number]++;
}

/* In a pause that goes on; or while the ring is full, below a call that was not recorded. */
static inline bool is_skipping(const struct thread *t)
{
	const uint32_t pauses = load_relaxed(&vftr_process.pauses);
	uint32_t orders;

	if (t->jumped || t->vfork_children || t->blocked_until || !process_is_on() ||
		t->generation != vftr_process.generation)
		return false;
	orders = load_relaxed(&vftr_process.agent->orders);
	if (t->state == THREAD_PAUSED)
		return pauses && orders == (pauses & PAUSED_BY_AGENT ? ORDER_PAUSE : 0);
	/* a lost call is in the sums of counters */
	return t->state == THREAD_DROPPING && t->skipped_depth && !t->counters && !pauses &&
	       !orders;
}

/* As skip() and drop() of slow.c. */
static inline void skip_enter(struct thread *t, uint64_t key, const void *site)
{
	if (!t->skipped_depth++) {
		t->skipped_at = t->busy_at;
		t->skipped_key = key;
		t->skipped_site = site;
		t->skipped_return = 0;
	}
	if (t->state == THREAD_DROPPING) {
		t->lost_here++;
		t->ring.producer->lost++;
	}
}

/* There a call of a function is only counted, as slow.c does, without its cost. False: it is not
 * there, or the exit of a recorded call. */
static inline bool skip_event(struct thread *t, uint64_t exit_bit, uint64_t key, const void *site)
{
	bool skipped;

	if ((t->state != THREAD_PAUSED && t->state != THREAD_DROPPING) || t->busy)
		return false;
	busy_begin_at(t, site);
	t->left = 1; /* if it is cancelled at once, as in busy_end_surely() */
	fence_signal();
	/* only now: a handler may have changed it before */
	skipped = is_skipping(t) && (!exit_bit || t->skipped_depth);
	if (skipped && exit_bit)
		t->skipped_depth--;
	else if (skipped)
		skip_enter(t, key, site);
	busy_end(t);
	return skipped;
}

/* An event that is recorded after all. */
static inline void record_event(
	struct thread *t, uint64_t exit_bit, uint64_t key, const void *site, bool is_code)
{
	if (t->state == THREAD_OFF && load_relaxed(&vftr_process.state) == PROCESS_OFF)
		return;
	if (is_code && skip_event(t, exit_bit, key, site))
		return;
	if (is_code && load_relaxed(&vftr_own.gate) == GATE_SWITCHES)
		vftr_store(exit_bit, key, site);
	else
		vftr_slow(clock_counter(), exit_bit, key, site);
}

/*
 * Of a function that is on again: calls inside of one that is not recorded are not, either, so that
 * each exit finds its enter. Or of one that is counted.
 */
static inline bool is_counted_on_again(
	struct switched_shm *s, uint64_t exit_bit, uint32_t number, uint32_t state)
{
	if (!s->open[number] && state & ON_AGAIN)
		return false;
	if (exit_bit)
		return count_exit(s, number);
	count_enter(s, number, state & COUNTED);
	if (unlikely(!(uint8_t)s->calls[number]))
		vftr_switches_look();
	return true;
}

/*
 * Of a function that was REMOVED, and is on or off now. Its calls on a thread are, from the
 * outermost: some that were not recorded, of which nobody knows how many are open; recorded
 * ones; counted ones. An exit is that of the innermost. True if it is not to be recorded.
 */
static inline bool is_left_out(
	struct switched_shm *s, uint64_t exit_bit, uint32_t number, uint32_t state)
{
	const bool is_on = state & ON_AGAIN;

	if (is_on)
		s->open[number] = 0; /* these may have been taken out since */
	if (!exit_bit && is_on) {
		s->recorded[number]++;
		return false;
	}
	if (!exit_bit) {
		count_enter(s, number, state & COUNTED);
		if (unlikely(!(uint8_t)s->calls[number]))
			vftr_switches_look();
		return true;
	}
	if (count_exit(s, number) || !s->recorded[number])
		return true;
	s->recorded[number]--;
	return false;
}

/* REMOVED: the call of the hook is taken out, or else counted at its start. */
static inline void take_out(struct switched_shm *s, const struct hook_call *call)
{
	if (!vftr_thread.busy && vftr_call_site_remove(call) && !call->counted)
		return;
	if (!call->at_end) {
		count_call(s, call->number, call->counted);
		if (unlikely(!(uint8_t)s->calls[call->number]))
			vftr_switches_look();
	}
}

/* Of a function that has a state. gated() jumps here, so that our return address is that of the
 * hook. */
static __attribute__((noinline)) void take_state(
	uint64_t exit_bit, uint64_t key, const void *site, uint32_t state)
{
	struct thread *t = &vftr_thread;
	struct switched_shm *s = may_count(t) ? ring_switched(t->ring.producer) : NULL;
	const uint32_t number = (state & NUMBER) - 1;

	if (s && state & REMOVED) {
		take_out(s, &(struct hook_call){__builtin_return_address(0), key, number,
				    exit_bit != 0, state & COUNTED});
		return;
	}
	if (s && state & ONCE && is_left_out(s, exit_bit, number, state))
		return;
	if (s && !(state & ONCE) && is_counted_on_again(s, exit_bit, number, state))
		return;
	record_event(t, exit_bit, key, site, true);
	if (!s && !exit_bit && state & ON_AGAIN && may_count(t)) /* the first event of a thread */
		ring_switched(t->ring.producer)->recorded[number]++;
}

/*
 * Events that the gate does not let pass: most of them for one of the reasons here. What it calls
 * is called at its end: it needs no frame, which would cost each call that is off.
 */
static inline __attribute__((always_inline)) void gated(
	uint64_t key, const void *site, uint64_t exit_bit)
{
	struct thread *t = &vftr_thread;
	bool is_code = (uint32_t)key >= RECORD_ID_FUNCTION && !RECORD_IS_REGION(key);
	uint32_t number = UINT32_MAX;
	struct switched_shm *s;

	if (is_code && load_relaxed(&vftr_process.switches) && !t->vfork_children)
		number = switch_find((uint32_t)key) - 1;
	if (unlikely(number - ON_AGAIN < STATES)) {
		take_state(exit_bit, key, site, number + 1);
		return;
	}
	if (number < SWITCHES_MAX && may_count(t)) {
		s = ring_switched(t->ring.producer);
		if (exit_bit && count_exit(s, number))
			return;
		if (!exit_bit) {
			count_enter(s, number, false);
			if (unlikely(!(uint8_t)s->calls[number]))
				vftr_switches_look();
			return;
		}
	}
	record_event(t, exit_bit, key, site, is_code);
}

#endif
