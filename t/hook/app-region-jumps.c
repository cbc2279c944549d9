/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handlers that leave a region's begin or end by a jump; nothing is instrumented. Then come 1000
 * regions "after".
 */
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include "vftrace.h"

#define JUMPS 200

static sigjmp_buf back;
static volatile int armed, jumps;

static void jump(int signal)
{
	(void)signal;
	if (!armed)
		return;
	jumps++;
	siglongjmp(back, 1);
}

static void set_timer(long us)
{
	const struct itimerval t = {{0, us}, {0, us}};

	setitimer(ITIMER_REAL, &t, NULL);
}

int main(void)
{
	struct sigaction a = {.sa_handler = jump};

	sigaction(SIGALRM, &a, NULL);
	set_timer(500);
	sigsetjmp(back, 1);
	armed = 1;
	while (jumps < JUMPS) {
		vftrace_region_begin("work");
		vftrace_region_end("work");
	}
	armed = 0;
	set_timer(0);
	for (int i = 0; i < 1000; i++) {
		vftrace_region_begin("after");
		vftrace_region_end("after");
	}
	return 0;
}
