/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has CUPTI deliver finished activities while the program runs. CUPTI's own period gives
 * back full buffers only (cuptiActivityFlushPeriod); a buffer that is not full, whose
 * activities have ended, comes by cuptiActivityFlushAll(0) alone. A thread calls that
 * twice a second, from the first call of CUDA in this process until the process ends.
 */
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include "cupti/cupti.h"
#include "shm/atomic.h"

#define PERIOD_NS 500000000L /* how long finished activities may stay with CUPTI */

/* Held while CUPTI is asked, so that the thread does not ask it after deliver_end(). */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_ended;
static uint32_t begun; /* 1 + generation of the process that has the thread */

void deliver_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	has_ended = false;
}

static void *deliver(void *unused)
{
	const struct timespec period = {.tv_nsec = PERIOD_NS};
	bool goes_on = true;

	while (goes_on) {
		nanosleep(&period, NULL);
		pthread_mutex_lock(&lock);
		goes_on = !has_ended;
		if (goes_on)
			cupti.flush_all(0);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

void deliver_begin(void)
{
	uint32_t mine = gpu_host->generation() + 1, before = load_relaxed(&begun);
	sigset_t all, saved;
	pthread_attr_t detached;
	pthread_t thread;

	if (before == mine || !claim_u32(&begun, before, mine) || pthread_attr_init(&detached))
		return;
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved); /* signals are the program's */
	pthread_create(&thread, &detached, deliver, NULL);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&detached);
}

/* Waits for the thread's present question, if any; it asks none later. */
void deliver_end(void)
{
	pthread_mutex_lock(&lock);
	has_ended = true;
	pthread_mutex_unlock(&lock);
}
