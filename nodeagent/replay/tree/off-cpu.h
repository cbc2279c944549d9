/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time without a CPU of a thread, as a function of time. It is known at some instants, the
 * further apart the longer ago they are; between two of them it is taken to rise evenly. Instants
 * are ticks. For one thread of the agent.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_OFF_CPU_H
#define VFTR_NODEAGENT_REPLAY_TREE_OFF_CPU_H

#include <stdint.h>

struct off_cpu;

struct off_cpu *off_cpu_new(void);
void off_cpu_free(struct off_cpu *o);

/* Until instant `at`, not earlier than the last one, the thread had no CPU for ns in all. */
void off_cpu_note(struct off_cpu *o, uint64_t at, uint64_t ns);
/*
 * The ns without a CPU between two instants; 0 before the first known instant and after the last.
 */
uint64_t off_cpu_between(const struct off_cpu *o, uint64_t from, uint64_t to);

#endif
