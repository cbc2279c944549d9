/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The entry points of libgomp that are recorded, as of gcc 12; a row adds one.
 * The program calls other functions without us: t/openmp/t3202-openmp-table.sh has all
 * functions of libgomp, and for each that is not here the reason.
 *
 * A row of GOMP_CALLS: result, name, parameters, arguments, and what is
 * recorded: an action before the call, the construct in which the call waits, an
 * action after it. OPEN(kind) and CLOSE(kind) begin and end a frame; LATE opens
 * the loop or the sections of a combined construct (parallel for) unless they
 * are open: their first part comes without a start.
 */
#ifndef VFTR_LIBHOOK_OPENMP_GOMP_TABLE_H
#define VFTR_LIBHOOK_OPENMP_GOMP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each version node of libgomp that the tables were made for. */
#define GOMP_VERSIONS                                                                              \
	{                                                                                          \
		"OMP_1.0", "OMP_2.0", "OMP_3.0", "OMP_3.1", "OMP_4.0", "OMP_4.5", "OMP_5.0",       \
			"OMP_5.0.1", "OMP_5.0.2", "OMP_5.1", "GOMP_1.0", "GOMP_2.0", "GOMP_3.0",   \
			"GOMP_4.0", "GOMP_4.0.1", "GOMP_4.5", "GOMP_5.0", "GOMP_5.0.1",            \
			"GOMP_5.1", "OACC_2.0", "OACC_2.0.1", "OACC_2.5", "OACC_2.5.1",            \
			"OACC_2.6", "GOACC_2.0", "GOACC_2.0.1", "GOACC_2.0.2", "GOMP_PLUGIN_1.0",  \
			"GOMP_PLUGIN_1.1", "GOMP_PLUGIN_1.2", "GOMP_PLUGIN_1.3"                    \
	}

typedef unsigned long long ull;
typedef void (*gomp_function)(void *);

/* parameters that several have, each with its arguments */
#define NONE   (void), ()
#define RANGE  (long a, long b, long c, long chunk, long *from, long *to), (a, b, c, chunk, from, to)
#define RANGE_ (long a, long b, long c, long *from, long *to), (a, b, c, from, to)
#define RANGES                                                                                     \
	(long a, long b, long c, long how, long chunk, long *from, long *to,                       \
		uintptr_t *reductions, void **memory),                                             \
		(a, b, c, how, chunk, from, to, reductions, memory)
#define PART (long *from, long *to), (from, to)
#define CROSS                                                                                      \
	(unsigned n, long *counts, long chunk, long *from, long *to), (n, counts, chunk, from, to)
#define CROSS_ (unsigned n, long *counts, long *from, long *to), (n, counts, from, to)
#define CROSSES                                                                                    \
	(unsigned n, long *counts, long how, long chunk, long *from, long *to,                     \
		uintptr_t *reductions, void **memory),                                             \
		(n, counts, how, chunk, from, to, reductions, memory)
#define ULL_RANGE                                                                                  \
	(bool up, ull a, ull b, ull c, ull chunk, ull *from, ull *to),                             \
		(up, a, b, c, chunk, from, to)
#define ULL_RANGE_ (bool up, ull a, ull b, ull c, ull *from, ull *to), (up, a, b, c, from, to)
#define ULL_RANGES                                                                                 \
	(bool up, ull a, ull b, ull c, long how, ull chunk, ull *from, ull *to,                    \
		uintptr_t *reductions, void **memory),                                             \
		(up, a, b, c, how, chunk, from, to, reductions, memory)
#define ULL_CROSS                                                                                  \
	(unsigned n, ull *counts, ull chunk, ull *from, ull *to), (n, counts, chunk, from, to)
#define ULL_CROSS_ (unsigned n, ull *counts, ull *from, ull *to), (n, counts, from, to)
#define ULL_CROSSES                                                                                \
	(unsigned n, ull *counts, long how, ull chunk, ull *from, ull *to, uintptr_t *reductions,  \
		void **memory),                                                                    \
		(n, counts, how, chunk, from, to, reductions, memory)
