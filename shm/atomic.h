/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The only place where memory orders are spelled out. Words that two
 * processes share are accessed through these and nothing else.
 */
#ifndef VFTR_SHM_ATOMIC_H
#define VFTR_SHM_ATOMIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef load_relaxed /* a model test brings its own */
#define load_relaxed(p)	    __atomic_load_n((p), __ATOMIC_RELAXED)
#define load_acquire(p)	    __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define fence_full()	    __atomic_thread_fence(__ATOMIC_SEQ_CST)
/* what was stored before is seen before what is stored after */
#define fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
/* what was loaded before is as old as what is loaded after, or older */
#define fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
/* orders this thread against its own signal handlers: the compiler only */
#define fence_signal() __atomic_signal_fence(__ATOMIC_SEQ_CST)
#endif

/* x >= the lower half of *p, loaded relaxed: where the processor can, in one instruction. */
static inline __attribute__((always_inline)) bool reaches_lower_half(uint32_t x, const uint64_t *p)
{
#if defined(__x86_64__)
	bool reaches;

	__asm__ volatile("cmpl %2, %1" : "=@ccae"(reaches) : "r"(x), "m"(*p));
	return reaches;
#else
	return x >= (uint32_t)load_relaxed(p);
#endif
}

/* Claims *p by changing it from old to new; true for the one who did. */
static inline bool claim_u32(uint32_t *p, uint32_t old, uint32_t new)
{
	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline bool claim_u64(uint64_t *p, uint64_t old, uint64_t new)
{
	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static inline bool claim_u8(uint8_t *p, uint8_t old, uint8_t new)
{
	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The same for a pointer that is still NULL. */
static inline bool claim_null(uint32_t **p, uint32_t *new)
{
	uint32_t *old = NULL;

	return __atomic_compare_exchange_n(p, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline uint32_t add_relaxed_u32(uint32_t *p, uint32_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

static inline uint64_t add_relaxed_u64(uint64_t *p, uint64_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_RELAXED);
}

static inline uint64_t add_release_u64(uint64_t *p, uint64_t n)
{
	return __atomic_fetch_add(p, n, __ATOMIC_RELEASE);
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

#endif
