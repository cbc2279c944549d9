/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process on one of many nodes: 2 * 2^DEPTH call paths that all nodes have, and OWN that no
 * other one has. Makes GO.here.NUMBER when they are made, ends when GO is there, and leaves the
 * time of that, in ns since 1970, in GO.end.NUMBER.
 *	app-scale NUMBER DEPTH OWN GO
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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

static void zero(unsigned long bits, int n);

static void one(unsigned long bits, int n)
{
	if (n)
		(bits & 1 ? one : zero)(bits >> 1, n - 1);
}

static void zero(unsigned long bits, int n)
{
	if (n)
		(bits & 1 ? one : zero)(bits >> 1, n - 1);
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
		one((unsigned long)number * (unsigned long)own + (unsigned long)i, 24);
	leave(argv[4], "here", number, 0);
	while (access(argv[4], F_OK))
		usleep(20000);
	clock_gettime(CLOCK_REALTIME, &now);
	leave(argv[4], "end", number, now.tv_sec * 1000000000ll + now.tv_nsec);
	return 0;
}
