/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenMP tool: what LLVM's runtime, and every other one with OMPT, tells us
 * becomes the records of construct.h. A runtime that starts looks for
 * ompt_start_tool() by name; without one nothing here runs. Nothing attaches
 * before the first region. The callbacks run on the thread they speak of, take no
 * lock and allocate nothing; when nothing is recorded they return at once.
 */
#include "libhook/openmp/ompt.h"

#include <stddef.h>
#include "libhook/emit.h"
#include "libhook/ompt-check.h"
#include "libhook/openmp/locks.h"
#include "libhook/openmp/ompt-frames.h"
#include "libhook/process.h"

#define EXPORT __attribute__((visibility("default")))

static ompt_get_task_info get_task_info;
static uint32_t refused; /* a callback that we need: said at the first region */

/* ---- teams ---- */

static void parallel_begin(union ompt_data *task, const struct ompt_frame *frame,
	union ompt_data *parallel, unsigned threads, int flags, const void *address)
{
	bool league = flags & OMPT_PARALLEL_LEAGUE;

	if (!vftr_active())
		return;
	vftr_frames_task_runs(task);
	parallel->ptr =
		vftr_frames_fork(league ? CONSTRUCT_TEAMS : CONSTRUCT_PARALLEL, address, threads);
	if (load_relaxed(&refused) && claim_u32(&refused, 1, 0))
		vftr_note("this OpenMP runtime does not tell of everything that is recorded of "
			  "OpenMP: constructs may be missing");
}

static void parallel_end(
	union ompt_data *parallel, union ompt_data *task, int flags, const void *address)
{
	if (vftr_active() && parallel)
		vftr_frames_join(parallel->ptr);
}

static void implicit_task(enum ompt_scope scope, union ompt_data *parallel, union ompt_data *task,
	unsigned size, unsigned number, int flags)
{
	bool initial = flags & OMPT_TASK_INITIAL; /* outside of any region, or of a league */

	if (!vftr_active())
		return;
	if (scope == OMPT_END)
		vftr_frames_team_end();
	else if (!initial || (parallel && parallel->ptr))
		vftr_frames_team(parallel ? parallel->ptr : NULL, task, size, number);
}

static void thread_end(union ompt_data *thread)
{
	vftr_frames_free();
}

/* ---- work-sharing and the like ---- */

#define NOTHING CONSTRUCT_KINDS

static void scoped(enum ompt_scope scope, enum construct kind, const void *address)
{
	if (kind == NOTHING || !vftr_active())
		return;
	if (scope != OMPT_END)
		vftr_frames_enter(kind, address);
	if (scope != OMPT_BEGIN)
		vftr_frames_leave(kind);
}

static const uint8_t of_work[] = {
	[0] = NOTHING,
	[OMPT_WORK_LOOP] = CONSTRUCT_LOOP,
	[OMPT_WORK_SECTIONS] = CONSTRUCT_SECTIONS,
	[OMPT_WORK_SINGLE_EXECUTOR] = CONSTRUCT_SINGLE,
	[OMPT_WORK_SINGLE_OTHER] = NOTHING,
	[OMPT_WORK_WORKSHARE] = CONSTRUCT_WORKSHARE,
	[OMPT_WORK_DISTRIBUTE] = CONSTRUCT_DISTRIBUTE,
	[OMPT_WORK_TASKLOOP] = CONSTRUCT_TASKLOOP,
	[OMPT_WORK_SCOPE] = CONSTRUCT_SCOPE,
	[9] = NOTHING,
	[OMPT_WORK_LOOP_STATIC] = CONSTRUCT_LOOP,
	[OMPT_WORK_LOOP_DYNAMIC] = CONSTRUCT_LOOP,
	[OMPT_WORK_LOOP_GUIDED] = CONSTRUCT_LOOP,
	[OMPT_WORK_LOOP_OTHER] = CONSTRUCT_LOOP,
};

static void work(unsigned type, enum ompt_scope scope, union ompt_data *parallel,
	union ompt_data *task, uint64_t count, const void *address)
{
	if (type < sizeof(of_work))
		scoped(scope, of_work[type], address);
}

static void masked(enum ompt_scope scope, union ompt_data *parallel, union ompt_data *task,
	const void *address)
{
	scoped(scope, CONSTRUCT_MASKED, address);
}

static void reduction(unsigned kind, enum ompt_scope scope, union ompt_data *parallel,
	union ompt_data *task, const void *address)
{
	scoped(scope, CONSTRUCT_REDUCTION, address);
}

static const uint8_t of_target[OMPT_TARGET_NOWAIT] = {
	[0] = NOTHING,
	[OMPT_TARGET] = CONSTRUCT_TARGET,
	[OMPT_TARGET_ENTER_DATA] = CONSTRUCT_TARGET_DATA,
	[OMPT_TARGET_EXIT_DATA] = CONSTRUCT_TARGET_DATA,
	[OMPT_TARGET_UPDATE] = CONSTRUCT_TARGET_UPDATE,
	[5] = NOTHING,
	[6] = NOTHING,
	[7] = NOTHING,
};

