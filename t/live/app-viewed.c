/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of what a viewer does to a program: app-viewed DIR. Waits for DIR/go, then does STEPS
 * steps, each CALLS calls and a sleep, and prints how often it gave up its CPU by itself: once for
 * each sleep, and whenever it waits for anything else.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define APART	 __attribute__((noinline, noipa))
#define UNTRACED __attribute__((no_instrument_function))

enum { STEPS = 3000, CALLS = 100 };

static volatile int sink;

static APART void leaf(void)
{
	sink++;
}

static APART void step(void)
{
	for (int i = 0; i < CALLS; i++)
		leaf();
	usleep(1000);
}

static UNTRACED void wait_for(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	while (!access(dir, F_OK) && access(path, F_OK))
		usleep(10000);
}

int main(int argc, char **argv)
{
	struct rusage before, after;

	leaf();
	wait_for(argc > 1 ? argv[1] : ".", "go");
	getrusage(RUSAGE_SELF, &before);
	for (int i = 0; i < STEPS; i++)
		step();
	getrusage(RUSAGE_SELF, &after);
	printf("%ld %d\n", after.ru_nvcsw - before.ru_nvcsw, STEPS);
	return 0;
}
