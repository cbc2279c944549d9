/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that this library stands in for, and those that it calls in their place:
 * _(symbol, version of it with today's layout of a condition variable, or NULL).
 */
#ifndef VFTR_LOCKS_FUNCTIONS_H
#define VFTR_LOCKS_FUNCTIONS_H

#define FUNCTIONS(_)                                                                               \
	FUNCTIONS_OF_LOCKS(_)                                                                      \
	FUNCTIONS_OF_CONDITIONS(_)                                                                 \
	FUNCTIONS_OF_OTHERS(_)

#define FUNCTIONS_OF_LOCKS(_)                                                                      \
	_(pthread_mutex_lock, NULL)                                                                \
	_(pthread_mutex_trylock, NULL)                                                             \
	_(pthread_mutex_timedlock, NULL)                                                           \
	_(pthread_mutex_clocklock, NULL)                                                           \
	_(pthread_mutex_unlock, NULL)                                                              \
	_(pthread_rwlock_rdlock, NULL)                                                             \
	_(pthread_rwlock_tryrdlock, NULL)                                                          \
	_(pthread_rwlock_timedrdlock, NULL)                                                        \
	_(pthread_rwlock_clockrdlock, NULL)                                                        \
	_(pthread_rwlock_wrlock, NULL)                                                             \
	_(pthread_rwlock_trywrlock, NULL)                                                          \
	_(pthread_rwlock_timedwrlock, NULL)                                                        \
	_(pthread_rwlock_clockwrlock, NULL)                                                        \
	_(pthread_rwlock_unlock, NULL)                                                             \
	_(pthread_spin_lock, NULL)                                                                 \
	_(pthread_spin_trylock, NULL)                                                              \
	_(pthread_spin_unlock, NULL)                                                               \
	_(mtx_lock, NULL)                                                                          \
	_(mtx_trylock, NULL)                                                                       \
	_(mtx_timedlock, NULL)                                                                     \
	_(mtx_unlock, NULL)

#define FUNCTIONS_OF_CONDITIONS(_)                                                                 \
	_(pthread_cond_wait, "GLIBC_2.3.2")                                                        \
	_(pthread_cond_timedwait, "GLIBC_2.3.2")                                                   \
	_(pthread_cond_clockwait, NULL)                                                            \
	_(pthread_cond_signal, "GLIBC_2.3.2")                                                      \
	_(pthread_cond_broadcast, "GLIBC_2.3.2")                                                   \
	_(cnd_wait, NULL)                                                                          \
	_(cnd_timedwait, NULL)                                                                     \
	_(cnd_signal, NULL)                                                                        \
	_(cnd_broadcast, NULL)

#define FUNCTIONS_OF_OTHERS(_)                                                                     \
	_(pthread_barrier_wait, NULL)                                                              \
	_(sem_wait, NULL)                                                                          \
	_(sem_timedwait, NULL)                                                                     \
	_(sem_clockwait, NULL)                                                                     \
	_(sem_post, NULL)                                                                          \
	_(pthread_join, NULL)                                                                      \
	_(pthread_tryjoin_np, NULL)                                                                \
	_(pthread_timedjoin_np, NULL)                                                              \
	_(pthread_clockjoin_np, NULL)                                                              \
	_(thrd_join, NULL)

#endif
