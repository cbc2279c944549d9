/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OpenMP region that ends in many ways, for t3206: its second thread ends or
 * replaces the process; it runs in a daemon, or on several POSIX threads at
 * once. Built as a library, squares() is for any program to call.
 *
 *   app-openmp-ends exit|_exit|abort|kill|exec PROGRAM|daemon FILE|threads
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int square(int i)
{
	return i * i;
}

/* A team of two; square() is called n times. */
int squares(int n)
{
	int sum = 0;

#pragma omp parallel for num_threads(2) reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += square(i);
	return sum;
}

static void end(const char *how, char *const *argv)
{
	if (!strcmp(how, "exit"))
		exit(9);
	if (!strcmp(how, "_exit"))
		_exit(8);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	execv(argv[0], argv);
	_exit(1);
}

static void end_in_region(const char *how, char *const *argv)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp barrier
		if (omp_get_thread_num() == 1)
			end(how, argv);
		for (;;)
			pause();
	}
}

/* Without a terminal, a working directory, or any descriptor of before. */
static int daemon_writes(const char *file)
{
	FILE *f;

	if (fork())
		return 0;
	setsid();
	if (fork())
		_exit(0);
	for (int i = 0; i < 1024; i++)
		close(i);
	if (chdir("/"))
		_exit(1);
	f = fopen(file, "w");
	fprintf(f, "%d\n", squares(10));
	return fclose(f) != 0;
}

static void *member(void *sum)
{
	for (int i = 0; i < 20; i++)
		*(int *)sum += squares(10);
	return NULL;
}

static void threads(void)
{
	pthread_t thread[3];
	int sums[3] = {0};

	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, member, &sums[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	printf("%d %d %d\n", sums[0], sums[1], sums[2]);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	if (argc > 2 && !strcmp(how, "daemon"))
		return daemon_writes(argv[2]);
	printf("%d\n", squares(100));
	fflush(stdout);
	if (!strcmp(how, "threads"))
		threads();
	else if (*how)
		end_in_region(how, argv + 2);
	return 0;
}
