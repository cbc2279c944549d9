/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets ranks of Open MPI that wait sleep. They are told to yield (lib.sh), and do so in a loop:
 * with a processor to spare each burns it. A thread that yields many times, and does nothing else
 * in between, sleeps instead. Preloaded by t/lib/mpirun.openmpi. Agents do not sleep: they compare
 * their clocks, and are what is tested.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	IN_A_ROW = 64,	   /* yields before the first sleep: some ten microseconds */
	BUSY_NS = 20000,   /* who comes back no earlier has done something in between */
	SLEEP_NS = 100000, /* and the slack of timers, 50 us */
};

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int sched_yield(void)
{
	static __thread unsigned in_a_row;
	static __thread long long last;
	int kept = errno;

	if (now_ns() - last > BUSY_NS || !strncmp(program_invocation_short_name, "vftr-", 5))
		in_a_row = 0;
	if (++in_a_row > IN_A_ROW)
		nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
	else
		syscall(SYS_sched_yield);
	last = now_ns();
	errno = kept;
	return 0;
}
