/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libvftrace-memory.so asks us for (shm/memory.h). It finds this table by the name of the
 * function below, when the program is loaded; without it, or if the agent does not want memory
 * recorded, nothing here runs.
 */
#include "shm/memory.h"

#include "libhook/emit.h"
#include "libhook/process.h"

#define EXPORT __attribute__((visibility("default")))

static enum memory_state memory_state(void)
{
	struct thread *t = &vftr_thread;

	if (load_relaxed(&vftr_process.state) == PROCESS_OFF)
		return MEMORY_OFF;
	if (thread_is_busy(t) || vftr_thread_is_vfork_child(t))
		return MEMORY_LATER;
	if (t->state == THREAD_NEW && t->endings) /* it is about to end, and needs no other ring */
		return MEMORY_LATER;
	if (t->state == THREAD_NEW || t->generation != vftr_process.generation || !process_is_on())
		vftr_slow(clock_counter(), 0, 0, NULL);
	if (!process_is_on() || !vftr_process.memory_mean)
		return MEMORY_OFF;
	return t->state == THREAD_ACTIVE ? MEMORY_ON : MEMORY_LATER;
}

static uint32_t memory_generation(void)
{
	return load_relaxed(&vftr_process.generation);
}

static void memory_wanted(uint64_t *large, uint64_t *mean)
{
	*large = vftr_process.memory_large;
	*mean = vftr_process.memory_mean;
}

static const struct memory_host host = {.version = MEMORY_SEAM_VERSION,
	.state = memory_state,
	.generation = memory_generation,
	.wanted = memory_wanted,
	.record = vftr_emit_4,
	.ticks = vftr_process_ticks};

EXPORT memory_host_function vftrace_memory_host;
EXPORT const struct memory_host *vftrace_memory_host(void)
{
	return &host;
}
