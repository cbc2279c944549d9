/* SPDX-License-Identifier: BSD-3-Clause */
/* ns per lock and unlock of what nobody else wants: `locks KIND CALLS`. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;

static void use_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void use_rwlock(void)
{
	pthread_rwlock_rdlock(&rw);
	pthread_rwlock_unlock(&rw);
}

static void use_spin(void)
{
	pthread_spin_lock(&spin);
	pthread_spin_unlock(&spin);
}

static void use_semaphore(void)
{
	sem_post(&sem);
	sem_wait(&sem);
}

static void use_signal(void)
{
	pthread_cond_signal(&condition);
}

static const struct {
	const char *name;
	void (*use)(void);
} kinds[] = {{"mutex", use_mutex}, {"recursive", use_mutex}, {"rwlock", use_rwlock},
	{"spin", use_spin}, {"semaphore", use_semaphore}, {"signal", use_signal}};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const long calls = argc > 2 ? atol(argv[2]) : 0;
	pthread_mutexattr_t attr;

	pthread_spin_init(&spin, 0);
	sem_init(&sem, 0, 0);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	if (argc > 2 && !strcmp(argv[1], "recursive"))
		pthread_mutex_init(&mutex, &attr);
	for (size_t k = 0; argc > 2 && k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		double begin;

		if (strcmp(argv[1], kinds[k].name))
			continue;
		begin = now_ns();
		for (long i = 0; i < calls; i++)
			kinds[k].use();
		printf("%.1f\n", (now_ns() - begin) / (double)calls);
		return 0;
	}
	return 1;
}
