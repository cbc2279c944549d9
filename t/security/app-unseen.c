/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names that turn the direction of writing, hide, or steer terminals: of a function, a thread, a
 * region and of the program itself, which is called so.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#include "vftrace.h"

#define TURNS  "\xe2\x80\xae"
#define HIDES  "\xe2\x80\x8b"
#define STEERS "\033[31m"

void __attribute__((noinline)) evil(void) __asm__("evil_" TURNS "dab_" HIDES "x");

void evil(void)
{
	struct timespec t = {0, 20000000};

	nanosleep(&t, NULL);
}

static void *thread(void *x)
{
	prctl(PR_SET_NAME, "t" TURNS STEERS "x");
	evil();
	return x;
}

int main(void)
{
	pthread_t t;

	vftrace_region_begin("region " TURNS "dab" STEERS HIDES);
	evil();
	vftrace_region_end("region " TURNS "dab" STEERS HIDES);
	if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
		return 1;
	return 0;
}
