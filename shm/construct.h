/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constructs of OpenMP: regions whose name is made by the agent, out of their
 * kind and the address of their code, as omp_parallel@heat.c:42. A row adds one.
 * No program sends the last two: the agent makes them of the ends of teams.
 */
#ifndef VFTR_SHM_CONSTRUCT_H
#define VFTR_SHM_CONSTRUCT_H

/* kind, name, 1 if its time is a wait for other threads */
#define CONSTRUCTS(_)                                                                              \
	_(PARALLEL, "omp_parallel", 0)                                                             \
	_(TEAMS, "omp_teams", 0)                                                                   \
	_(LOOP, "omp_for", 0)                                                                      \
	_(SECTIONS, "omp_sections", 0)                                                             \
	_(SINGLE, "omp_single", 0)                                                                 \
	_(SCOPE, "omp_scope", 0)                                                                   \
	_(WORKSHARE, "omp_workshare", 0)                                                           \
	_(DISTRIBUTE, "omp_distribute", 0)                                                         \
	_(MASKED, "omp_masked", 0)                                                                 \
	_(CRITICAL, "omp_critical", 0)                                                             \
	_(ORDERED, "omp_ordered", 0)                                                               \
	_(TASK, "omp_task", 0)                                                                     \
	_(TASK_CREATE, "omp_task_create", 0)                                                       \
	_(TASKLOOP, "omp_taskloop", 0)                                                             \
	_(TASKGROUP, "omp_taskgroup", 0)                                                           \
	_(REDUCTION, "omp_reduction", 0)                                                           \
	_(TARGET, "omp_target", 0)                                                                 \
	_(TARGET_DATA, "omp_target_data", 0)                                                       \
	_(TARGET_UPDATE, "omp_target_update", 0)                                                   \
	_(BARRIER, "omp_barrier", 1)                                                               \
	_(BARRIER_IMPLICIT, "omp_barrier_implicit", 1)                                             \
	_(TASKWAIT, "omp_taskwait", 1)                                                             \
	_(TASKGROUP_WAIT, "omp_taskgroup_wait", 1)                                                 \
	_(TASKYIELD, "omp_taskyield", 1)                                                           \
	_(CRITICAL_WAIT, "omp_critical_wait", 1)                                                   \
	_(ORDERED_WAIT, "omp_ordered_wait", 1)                                                     \
	_(LOCK_WAIT, "omp_lock_wait", 1)                                                           \
	_(ATOMIC_WAIT, "omp_atomic_wait", 1)                                                       \
	_(JOIN, "omp_join", 1)                                                                     \
	_(IDLE, "(idle)", 1)

enum construct {
#define CONSTRUCT_ENUM(kind, name, waits) CONSTRUCT_##kind,
	CONSTRUCTS(CONSTRUCT_ENUM)
#undef CONSTRUCT_ENUM
		CONSTRUCT_KINDS
};

#endif
