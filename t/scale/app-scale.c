/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process on one of many nodes: 2 * 2^DEPTH call paths that all nodes have, and OWN that no
 * other one has, with some ten calls below each other in which it differs from all others. Makes
 * GO.here.NUMBER when they are made, ends when GO is there, and leaves the time of that, in ns
 * since 1970, in GO.end.NUMBER.
 *
 *	app-scale NUMBER DEPTH OWN GO
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DIGITS 20 /* to the base of 3, of the number of a call path of its own */

static void right(int depth);

static void left(int depth)
{
	if (depth) {
		left(depth - 1);
		right(depth - 1);
	}
}

static void right(int depth)
{
	if (depth) {
		left(depth - 1);
		right(depth - 1);
	}
}

/* Of four functions each calls one of the other three: calls of oneself make no call path. */
static void of_own(unsigned at, unsigned long code, int n);

#define OWN(name, at)                                                                              \
	static void name(unsigned long code, int n)                                                \
	{                                                                                          \
		of_own(at, code, n);                                                               \
	}
OWN(north, 0)
OWN(east, 1)
OWN(south, 2)
OWN(west, 3)

static void __attribute__((no_instrument_function)) of_own(unsigned at, unsigned long code, int n)
{
	static void (*const functions[])(unsigned long code, int n) = {north, east, south, west};

	if (n)
		functions[(at + 1 + code % 3) % 4](code / 3, n - 1);
}

static void __attribute__((no_instrument_function))
leave(const char *go, const char *what, int number, long long ns)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.%s.%d", go, what, number);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%lld\n", ns) < 0 || fclose(f))
		exit(1);
}

int main(int argc, char **argv)
{
	const int number = argc > 1 ? atoi(argv[1]) : 0, depth = argc > 2 ? atoi(argv[2]) : 0;
	const int own = argc > 3 ? atoi(argv[3]) : 0;
	struct timespec now;

	if (argc < 5)
		return 2;
	left(depth);
	right(depth);
	for (int i = 0; i < own; i++)
		north((unsigned long)number * (unsigned long)own + (unsigned long)i, DIGITS);
	leave(argv[4], "here", number, 0);
	while (access(argv[4], F_OK))
		usleep(20000);
	clock_gettime(CLOCK_REALTIME, &now);
	leave(argv[4], "end", number, now.tv_sec * 1000000000ll + now.tv_nsec);
	return 0;
}
