/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of the OpenMP tools interface (OMPT) that we use, written down from
 * the OpenMP specification, versions 5.0 to 5.2, chapter "OMPT Interface". Most
 * compilers do not come with its header. Values never change between versions.
 */
#ifndef VFTR_LIBHOOK_OPENMP_OMPT_H
#define VFTR_LIBHOOK_OPENMP_OMPT_H

#include <stdint.h>

/* A tool's value for a thread, a parallel region or a task. */
union ompt_data {
	uint64_t value;
	void *ptr;
};

struct ompt_frame {
	union ompt_data exit_frame;
	union ompt_data enter_frame;
	int exit_frame_flags;
	int enter_frame_flags;
};

typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);

struct ompt_start_tool_result {
	int (*initialize)(ompt_lookup lookup, int device, union ompt_data *tool);
	void (*finalize)(union ompt_data *tool);
	union ompt_data tool;
};

/* Called by the runtime, once. */
struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime);

/* Types of the functions that the runtime's lookup function finds. */
typedef int (*ompt_set_callback)(int event, ompt_function callback);
typedef int (*ompt_get_task_info)(int level, int *flags, union ompt_data **task,
	struct ompt_frame **frame, union ompt_data **parallel, int *number);

enum ompt_event {
	OMPT_THREAD_BEGIN = 1,
	OMPT_THREAD_END = 2,
	OMPT_PARALLEL_BEGIN = 3,
	OMPT_PARALLEL_END = 4,
	OMPT_TASK_CREATE = 5,
	OMPT_TASK_SCHEDULE = 6,
	OMPT_IMPLICIT_TASK = 7,
	OMPT_TARGET_EVENT = 8,
	OMPT_SYNC_REGION_WAIT = 16,
	OMPT_MUTEX_RELEASED = 17,
	OMPT_WORK = 20,
	OMPT_MASKED = 21,
	OMPT_SYNC_REGION = 23,
	OMPT_MUTEX_ACQUIRE = 26,
	OMPT_MUTEX_ACQUIRED = 27,
	OMPT_NEST_LOCK = 28,
	OMPT_REDUCTION = 31,
	OMPT_TARGET_EMI = 33,
};

/* Results of ompt_set_callback() below this: the event never comes. */
#define OMPT_SET_SOMETIMES 3

enum ompt_scope { OMPT_BEGIN = 1, OMPT_END = 2, OMPT_BEGINEND = 3 };

enum ompt_parallel_flag { OMPT_PARALLEL_LEAGUE = 0x40000000 };

enum ompt_task_flag {
	OMPT_TASK_INITIAL = 0x1,
	OMPT_TASK_IMPLICIT = 0x2,
	OMPT_TASK_EXPLICIT = 0x4,
	OMPT_TASK_TASKWAIT = 0x10, /* stands for a taskwait with dependences */
};

enum ompt_task_status {
	OMPT_TASK_COMPLETE = 1,
	OMPT_TASK_YIELD = 2,
	OMPT_TASK_CANCEL = 3,
	OMPT_TASK_DETACH = 4,
	OMPT_TASK_EARLY_FULFILL = 5,
	OMPT_TASK_LATE_FULFILL = 6,
	OMPT_TASK_SWITCH = 7,
	OMPT_TASKWAIT_COMPLETE = 8,
};

enum ompt_work {
	OMPT_WORK_LOOP = 1,
	OMPT_WORK_SECTIONS = 2,
	OMPT_WORK_SINGLE_EXECUTOR = 3,
	OMPT_WORK_SINGLE_OTHER = 4,
	OMPT_WORK_WORKSHARE = 5,
	OMPT_WORK_DISTRIBUTE = 6,
	OMPT_WORK_TASKLOOP = 7,
	OMPT_WORK_SCOPE = 8,
	OMPT_WORK_LOOP_STATIC = 10,
	OMPT_WORK_LOOP_DYNAMIC = 11,
	OMPT_WORK_LOOP_GUIDED = 12,
	OMPT_WORK_LOOP_OTHER = 13,
};

enum ompt_sync_region {
	OMPT_SYNC_BARRIER = 1,
	OMPT_SYNC_BARRIER_IMPLICIT = 2,
	OMPT_SYNC_BARRIER_EXPLICIT = 3,
	OMPT_SYNC_BARRIER_IMPLEMENTATION = 4,
	OMPT_SYNC_TASKWAIT = 5,
	OMPT_SYNC_TASKGROUP = 6,
	OMPT_SYNC_REDUCTION = 7,
	OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE = 8,
	OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL = 9,
	OMPT_SYNC_BARRIER_TEAMS = 10,
};

enum ompt_mutex {
	OMPT_MUTEX_LOCK = 1,
	OMPT_MUTEX_TEST_LOCK = 2,
	OMPT_MUTEX_NEST_LOCK = 3,
	OMPT_MUTEX_TEST_NEST_LOCK = 4,
	OMPT_MUTEX_CRITICAL = 5,
	OMPT_MUTEX_ATOMIC = 6,
	OMPT_MUTEX_ORDERED = 7,
};

enum ompt_target {
	OMPT_TARGET = 1,
	OMPT_TARGET_ENTER_DATA = 2,
	OMPT_TARGET_EXIT_DATA = 3,
	OMPT_TARGET_UPDATE = 4,
	OMPT_TARGET_NOWAIT = 8, /* added to the others */
};

#endif
