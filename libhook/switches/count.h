/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are counted: off (switches.h), but each call is known with its call path. A call
 * adds 1 to a word of the ring's page and closes the fast path; so the thread's next event takes
 * the slow one, which first stores COUNTED records (shm/record.h) of what has grown.
 *
 * A signal handler may come between any two instructions. The fast path is closed before the
 * addition, so that a handler in between stores what was counted before, and after it, as that
 * handler has opened it again. A second handler between the last two instructions stores its
 * events without the interrupted call, which then has the path of the next event: no call is lost.
 *
 * The slow path opens the fast one as if nothing was counted since it began: so calls of a handler
 * that finds it are not counted but lost, as all its calls are.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_COUNT_H
#define VFTR_LIBHOOK_SWITCHES_COUNT_H

#include "libhook/process.h"

/* One more: by one instruction, between which and itself no handler can come. */
static inline __attribute__((always_inline)) void count_one(uint64_t *word)
{
#if defined(__x86_64__)
	__asm__ volatile("incq %0" : "+m"(*word) : : "cc");
#elif defined(__aarch64__)
	uint64_t value;
	uint32_t failed;

	__asm__ volatile("1:	ldxr	%0, [%2]\n"
			 "	add	%0, %0, #1\n"
			 "	stxr	%w1, %0, [%2]\n"
			 "	cbnz	%w1, 1b\n"
			 : "=&r"(value), "=&r"(failed)
			 : "r"(word)
			 : "memory");
#else
	++*word;
#endif
}

/* A call of function `number` by thread *t, which has the ring of *s and is not in the library,
 * while recording is not paused. */
static inline __attribute__((always_inline)) void count_by_path(
	struct thread *t, struct switched_shm *s, uint32_t number)
{
	store_relaxed(&t->limit, NULL);
	fence_signal();
	count_one(&s->calls[number]);
	fence_signal();
	store_relaxed(&t->limit, NULL);
}

#pragma GCC visibility push(hidden)

/*
 * The same of any thread: also of a new one, in a copy of a process that is not attached yet,
 * in a pause, or if a handler has interrupted the slow path. number is below SWITCHES_MAX.
 */
void vftr_count_slowly(uint32_t number);

/*
 * The address of instructions that count a call of function `number`, in reach of those that call
 * `target` with 32 bits, of which the upper 8 become *byte: the highest ones of the distance as it
 * is in the code, in front of `end`. 0: there is no place, or the system refuses. In call-sites.c,
 * with signals blocked and no other thread in it.
 */
uint64_t vftr_count_stub(uint64_t target, uint64_t end, unsigned number, uint8_t *byte);

/* Where these instructions jump to, with the function's number in %eax. */
void vftr_count_here(void);

#pragma GCC visibility pop

#endif
