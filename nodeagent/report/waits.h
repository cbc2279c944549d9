/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The waits of ranks and threads for each other in a profile: by kind and call path, and by the
 * rank or thread that was waited for. Ranks are as the profile has them, and times summed over
 * ranks.
 */
#ifndef VFTR_NODEAGENT_REPORT_WAITS_H
#define VFTR_NODEAGENT_REPORT_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delay;
struct profile;
struct profile_lock;
struct profile_wait;
struct report;

/* What a late rank did while others waited for it. */
struct wait_activity {
	uint32_t late;	/* the rank; PROFILE_ELSEWHERE: several */
	uint32_t stack; /* in which it was meanwhile */
	double ns;	/* of the waits for it then; an estimate */
};

/* All waits of one kind at one call path. */
struct wait_place {
	uint32_t kind;	/* enum wait_kind */
	uint32_t stack; /* of the call that waited */
	uint64_t calls, ns;
	uint64_t error_ns; /* bound of the error of ns: clocks of nodes, and estimates */
	const struct profile_wait **late; /* by falling time; of waits.rows */
	size_t n_late;
	const struct wait_activity *activities; /* by falling time; of waits.activities */
	size_t n_activities;
	struct wait_activity most; /* the greatest, of all late ranks together; 0 ns: not known */
};

/*
 * All waits for one rank, or for one of its threads; rank PROFILE_ELSEWHERE: for all ranks that are
 * not told apart.
 */
struct wait_cause {
	uint32_t rank;
	bool is_thread;	 /* one or several of its threads were waited for; else the rank */
	uint32_t thread; /* 1 + number of the thread; 0: several, or the rank */
	uint64_t calls, ns;
	uint32_t kind, stack;	       /* of the greatest of these waits */
	uint64_t most_ns;	       /* its time */
	struct wait_activity activity; /* what the rank did most meanwhile; 0 ns: not known */
	/* set by delays_join() of delays/delays.h: the waits that go back to it, by what it did */
	uint64_t cost_ns;
	const struct delay *delays; /* by falling cost; NULL for threads */
	size_t n_delays;
};

struct waits {
	struct wait_place *places; /* by falling time */
	struct wait_cause *causes; /* by falling time */
	size_t n_places, n_causes;
	uint64_t ns;	   /* of all these waits */
	uint64_t error_ns; /* bound of the error of ns: clocks of nodes, and estimates */
	uint64_t rank_ns;  /* part of ns: waits for other ranks */
	uint64_t lock_ns;  /* of all waits for locks and the like, whoever had them; 0 if none of
			      these waits is for threads */
	uint64_t mpi_ns;   /* of all ranks' threads in MPI, in their windows; 0: not known */
	/* where places point to */
	const struct profile_wait **rows;
	struct wait_activity *activities;
	size_t n_activities;
};

#define WAITS_ALL UINT32_MAX

/* Waits for ranks, for threads of the same rank, or both. */
enum waits_for { WAITS_FOR_RANKS = 1, WAITS_FOR_THREADS = 2, WAITS_FOR_BOTH = 3 };

/*
 * Sets *w to the waits of p, which must outlive it. late: only waits for this rank, or WAITS_ALL.
 * waits_done() frees it.
 */
void waits_of(const struct profile *p, enum waits_for which, uint32_t late, struct waits *w);
/*
 * The innermost function of a path that is no construct of OpenMP, shortened; it belongs to the
 * report. late_stack: as in a wait, 1 + the stack, or 0. NULL: none is known.
 */
const char *waits_function(const struct report *r, uint32_t late_stack);
/*
 * By name of the profile: true if it is that of a wait in OpenMP for something that one thread at a
 * time has, as "omp_critical_wait@heat.c:42". The caller frees.
 */
bool *waits_locks(const struct profile *p);
/* True if p has such waits. */
bool waits_any(const struct profile *p, enum waits_for which);
void waits_done(struct waits *w);

/* ---- locks of the C library: a row of locks[] for each, behind it rows of stacks ---- */

/* "read-write lock"; static. kind < LOCK_KINDS_END. */
const char *locks_kind_name(uint32_t kind);
/* "heat:Grid::lock+0x8": the name of a lock as people read it; the caller frees. */
char *locks_name(const struct report *r, const struct profile_lock *lock);
/* True if threads hold a lock of this kind and give it back, as a mutex. */
bool locks_is_held(uint32_t kind);
/* True if h is a row of p, and of the same lock as `lock'. */
bool locks_is_holder_of(
	const struct profile *p, const struct profile_lock *h, const struct profile_lock *lock);
/* Of a lock's row, which is in p: the row of the stack that had it during most of the waits, or
 * NULL. */
const struct profile_lock *locks_most_held(
	const struct profile *p, const struct profile_lock *lock);
/* The time of the waits for all locks of p, ns; held: only for locks that locks_is_held(). */
uint64_t locks_ns(const struct profile *p, bool held);

#endif
