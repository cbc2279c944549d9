/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks that a thread has until it gives them back: mutexes, read-write locks, spin locks. */
#include "libc/locks/locks.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* An unlocked mutex is 0, a locked one 1 if nobody waits for it; those with other protocols have
 * the owner there. */
static inline bool may_be_wanted(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
	return (unsigned)load_relaxed(&m->__data.__lock) > 1; /* a hint */
#else
	return true;
#endif
}

static enum lock_wait outcome(int result)
{
	if (!result || result == EOWNERDEAD)
		return LOCK_WAIT_GOT;
	return result == ETIMEDOUT ? LOCK_WAIT_OVER : LOCK_WAIT_NONE;
}

/* real() is called with the lock, and what else there is, in the frame of a wait. */
#define WAIT(symbol, kind, lock, ...)                                                              \
	do {                                                                                       \
		struct wait w_;                                                                    \
		int result_;                                                                       \
                                                                                                   \
		locks_begin(&w_, CALL_##symbol, lock, kind);                                       \
		result_ = REAL(symbol)(__VA_ARGS__);                                               \
		locks_end(&w_, outcome(result_));                                                  \
		return result_;                                                                    \
	} while (0)

/*
 * What is in a mutex of glibc. Those that are robust, or have a protocol, are not tried: trying
 * leaves one locked that cannot be made consistent any more, and takes no notice of a ceiling. They
 * have their owner's number beside that ceiling.
 */
#define KIND_PROTECT  64 /* of PTHREAD_PRIO_PROTECT */
#define KIND_SPECIAL  (16 | 32 | KIND_PROTECT)
#define OWNER_PROTECT 0x7ffffu /* the owner's bits below the ceiling: 1 or 2 */

static inline bool is_special(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
	return load_relaxed(&m->__data.__kind) & KIND_SPECIAL;
#else
	return false;
#endif
}

static __attribute__((noinline)) int look_at_mutex(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
	const uint32_t owner =
		load_relaxed(&m->__data.__kind) & KIND_PROTECT ? OWNER_PROTECT : FUTEX_TID_MASK;

	if (!((uint32_t)load_relaxed(&m->__data.__lock) & owner))
		return EAGAIN;
	/* its owner does not wait for it */
	return load_relaxed(&m->__data.__owner) == syscall(SYS_gettid) ? EAGAIN : EBUSY;
#else
	return EAGAIN;
#endif
}

static inline int try_mutex(pthread_mutex_t *m)
{
	return unlikely(is_special(m)) ? look_at_mutex(m) : REAL(pthread_mutex_trylock)(m);
}

/* Read-write locks look at the time first, also where the lock is free. */
static inline bool is_time(const struct timespec *until)
{
	return !until || (unsigned long)until->tv_nsec < 1000000000ul;
}

#define try_mutex_until(lock, until) try_mutex(lock)
#define try_read_until(lock, until)  (is_time(until) ? try_read(lock) : EINVAL)
#define try_write_until(lock, until) (is_time(until) ? try_write(lock) : EINVAL)

#define try_read(lock)	REAL(pthread_rwlock_tryrdlock)(lock)
#define try_write(lock) REAL(pthread_rwlock_trywrlock)(lock)
#define try_spin(lock)	REAL(pthread_spin_trylock)(lock)

/* A function that waits for a lock without an end; try: 0, if the thread has it now, EBUSY, if it
 * has to wait, or else the function itself says what there is. */
#define LOCK(symbol, try, type, kind)                                                              \
	static __attribute__((noinline)) int wait_##symbol(type *lock, int tried)                  \
	{                                                                                          \
		if (tried != EBUSY)                                                                \
			return REAL(symbol)(lock);                                                 \
		WAIT(symbol, kind, (const void *)lock, lock);                                      \
	}                                                                                          \
	EXPORT int symbol(type *lock)                                                              \
	{                                                                                          \
		const int tried = try(lock);                                                       \
                                                                                                   \
		return likely(!tried) ? 0 : wait_##symbol(lock, tried);                            \
	}

#define LOCK_UNTIL(symbol, try, type, kind)                                                        \
	EXPORT int symbol(type *lock, const struct timespec *until)                                \
	{                                                                                          \
		const int tried = try(lock, until);                                                \
                                                                                                   \
		if (likely(!tried))                                                                \
			return 0;                                                                  \
		if (tried != EBUSY)                                                                \
			return REAL(symbol)(lock, until);                                          \
		WAIT(symbol, kind, lock, lock, until);                                             \
	}

/* Other clocks than these are an error, whether the lock is free or not. */
#define LOCK_BY_CLOCK(symbol, try, type, kind)                                                     \
	EXPORT int symbol(type *lock, clockid_t clock, const struct timespec *until)               \
	{                                                                                          \
		const bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;            \
		const int tried = known ? try(lock, until) : EINVAL;                               \
                                                                                                   \
		if (likely(!tried))                                                                \
			return 0;                                                                  \
		if (tried != EBUSY)                                                                \
			return REAL(symbol)(lock, clock, until);                                   \
		WAIT(symbol, kind, lock, lock, clock, until);                                      \
	}

#define UNLOCK(symbol, type, kind)                                                                 \
	EXPORT int symbol(type *lock)                                                              \
	{                                                                                          \
		locks_leaves((const void *)lock, kind);                                            \
		return REAL(symbol)(lock);                                                         \
	}

LOCK(pthread_mutex_lock, try_mutex, pthread_mutex_t, LOCK_MUTEX)
LOCK_UNTIL(pthread_mutex_timedlock, try_mutex_until, pthread_mutex_t, LOCK_MUTEX)
LOCK_BY_CLOCK(pthread_mutex_clocklock, try_mutex_until, pthread_mutex_t, LOCK_MUTEX)

EXPORT int pthread_mutex_unlock(pthread_mutex_t *lock)
{
	if (unlikely(may_be_wanted(lock)))
		locks_leaves(lock, LOCK_MUTEX);
	return REAL(pthread_mutex_unlock)(lock);
}

LOCK(pthread_rwlock_rdlock, try_read, pthread_rwlock_t, LOCK_RWLOCK)
LOCK_UNTIL(pthread_rwlock_timedrdlock, try_read_until, pthread_rwlock_t, LOCK_RWLOCK)
LOCK_BY_CLOCK(pthread_rwlock_clockrdlock, try_read_until, pthread_rwlock_t, LOCK_RWLOCK)
LOCK(pthread_rwlock_wrlock, try_write, pthread_rwlock_t, LOCK_RWLOCK)
LOCK_UNTIL(pthread_rwlock_timedwrlock, try_write_until, pthread_rwlock_t, LOCK_RWLOCK)
LOCK_BY_CLOCK(pthread_rwlock_clockwrlock, try_write_until, pthread_rwlock_t, LOCK_RWLOCK)
UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t, LOCK_RWLOCK)

