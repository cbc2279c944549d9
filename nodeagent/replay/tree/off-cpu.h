/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a thread had no CPU, as a function of time that is known at some instants: those of
 * long ago are further apart. Between two of them it rises evenly. Instants are ticks. For one
 * thread.
 */
#ifndef VFTR_NODEAGENT_REPLAY_TREE_OFF_CPU_H
#define VFTR_NODEAGENT_REPLAY_TREE_OFF_CPU_H

#include <stdint.h>

struct off_cpu;

struct off_cpu *off_cpu_new(void);
void off_cpu_free(struct off_cpu *o);

/* Until `at`, not earlier than the one before, the thread had no CPU for so long in all. */
void off_cpu_note(struct off_cpu *o, uint64_t at, uint64_t ns);
/* In ns; of what is before the first and after the last instant nothing is known. */
uint64_t off_cpu_between(const struct off_cpu *o, uint64_t from, uint64_t to);

#endif
