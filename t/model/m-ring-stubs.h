/* SPDX-License-Identifier: BSD-3-Clause */
/* What the slow path calls and the model of the ring does not have; for m-ring.c only. */
#ifndef VFTR_T_M_RING_STUBS_H
#define VFTR_T_M_RING_STUBS_H

#include "libhook/process.h"

void vftr_modules_refresh_rarely(uint64_t ticks)
{
}

void vftr_hook_cost_published(struct control_app_shm *app, uint64_t ns)
{
}

void vftr_switches_follow(void)
{
}

unsigned vftr_counts_due(const struct thread *t)
{
	return 0;
}

bool vftr_counts_next(struct thread *t, uint32_t *number, uint64_t word[COUNTED_WORDS])
{
	return false;
}

void vftr_counts_told(struct thread *t, const uint64_t word[COUNTED_WORDS])
{
}

bool vftr_pause_follow(void)
{
	return load_relaxed(&vftr_process.pauses);
}

void vftr_gated(uint64_t key, const void *site, uint64_t exit_bit)
{
	vftr_slow(clock_counter(), exit_bit, key, site);
}

bool vftr_slow_path_left(const struct thread *t, uintptr_t here, const void *site)
{
	return false;
}

void vftr_slow_path_repair(struct thread *t)
{
}

void vftr_skipped_forget(struct thread *t, uint64_t exit_bit, uint64_t key, const void *site)
{
}

bool vftr_thread_is_vfork_child(const struct thread *t)
{
	return false;
}

void vftr_process_born(void)
{
}

/* A wait ends by room or by the agent's end; t9703 has the end of all patience. */
void vftr_patience_begin(struct patience *p)
{
}

bool vftr_patience_left(struct patience *p)
{
	return true;
}

void vftr_process_give_up(void)
{
}

void vftr_process_attach(bool by_hook)
{
}

void vftr_thread_attach(struct thread *t)
{
}

void vftr_counters_event(struct counters *c, bool is_exit)
{
}

void vftr_counters_read(struct counters *c)
{
}

#endif
