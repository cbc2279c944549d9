/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of pauses that a viewer orders: app-pause DIR THREADS. Each thread
 *
 *   calls before() BEFORE times,
 *   waits in await() for DIR/paused, which is there once recording has paused,
 *   calls within() WITHIN times and enters hidden(), in which it
 *     waits for DIR/resumed, which is there once recording may go on,
 *     calls after() AFTER times, and leaves it,
 *   calls last() LAST times.
 *
 * So what is recorded is known: before, after and last, but not within and hidden. While it waits
 * it calls tick(), once more when the file is there.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APART	 __attribute__((noinline, noipa))
#define UNTRACED __attribute__((no_instrument_function))

enum { BEFORE = 1000, WITHIN = 500, AFTER = 700, LAST = 900 };

static const char *dir;
static long ticks; /* of all threads */
static _Thread_local volatile int sink;

static APART void before(void)
{
	sink++;
}

static APART void within(void)
{
	sink++;
}

static APART void after(void)
{
	sink++;
}

static APART void last(void)
{
	sink++;
}

static APART void tick(void)
{
	__atomic_add_fetch(&ticks, 1, __ATOMIC_RELAXED);
}

static int UNTRACED there_is(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return access(dir, F_OK) || !access(path, F_OK);
}

static void UNTRACED say_here(const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.%lx", dir, name, (unsigned long)pthread_self());
	f = fopen(path, "w");
	if (f)
		fclose(f);
}

static APART void await(const char *name)
{
	do {
		tick();
		usleep(5000);
	} while (!there_is(name));
	tick();
}

static APART void hidden(void)
{
	say_here("hidden");
	await("resumed");
	for (int i = 0; i < AFTER; i++)
		after();
}

static APART void outer(void)
{
	for (int i = 0; i < BEFORE; i++)
		before();
	await("paused");
	for (int i = 0; i < WITHIN; i++)
		within();
	hidden();
	for (int i = 0; i < LAST; i++)
		last();
}

static UNTRACED void *thread(void *arg)
{
	outer();
	return arg;
}

int main(int argc, char **argv)
{
	const int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t id[64];

	dir = argv[1];
	for (int i = 1; i < threads; i++)
		pthread_create(&id[i], NULL, thread, NULL);
	outer();
	for (int i = 1; i < threads; i++)
		pthread_join(id[i], NULL);
	printf("%ld\n", ticks);
	return 0;
}
