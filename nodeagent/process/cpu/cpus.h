/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets of CPUs. cpu_set_t has 1024, and sched_getaffinity(2) fails where the machine may have more;
 * no kernel has more than 8192.
 */
#ifndef VFTR_NODEAGENT_PROCESS_CPU_CPUS_H
#define VFTR_NODEAGENT_PROCESS_CPU_CPUS_H

#include <sched.h>
#include <stdbool.h>

#define CPUS_MOST 8192

/* Zeros are the empty set. */
struct cpus {
	cpu_set_t of[CPUS_MOST / CPU_SETSIZE];
};

/* The CPUs on which a thread may run, 0: this one. False, and none: the kernel does not tell. */
static inline bool cpus_of(int tid, struct cpus *c)
{
	*c = (struct cpus){0};
	return !sched_getaffinity(tid, sizeof(*c), c->of);
}

/* From now on it runs on these. False: it cannot. */
static inline bool cpus_bind(int tid, const struct cpus *c)
{
	return !sched_setaffinity(tid, sizeof(*c), c->of);
}

static inline bool cpus_has(const struct cpus *c, int cpu)
{
	return cpu >= 0 && cpu < CPUS_MOST && CPU_ISSET_S((size_t)cpu, sizeof(*c), c->of);
}

static inline void cpus_add(struct cpus *c, int cpu)
{
	if (cpu >= 0 && cpu < CPUS_MOST)
		CPU_SET_S((size_t)cpu, sizeof(*c), c->of);
}

static inline void cpus_remove(struct cpus *c, int cpu)
{
	if (cpu >= 0 && cpu < CPUS_MOST)
		CPU_CLR_S((size_t)cpu, sizeof(*c), c->of);
}

/* Removes all of these. */
static inline void cpus_remove_all(struct cpus *c, const struct cpus *these)
{
	struct cpus both;

	CPU_AND_S(sizeof(both), both.of, c->of, these->of);
	CPU_XOR_S(sizeof(*c), c->of, c->of, both.of);
}

static inline int cpus_count(const struct cpus *c)
{
	return CPU_COUNT_S(sizeof(*c), c->of);
}

#endif
