/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only in libvftrace-static.a, as part of the object that every program needs.
 * generation.c makes a key, which has the run-time libraries of older compilers believe
 * that all of these functions are there. They refer to them weakly: in a program
 * that is linked with -static, what nobody else needs would be missing.
 */
#include <pthread.h>

#define NEEDED(name) (const void *)pthread_##name
__attribute__((used)) static const void *const threads_needed[] = {NEEDED(once),
	NEEDED(getspecific), NEEDED(setspecific), NEEDED(key_create), NEEDED(key_delete),
	NEEDED(create), NEEDED(join), NEEDED(equal), NEEDED(self), NEEDED(detach), NEEDED(cancel),
	NEEDED(mutex_init), NEEDED(mutex_destroy), NEEDED(mutex_lock), NEEDED(mutex_trylock),
	NEEDED(mutex_timedlock), NEEDED(mutex_unlock), NEEDED(mutexattr_init),
	NEEDED(mutexattr_settype), NEEDED(mutexattr_destroy), NEEDED(cond_init),
	NEEDED(cond_destroy), NEEDED(cond_signal), NEEDED(cond_broadcast), NEEDED(cond_wait),
	NEEDED(cond_timedwait), NEEDED(rwlock_rdlock), NEEDED(rwlock_tryrdlock),
	NEEDED(rwlock_wrlock), NEEDED(rwlock_trywrlock), NEEDED(rwlock_unlock)};