static void target(unsigned kind, enum ompt_scope scope, int device, union ompt_data *task,
	uint64_t id, const void *address)
{
	scoped(scope, of_target[kind % OMPT_TARGET_NOWAIT], address);
}

static void target_emi(unsigned kind, enum ompt_scope scope, int device, union ompt_data *task,
	union ompt_data *target_task, union ompt_data *data, const void *address)
{
	scoped(scope, of_target[kind % OMPT_TARGET_NOWAIT], address);
}

/* ---- waiting ---- */

/*
 * True for the barrier at the end of the region. Runtimes before LLVM 15 give it the
 * kind of a loop's barrier, so check whether the region's code still has a frame.
 */
static bool joins(unsigned kind)
{
	int flags, number;
	union ompt_data *task, *parallel;
	struct ompt_frame *frame = NULL;

	if (kind == OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL || kind == OMPT_SYNC_BARRIER_TEAMS)
		return true;
	return kind == OMPT_SYNC_BARRIER_IMPLICIT && get_task_info &&
	       get_task_info(0, &flags, &task, &frame, &parallel, &number) && frame &&
	       !frame->exit_frame.ptr;
}

static const uint8_t of_sync[] = {
	[0] = NOTHING,
	[OMPT_SYNC_BARRIER] = CONSTRUCT_BARRIER,
	[OMPT_SYNC_BARRIER_IMPLICIT] = CONSTRUCT_BARRIER_IMPLICIT,
	[OMPT_SYNC_BARRIER_EXPLICIT] = CONSTRUCT_BARRIER,
	[OMPT_SYNC_BARRIER_IMPLEMENTATION] = CONSTRUCT_BARRIER_IMPLICIT,
	[OMPT_SYNC_TASKWAIT] = CONSTRUCT_TASKWAIT,
	[OMPT_SYNC_TASKGROUP] = CONSTRUCT_TASKGROUP,
	[OMPT_SYNC_REDUCTION] = NOTHING,
	[OMPT_SYNC_BARRIER_IMPLICIT_WORKSHARE] = CONSTRUCT_BARRIER_IMPLICIT,
	[OMPT_SYNC_BARRIER_IMPLICIT_PARALLEL] = NOTHING,
	[OMPT_SYNC_BARRIER_TEAMS] = NOTHING,
};

static void sync_region(unsigned kind, enum ompt_scope scope, union ompt_data *parallel,
	union ompt_data *task, const void *address)
{
	if (kind >= sizeof(of_sync) || !vftr_active())
		return;
	vftr_frames_task_runs(task);
	if (scope == OMPT_BEGIN && joins(kind))
		vftr_frames_team_left();
	else if (!vftr_frames_left())
		scoped(scope, of_sync[kind], address);
}

/* Only a taskgroup has a body and a wait; the others wait all the time. */
static void sync_region_wait(unsigned kind, enum ompt_scope scope, union ompt_data *parallel,
	union ompt_data *task, const void *address)
{
	if (kind != OMPT_SYNC_TASKGROUP || !vftr_active())
		return;
	vftr_frames_task_runs(task);
	scoped(scope, CONSTRUCT_TASKGROUP_WAIT, address);
}

/* kind of mutex: the wait for it, what is done while it is held */
static const struct {
	uint8_t wait, body;
	uint64_t flags; /* of the WAIT; 0: it is not told for what */
} of_mutex[] = {
	[0] = {NOTHING, NOTHING, 0},
	[OMPT_MUTEX_LOCK] = {NOTHING, NOTHING, 0}, /* vftr_frames_lock_wanted() */
	[OMPT_MUTEX_TEST_LOCK] = {NOTHING, NOTHING, 0},
	[OMPT_MUTEX_NEST_LOCK] = {NOTHING, NOTHING, 0},
	[OMPT_MUTEX_TEST_NEST_LOCK] = {NOTHING, NOTHING, 0},
	[OMPT_MUTEX_CRITICAL] = {CONSTRUCT_CRITICAL_WAIT, CONSTRUCT_CRITICAL, OPENMP_HOLDS},
	[OMPT_MUTEX_ATOMIC] = {CONSTRUCT_ATOMIC_WAIT, NOTHING, 0},
	[OMPT_MUTEX_ORDERED] = {CONSTRUCT_ORDERED_WAIT, CONSTRUCT_ORDERED,
		OPENMP_HOLDS | OPENMP_TURN},
};
#define MUTEXES (sizeof(of_mutex) / sizeof(of_mutex[0]))

static bool is_lock(unsigned kind)
{
	return kind == OMPT_MUTEX_LOCK || kind == OMPT_MUTEX_NEST_LOCK;
}

