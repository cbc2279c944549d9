/* SPDX-License-Identifier: BSD-3-Clause */
/* stack.c has the limits of all, threads.c the threads of one process. */
#ifndef VFTR_NODEAGENT_STACK_INTERNAL_H
#define VFTR_NODEAGENT_STACK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct host;
struct process;
struct stack_process;
struct thread_ring;

/* The state of a host; it exists from the first sampled process on. */
struct stacks {
	struct host *host;
	pid_t owner; /* copies of the agent (agent/snapshot.h) read nothing */
	uint64_t period_ns, first_period_ns;
	size_t rings, rings_most; /* of the kernel, now and at most */
	bool by_timers;		  /* processes sample themselves */
	size_t timer_bytes;	  /* of their memory for that */
	uint64_t late;		  /* periods, as in struct stack_timers_state */
	bool timers_ended;	  /* some process uses the signal itself, and it was said */
	uint64_t samples, lost;
	int refused;  /* errno: the kernel allows no samples */
	bool no_room; /* some threads have none, and it was said */

	uint64_t due_ns;  /* of the next pass, CLOCK_MONOTONIC_RAW */
	uint64_t look_ns; /* of the next look for threads in /proc */
	struct {
		uint64_t ticks, raw_ns;
	} first, now;			     /* pairs, for the clock of records */
	uint64_t window_ns, window_spent_ns; /* begin, CPU time since */
	unsigned windows_over;
};

/* CLOCK_MONOTONIC_RAW to the ticks of records. */
uint64_t stacks_ticks(const struct stacks *s, uint64_t raw_ns);
/* A length of time, in ticks. */
uint64_t stacks_weight(const struct stacks *s, uint64_t period_ns);
/* Says once that a thread of p has no samples. error: a positive errno; if that is the kernel's
 * refusal of all samples, sets s->refused. */
void stacks_refused(struct stacks *s, const struct process *p, int error);
/* Returns 0 if another ring may be made, or the errno for what there is too little of. */
int stacks_room(const struct stacks *s);

/*
 * Makes memory for the samples that a process takes itself, and sets p->samples; NULL: there is no
 * room for it, which was said.
 */
struct stack_timers *stacks_new_timers(struct stacks *s, struct process *p);
/* Frees that memory, and says what was wrong with it. t may be NULL. */
void stacks_free_timers(struct stacks *s, const struct process *p, struct stack_timers *t);

struct stack_process *stack_process_new(struct stacks *s, struct process *p);
void stack_process_free(struct stack_process *f);
/* Opens the rings of threads that have just come. */
void stack_process_open(struct stack_process *f);
/* Reads the rings of all its threads. */
void stack_process_read(struct stack_process *f);
/* Opens what is new, closes what has ended. */
void stack_process_look(struct stack_process *f);
/* s->period_ns has changed. */
void stack_process_set_period(struct stack_process *f);
/* stack_process_thread(): a thread with a ring comes. stack_process_thread_ends(): the records of
 * its ring are about to be read to the end. */
void stack_process_thread(struct stack_process *f, struct thread_ring *t);
void stack_process_thread_ends(struct stack_process *f, struct thread_ring *t);
/* All threads have ended, at these ticks: adds the trees of those without a ring to that of the
 * process. */
void stack_process_end(struct stack_process *f, uint64_t ticks);

#endif
