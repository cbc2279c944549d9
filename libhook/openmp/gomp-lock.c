/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks, critical and ordered regions of libgomp. A lock is tried first, so that only a thread
 * that has to wait says so to others. LLVM's functions come here, too: ompt.c records that a lock
 * is taken, but hears that it is given back only afterwards, and may take a test for a wait.
 */
#include "libhook/openmp/gomp.h"
#include "libhook/openmp/locks.h"
#include "libhook/openmp/ompt-frames.h"
#include "shm/atomic.h"

#define TEAM_SPREAD 0x9e3779b97f4a7c15u

/* Stands for the region of all unnamed critical constructs. */
static const void *unnamed(void)
{
	static const char here;

	return &here;
}

/* Stands for the ordered regions of the team. */
static const void *team(void)
{
	return (const void *)(uintptr_t)(vftr_gomp_here()->team * TEAM_SPREAD);
}

/* ---- locks ---- */

static void take(enum gomp_row row, enum gomp_row try, void *lock, const void *caller)
{
	const uint64_t bits = vftr_lock_bits(lock, 0);
	void (*real)(void *);
	int (*test)(void *);
	struct gomp *g;
	uint32_t wait;
	int had = 0;

	*(void **)&real = vftr_gomp_find(row, caller, &g);
	if (!g) {
		vftr_frames_sets_lock(true);
		real(lock);
		vftr_frames_sets_lock(false);
		return;
	}
	wait = vftr_construct(CONSTRUCT_LOCK_WAIT, vftr_gomp_site(caller), NULL);
	vftr_wait(0, wait, bits);
	*(void **)&test = vftr_gomp_real(g, try);
	/* not one of OMP_1.0, which that function does not know */
	if (*(void **)&real == load_relaxed(&g->real[row]))
		had = test(lock);
	if (!had) {
		vftr_lock_wanted(lock);
		real(lock);
		vftr_lock_got(lock);
	}
	/* a nest lock that the task has once more is not got now */
	vftr_wait(RECORD_EXIT, wait, had > 1 ? 0 : bits);
}

#define LOCK(name, try)                                                                            \
	GOMP_EXPORT void name(void *);                                                             \
	GOMP_EXPORT void name(void *lock)                                                          \
	{                                                                                          \
		take(GOMP_ROW_##name, GOMP_ROW_##try, lock, GOMP_CALLER);                          \
	}
GOMP_LOCKS(LOCK)

static void leave(enum gomp_row row, void *lock, const void *caller)
{
	void (*real)(void *);

	*(void **)&real = vftr_gomp_find_lock(row, caller);
	vftr_lock_leaves(lock);
	real(lock);
}

#define UNLOCK(name)                                                                               \
	GOMP_EXPORT void name(void *);                                                             \
	GOMP_EXPORT void name(void *lock)                                                          \
	{                                                                                          \
		leave(GOMP_ROW_##name, lock, GOMP_CALLER);                                         \
	}
GOMP_UNLOCKS(UNLOCK)

/* ---- regions: the frame behind the wait says how long a thread has it ---- */

struct turn {
	void *real;
	const void *site; /* NULL: not recorded */
	uint64_t bits;
	uint32_t wait;
};

static void turn_begin(struct turn *t, enum gomp_row row, enum construct wait, const void *what,
	uint64_t flags, const void *caller)
{
	struct gomp *g;

	t->real = vftr_gomp_find(row, caller, &g);
	t->site = g ? vftr_gomp_site(caller) : NULL;
	if (!g)
		return;
	t->bits = vftr_lock_bits(what, OPENMP_HOLDS | flags);
	t->wait = vftr_construct(wait, t->site, NULL);
	vftr_wait(0, t->wait, t->bits);
}

static void turn_end(const struct turn *t, enum construct body)
{
	if (!t->site)
		return;
	vftr_wait(RECORD_EXIT, t->wait, t->bits);
	vftr_gomp_frame(body, t->site);
}

#define TURN(...) TURN_(__VA_ARGS__)
#define TURN_(name, parameters, arguments, wait, body, what, flags)                                \
	GOMP_EXPORT void name parameters;                                                          \
	GOMP_EXPORT void name parameters                                                           \
	{                                                                                          \
		struct turn t;                                                                     \
                                                                                                   \
		turn_begin(&t, GOMP_ROW_##name, CONSTRUCT_##wait, what, flags, GOMP_CALLER);       \
		((void(*) parameters)t.real) arguments;                                            \
		turn_end(&t, CONSTRUCT_##body);                                                    \
	}
GOMP_TURNS(TURN)
