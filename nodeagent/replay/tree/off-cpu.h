/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time without a CPU of a thread, as a function of time, and the part of it for which the
 * thread waited for one. Both are known at some instants, the further apart the longer ago they
 * are; between two of them they are taken to rise evenly. Instants are ticks. For one thread of
 * the agent.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_OFF_CPU_H
#define VFTR_NODEAGENT_REPLAY_TREE_OFF_CPU_H

#include <stdint.h>

struct off_cpu;

/* Modulo 2^64, where parts are taken away before they are added. */
struct off_time {
	uint64_t ns;	    /* without a CPU */
	uint64_t queued_ns; /* of these, waiting for one; the others asleep, blocked or stopped */
};

static inline struct off_time off_time_less(struct off_time a, struct off_time b)
{
	return (struct off_time){a.ns - b.ns, a.queued_ns - b.queued_ns};
}

static inline void off_time_add(struct off_time *to, struct off_time more)
{
	to->ns += more.ns;
	to->queued_ns += more.queued_ns;
}

struct off_cpu *off_cpu_new(void);
void off_cpu_free(struct off_cpu *o);

/* Until instant `at`, not earlier than the last one, the thread had no CPU for so long in all. */
void off_cpu_note(struct off_cpu *o, uint64_t at, struct off_time off);
/*
 * The time without a CPU between two instants; 0 before the first known instant and after the last.
 */
struct off_time off_cpu_between(const struct off_cpu *o, uint64_t from, uint64_t to);

#endif