static void mutex_acquire(
	unsigned kind, unsigned hint, unsigned implementation, uint64_t id, const void *address)
{
	const void *lock = (const void *)(uintptr_t)id;

	if (kind >= MUTEXES || !vftr_active())
		return;
	if (is_lock(kind))
		vftr_frames_lock_wanted(address, lock);
	else if (of_mutex[kind].wait != NOTHING)
		vftr_frames_enter_wait(of_mutex[kind].wait, address,
			of_mutex[kind].flags ? vftr_lock_bits(lock, of_mutex[kind].flags) : 0);
}

static void mutex_acquired(unsigned kind, uint64_t id, const void *address)
{
	const void *waited_at;

	if (kind >= MUTEXES || !vftr_active())
		return;
	if (is_lock(kind)) {
		vftr_frames_lock_got(false);
		return;
	}
	waited_at = vftr_frames_address();
	scoped(OMPT_END, of_mutex[kind].wait, NULL);
	scoped(OMPT_BEGIN, of_mutex[kind].body, waited_at);
}

static void mutex_released(unsigned kind, uint64_t id, const void *address)
{
	if (kind < MUTEXES)
		scoped(OMPT_END, of_mutex[kind].body, NULL);
}

/* A lock that the task already held: no mutex_acquired comes. */
static void nest_lock(enum ompt_scope scope, uint64_t id, const void *address)
{
	if (scope == OMPT_BEGIN && vftr_active())
		vftr_frames_lock_got(true);
}

/* ---- tasks ---- */

static void task_create(union ompt_data *task, const struct ompt_frame *frame, union ompt_data *new,
	int flags, int dependences, const void *address)
{
	if (flags & (OMPT_TASK_INITIAL | OMPT_TASK_IMPLICIT | OMPT_TASK_TASKWAIT) || !vftr_active())
		return;
	vftr_frames_task_runs(task);
	address = vftr_frames_site(address);
	if (!vftr_frames_inside(CONSTRUCT_TASKLOOP)) /* it makes them all at once */
		scoped(OMPT_BEGINEND, CONSTRUCT_TASK_CREATE, address);
	new->value = vftr_frames_task_made(address);
}

static void task_schedule(union ompt_data *before, unsigned status, union ompt_data *next)
{
	if (!vftr_active())
		return;
	switch (status) {
	case OMPT_TASK_EARLY_FULFILL:
	case OMPT_TASK_LATE_FULFILL: /* no switch */
		return;
	case OMPT_TASK_YIELD:
	case OMPT_TASK_SWITCH: /* the next one runs on top of this one */
		vftr_frames_task_runs(before);
		break;
	default:
		vftr_frames_task_end(&before->value);
	}
	if (next)
		vftr_frames_task_next(&next->value);
}

/* ---- the tool ---- */

static const struct {
	int event;
	bool needed;
	ompt_function callback;
} callbacks[] = {
	{OMPT_PARALLEL_BEGIN, true, (ompt_function)parallel_begin},
	{OMPT_PARALLEL_END, true, (ompt_function)parallel_end},
	{OMPT_IMPLICIT_TASK, true, (ompt_function)implicit_task},
	{OMPT_TASK_CREATE, true, (ompt_function)task_create},
	{OMPT_TASK_SCHEDULE, true, (ompt_function)task_schedule},
	{OMPT_WORK, true, (ompt_function)work},
	{OMPT_SYNC_REGION, true, (ompt_function)sync_region},
	{OMPT_SYNC_REGION_WAIT, true, (ompt_function)sync_region_wait},
	{OMPT_MUTEX_ACQUIRE, true, (ompt_function)mutex_acquire},
	{OMPT_MUTEX_ACQUIRED, true, (ompt_function)mutex_acquired},
	{OMPT_MUTEX_RELEASED, true, (ompt_function)mutex_released},
	{OMPT_NEST_LOCK, false, (ompt_function)nest_lock},
	{OMPT_MASKED, false, (ompt_function)masked},
	{OMPT_REDUCTION, false, (ompt_function)reduction},
	{OMPT_THREAD_END, false, (ompt_function)thread_end},
};

static int initialize(ompt_lookup lookup, int device, union ompt_data *tool)
{
	ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");

	if (!set)
		return 0;
	get_task_info = (ompt_get_task_info)lookup("ompt_get_task_info");
	for (unsigned i = 0; i < sizeof(callbacks) / sizeof(callbacks[0]); i++)
		if (set(callbacks[i].event, callbacks[i].callback) < OMPT_SET_SOMETIMES &&
			callbacks[i].needed)
			store_relaxed(&refused, 1);
	if (set(OMPT_TARGET_EMI, (ompt_function)target_emi) < OMPT_SET_SOMETIMES)
		set(OMPT_TARGET_EVENT, (ompt_function)target);
	ompt_started((const void *)lookup);
	return 1;
}

static void finalize(union ompt_data *tool)
{
}

EXPORT struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_start_tool_result us = {initialize, finalize, {0}};

	return vftr_active() ? &us : NULL;
}
