/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least that hooks with exact times can do: read the clock and store one word in a private
 * block that begins anew when it is full. Times are modulo 2^31: who finds wraps does more. What
 * ours cost is compared with this. The words are volatile, as nobody reads them: else the compiler
 * leaves the stores out.
 */
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define EXPORT __attribute__((no_instrument_function, visibility("default"), hot))

enum { BLOCK_BYTES = 4096 };

static __thread volatile uint64_t block[BLOCK_BYTES / 8]
	__attribute__((tls_model("initial-exec"), aligned(BLOCK_BYTES)));
static __thread volatile uint64_t *next __attribute__((tls_model("initial-exec")));

static inline __attribute__((always_inline, no_instrument_function)) uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#endif
}

static inline __attribute__((always_inline, no_instrument_function)) void store(
	uint64_t exit, void *function)
{
	const uint64_t now = ticks();
	volatile uint64_t *word = next;

	if (__builtin_expect((uintptr_t)word % BLOCK_BYTES == 0, 0)) /* its end, or NULL */
		word = block;
	*word = now << 33 | exit | (uint32_t)(uintptr_t)function;
	next = word + 1;
}

EXPORT void __cyg_profile_func_enter(void *function, void *call_site);
EXPORT void __cyg_profile_func_exit(void *function, void *call_site);

EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
	(void)call_site;
	store(0, function);
}

EXPORT void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	store((uint64_t)1 << 32, function);
}
