/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the model of the ring (m-ring.c) puts in place of shm/atomic.h, shm/copy.h,
 * shm/clock.h and shm/killpoint.h: the same, with a stop before each access to a
 * shared word; and faults that the model must notice. Comes before all of shm/.
 */
#ifndef VFTR_T_M_RING_ATOMIC_H
#define VFTR_T_M_RING_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_BYTES	   128u
#define SPINS_BEFORE_SLEEP 1

enum mutation { NONE, HEAD_BEFORE_COPY, ZERO_BEFORE_HEAD, NO_ROOM_CHECK, NOT_ZEROED, NOT_WAITING };
static enum mutation mutation;

void step(void);
void stored(const void *p, uint64_t value);
bool is_tail(const void *p);
bool is_waiting(const void *p);
uint64_t head_now(void);

/* in place of shm/atomic.h: the same, with a stop before each access */
#define load_relaxed(p)                                                                            \
	({                                                                                         \
		step();                                                                            \
		mutation == NO_ROOM_CHECK &&is_tail(p) ? (__typeof__(*(p)))(uintptr_t)head_now()   \
						       : __atomic_load_n((p), __ATOMIC_SEQ_CST);   \
	})
#define load_acquire(p) load_relaxed(p)
#define store_relaxed(p, v)                                                                        \
	do {                                                                                       \
		__typeof__(*(p)) v_ = (v);                                                         \
		step();                                                                            \
		if (!(mutation == NOT_WAITING && is_waiting(p)))                                   \
			__atomic_store_n((p), v_, __ATOMIC_SEQ_CST);                               \
		stored((p), (uint64_t)(uintptr_t)v_);                                              \
	} while (0)
#define store_release(p, v) store_relaxed(p, v)
#define fence_full()	    ((void)0)
#define fence_release()	    ((void)0)
#define fence_acquire()	    ((void)0)
#define fence_signal()	    step()

/* in place of shm/killpoint.h, shm/clock.h, shm/copy.h */
#define VFTR_SHM_KILLPOINT_H
#define KILLPOINT(name) step()
#define VFTR_SHM_CLOCK_H
#define TICKS (((uint64_t)6 << 31) - 9)
#define LATER (((uint64_t)6 << 31) + 7) /* the upper part is another */
#include "shm/record.h"
uint64_t ticks_now(void);
static inline uint64_t clock_counter(void)
{
	return ticks_now();
}
static inline struct record_time clock_record_time(void)
{
	return record_time_of(ticks_now());
}
static inline uint64_t clock_raw_ns(void)
{
	return 0;
}
#define VFTR_SHM_COPY_H
void publish_early(void);
static inline void zero_block(uint64_t *block)
{
	step();
	if (mutation != NOT_ZEROED)
		memset(block, 0, BLOCK_BYTES);
}
static inline void copy_block(uint64_t *to, const uint64_t *from)
{
	step();
	if (mutation == HEAD_BEFORE_COPY)
		publish_early();
	memcpy(to, from, BLOCK_BYTES);
	if (mutation == ZERO_BEFORE_HEAD)
		zero_block((uint64_t *)(uintptr_t)from);
}

#endif
