/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Built by clang with -fxray-instrument: app-sled-targets SECONDS THREADS. The threads call eight
 * short functions at the same time. It prints to how many places the sled of each has led, at most:
 * a hook, and instructions that count.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NEVER	  __attribute__((xray_never_instrument))
#define FUNCTIONS 8
#define PLACES	  16

static volatile int ended;

#define SHORT(n)                                                                                   \
	__attribute__((noinline)) static int f##n(int x)                                           \
	{                                                                                          \
		__asm__ volatile("");                                                              \
		return x + n;                                                                      \
	}
SHORT(0)
SHORT(1)
SHORT(2)
SHORT(3)
SHORT(4)
SHORT(5)
SHORT(6)
SHORT(7)

static int (*const functions[FUNCTIONS])(int) = {f0, f1, f2, f3, f4, f5, f6, f7};

__attribute__((noinline)) static int batch(int sum)
{
	for (int k = 0; k < 1000; k++)
		for (int i = 0; i < FUNCTIONS; i++)
			sum += functions[i](sum);
	return sum;
}

static void *work(void *unused)
{
	static __thread int sum;

	while (!ended)
		sum = batch(sum);
	return &sum;
}

NEVER static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The distance of the call behind a jump over nothing. */
NEVER static void look(int32_t place[FUNCTIONS][PLACES], int *n)
{
	for (int i = 0; i < FUNCTIONS; i++) {
		const volatile unsigned char *code =
			(const volatile unsigned char *)(uintptr_t)functions[i];
		int32_t distance = 0;
		int k = 0;

		if (code[0] != 0xeb || code[1])
			continue;
		for (int b = 3; b >= 0; b--)
			distance = (int32_t)((uint32_t)distance << 8 | code[3 + b]);
		while (k < n[i] && place[i][k] != distance)
			k++;
		if (k == n[i] && k < PLACES)
			place[i][n[i]++] = distance;
	}
}

NEVER int main(int argc, char **argv)
{
	static int32_t place[FUNCTIONS][PLACES];
	const double end = now() + (argc > 1 ? atof(argv[1]) : 1);
	const int threads = argc > 2 ? atoi(argv[2]) : 4;
	int n[FUNCTIONS] = {0}, most = 0;
	pthread_t t[64];

	for (int i = 0; i < threads && i < 64; i++)
		pthread_create(&t[i], NULL, work, NULL);
	while (now() < end) {
		const struct timespec pause = {0, 1000000};

		look(place, n);
		nanosleep(&pause, NULL);
	}
	ended = 1;
	for (int i = 0; i < threads && i < 64; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < FUNCTIONS; i++)
		most = n[i] > most ? n[i] : most;
	printf("%d\n", most);
	return 0;
}
