/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is open on each thread of LLVM's OpenMP runtime, in order, so that every
 * record has its end whatever the runtime leaves out: the ends of cancelled
 * constructs, of untied tasks that leave their thread, of a team that a worker
 * has left long ago. All of these work on the calling thread alone.
 */
#ifndef VFTR_LIBHOOK_OMPT_FRAMES_H
#define VFTR_LIBHOOK_OMPT_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include "libhook/construct.h"

enum open_what { OPEN_CONSTRUCT, OPEN_FORK, OPEN_TEAM, OPEN_TASK };

struct open {
	const void *address; /* of the construct; TEAM: of its parallel region */
	const void *task;    /* TEAM, TASK: what the runtime knows it by */
	uint32_t region;     /* vftr_construct() */
	uint32_t team;
	uint32_t size;	 /* FORK, TEAM */
	uint32_t number; /* TEAM: of the thread; TASK: of its creator */
	uint32_t outer;	 /* TEAM: 1 + index of the team around it, or 0 */
	uint16_t level;	 /* FORK, TEAM: 1 for the outermost */
	uint8_t what;
	uint8_t kind; /* enum construct */
	bool left;    /* TEAM: its end is recorded, the thread waits in the join barrier */
};

/*
 * A construct begins. address NULL or in the runtime itself: that of what is open
 * around it. Ends a loop or the like whose cancellation was its end.
 */
void frames_enter(enum construct kind, const void *address);
/* The innermost construct of this kind in the running task ends, and what is open in it. */
void frames_leave(enum construct kind);
/* Is this what is open innermost? */
bool frames_inside(enum construct kind);
/* The address of what is open innermost, or of the parallel region. */
const void *frames_address(void);
/* The address to use for what the runtime says happens at this one. */
const void *frames_site(const void *address);
/*
 * gomp.c: a function of the runtime is about to be called for this caller, whom it
 * cannot see. Holds for the next construct or lock on this thread.
 */
void frames_called_from(const void *caller);

/*
 * A lock is asked for, and was got. Nothing is recorded before, as some runtimes
 * do not tell a lock from the test of one, which may end without a word.
 */
void frames_lock_wanted(const void *address);
void frames_lock_got(void);

/* A parallel region; the result stays where it is until its end. NULL: no memory. */
struct open *frames_fork(enum construct kind, const void *address, uint32_t size);
void frames_join(const struct open *fork);

/* The thread's part in the team of a region (of any thread; NULL: not known). */
void frames_team(const struct open *fork, const void *task, uint32_t size, uint32_t number);
/* It has run the region's body. */
void frames_team_left(void);
/* It has nothing to do with the team any more. */
void frames_team_end(void);

/*
 * Explicit tasks. What the runtime keeps for a task is made when it is created:
 * frames_task_made() returns it, never 0 unless nothing is recorded.
 */
uint64_t frames_task_made(const void *address);
/* The thread goes on with this task, which begins unless it has begun here. */
void frames_task_next(uint64_t *task);
void frames_task_end(const uint64_t *task);
/* If this task has begun here it runs on: the untied ones above it have left the thread. */
bool frames_task_runs(const void *task);

/* Innermost is a team that the thread has left. */
bool frames_left(void);
/* The thread ends. */
void frames_free(void);

#endif
