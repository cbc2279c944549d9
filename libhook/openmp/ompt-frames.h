/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The open frames of each thread of LLVM's OpenMP runtime, in order, so that every
 * frame gets its exit although the runtime leaves ends out: those of cancelled
 * constructs, of untied tasks that leave their thread, of a team that a worker has
 * left long ago. All functions work on the calling thread only.
 */
#ifndef VFTR_LIBHOOK_OPENMP_OMPT_FRAMES_H
#define VFTR_LIBHOOK_OPENMP_OMPT_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include "libhook/openmp/construct.h"

enum open_what { OPEN_CONSTRUCT, OPEN_FORK, OPEN_TEAM, OPEN_TASK };

struct open {
	const void *address; /* of the construct; TEAM: of its parallel region */
	const void *task;    /* TEAM, TASK: the runtime's address for it */
	uint32_t region;     /* vftr_construct() */
	uint32_t team;
	uint32_t size;	 /* FORK, TEAM */
	uint32_t number; /* TEAM: of the thread; TASK: of its creator */
	uint32_t outer;	 /* TEAM: 1 + index of the team around it, or 0 */
	uint16_t level;	 /* FORK, TEAM: 1 for the outermost */
	uint8_t what;
	uint8_t kind;  /* enum construct */
	bool left;     /* TEAM: its end is recorded, the thread waits in the join barrier */
	bool in_turn;  /* CONSTRUCT: OPENMP_TURN */
	uint32_t lock; /* CONSTRUCT: the upper half of vftr_lock_bits(), or 0 */
};

/*
 * A construct begins. address NULL or in the runtime itself: that of the innermost open
 * frame is taken. Ends a loop or the like that was cancelled.
 */
void vftr_frames_enter(enum construct kind, const void *address);
/* The same for the wait for a lock or the like: vftr_lock_bits(). */
void vftr_frames_enter_wait(enum construct kind, const void *address, uint64_t lock);
/* The innermost construct of this kind in the running task ends, with all frames in it. */
void vftr_frames_leave(enum construct kind);
/* True if the innermost open frame is of this kind. */
bool vftr_frames_inside(enum construct kind);
/* The address of the innermost open frame, or of the parallel region. */
const void *vftr_frames_address(void);
/* The address to record for an event that the runtime reports at this one. */
const void *vftr_frames_site(const void *address);
/*
 * For gomp.c: a function of the runtime is about to be called for this caller, whom the runtime
 * cannot see. Holds for the next construct or lock on this thread.
 */
void vftr_frames_called_from(const void *caller);

/*
 * vftr_frames_lock_wanted(): the thread wants a lock. vftr_frames_lock_got(): it has got it; again:
 * it had the lock before. The wait is recorded by the second function, as some runtimes report
 * omp_test_lock() as omp_set_lock(), and do not report a test that failed; or by each its part,
 * after gomp-lock.c has said by vftr_frames_sets_lock() that the thread begins omp_set_lock() or
 * omp_set_nest_lock(): this holds for one lock that is wanted, or until the function has ended.
 */
void vftr_frames_sets_lock(bool sets);
void vftr_frames_lock_wanted(const void *address, const void *lock);
void vftr_frames_lock_got(bool again);

/* A parallel region begins; the result is valid until vftr_frames_join(). NULL: no memory. */
struct open *vftr_frames_fork(enum construct kind, const void *address, uint32_t size);
void vftr_frames_join(const struct open *fork);

/* The thread's part in the team of a region (of any thread; NULL: not known). */
void vftr_frames_team(const struct open *fork, const void *task, uint32_t size, uint32_t number);
/* The thread has run the region's body. */
void vftr_frames_team_left(void);
/* The thread has left the team. */
void vftr_frames_team_end(void);

/*
 * Explicit tasks. vftr_frames_task_made() returns the value that the runtime keeps for a
 * new task; 0 only if nothing is recorded.
 */
uint64_t vftr_frames_task_made(const void *address);
/* The thread goes on with this task, which begins unless it has begun here. */
void vftr_frames_task_next(uint64_t *task);
void vftr_frames_task_end(const uint64_t *task);
/* True if this task has begun here; then ends the untied ones above it, which have left. */
bool vftr_frames_task_runs(const void *task);

/* True if the innermost open frame is a team that the thread has left. */
bool vftr_frames_left(void);
/* The thread ends. */
void vftr_frames_free(void);

#endif
