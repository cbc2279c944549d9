/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reserve() takes the next word of a staging block, reserve_words() the next n:
 * *cur is advanced and its old value returned by one instruction, so a signal handler on the same
 * thread sees it before or after, never between. No lock prefix: no other
 * thread ever touches it. On aarch64, a load and a store, which fails if a handler came in
 * between; then both are repeated.
 */
#ifndef VFTR_LIBHOOK_RESERVE_H
#define VFTR_LIBHOOK_RESERVE_H

#include <stdint.h>

static inline __attribute__((always_inline)) uint64_t *reserve_words(uint64_t **cur, unsigned n)
{
#if defined(__x86_64__)
	uint64_t old = 8 * (uint64_t)n;

	__asm__ volatile("xaddq %0, %1" : "+r"(old), "+m"(*cur) : : "cc");
	return (uint64_t *)old;
#elif defined(__aarch64__)
	uint64_t old, new;
	uint32_t failed;

	__asm__ volatile("1:	ldxr	%0, [%3]\n"
			 "	add	%1, %0, %4\n"
			 "	stxr	%w2, %1, [%3]\n"
			 "	cbnz	%w2, 1b\n"
			 : "=&r"(old), "=&r"(new), "=&r"(failed)
			 : "r"(cur), "r"(8 * (uint64_t)n)
			 : "memory");
	return (uint64_t *)old;
#else
	uint64_t *old = *cur;

	*cur += n;
	return old;
#endif
}

static inline __attribute__((always_inline)) uint64_t *reserve(uint64_t **cur)
{
	return reserve_words(cur, 1);
}

#endif
