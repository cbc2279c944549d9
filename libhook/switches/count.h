/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are counted: off (switches.h), but each call is known with its call path. A call
 * adds 1 to a word of the ring's page and closes the fast path; so the thread's next event takes
 * the slow one, which first stores COUNTED records (shm/record.h) of what has grown.
 *
 * A signal handler may come between any two instructions. The fast path is closed twice: before the
 * addition, so that a handler that comes before the addition stores what was counted until then;
 * and after it, as that handler has opened the fast path again. A second handler that comes between
 * the addition and the second closing stores its events first, and the interrupted call gets the
 * path of the next event: no call is lost.
 *
 * The slow path opens the fast one without regard to what was counted since it began. So calls of a
 * handler that has interrupted the slow path are not counted here; they are lost, as all calls of
 * such a handler are.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_COUNT_H
#define VFTR_LIBHOOK_SWITCHES_COUNT_H

#include "libhook/process.h"

/* Adds 1; a signal handler sees it before or after (reserve.h). */
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
 * The same in any state of the calling thread: attaches the process and the thread if need be. In a
 * pause and without a ring nothing is counted; in a handler that has interrupted the slow path, the
 * call is lost. number is below SWITCHES_MAX.
 */
void vftr_count_slowly(uint32_t number);

/* A call that is to count: the instruction ends at `end` and calls `target`. */
struct counted_call {
	uint64_t target, end;
	unsigned number; /* of the function */
	bool sled;	 /* all registers are to be kept (sleds.h) */
};

/*
 * The address of instructions that count the call. It reaches them if the highest byte of its
 * 32-bit distance becomes *byte. Returns 0 if there is no place for them, or the system refuses.
 * For call-sites.c, with signals blocked and no other thread in it.
 */
uint64_t vftr_count_stub(const struct counted_call *call, uint8_t *byte);

/* These instructions jump here, with the function's number in %eax. */
void vftr_count_here(void);
/* sled-entry.S: the same, with it in %r11d. */
void vftr_sled_count_here(void);

#pragma GCC visibility pop

#endif
