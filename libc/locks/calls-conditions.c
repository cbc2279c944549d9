/* SPDX-License-Identifier: BSD-3-Clause */
/* Condition variables: a wait is over when another thread has signalled, which gives it back. */
#include "libc/locks/locks.h"

#include <errno.h>

/*
 * The wait gives the mutex back, and the thread may be cancelled in it. Our own cleanup is without
 * exceptions of C, which would need a library more.
 */
#define WAIT(symbol, condition, mutex, failed, ...)                                                \
	do {                                                                                       \
		struct wait w_;                                                                    \
		int result_;                                                                       \
                                                                                                   \
		locks_leaves(mutex, LOCK_MUTEX);                                                   \
		locks_begin(&w_, CALL_##symbol, condition, LOCK_CONDITION);                        \
		pthread_cleanup_push(locks_cancelled, &w_);                                        \
		result_ = REAL(symbol)(__VA_ARGS__);                                               \
		pthread_cleanup_pop(0);                                                            \
		locks_end(&w_, failed(result_) ? LOCK_WAIT_NONE : LOCK_WAIT_OVER);                 \
		return result_;                                                                    \
	} while (0)

static bool pthread_failed(int result)
{
	return result && result != ETIMEDOUT && result != EOWNERDEAD;
}

static bool thrd_failed(int result)
{
	return result != thrd_success && result != thrd_timedout;
}

EXPORT int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
	WAIT(pthread_cond_wait, c, m, pthread_failed, c, m);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
	const struct timespec *restrict until)
{
	WAIT(pthread_cond_timedwait, c, m, pthread_failed, c, m, until);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
	clockid_t clock, const struct timespec *restrict until)
{
	WAIT(pthread_cond_clockwait, c, m, pthread_failed, c, m, clock, until);
}

EXPORT int cnd_wait(cnd_t *c, mtx_t *m)
{
	WAIT(cnd_wait, c, m, thrd_failed, c, m);
}

EXPORT int cnd_timedwait(
	cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until)
{
	WAIT(cnd_timedwait, c, m, thrd_failed, c, m, until);
}

#define SIGNAL(symbol, type)                                                                       \
	EXPORT int symbol(type *c)                                                                 \
	{                                                                                          \
		locks_leaves(c, LOCK_CONDITION);                                                   \
		return REAL(symbol)(c);                                                            \
	}

SIGNAL(pthread_cond_signal, pthread_cond_t)
SIGNAL(pthread_cond_broadcast, pthread_cond_t)
SIGNAL(cnd_signal, cnd_t)
SIGNAL(cnd_broadcast, cnd_t)
