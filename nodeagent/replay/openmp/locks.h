/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks of OpenMP and of the C library in one process: finds who waited for whom. A wait is blamed
 * on the thread that had the lock during it. Rings are read one after the other, so the records of
 * a wait and of its holder come in any order; both are kept until the rings of all threads were
 * read up to that time. All records are untrusted: memory is bounded, and beyond the bounds some
 * waits are blamed on nobody.
 */
#ifndef VFTR_NODEAGENT_REPLAY_OPENMP_LOCKS_H
#define VFTR_NODEAGENT_REPLAY_OPENMP_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct locks;

/* Smaller in tests. A wait, or time in which a lock was held, has 24 bytes. */
#ifndef LOCKS_MAX
#define LOCKS_MAX	 16384u /* that are kept at a time */
#define LOCKS_PER_THREAD 10240u /* waits and times in which one was held, and a 16th more */
#define LOCKS_THREADS	 64u	/* of so many threads */
#endif

/* Ticks below which a wait is not looked at: a lock that is free takes no longer. */
#define LOCKS_LEAST_TICKS 1024u

/* Ticks after giving a lock back by which a thread has recorded that. */
#define LOCKS_LATE_TICKS ((uint64_t)1 << 24)

/* A thread, by its number in the process, and where it was. */
struct lock_place {
	uint32_t thread;
	uint32_t path; /* traffic_path() */
};

/*
 * A part of a wait, in ticks. Of a wait for several holders, the part for the longest one has calls
 * 1, the others 0.
 */
struct lock_blame {
	uint32_t number; /* of the lock */
	struct lock_place waiter, holder;
	uint64_t calls, ticks;
};
typedef void locks_found(void *ctx, const struct lock_blame *b);

/* One holder's time in a wait, from and to in ticks; the parts of a wait come in their order. */
struct lock_part {
	uint32_t number; /* of the lock */
	struct lock_place waiter, holder;
	uint64_t from, to;
	bool goes_on; /* the wait is that of the part before this one */
};
typedef void locks_lay(void *ctx, const struct lock_part *p);

/*
 * fn is called, with ctx, for each part of a wait whose holder is found. ctx must outlive the
 * result.
 */
struct locks *locks_new(locks_found *fn, void *ctx);
void locks_free(struct locks *l);
/* From now on fn is told of all parts, too, with the same ctx. */
void locks_tell_parts(struct locks *l, locks_lay *fn);

/* A thread waited, and then had the lock; number: OPENMP_LOCK(). */
void locks_waited(
	struct locks *l, uint32_t number, struct lock_place at, uint64_t from, uint64_t to);

enum lock_hold {
	LOCK_UNTIL_THEN,  /* `to` is not too late; `from` is 0 if it is not known */
	LOCK_SINCE_THEN,  /* `from` is right; `to` may be too late */
	LOCK_IN_ITS_TURN, /* the same, and nobody else could have it since the one before */
};
void locks_held(struct locks *l, uint32_t number, struct lock_place at, enum lock_hold how,
	uint64_t from, uint64_t to);

/* All threads' records up to these ticks have been read; UINT64_MAX: all records. */
void locks_settle(struct locks *l, uint64_t ticks);
/* True if there is something to settle. */
bool locks_pending(const struct locks *l);
/* True if there was more at a time than is kept. */
bool locks_cut(const struct locks *l);

#endif
