/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stack samples that a process takes of itself, where the kernel gives none to the agent: a ring
 * that all threads of the process write, in a segment of the form of segment.h (of which the
 * staging blocks are not used).
 *
 *   a thread, in a signal handler             the agent
 *
 *   LOAD tail, room?          (A)             LOAD head
 *   CLAIM [head, head + n)                    LOAD ready of the record at tail (C)
 *   write the record                          copy it
 *   STORE ready of it         (B)             STORE tail               (D)
 *
 *   A pairs with D: a record is overwritten only after it was read. B pairs with C: what is ready
 *   is complete. Records are in the order of claims; the first that is not ready is waited for.
 *
 * A record does not wrap: if the rest of the ring is too short for one, a record of tid 0 fills it.
 * The agent checks every length.
 */
#ifndef VFTR_SHM_STACK_SAMPLES_H
#define VFTR_SHM_STACK_SAMPLES_H

#include <stdint.h>
#include "shm/segment.h"

#define STACK_SAMPLE_ALIGN 64u
/* As the kernel stores them for perf_event_open(2): by their numbers there. */
#if defined(__x86_64__)
#define STACK_SAMPLE_REGS 20
#elif defined(__aarch64__)
#define STACK_SAMPLE_REGS 33
#else
#define STACK_SAMPLE_REGS 0 /* not on this processor */
#endif
/* The most bytes of a stack that a sample has, usually, and while half of the ring is free. */
#define STACK_SAMPLE_USUAL 8192u
#define STACK_SAMPLE_DEEP  61440u

/* Why a process takes no samples any more. */
enum stack_samples_end {
	STACK_SAMPLES_GO_ON,
	STACK_SAMPLES_SIGNAL, /* the program uses the signal itself */
};

/* The first page: the process writes. */
struct stack_samples_app_shm {
	uint64_t head;	    /* bytes claimed; free running */
	uint64_t lost;	    /* periods for which there was no room */
	uint64_t late;	    /* periods whose signal came too late to say where they were spent */
	uint32_t timerless; /* threads for which the kernel had no timer */
	uint32_t end;	    /* enum stack_samples_end */
};

/* The second page: the agent writes. */
struct stack_samples_agent_shm {
	uint64_t tail; /* bytes taken; free running */
	uint32_t skip; /* periods without a sample after each one that has one */
};

struct stack_sample_shm {
	uint64_t ready; /* its position | 1 */
	uint32_t bytes; /* of the whole record, a multiple of STACK_SAMPLE_ALIGN */
	uint32_t tid;	/* 0: no sample */
	uint64_t ticks;
	uint32_t periods;     /* that it stands for */
	uint32_t stack_bytes; /* they follow: the stack from its pointer on */
	uint32_t is_cut;      /* 1: the stack has more bytes */
	uint32_t reserved;
	uint64_t regs[STACK_SAMPLE_REGS];
};

static inline struct stack_samples_app_shm *stack_samples_app(const struct ring *r)
{
	return r->base;
}

static inline struct stack_samples_agent_shm *stack_samples_agent(const struct ring *r)
{
	return (void *)((char *)r->base + SEGMENT_PAGE);
}

static inline struct stack_sample_shm *stack_sample_at(const struct ring *r, uint64_t position)
{
	return (void *)((char *)r->data + (position & (r->size - 1)));
}

/* Bytes of a record with stack_bytes of a stack. */
static inline uint32_t stack_sample_bytes(uint32_t stack_bytes)
{
	return (uint32_t)((sizeof(struct stack_sample_shm) + stack_bytes + STACK_SAMPLE_ALIGN - 1) &
			  ~(uint64_t)(STACK_SAMPLE_ALIGN - 1));
}

#endif
