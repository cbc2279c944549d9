/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The window of a process, from leaving MPI_Init to entering MPI_Finalize, and what its threads
 * spent the time in it for. Without these calls it begins and ends with the first thread. All times
 * are in ticks. For one thread; a window belongs to whoever made it.
 *
 * Classes of a thread's time do not overlap. Each frame's exclusive time is of one class, by the
 * key of the frame. A time_class_of_region() is called for keys of regions only.
 */
#ifndef VFTR_NODEAGENT_REPLAY_WINDOW_H
#define VFTR_NODEAGENT_REPLAY_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "nodeagent/replay/openmp/at-once.h"

struct replay;

enum time_class {
	TIME_USEFUL,	  /* in functions of the program */
	TIME_OUTSIDE,	  /* in no function that was traced */
	TIME_MPI,	  /* in MPI, waits included */
	TIME_OPENMP_WAIT, /* for other threads of a team */
	TIME_OPENMP_IDLE, /* of a worker between teams */
	TIME_LOCK_WAIT,	  /* for other threads, in functions of the C library */
	TIME_IO,	  /* as the program has told, in functions of the program */
	TIME_BLOCKED,	  /* waited for room in its ring */
	TIME_UNKNOWN,	  /* while recording was paused, or in paths that were too many */
	TIME_CLASSES
};

/* Below 0: the clock went back, or time was moved to another thread's path. */
struct time_sums {
	int64_t of[TIME_CLASSES];
};

struct time_window {
	bool begun, ended; /* MPI_Init was left, MPI_Finalize was entered */
	bool openmp;	   /* a thread was in a team of OpenMP */
	bool cut; /* times of some threads in the window are estimated from their begins and ends */
	bool whole;	 /* the first thread has ended: first, begin, end are known */
	uint32_t thread; /* the first thread: that of MPI_Init, else number 0 */
	uint64_t begin, end;
	struct time_sums before, until; /* of the first thread, at begin and at end */
	struct time_sums first;		/* in the window */
	struct time_sums others;	/* of other threads, summed */
	uint32_t threads;		/* of those */
	uint32_t workers;		/* of those, that worked in teams that others made */
	struct at_once at_once;		/* of workers; for at_once_free() */
	int64_t worker_useful;		/* their TIME_USEFUL, summed */
	int64_t worker_most;		/* and that of the one that has most */
};

/* TIME_OPENMP_WAIT or TIME_LOCK_WAIT for the key of a region in which a thread waits for others,
 * else TIME_USEFUL. */
typedef enum time_class time_class_of_region(const void *ctx, uint64_t key);

/*
 * The replay's thread is one of the window's. Call it before the first block, after
 * replay_set_openmp(); w must outlive the replay. ctx is that of replay_new().
 */
void replay_set_window(struct replay *r, struct time_window *w, time_class_of_region *of);

/* What the thread has spent its time for until t, which is not before its last record. Their
 * sum is the time since its start. */
struct time_sums replay_time_sums(struct replay *r, uint64_t t);

/* After replay_end(), and after its frames have their places: adds the thread to its window. */
void replay_window_close(struct replay *r);

#endif
