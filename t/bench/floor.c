/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least that hooks with exact times can do: read the clock and store 16
 * bytes in a private buffer that wraps. What ours cost is compared with this.
 */
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define EXPORT __attribute__((no_instrument_function, visibility("default"), hot))

enum { RECORDS = 16384 }; /* 256 KiB, a power of two */

struct record {
	uint64_t ticks;
	uint64_t function; /* bit 63: exit */
};

static __thread struct record buffer[RECORDS] __attribute__((tls_model("initial-exec")));
static __thread size_t next __attribute__((tls_model("initial-exec")));

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

static inline __attribute__((always_inline, no_instrument_function)) void store(uint64_t function)
{
	struct record *r = &buffer[next++ % RECORDS];

	r->ticks = ticks();
	r->function = function;
}

EXPORT void __cyg_profile_func_enter(void *function, void *call_site);
EXPORT void __cyg_profile_func_exit(void *function, void *call_site);

EXPORT void __cyg_profile_func_enter(void *function, void *call_site)
{
	(void)call_site;
	store((uintptr_t)function);
}

EXPORT void __cyg_profile_func_exit(void *function, void *call_site)
{
	(void)call_site;
	store((uintptr_t)function | (uint64_t)1 << 63);
}
