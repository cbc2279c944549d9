/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stack samples that a process takes of its own threads, by timers, where the kernel gives none:
 * the agent's end of shm/stack-samples.h. Nothing there is believed.
 */
#ifndef VFTR_NODEAGENT_STACK_TIMERS_H
#define VFTR_NODEAGENT_STACK_TIMERS_H

#include <stddef.h>
#include <stdint.h>

struct stack_raw;
struct stack_timers;

/* Memory for the samples of one process. *fd: the segment, for sending to the process;
 * stack_timers_free() closes it. bytes: a power of 2, as of a ring (shm/segment.h). period_ns: of a
 * thread's CPU time. NULL: *error is a positive errno. The caller frees. */
struct stack_timers *stack_timers_new(size_t bytes, uint64_t period_ns, int *fd, int *error);
void stack_timers_free(struct stack_timers *t);
size_t stack_timers_bytes(const struct stack_timers *t);

/* Sets the period from now on; period_ns: a multiple of the first one. */
void stack_timers_set_period(struct stack_timers *t, uint64_t period_ns);

/*
 * Calls take() for the stored samples, oldest first, at most `most' of them; s is valid during the
 * call, and tid is what the process says. In a copy of the agent reads nothing.
 */
void stack_timers_read(struct stack_timers *t, size_t most,
	void (*take)(void *ctx, int tid, const struct stack_raw *s), void *ctx);

/* The counts that the process has written so far. */
struct stack_timers_state {
	uint64_t lost;	    /* periods for which there was no room */
	uint64_t late;	    /* periods whose stack is not known, as the signal came too late */
	uint32_t timerless; /* threads without a timer */
	int end;	    /* enum stack_samples_end */
};
struct stack_timers_state stack_timers_state(const struct stack_timers *t);

#endif
