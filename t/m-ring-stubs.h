/* SPDX-License-Identifier: BSD-3-Clause */
/* What the slow path calls and the model of the ring does not have; for m-ring.c only. */
#ifndef VFTR_T_M_RING_STUBS_H
#define VFTR_T_M_RING_STUBS_H

#include "libhook/process.h"

void modules_refresh_rarely(uint64_t ticks)
{
}

void hook_cost_published(struct control_app_shm *app, uint64_t ns)
{
}

void switches_follow(void)
{
}

void vftr_gated(uint64_t exit_bit, uint64_t key, const void *site)
{
	vftr_slow(clock_counter(), exit_bit, key, site);
}

bool slow_path_left(const struct thread *t, uintptr_t here, const void *site)
{
	return false;
}

void slow_path_repair(struct thread *t)
{
}

void skipped_forget(struct thread *t, uint64_t exit_bit, uint64_t key, const void *site)
{
}

bool thread_is_guest(const struct thread *t)
{
	return false;
}

void process_born(void)
{
}

/* A wait ends by room or by the agent's end; t9703 has the end of all patience. */
void patience_begin(struct patience *p)
{
}

bool patience_left(struct patience *p)
{
	return true;
}

void process_give_up(void)
{
}

void process_attach(void)
{
}

void thread_attach(struct thread *t)
{
}

void counters_event(struct counters *c, bool is_exit)
{
}

void counters_read(struct counters *c)
{
}

#endif
