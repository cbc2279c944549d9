/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets ranks of MPICH that wait give up their processor. MPICH over UCX asks for messages without
 * a pause, so with more ranks than processors a rank that has nothing to do keeps from running
 * whom it waits for: a job of 4 ranks on 2 processors takes ten times as long, and burns them.
 * Preloaded by t/lib/mpiexec.hydra. Without UCX it does nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

enum {
	ASKED_IN_VAIN = 64, /* before a rank sleeps: some microseconds */
	SLEEP_NS = 20000,   /* and the slack of timers, 50 us */
	LONG = 1000,	    /* in vain in a row: 70 ms or more */
	LONG_NS = 1000000,  /* each sleep from then on */
};

unsigned ucp_worker_progress(void *worker);

unsigned ucp_worker_progress(void *worker)
{
	static unsigned (*progress)(void *);
	static __thread unsigned in_vain;
	unsigned (*call)(void *) = __atomic_load_n(&progress, __ATOMIC_RELAXED);

	if (!call) {
		*(void **)&call = dlsym(RTLD_NEXT, "ucp_worker_progress");
		__atomic_store_n(&progress, call, __ATOMIC_RELAXED);
	}
	unsigned done = call(worker);
	if (done) {
		in_vain = 0;
	} else if (++in_vain > ASKED_IN_VAIN) {
		int kept = errno;

		nanosleep(&(struct timespec){.tv_nsec = in_vain > LONG ? LONG_NS : SLEEP_NS}, NULL);
		errno = kept;
	}
	return done;
}
