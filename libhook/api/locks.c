/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libvftrace-locks.so asks us for (shm/locks.h). It finds this table by the name of the
 * function below, when the program is loaded; without it, or if the agent does not want locks
 * recorded, nothing here runs.
 */
#include <pthread.h>
#include <string.h>
#include "libhook/emit.h"
#include "libhook/openmp/construct.h"
#include "libhook/process.h"
#include "shm/locks.h"

#define EXPORT __attribute__((visibility("default")))

static bool locks_on(void)
{
	struct thread *t = &vftr_thread;

	if (load_relaxed(&vftr_process.state) == PROCESS_OFF || thread_is_busy(t) ||
		vftr_thread_is_vfork_child(t))
		return false;
	if (t->state == THREAD_NEW || t->generation != vftr_process.generation || !process_is_on())
		vftr_slow(clock_counter(), 0, 0, NULL);
	return process_is_on() && vftr_process.locks_wanted && t->state != THREAD_OFF;
}

static uint32_t locks_generation(void)
{
	return load_relaxed(&vftr_process.generation);
}

static void locks_tell(uint32_t number, enum lock_kind kind, uint32_t nth, const void *address)
{
	struct wire_lock m = {.head.kind = WIRE_LOCK,
		.number = number,
		.kind = kind,
		.nth = nth,
		.address = (uintptr_t)address};

	vftr_define(&m.head, sizeof(m), NULL, 0);
}

/* 1 + the number of the region, as vftr_construct() has it, or 0. */
static uint32_t region_of(const char *name, uint32_t *cache)
{
	uint32_t region = load_relaxed(cache);
	uint64_t number;

	if (region || !vftr_region_number(name, strlen(name), &number) || number >= OPENMP_TURN)
		return region;
	region = (uint32_t)number + 1;
	store_relaxed(cache, region);
	return region;
}

static void locks_wait(enum lock_wait how, const char *name, uint32_t *cache, uint32_t number)
{
	static const uint64_t flags[] = {[LOCK_WAIT_OVER] = OPENMP_TURN};
	const uint64_t lock = how == LOCK_WAIT_NONE ? 0 : (uint64_t)number << 32;
	const uint32_t region = region_of(name, cache);

	if (how == LOCK_WAIT_BEGINS)
		vftr_wait(0, region, lock);
	else if (!thread_is_busy(&vftr_thread))
		vftr_wait(RECORD_EXIT, region, how == LOCK_WAIT_OVER ? lock | flags[how] : lock);
}

static void locks_leaves(uint32_t number, uint64_t ticks)
{
	if (locks_on())
		vftr_emit_3(RECORD_UNLOCK, number,
			OPENMP_MARK | (ticks ? ticks : vftr_process_ticks()));
}

void vftr_locks_thread_ends(void)
{
	if (vftr_process.locks_wanted)
		locks_leaves(lock_number((uint64_t)pthread_self(), LOCK_THREAD), 0);
}

static const struct locks_host host = {.version = LOCKS_SEAM_VERSION,
	.on = locks_on,
	.generation = locks_generation,
	.tell = locks_tell,
	.wait = locks_wait,
	.leaves = locks_leaves,
	.ticks = vftr_process_ticks};

EXPORT locks_host_function vftrace_locks_host;
EXPORT const struct locks_host *vftrace_locks_host(void)
{
	return &host;
}
