/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program without instrumentation, with known shares of CPU time on different paths. It prints
 * them by its own thread's clock, "FUNCTION SECONDS" for each of the functions of the table, and
 * FUNCTION is the one whose callees have that time. usage: app-shares HOW ROUNDS [LIBRARY]
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile double sum;
static long rounds;

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

APART void burn(long n)
{
	static __thread unsigned dice;
	double x = 1;

	/* n on average: work of even lengths would keep step with the clock of the samples */
	dice = dice * 1103515245u + 12345u;
	n = n / 2 + (long)((dice >> 8) % (unsigned long)n);
	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	sum = sum + x;
}

APART void little(void)
{
	burn(100000);
	sum = sum + 1;
}

APART void much(void)
{
	burn(500000);
	sum = sum + 1;
}

APART void around(void)
{
	much();
	sum = sum + 1;
}

APART void deep(int n)
{
	char pad[100];

	pad[n] = (char)n;
	if (n)
		deep(n - 1);
	else
		burn(200000);
	sum = sum + pad[n];
}

/* What called it is beyond what a sample has of the stack. */
APART void large(void)
{
	char pad[20000];

	memset(pad, 1, sizeof(pad));
	for (long i = 0; i < rounds; i++)
		burn(100000);
	sum = sum + pad[rounds % 20000];
}

static void (*const functions[])(void) = {little, around};

APART void serial(void)
{
	double took[3] = {0};
	const char *const names[] = {"little", "around", "deep"};

	for (long i = 0; i < rounds; i++)
		for (int k = 0; k < 3; k++) {
			const double from = cpu_s();

			if (k < 2)
				functions[k]();
			else
				deep(20);
			took[k] += cpu_s() - from;
		}
	for (int k = 0; k < 3; k++)
		printf("%s %.6f\n", names[k], took[k]);
}

APART void *beside(void *none)
{
	const double from = cpu_s();

	for (long i = 0; i < 2 * rounds; i++)
		much();
	printf("beside %.6f\n", cpu_s() - from);
	return none;
}

/* More threads than a limit of descriptors has room for, all at one time. */
APART void crowd(void)
{
	pthread_t threads[60];

	for (int i = 0; i < 60; i++)
		pthread_create(&threads[i], NULL, beside, NULL);
	for (int i = 0; i < 60; i++)
		pthread_join(threads[i], NULL);
}

APART void asked(long n)
{
	burn(n);
	sum = sum + 1;
}

/* What the library has is in a function of its own, and loaded when the program already runs. */
APART void load(const char *library)
{
	void *l = dlopen(library, RTLD_NOW);
	void (*run)(long), (*ask)(void (*)(long), long);
	double from = cpu_s();

	if (!l)
		exit(3);
	*(void **)&run = dlsym(l, "plugged");
	*(void **)&ask = dlsym(l, "asking");
	for (long i = 0; i < rounds; i++)
		ask(asked, 500000);
	printf("asked %.6f\n", cpu_s() - from);
	from = cpu_s();
	for (long i = 0; i < 2 * rounds; i++)
		run(500000);
	printf("plugged %.6f\n", cpu_s() - from);
	dlclose(l);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "serial";
	pthread_t thread;

	rounds = argc > 2 ? atol(argv[2]) : 1000;
	if (!strcmp(how, "threads")) { /* the other one ends first, or it does not */
		pthread_create(&thread, NULL, beside, NULL);
		serial();
		pthread_join(thread, NULL);
	} else if (!strcmp(how, "fork")) {
		fflush(stdout);
		if (!fork()) {
			beside(NULL);
			return 0;
		}
		wait(NULL);
		serial();
	} else if (!strcmp(how, "left")) { /* the first thread ends at once */
		pthread_create(&thread, NULL, beside, NULL);
		pthread_exit(NULL);
	} else if (!strcmp(how, "children")) { /* that do nothing */
		for (long i = 0; i < rounds; i++) {
			if (!fork())
				_exit(0);
			wait(NULL);
		}
	} else if (!strcmp(how, "crowd")) {
		crowd();
	} else if (!strcmp(how, "large")) {
		large();
	} else {
		serial();
		if (argc > 3)
			load(argv[3]);
	}
	return 0;
}
