/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that are switched off and on while they run: app-switch DIR. Until DIR/end is there
 * step() calls leaf() and nest(), which calls itself and leaf(). Prints each one's calls.
 */
#include <stdio.h>
#include <unistd.h>

#define APART	 __attribute__((noinline, noipa))
#define UNTRACED __attribute__((no_instrument_function))

static long leaves, nests, steps;

static APART void leaf(void)
{
	leaves++;
}

static APART void nest(int depth)
{
	nests++;
	leaf();
	usleep(200);
	if (depth)
		nest(depth - 1);
	leaf();
}

static APART void step(void)
{
	steps++;
	for (int i = 0; i < 1000; i++)
		leaf();
	nest(5);
}

static int UNTRACED there_is(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : ".";

	while (!access(dir, F_OK) && !there_is(dir, "end"))
		step();
	printf("leaf %ld\nnest %ld\nstep %ld\n", leaves, nests, steps);
	return 0;
}
