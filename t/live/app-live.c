/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of live views without MPI: app-live DIR. Steps until DIR/stop is there, then waits for
 * DIR/end in wait_for_end(), after CALLS calls of counted().
 */
#include <stdio.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))
#define CALLS 12345

static volatile double sink;

static APART void counted(void)
{
	sink += 1;
}

static APART void leaf(void)
{
	sink += 1;
}

static APART void step(void)
{
	for (int i = 0; i < 100; i++)
		leaf();
	usleep(5000);
}

static int __attribute__((no_instrument_function)) there_is(const char *dir, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

static APART void wait_for_end(const char *dir)
{
	while (!access(dir, F_OK) && !there_is(dir, "end"))
		usleep(50000);
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : ".";

	while (!access(dir, F_OK) && !there_is(dir, "stop"))
		step();
	for (int i = 0; i < CALLS; i++)
		counted();
	wait_for_end(dir);
	return 0;
}
