/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of `vftr where': app-where-locks DIR mutex|rwlock|critical|free|self. One thread has a
 * lock until DIR/end is there, another one waits for it; free: for a condition, for which nobody
 * has it; self: the one that waits for it for ever has it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))

static const char *dir;
static atomic_int taken;
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t shared_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int over;

static APART void keep_until_end(void)
{
	char path[4096];

	atomic_store(&taken, 1);
	snprintf(path, sizeof(path), "%s/end", dir);
	while (access(path, F_OK) && !access(dir, F_OK))
		usleep(50000);
}

static APART void until_taken(void)
{
	while (!atomic_load(&taken))
		usleep(1000);
}

static APART void *want_mutex(void *arg)
{
	until_taken();
	pthread_mutex_lock(&table_lock);
	pthread_mutex_unlock(&table_lock);
	return arg;
}

static APART void *want_own(void *arg)
{
	pthread_mutex_lock(&table_lock);
	pthread_mutex_lock(&table_lock);
	return arg;
}

static APART void *want_to_read(void *arg)
{
	until_taken();
	pthread_rwlock_rdlock(&shared_lock);
	pthread_rwlock_unlock(&shared_lock);
	return arg;
}

static APART void *want_news(void *arg)
{
	pthread_mutex_lock(&table_lock);
	while (!over)
		pthread_cond_wait(&news, &table_lock);
	pthread_mutex_unlock(&table_lock);
	return arg;
}

static APART void critical(void)
{
#pragma omp parallel num_threads(2)
	{
		int first;

#pragma omp single nowait
		{
#pragma omp critical(table)
			keep_until_end();
		}
		until_taken();
#pragma omp critical(table)
		first = atomic_fetch_add(&taken, 1) == 1;
		(void)first;
	}
}

static APART void hold(const char *mode)
{
	const int mutex = !strcmp(mode, "mutex"), rwlock = !strcmp(mode, "rwlock");

	if (mutex)
		pthread_mutex_lock(&table_lock);
	if (rwlock)
		pthread_rwlock_wrlock(&shared_lock);
	keep_until_end();
	if (mutex)
		pthread_mutex_unlock(&table_lock);
	if (rwlock)
		pthread_rwlock_unlock(&shared_lock);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	const char *mode = argc > 2 ? argv[2] : "";

	dir = argv[1];
	if (!strcmp(mode, "critical")) {
		critical();
		return 0;
	}
	if (pthread_create(&thread, NULL,
		    !strcmp(mode, "mutex")    ? want_mutex
		    : !strcmp(mode, "rwlock") ? want_to_read
		    : !strcmp(mode, "self")   ? want_own
					      : want_news,
		    NULL))
		return 1;
	hold(mode);
	if (!strcmp(mode, "self"))
		return 0;
	pthread_mutex_lock(&table_lock);
	over = 1;
	pthread_cond_broadcast(&news);
	pthread_mutex_unlock(&table_lock);
	pthread_join(thread, NULL);
	return 0;
}
