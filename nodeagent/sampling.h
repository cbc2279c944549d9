/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sampling file of a node while it is written: what the replays of the threads
 * and the traffic of the processes tell goes to vfd-write.h, with the numbers that
 * stand there for processes, threads, functions, call paths and communicators.
 *
 * Nothing here exists unless sampling.active is set; all functions then take NULL
 * for what is not there, and do nothing. A file that cannot be written is one
 * warning, and the profile is made as without it.
 */
#ifndef VFTR_NODEAGENT_SAMPLING_H
#define VFTR_NODEAGENT_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/map64.h"
#include "nodeagent/vfd-sample.h"
#include "nodeagent/vfd-write.h"

struct agent;
struct process;
struct sampling;
struct sampling_process;
struct thread_ring;

/* ---- the file: agent->sampling ------------------------------------------------ */

/* The disk is behind: rings should be left alone for a while. */
bool sampling_is_behind(const struct agent *a);
/* It is: sleeps until that has changed, a millisecond at most. */
void sampling_wait(struct agent *a);
/*
 * From the agent's loop: once a second everything goes on its way to the disk.
 * Returns in how many seconds it wants to be called again; NEVER_S: whenever.
 */
double sampling_tick(struct agent *a);
/*
 * All processes have ended: closes the file, which may wait for the disk. What
 * went wrong is a warning.
 */
void sampling_close(struct agent *a);
/* Gives the closed file its name. 0, or 1 (said on stderr). */
int sampling_rename(struct agent *a, const char *base);

/* The numbers of the closed file, for the log; path NULL: there is none. */
struct sampling_sum {
	const char *path; /* owned by the agent's sampling */
	struct vfd_written written;
};
struct sampling_sum sampling_sum(const struct agent *a);

/* A round of a session has begun (rounds.h). */
void sampling_round(const struct agent *a, uint32_t number, uint64_t ticks);

/* ---- processes: process->sampled ---------------------------------------------- */

/* The process has greeted; with the first one the file begins. */
void sampling_process_begin(struct process *p);
/* It is rank `rank` of `size` in a job. */
void sampling_process_rank(struct process *p, int rank, int size, uint64_t job);
/* An MPI rank is in a session, too, and has a second place in the matcher. */
void sampling_process_session(struct process *p);
/* Its threads have ended, and its end is known. */
void sampling_process_end(struct process *p);
void sampling_process_free(struct process *p);
/* Its number in the file, or UINT32_MAX. */
uint32_t sampling_number(const struct process *p);

/* ---- threads: their replays have a lane ------------------------------------------ */

struct sampling_lane {
	struct vfd_lane *lane;
	struct sampling_process *process;
	struct map64 stacks;	 /* caller and function -> stack, of those asked for */
	uint64_t interval, next; /* ticks; as in vfd-sample.h, but never shorter */
	uint64_t wake;		 /* until then only long calls matter: no later than next */
	uint64_t long_call;	 /* the end of a longer one is always recorded */
	struct vfd_window window;
	struct node *picked; /* what ran at its instant */
	uint32_t openmp_level, openmp_number;
};

/* NULL if the process is not sampled. */
struct sampling_lane *sampling_thread_begin(struct thread_ring *t, const char *name);
void sampling_thread_name(struct thread_ring *t);
/* Its last frame is closed. Frees l. */
void sampling_thread_end(struct thread_ring *t, struct sampling_lane *l, uint64_t ticks);

/*
 * A new stack: function of this key, called by that stack. again: one that was
 * made before with the same caller and function is as good.
 */
uint32_t sampling_stack(struct sampling_lane *l, uint32_t caller, uint64_t key, bool again);

/* Whether frames of this key are always sampled. */
bool sampling_is_precise(struct sampling_lane *l, uint64_t key);

/* Its place in a team of OpenMP. */
void sampling_openmp(struct sampling_lane *l, uint32_t level, uint32_t number);

#endif
