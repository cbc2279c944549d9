/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table is open addressing over words that are stored at once, so that hooks
 * read it without a lock: id << 32 | state | 1 + number. Entries are only added; that of code
 * that was unloaded becomes id << 32.
 */
#include "libhook/switches.h"

#include <string.h>
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

static uint64_t table[SLOTS];
static uint32_t ids[SWITCHES_MAX]; /* by number; a child of fork() has them before the agent does */
static uint32_t following;
static uint64_t on_seen, removed_seen; /* of the agent's page */
static uint64_t once;		       /* bits of functions that have been REMOVED */

_Static_assert(SWITCHES_MAX < NUMBER, "bits of their own");
_Static_assert(2 * SWITCHES_MAX < SLOTS, "a search ends");

static inline unsigned first_slot(uint32_t id)
{
	return (id * 0x9e3779b1u) >> 24;
}

/* 1 + number and its state, or 0. */
static inline uint32_t find(uint32_t id)
{
	uint64_t entry;

	for (unsigned i = first_slot(id); (entry = load_relaxed(&table[i])); i = (i + 1) % SLOTS)
		if (entry >> 32 == id)
			return (uint32_t)entry;
	return 0;
}

/* With `following` held. Unloaded code that is there again is another function. */
static void add(uint32_t id, uint32_t entry)
{
	const uint64_t wanted = (uint64_t)id << 32 | entry;
	uint64_t known;
	unsigned i = first_slot(id);

	while ((known = load_relaxed(&table[i])) && known >> 32 != id)
		i = (i + 1) % SLOTS;
	if (!known || ((uint32_t)known && known != wanted))
		store_relaxed(&table[i], wanted);
}

static uint32_t state_of(uint32_t number, uint64_t on, uint64_t removed)
{
	const uint64_t bit = (uint64_t)1 << number;

	return (number + 1) |
	       (on & bit	       ? ON_AGAIN
		       : removed & bit ? REMOVED
				       : 0) |
	       (once & bit ? ONCE : 0) |
	       (load_relaxed(&vftr_process.agent->counted) & bit ? COUNTED : 0);
}

static void add_all(const struct switches_shm *s, uint32_t n, uint64_t on, uint64_t removed)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = load_relaxed(&s->id[i]);

		if (!id)
			continue;
		store_relaxed(&ids[i], id);
		add(id, state_of(i, on, removed));
	}
}

/*
 * A function that is to be recorded again is off first, so that no thread takes a call out
 * again, until all of its calls are in the code: then each recorded enter has its exit. False if
 * that is not so yet.
 */
static bool take_over(const struct switches_shm *s, uint32_t n, uint64_t on, uint64_t removed)
{
	const uint64_t off_first = load_relaxed(&removed_seen) & ~removed;

	once |= removed;
	if (off_first)
		add_all(s, n, on & ~off_first, removed);
	if (!vftr_call_sites_allow(removed))
		return false;
	add_all(s, n, on, removed);
	return true;
}

void vftr_switches_follow(void)
{
	const struct switches_shm *s = control_switches(vftr_process.agent);
	struct switches_seen_shm *seen = &vftr_process.app->switches;
	uint32_t version = load_acquire(&s->version); /* pairs with the agent's publish() */
	uint32_t n = load_acquire(&s->n);
	uint64_t on, removed;

	if (!n || n > SWITCHES_MAX || !claim_u32(&following, 0, 1))
		return;
	on = load_relaxed(&s->on);
	removed = vftr_process.modules_wide ? 0 : load_relaxed(&s->removed) & ~on;
	if (take_over(s, n, on, removed)) {
		store_relaxed(&on_seen, on);
		store_relaxed(&removed_seen, removed);
		store_relaxed(&vftr_process.switches, n);
		claim_u64(&vftr_own.gate, GATE_FUNCTIONS, GATE_SWITCHES);
		/* pairs with removal_look(): by now the gate is shut */
		store_release(&seen->version, version);
	}
	store_release(&following, 0);
}

void vftr_switches_attach(void)
{
	uint32_t n = load_acquire(&control_switches(vftr_process.agent)->n);

	store_relaxed(&following, 0); /* a thread of the parent */
	vftr_call_sites_attach();
	if (n >= vftr_process.switches)
		return;
	memset(table, 0, sizeof(table));
	memset(ids, 0, sizeof(ids));
	vftr_process.switches = 0;
	on_seen = removed_seen = once = 0;
	vftr_call_sites_allow(0);
}

void vftr_switches_begin(struct thread *t)
{
	struct switched_shm *s = ring_switched(t->ring.producer);

	memset(s, 0, sizeof(*s));
	for (uint32_t i = 0; i < SWITCHES_MAX; i++)
		s->id[i] = load_relaxed(&ids[i]);
	vftr_switches_share(t, t->vfork_children);
}

void vftr_switches_share(struct thread *t, bool shared)
{
	t->counts = shared || !t->ring.base ? NULL : ring_switched(t->ring.producer)->calls;
}

uint32_t vftr_switches_id(uint32_t number)
{
	const uint64_t counted = load_relaxed(&vftr_process.agent->counted);

	return counted >> number & 1 ? load_relaxed(&ids[number]) : 0;
}

void vftr_switches_unloaded(uint64_t low, uint64_t high)
{
	vftr_call_sites_unloaded(low, high);
	for (unsigned i = 0; load_relaxed(&vftr_process.switches) && i < SLOTS; i++) {
		uint64_t entry = load_relaxed(&table[i]);

		if ((uint32_t)((entry >> 32) - low) < high - low && entry)
			store_relaxed(&table[i], entry >> 32 << 32);
	}
}

/* A function may be on again, or be removed, and where all is off no block is published that would
 * tell. */
static __attribute__((noinline, cold)) void look_again(void)
{
	const struct switches_shm *s = control_switches(vftr_process.agent);
	const uint64_t on = load_relaxed(&s->on);

	if (on != load_relaxed(&on_seen) ||
		(load_relaxed(&s->removed) & ~on) != load_relaxed(&removed_seen))
		vftr_switches_follow();
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

/* An event that is recorded after all. */
static inline void record_event(
	struct thread *t, uint64_t exit_bit, uint64_t key, const void *site, bool is_code)
{
	if (t->state == THREAD_OFF && load_relaxed(&vftr_process.state) == PROCESS_OFF)
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
		look_again();
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
			look_again();
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
			look_again();
	}
}

/* Of a function that has a state. vftr_gated() jumps here, so that our return address is that of
 * the hook. */
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
__attribute__((hot)) void vftr_gated(uint64_t key, const void *site, uint64_t exit_bit)
{
	struct thread *t = &vftr_thread;
	bool is_code = (uint32_t)key >= RECORD_ID_FUNCTION && !RECORD_IS_REGION(key);
	uint32_t number = UINT32_MAX;
	struct switched_shm *s;

	if (is_code && load_relaxed(&vftr_process.switches) && !t->vfork_children)
		number = find((uint32_t)key) - 1;
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
				look_again();
			return;
		}
	}
	record_event(t, exit_bit, key, site, is_code);
}
