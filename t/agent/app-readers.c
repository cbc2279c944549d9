/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * readers KIND N CALLS: N threads, processes that are children and have children, or N children of
 * which every second one is killed in the middle, call the same functions the same number of times
 * whenever it is run. Then waits until stdin ends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sink;

void leaf(unsigned i)
{
	sink += i;
}

void rare(unsigned i)
{
	leaf(i);
}

void north(uint32_t bits, unsigned depth);
void east(uint32_t bits, unsigned depth);
void south(uint32_t bits, unsigned depth);

static inline __attribute__((no_instrument_function)) void go_on(uint32_t bits, unsigned depth)
{
	static void (*const to[])(uint32_t, unsigned) = {north, east, south};

	if (depth)
		to[bits % 3](bits / 3, depth - 1);
	else
		leaf(bits);
}

void north(uint32_t bits, unsigned depth)
{
	go_on(bits, depth);
}

void east(uint32_t bits, unsigned depth)
{
	go_on(bits, depth);
	leaf(depth);
}

void south(uint32_t bits, unsigned depth)
{
	leaf(depth);
	go_on(bits, depth);
}

/* New paths all the time, and old ones in between. */
void work(unsigned seed, unsigned calls)
{
	uint32_t dice = seed;

	for (unsigned i = 0; i < calls; i++) {
		dice = dice * 1664525 + 1013904223;
		if (i % 3)
			go_on(dice >> 8, 2 + (dice >> 28) % 5);
		else
			go_on(5461, 9);
		if (i % 5000 == 0)
			rare(i);
	}
}

static unsigned calls;

static void *run_thread(void *arg)
{
	work((unsigned)(uintptr_t)arg, calls);
	return NULL;
}

void threads(unsigned n)
{
	pthread_t *t = calloc(n, sizeof(*t));

	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, run_thread, (void *)(uintptr_t)i))
			exit(3);
	for (unsigned i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
}

void child(unsigned i, int kill_it)
{
	work(i, calls / 2);
	if (kill_it && i % 2)
		raise(SIGKILL);
	for (unsigned k = 0; k < 3; k++) {
		if (!fork()) {
			work(k, 100);
			_exit(0);
		}
		wait(NULL);
	}
	work(i + 1, calls / 2);
}

void processes(unsigned n, int kill_some)
{
	for (unsigned i = 0; i < n; i++)
		if (!fork()) {
			child(i, kill_some);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	unsigned n;

	if (argc < 4)
		return 2;
	n = (unsigned)atoi(argv[2]);
	calls = (unsigned)atoi(argv[3]);
	if (!strcmp(argv[1], "threads"))
		threads(n);
	else
		processes(n, !strcmp(argv[1], "killed"));
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
