/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs that make threads share: each thread counts its own calls
 * per path, and writes them when it has ended, whatever way, as lines
 * "TID CALLS PATH"; and who created it as "TID CREATOR" to a second file.
 */
#ifndef VFTR_T_APP_THREADS_H
#define VFTR_T_APP_THREADS_H

#define COUNTER_LOCAL __thread
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../hook/app-counter.h"

static FILE *counts, *creators;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t at_end;
static __thread int rounds;
static int living;

static UNTRACED int own_tid(void)
{
	return (int)syscall(SYS_gettid);
}

static UNTRACED void write_counts(void)
{
	char before[32];

	snprintf(before, sizeof(before), "%d ", own_tid());
	pthread_mutex_lock(&writing);
	counter_print(counts, before);
	living--;
	pthread_mutex_unlock(&writing);
}

/* In the last round: destructors of others may call traced functions before. */
static UNTRACED void thread_is_over(void *value)
{
	if (rounds++ < 3)
		pthread_setspecific(at_end, value);
	else
		write_counts();
}

/* Each thread first says who it is. */
static UNTRACED void thread_is_here(int creator)
{
	pthread_setspecific(at_end, &living);
	pthread_mutex_lock(&writing);
	fprintf(creators, "%d %d\n", own_tid(), creator);
	pthread_mutex_unlock(&writing);
}

/* Before it is created. */
static UNTRACED void thread_will_be(void)
{
	pthread_mutex_lock(&writing);
	living++;
	pthread_mutex_unlock(&writing);
}

static UNTRACED void all_are_over(void)
{
	int left;

	do {
		usleep(1000);
		pthread_mutex_lock(&writing);
		left = living;
		pthread_mutex_unlock(&writing);
	} while (left);
}

static UNTRACED void begin(const char *directory)
{
	if (chdir(directory) || !(counts = fopen("counts", "w")) ||
		!(creators = fopen("creators", "w")) || pthread_key_create(&at_end, thread_is_over))
		exit(99);
}

static UNTRACED void end(void)
{
	all_are_over();
	living++;
	write_counts();
	if (fclose(counts) || fclose(creators))
		exit(99);
}

#endif
