/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stack samples from the kernel: a perf event counts the CPU time of one thread. At the end of each
 * period in which it finds the thread outside of the kernel, it stores the thread's registers and
 * the top of its stack in a ring. For the process that has opened it: a copy of the agent may only
 * close.
 */
#ifndef VFTR_NODEAGENT_STACK_EVENTS_H
#define VFTR_NODEAGENT_STACK_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack_events;

/* A sample as the kernel, or the process (timers.h), has stored it; valid during the call. */
struct stack_raw {
	uint64_t raw_ns;	    /* CLOCK_MONOTONIC_RAW, if ticks is 0 */
	uint64_t ticks;		    /* as those of records, or 0: not known */
	uint64_t period_ns;	    /* CPU time for which it stands */
	const uint64_t *regs;	    /* STACK_REGS of them: those that unwind.c knows */
	const unsigned char *stack; /* the bytes from the stack pointer on ... */
	size_t stack_bytes;	    /* ... that were there */
	bool is_cut;		    /* there may be more of it */
};

/* How much of a stack is stored: 8 KiB, which most programs do not exceed, or 60 KiB. */
enum stack_depth { STACK_USUAL, STACK_DEEP };

#if defined(__x86_64__)
#define STACK_REGS 20
#elif defined(__aarch64__)
#define STACK_REGS 33
#else
#define STACK_REGS 0 /* not on this processor */
#endif

/* Bytes of memory that the ring of one thread takes. */
size_t stack_events_bytes(enum stack_depth depth);

/* 0, or the errno with which the kernel refuses samples of this process. */
int stack_events_refused(void);
/*
 * What such an errno means, "perf_event_paranoid is 3, and ..."; the caller frees. NULL: not a
 * refusal, but too little memory or too few descriptors.
 */
char *stack_events_why(int error);

/* For the thread tid, with a sample each period_ns of its CPU time. NULL: *error is a positive
 * errno; ESRCH: the thread has ended. The caller closes. */
struct stack_events *stack_events_open(
	int tid, uint64_t period_ns, enum stack_depth depth, int *error);
void stack_events_close(struct stack_events *e);

/* Sets the period from now on. To be called when all stored samples were read, as they get the new
 * period, too. */
void stack_events_set_period(struct stack_events *e, uint64_t period_ns);

/*
 * Calls take() for the stored samples, oldest first, at most `most'. Returns false if the thread
 * has become another program (execve()): then no more samples come.
 */
bool stack_events_read(struct stack_events *e, size_t most,
	void (*take)(void *ctx, const struct stack_raw *s), void *ctx);

/* CPU time of the thread since the event was opened, also in the kernel; 0: it cannot be read. */
uint64_t stack_events_cpu_ns(const struct stack_events *e);

/* Samples that the kernel had no room for, so far. */
uint64_t stack_events_lost(const struct stack_events *e);

#endif
