/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table is open addressing over words that are stored at once, so that hooks
 * read it without a lock: id << 32 | 1 + number. Entries are only added; that of a
 * function which is on again has ON_AGAIN in it, and of code that was unloaded the number
 * becomes 0.
 */
#include "libhook/switches.h"

#include <string.h>
#include "libhook/process.h"

#define SLOTS	 256u /* a power of two, and always mostly free */
#define ON_AGAIN 128u

static uint64_t table[SLOTS];
static uint32_t following;
static uint64_t on_seen; /* of the agent's page */

_Static_assert(SWITCHES_MAX < ON_AGAIN, "a bit of its own");
_Static_assert(2 * SWITCHES_MAX < SLOTS, "a search ends");

static inline unsigned first_slot(uint32_t id)
{
	return (id * 0x9e3779b1u) >> 24;
}

/* 1 + number, maybe with ON_AGAIN, or 0. */
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

void vftr_switches_follow(void)
{
	const struct switches_shm *s = control_switches(vftr_process.agent);
	uint32_t n = load_acquire(&s->n);
	uint64_t on;

	if (!n || n > SWITCHES_MAX || !claim_u32(&following, 0, 1))
		return;
	on = load_relaxed(&s->on);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t id = load_relaxed(&s->id[i]);

		if (id)
			add(id, (i + 1) | (on >> i & 1 ? ON_AGAIN : 0));
	}
	store_relaxed(&on_seen, on);
	store_relaxed(&vftr_process.switches, n);
	claim_u64(&vftr_own.gate, GATE_FUNCTIONS, GATE_SWITCHES);
	store_release(&following, 0);
}

void vftr_switches_attach(void)
{
	uint32_t n = load_acquire(&control_switches(vftr_process.agent)->n);

	store_relaxed(&following, 0); /* a thread of the parent */
	if (n >= vftr_process.switches)
		return;
	memset(table, 0, sizeof(table));
	vftr_process.switches = 0;
	on_seen = 0;
}

void vftr_switches_begin(struct thread *t)
{
	memset(ring_switched(t->ring.producer), 0, sizeof(struct switched_shm));
}

void vftr_switches_unloaded(uint64_t low, uint64_t high)
{
	for (unsigned i = 0; load_relaxed(&vftr_process.switches) && i < SLOTS; i++) {
		uint64_t entry = load_relaxed(&table[i]);

		if ((uint32_t)((entry >> 32) - low) < high - low && entry)
			store_relaxed(&table[i], entry >> 32 << 32);
	}
}

/* A function may be on again, and where all is off no block is published that would tell. */
static __attribute__((noinline, cold)) void look_again(void)
{
	if (load_relaxed(&control_switches(vftr_process.agent)->on) != load_relaxed(&on_seen))
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

static inline void count_enter(struct switched_shm *s, uint32_t number)
{
	s->calls[number] += !load_relaxed(&vftr_process.pauses);
	s->open[number]++;
}

/* An event that is recorded after all. */
static inline void record_event(
	struct thread *t, uint64_t exit_bit, uint64_t key, const void *site, bool is_code)
{
	if (t->state == THREAD_OFF && load_relaxed(&vftr_process.state) == PROCESS_OFF)
		return;
	if (is_code && load_relaxed(&vftr_own.gate) == GATE_SWITCHES)
		vftr_store(clock_counter(), exit_bit, key, site);
	else
		vftr_slow(clock_counter(), exit_bit, key, site);
}

/*
 * Of a function that is on again: calls inside of one that is not recorded are not, either, so that
 * each exit finds its enter.
 */
static __attribute__((noinline)) void take_on_again(
	uint64_t exit_bit, uint64_t key, const void *site, uint32_t number)
{
	struct thread *t = &vftr_thread;
	struct switched_shm *s = may_count(t) ? ring_switched(t->ring.producer) : NULL;

	if (!s || !s->open[number])
		record_event(t, exit_bit, key, site, true);
	else if (exit_bit)
		count_exit(s, number);
	else
		count_enter(s, number);
}

/*
 * Events that the gate does not let pass: most of them for one of the reasons here. What it calls
 * is called at its end: it needs no frame, which would cost each call that is off.
 */
__attribute__((hot)) void vftr_gated(uint64_t exit_bit, uint64_t key, const void *site)
{
	struct thread *t = &vftr_thread;
	bool is_code = (uint32_t)key >= RECORD_ID_FUNCTION && !RECORD_IS_REGION(key);
	uint32_t number = UINT32_MAX;
	struct switched_shm *s;

	if (is_code && load_relaxed(&vftr_process.switches) && !t->vfork_children)
		number = find((uint32_t)key) - 1;
	if (unlikely(number - ON_AGAIN < SWITCHES_MAX)) {
		take_on_again(exit_bit, key, site, number - ON_AGAIN);
		return;
	}
	if (number < SWITCHES_MAX && may_count(t)) {
		s = ring_switched(t->ring.producer);
		if (exit_bit && count_exit(s, number))
			return;
		if (!exit_bit) {
			count_enter(s, number);
			if (unlikely(!(uint8_t)s->calls[number]))
				look_again();
			return;
		}
	}
	record_event(t, exit_bit, key, site, is_code);
}
