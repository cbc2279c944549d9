/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program of the log tests, with known calls: 20 foo, each with a region "reg"
 * and a bar; one more bar from main; six calls of rec, of itself.
 *	(none)	returns 0
 *	kill	is then killed by SIGFPE
 */
#include <signal.h>
#include <string.h>
#include <time.h>

#include "vftrace.h"

static void spend(long us)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
}

__attribute__((noinline)) void bar(long us)
{
	spend(us);
}

__attribute__((noinline)) void foo(void)
{
	vftrace_region_begin("reg");
	spend(100);
	vftrace_region_end("reg");
	bar(200);
}

__attribute__((noinline)) int rec(int n)
{
	return n ? 1 + rec(n - 1) : 0;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 20; i++)
		foo();
	bar(3000);
	if (rec(5) != 5)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "kill"))
		raise(SIGFPE);
	return 0;
}