#define ON_DEVICE                                                                                  \
	(int device, gomp_function fn, const void *unused, size_t n, void **host, size_t *sizes,   \
		unsigned char *kinds),                                                             \
		(device, fn, unused, n, host, sizes, kinds)
#define ON_DEVICE_EXT                                                                              \
	(int device, gomp_function fn, size_t n, void **host, size_t *sizes,                       \
		unsigned short *kinds, unsigned flags, void **depend, void **more),                \
		(device, fn, n, host, sizes, kinds, flags, depend, more)
#define DATA                                                                                       \
	(int device, const void *unused, size_t n, void **host, size_t *sizes,                     \
		unsigned char *kinds),                                                             \
		(device, unused, n, host, sizes, kinds)
#define DATA_EXT                                                                                   \
	(int device, size_t n, void **host, size_t *sizes, unsigned short *kinds),                 \
		(device, n, host, sizes, kinds)
#define UPDATE_EXT                                                                                 \
	(int device, size_t n, void **host, size_t *sizes, unsigned short *kinds, unsigned flags,  \
		void **depend),                                                                    \
		(device, n, host, sizes, kinds, flags, depend)

#define GOMP_CALLS(_)                                                                              \
	_(void, GOMP_barrier, NONE, 0, BARRIER, 0)                                                 \
	_(bool, GOMP_barrier_cancel, NONE, 0, BARRIER, 0)                                          \
	_(void, GOMP_taskwait, NONE, 0, TASKWAIT, 0)                                               \
	_(void, GOMP_taskwait_depend, (void **depend), (depend), 0, TASKWAIT, 0)                   \
	_(void, GOMP_taskgroup_start, NONE, 0, 0, OPEN(TASKGROUP))                                 \
	_(void, GOMP_taskgroup_end, NONE, 0, TASKGROUP_WAIT, CLOSE(TASKGROUP))                     \
	_(void, GOMP_critical_end, NONE, CLOSE(CRITICAL), 0, 0)                                    \
	_(void, GOMP_critical_name_end, (void **name), (name), CLOSE(CRITICAL), 0, 0)              \
	_(void, GOMP_atomic_start, NONE, 0, ATOMIC_WAIT, 0)                                        \
	_(void, GOMP_ordered_end, NONE, CLOSE(ORDERED), 0, 0)                                      \
	_(void, GOMP_single_copy_end, (void *data), (data), CLOSE(SINGLE), BARRIER_IMPLICIT, 0)    \
	_(void, GOMP_scope_start, (uintptr_t * reductions), (reductions), 0, 0, OPEN(SCOPE))       \
	_(void, GOMP_workshare_task_reduction_unregister, (bool cancelled), (cancelled),           \
		CLOSE(SCOPE), BARRIER_IMPLICIT, 0)                                                 \
	_(unsigned, GOMP_sections_start, (unsigned n), (n), 0, 0, OPEN(SECTIONS))                  \
	_(unsigned, GOMP_sections2_start, (unsigned n, uintptr_t *reductions, void **memory),      \
		(n, reductions, memory), 0, 0, OPEN(SECTIONS))                                     \
	_(unsigned, GOMP_sections_next, NONE, LATE, 0, 0)                                          \
	_(void, GOMP_sections_end, NONE, CLOSE(SECTIONS), BARRIER_IMPLICIT, 0)                     \
	_(bool, GOMP_sections_end_cancel, NONE, CLOSE(SECTIONS), BARRIER_IMPLICIT, 0)              \
	_(void, GOMP_sections_end_nowait, NONE, CLOSE(SECTIONS), 0, 0)                             \
	_(void, GOMP_loop_end, NONE, CLOSE(LOOP), BARRIER_IMPLICIT, 0)                             \
	_(bool, GOMP_loop_end_cancel, NONE, CLOSE(LOOP), BARRIER_IMPLICIT, 0)                      \
	_(void, GOMP_loop_end_nowait, NONE, CLOSE(LOOP), 0, 0)                                     \
	GOMP_LOOPS(_)                                                                              \
	GOMP_LOOPS_ULL(_)                                                                          \
	_(void, GOMP_teams_reg,                                                                    \
		(gomp_function fn, void *data, unsigned teams, unsigned limit, unsigned flags),    \
		(fn, data, teams, limit, flags), OPEN(TEAMS), 0, CLOSE(TEAMS))                     \
	_(void, GOMP_target, ON_DEVICE, OPEN(TARGET), 0, CLOSE(TARGET))                            \
	_(void, GOMP_target_ext, ON_DEVICE_EXT, OPEN(TARGET), 0, CLOSE(TARGET))                    \
	_(void, GOMP_target_data, DATA, 0, 0, OPEN(TARGET_DATA))                                   \
	_(void, GOMP_target_data_ext, DATA_EXT, 0, 0, OPEN(TARGET_DATA))                           \
	_(void, GOMP_target_end_data, NONE, 0, 0, CLOSE(TARGET_DATA))                              \
	_(void, GOMP_target_update, DATA, OPEN(TARGET_UPDATE), 0, CLOSE(TARGET_UPDATE))            \
	_(void, GOMP_target_update_ext, UPDATE_EXT, OPEN(TARGET_UPDATE), 0, CLOSE(TARGET_UPDATE))  \
	_(void, GOMP_target_enter_exit_data, UPDATE_EXT, OPEN(TARGET_DATA), 0, CLOSE(TARGET_DATA))

