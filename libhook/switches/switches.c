/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/switches.h"

#include <string.h>
#include "libhook/process.h"
#include "libhook/switches/call-sites.h"
#include "libhook/switches/count.h"
#include "libhook/switches/gated.h"

uint64_t vftr_switch_table[SLOTS];
static uint32_t ids[SWITCHES_MAX]; /* by number; a child of fork() has them before the agent does */
static uint32_t following;
static uint64_t on_seen, removed_seen; /* of the agent's page */
static uint64_t once;		       /* bits of functions that have been REMOVED */

/* With `following` held. Unloaded code that is there again is another function. */
static void add(uint32_t id, uint32_t entry)
{
	const uint64_t wanted = (uint64_t)id << 32 | entry;
	uint64_t known;
	unsigned i = switch_slot(id);

	while ((known = load_relaxed(&vftr_switch_table[i])) && known >> 32 != id)
		i = (i + 1) % SLOTS;
	if (!known || ((uint32_t)known && known != wanted))
		store_relaxed(&vftr_switch_table[i], wanted);
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

		if (!id) /* the agent does not know yet that a child has its parent's */
			id = load_relaxed(&ids[i]);
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
	memset(vftr_switch_table, 0, sizeof(vftr_switch_table));
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
		uint64_t entry = load_relaxed(&vftr_switch_table[i]);

		if ((uint32_t)((entry >> 32) - low) < high - low && entry)
			store_relaxed(&vftr_switch_table[i], entry >> 32 << 32);
	}
}

void vftr_switches_look(void)
{
	const struct switches_shm *s = control_switches(vftr_process.agent);
	const uint64_t on = load_relaxed(&s->on);

	if (on != load_relaxed(&on_seen) ||
		(load_relaxed(&s->removed) & ~on) != load_relaxed(&removed_seen))
		vftr_switches_follow();
}
