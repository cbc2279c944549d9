/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ticks: the time of the cheapest clock that all CPUs of a node share. x86-64 has rdtsc
 * (used where the kernel calls it constant and nonstop), aarch64 the virtual
 * counter; the fall-back is CLOCK_MONOTONIC_RAW in nanoseconds. The agent
 * chooses the source, tells the processes, and converts ticks to time.
 */
#ifndef VFTR_SHM_CLOCK_H
#define VFTR_SHM_CLOCK_H

#include <stdint.h>
#include <time.h>
#include "shm/record.h"

enum clock_source { CLOCK_SOURCE_COUNTER = 1, CLOCK_SOURCE_RAW = 2 };

static inline uint64_t clock_raw_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_counter(void)
{
#if defined(__x86_64__)
	uint32_t lo, hi;

	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	return (uint64_t)hi << 32 | lo;
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
	return clock_raw_ns();
#endif
}

/* clock_counter(), as a record has it. */
static inline struct record_time clock_record_time(void)
{
#if defined(__x86_64__)
	struct record_time now;

	/* the counter comes in halves of 32 bits */
	__asm__ volatile("rdtsc\n"
			 "	add	%0, %0\n"
			 "	adc	%1, %1\n"
			 : "=a"(now.low), "=d"(now.high)
			 :
			 : "cc");
	return now;
#else
	return record_time_of(clock_counter());
#endif
}

#endif