#define GOMP_LOOPS(_)                                                                              \
	_(bool, GOMP_loop_start, RANGES, 0, 0, OPEN(LOOP))                                         \
	_(bool, GOMP_loop_static_start, RANGE, 0, 0, OPEN(LOOP))                                   \
	_(bool, GOMP_loop_dynamic_start, RANGE, 0, 0, OPEN(LOOP))                                  \
	_(bool, GOMP_loop_guided_start, RANGE, 0, 0, OPEN(LOOP))                                   \
	_(bool, GOMP_loop_runtime_start, RANGE_, 0, 0, OPEN(LOOP))                                 \
	_(bool, GOMP_loop_nonmonotonic_dynamic_start, RANGE, 0, 0, OPEN(LOOP))                     \
	_(bool, GOMP_loop_nonmonotonic_guided_start, RANGE, 0, 0, OPEN(LOOP))                      \
	_(bool, GOMP_loop_nonmonotonic_runtime_start, RANGE_, 0, 0, OPEN(LOOP))                    \
	_(bool, GOMP_loop_maybe_nonmonotonic_runtime_start, RANGE_, 0, 0, OPEN(LOOP))              \
	_(bool, GOMP_loop_ordered_start, RANGES, 0, 0, OPEN(LOOP))                                 \
	_(bool, GOMP_loop_ordered_static_start, RANGE, 0, 0, OPEN(LOOP))                           \
	_(bool, GOMP_loop_ordered_dynamic_start, RANGE, 0, 0, OPEN(LOOP))                          \
	_(bool, GOMP_loop_ordered_guided_start, RANGE, 0, 0, OPEN(LOOP))                           \
	_(bool, GOMP_loop_ordered_runtime_start, RANGE_, 0, 0, OPEN(LOOP))                         \
	_(bool, GOMP_loop_doacross_start, CROSSES, 0, 0, OPEN(LOOP))                               \
	_(bool, GOMP_loop_doacross_static_start, CROSS, 0, 0, OPEN(LOOP))                          \
	_(bool, GOMP_loop_doacross_dynamic_start, CROSS, 0, 0, OPEN(LOOP))                         \
	_(bool, GOMP_loop_doacross_guided_start, CROSS, 0, 0, OPEN(LOOP))                          \
	_(bool, GOMP_loop_doacross_runtime_start, CROSS_, 0, 0, OPEN(LOOP))                        \
	_(bool, GOMP_loop_static_next, PART, LATE, 0, 0)                                           \
	_(bool, GOMP_loop_dynamic_next, PART, LATE, 0, 0)                                          \
	_(bool, GOMP_loop_guided_next, PART, LATE, 0, 0)                                           \
	_(bool, GOMP_loop_runtime_next, PART, LATE, 0, 0)                                          \
	_(bool, GOMP_loop_nonmonotonic_dynamic_next, PART, LATE, 0, 0)                             \
	_(bool, GOMP_loop_nonmonotonic_guided_next, PART, LATE, 0, 0)                              \
	_(bool, GOMP_loop_nonmonotonic_runtime_next, PART, LATE, 0, 0)                             \
	_(bool, GOMP_loop_maybe_nonmonotonic_runtime_next, PART, LATE, 0, 0)