LOCK(pthread_spin_lock, try_spin, pthread_spinlock_t, LOCK_SPIN)
UNLOCK(pthread_spin_unlock, pthread_spinlock_t, LOCK_SPIN)

/* ---- those of C11, whose results have numbers of their own ---- */

static __attribute__((noinline)) int wait_for_mtx(mtx_t *lock)
{
	struct wait w;
	int result;

	locks_begin(&w, CALL_mtx_lock, lock, LOCK_MUTEX);
	result = REAL(mtx_lock)(lock);
	locks_end(&w, result == thrd_success ? LOCK_WAIT_GOT : LOCK_WAIT_NONE);
	return result;
}

EXPORT int mtx_lock(mtx_t *lock)
{
	const int tried = REAL(mtx_trylock)(lock);

	if (likely(tried == thrd_success))
		return tried;
	return tried == thrd_busy ? wait_for_mtx(lock) : REAL(mtx_lock)(lock);
}

EXPORT int mtx_timedlock(mtx_t *restrict lock, const struct timespec *restrict until)
{
	const int tried = REAL(mtx_trylock)(lock);
	struct wait w;
	int result;

	if (tried != thrd_busy)
		return tried == thrd_success ? tried : REAL(mtx_timedlock)(lock, until);
	locks_begin(&w, CALL_mtx_timedlock, lock, LOCK_MUTEX);
	result = REAL(mtx_timedlock)(lock, until);
	locks_end(&w, result == thrd_success	? LOCK_WAIT_GOT
		      : result == thrd_timedout ? LOCK_WAIT_OVER
						: LOCK_WAIT_NONE);
	return result;
}

EXPORT int mtx_unlock(mtx_t *lock)
{
	locks_leaves(lock, LOCK_MUTEX);
	return REAL(mtx_unlock)(lock);
}
