/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What has broken Vftrace in a program without MPI: app-compared HOW. Each makes a known
 * number of calls and ends as it would untraced; t7003-vftrace-compared.sh knows how.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

static volatile long sink;

KEEP static void leaf(void)
{
	sink++;
}

KEEP static void work(void)
{
	for (int i = 0; i < 10; i++)
		leaf();
}

UNTRACED static void spend(long us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

/* A function that is always sampled, called far more often than the interval is long. */
KEEP static void frequent(void)
{
	spend(20);
}

KEEP static void ordinary(void)
{
	for (int i = 0; i < 100; i++)
		frequent();
}

static int starve(void)
{
	for (int i = 0; i < 20; i++)
		ordinary();
	return 0;
}

KEEP static void ping(int n);

KEEP static void pong(int n)
{
	spend(100);
	if (n)
		ping(n - 1);
}

KEEP static void ping(int n)
{
	spend(100);
	if (n)
		pong(n - 1);
}

static int nothing_to_open(void)
{
	void *handle = dlopen("/nowhere/plugin.so", RTLD_NOW);

	printf("%s\n", handle ? "opened" : dlerror());
	work();
	return !!handle;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int signal;
	} signals[] = {{"bus", SIGBUS}, {"ill", SIGILL}, {"hup", SIGHUP}, {"xcpu", SIGXCPU},
		{"usr1", SIGUSR1}, {"fpe", SIGFPE}, {"int", SIGINT}, {"quit", SIGQUIT}};
	const char *how = argc > 1 ? argv[1] : "";

	if (!strcmp(how, "starve"))
		return starve();
	if (!strcmp(how, "dlopen"))
		return nothing_to_open();
	if (!strcmp(how, "recursion")) {
		ping(7);
		return 0;
	}
	work();
	puts("done");
	fflush(stdout);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!strcmp(how, signals[i].name))
			raise(signals[i].signal);
	return argc > 2 ? atoi(argv[2]) : 0;
}