#define GOMP_LOOPS_ULL(_)                                                                          \
	_(bool, GOMP_loop_ull_start, ULL_RANGES, 0, 0, OPEN(LOOP))                                 \
	_(bool, GOMP_loop_ull_static_start, ULL_RANGE, 0, 0, OPEN(LOOP))                           \
	_(bool, GOMP_loop_ull_dynamic_start, ULL_RANGE, 0, 0, OPEN(LOOP))                          \
	_(bool, GOMP_loop_ull_guided_start, ULL_RANGE, 0, 0, OPEN(LOOP))                           \
	_(bool, GOMP_loop_ull_runtime_start, ULL_RANGE_, 0, 0, OPEN(LOOP))                         \
	_(bool, GOMP_loop_ull_nonmonotonic_dynamic_start, ULL_RANGE, 0, 0, OPEN(LOOP))             \
	_(bool, GOMP_loop_ull_nonmonotonic_guided_start, ULL_RANGE, 0, 0, OPEN(LOOP))              \
	_(bool, GOMP_loop_ull_nonmonotonic_runtime_start, ULL_RANGE_, 0, 0, OPEN(LOOP))            \
	_(bool, GOMP_loop_ull_maybe_nonmonotonic_runtime_start, ULL_RANGE_, 0, 0, OPEN(LOOP))      \
	_(bool, GOMP_loop_ull_ordered_start, ULL_RANGES, 0, 0, OPEN(LOOP))                         \
	_(bool, GOMP_loop_ull_ordered_static_start, ULL_RANGE, 0, 0, OPEN(LOOP))                   \
	_(bool, GOMP_loop_ull_ordered_dynamic_start, ULL_RANGE, 0, 0, OPEN(LOOP))                  \
	_(bool, GOMP_loop_ull_ordered_guided_start, ULL_RANGE, 0, 0, OPEN(LOOP))                   \
	_(bool, GOMP_loop_ull_ordered_runtime_start, ULL_RANGE_, 0, 0, OPEN(LOOP))                 \
	_(bool, GOMP_loop_ull_doacross_start, ULL_CROSSES, 0, 0, OPEN(LOOP))                       \
	_(bool, GOMP_loop_ull_doacross_static_start, ULL_CROSS, 0, 0, OPEN(LOOP))                  \
	_(bool, GOMP_loop_ull_doacross_dynamic_start, ULL_CROSS, 0, 0, OPEN(LOOP))                 \
	_(bool, GOMP_loop_ull_doacross_guided_start, ULL_CROSS, 0, 0, OPEN(LOOP))                  \
	_(bool, GOMP_loop_ull_doacross_runtime_start, ULL_CROSS_, 0, 0, OPEN(LOOP))

/*
 * Parallel regions: result, name, parameters behind (fn, data, threads), the
 * same as arguments, and the construct inside of a combined one. The second
 * table is of gcc before 4.9: the calling thread runs fn itself, and
 * GOMP_parallel_end() ends the region.
 */
#define MORE_FLAGS  (, unsigned flags), (, flags)
#define MORE_RANGE  (, long a, long b, long c, long chunk, unsigned flags), (, a, b, c, chunk, flags)
#define MORE_RANGE_ (, long a, long b, long c, unsigned flags), (, a, b, c, flags)

