/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers, semaphores and the ends of threads. */
#include "libc/locks/locks.h"

#include <errno.h>

/* ---- barriers: all wait for the last one, which the C library tells of itself ---- */

EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
	struct wait w;
	uint64_t came;
	int result;

	locks_begin(&w, CALL_pthread_barrier_wait, b, LOCK_BARRIER);
	came = w.number ? locks_host->ticks() : 0;
	result = REAL(pthread_barrier_wait)(b);
	if (w.number && result == PTHREAD_BARRIER_SERIAL_THREAD)
		locks_host->leaves(w.number, came);
	locks_end(&w, result ? LOCK_WAIT_NONE : LOCK_WAIT_OVER);
	return result;
}

/* ---- semaphores ---- */

/* The value: a thread that sees it above 0 does not wait, unless another one is faster. */
static bool is_free(const sem_t *s)
{
	return load_relaxed((const uint32_t *)(const void *)s) != 0; /* a hint */
}

#define WAIT(symbol, ...)                                                                          \
	do {                                                                                       \
		struct wait w_;                                                                    \
		int result_;                                                                       \
                                                                                                   \
		if (is_free(s))                                                                    \
			return REAL(symbol)(__VA_ARGS__);                                          \
		locks_begin(&w_, CALL_##symbol, s, LOCK_SEMAPHORE);                                \
		pthread_cleanup_push(locks_cancelled, &w_);                                        \
		result_ = REAL(symbol)(__VA_ARGS__);                                               \
		pthread_cleanup_pop(0);                                                            \
		locks_end(&w_, !result_ || errno == ETIMEDOUT || errno == EINTR ? LOCK_WAIT_OVER   \
										: LOCK_WAIT_NONE); \
		return result_;                                                                    \
	} while (0)

EXPORT int sem_wait(sem_t *s)
{
	WAIT(sem_wait, s);
}

EXPORT int sem_timedwait(sem_t *restrict s, const struct timespec *restrict until)
{
	WAIT(sem_timedwait, s, until);
}

EXPORT int sem_clockwait(sem_t *restrict s, clockid_t clock, const struct timespec *restrict until)
{
	WAIT(sem_clockwait, s, clock, until);
}

EXPORT int sem_post(sem_t *s)
{
	locks_leaves(s, LOCK_SEMAPHORE);
	return REAL(sem_post)(s);
}

/* ---- threads: one that has ended is joined without a wait ---- */

#define JOIN(symbol, known, call)                                                                  \
	do {                                                                                       \
		struct wait w_;                                                                    \
		int result_ = (known) ? REAL(pthread_tryjoin_np)(thread, value) : EINVAL;          \
                                                                                                   \
		if (result_ != EBUSY)                                                              \
			return (known) ? result_ : (call);                                         \
		locks_begin(&w_, CALL_##symbol, (const void *)thread, LOCK_THREAD);                \
		pthread_cleanup_push(locks_cancelled, &w_);                                        \
		result_ = (call);                                                                  \
		pthread_cleanup_pop(0);                                                            \
		locks_end(                                                                         \
			&w_, !result_ || result_ == ETIMEDOUT ? LOCK_WAIT_OVER : LOCK_WAIT_NONE);  \
		return result_;                                                                    \
	} while (0)

EXPORT int pthread_join(pthread_t thread, void **value)
{
	JOIN(pthread_join, true, REAL(pthread_join)(thread, value));
}

EXPORT int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
	JOIN(pthread_timedjoin_np, true, REAL(pthread_timedjoin_np)(thread, value, until));
}

EXPORT int pthread_clockjoin_np(
	pthread_t thread, void **value, clockid_t clock, const struct timespec *until)
{
	/* other clocks are an error, whatever the thread does */
	JOIN(pthread_clockjoin_np, clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC,
		REAL(pthread_clockjoin_np)(thread, value, clock, until));
}

EXPORT int thrd_join(thrd_t thread, int *value)
{
	struct wait w;
	int result;

	locks_begin(&w, CALL_thrd_join, (const void *)thread, LOCK_THREAD);
	pthread_cleanup_push(locks_cancelled, &w);
	result = REAL(thrd_join)(thread, value);
	pthread_cleanup_pop(0);
	locks_end(&w, result == thrd_success ? LOCK_WAIT_OVER : LOCK_WAIT_NONE);
	return result;
}