#define GOMP_PARALLELS(_)                                                                          \
	_(void, GOMP_parallel, MORE_FLAGS, 0)                                                      \
	_(unsigned, GOMP_parallel_reductions, MORE_FLAGS, 0)                                       \
	_(void, GOMP_parallel_loop_static, MORE_RANGE, LOOP)                                       \
	_(void, GOMP_parallel_loop_dynamic, MORE_RANGE, LOOP)                                      \
	_(void, GOMP_parallel_loop_guided, MORE_RANGE, LOOP)                                       \
	_(void, GOMP_parallel_loop_runtime, MORE_RANGE_, LOOP)                                     \
	_(void, GOMP_parallel_loop_nonmonotonic_dynamic, MORE_RANGE, LOOP)                         \
	_(void, GOMP_parallel_loop_nonmonotonic_guided, MORE_RANGE, LOOP)                          \
	_(void, GOMP_parallel_loop_nonmonotonic_runtime, MORE_RANGE_, LOOP)                        \
	_(void, GOMP_parallel_loop_maybe_nonmonotonic_runtime, MORE_RANGE_, LOOP)                  \
	_(void, GOMP_parallel_sections, (, unsigned n, unsigned flags), (, n, flags), SECTIONS)

#define OLD_NONE   (), ()
#define OLD_RANGE  (, long a, long b, long c, long chunk), (, a, b, c, chunk)
#define OLD_RANGE_ (, long a, long b, long c), (, a, b, c)

#define GOMP_PARALLEL_STARTS(_)                                                                    \
	_(void, GOMP_parallel_start, OLD_NONE, 0)                                                  \
	_(void, GOMP_parallel_loop_static_start, OLD_RANGE, LOOP)                                  \
	_(void, GOMP_parallel_loop_dynamic_start, OLD_RANGE, LOOP)                                 \
	_(void, GOMP_parallel_loop_guided_start, OLD_RANGE, LOOP)                                  \
	_(void, GOMP_parallel_loop_runtime_start, OLD_RANGE_, LOOP)                                \
	_(void, GOMP_parallel_sections_start, (, unsigned n), (, n), SECTIONS)

/*
 * gomp-lock.c. GOMP_LOCKS: a function that takes a lock, and the one that tries to. GOMP_TURNS: one
 * that waits before a frame opens: parameters, arguments, the wait, the frame, the address that
 * stands for what it waits for, and 0 or OPENMP_TURN.
 */
#define GOMP_LOCKS(_)                                                                              \
	_(omp_set_lock, omp_test_lock)                                                             \
	_(omp_set_lock_, omp_test_lock_)                                                           \
	_(omp_set_nest_lock, omp_test_nest_lock)                                                   \
	_(omp_set_nest_lock_, omp_test_nest_lock_)

#define GOMP_UNLOCKS(_)                                                                            \
	_(omp_unset_lock)                                                                          \
	_(omp_unset_lock_)                                                                         \
	_(omp_unset_nest_lock)                                                                     \
	_(omp_unset_nest_lock_)

#define GOMP_TURNS(_)                                                                              \
	_(GOMP_critical_start, NONE, CRITICAL_WAIT, CRITICAL, unnamed(), 0)                        \
	_(GOMP_critical_name_start, (void **name), (name), CRITICAL_WAIT, CRITICAL, name, 0)       \
	_(GOMP_ordered_start, NONE, ORDERED_WAIT, ORDERED, team(), OPENMP_TURN)

/* Written out in gomp.c, gomp-task.c and gomp-openacc.c; and what is asked of libgomp. */
#define GOMP_OTHERS(_)                                                                             \
	_(omp_test_lock)                                                                           \
	_(omp_test_lock_)                                                                          \
	_(omp_test_nest_lock)                                                                      \
	_(omp_test_nest_lock_)                                                                     \
	_(GOMP_parallel_end)                                                                       \
	_(GOMP_single_copy_start)                                                                  \
	_(GOMP_task)                                                                               \
	_(GOMP_taskloop)                                                                           \
	_(GOMP_taskloop_ull)                                                                       \
	_(GOACC_parallel_keyed)                                                                    \
	_(GOACC_parallel)                                                                          \
	_(GOACC_data_start)                                                                        \
	_(GOACC_data_end)                                                                          \
	_(GOACC_enter_exit_data)                                                                   \
	_(GOACC_enter_data)                                                                        \
	_(GOACC_exit_data)                                                                         \
	_(GOACC_update)                                                                            \
	_(GOACC_wait)                                                                              \
	_(GOACC_declare)                                                                           \
	_(omp_get_level)                                                                           \
	_(omp_get_num_threads)                                                                     \
	_(omp_get_thread_num)

#endif
