/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one thread does while another one has its first event. app-beside WAY:
 *
 *	handlers	forks, and the program's fork handlers wait for that thread
 *	attaching N	forks N times; the children have events; prints how many of them hang
 *	loading FILE	loads FILE, whose constructor has an event, too
 *	keys		nothing, but the program has made 40 keys; prints calls of calloc() by the
 *event
 *
 * Compiled with -finstrument-functions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN	 __attribute__((no_instrument_function))
#define CHILDREN 100

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int has_mutex;

__attribute__((noinline)) void event(void)
{
	__asm__ volatile("");
}

PLAIN static void take(void)
{
	pthread_mutex_lock(&mutex);
}

PLAIN static void give(void)
{
	pthread_mutex_unlock(&mutex);
}

PLAIN static void *with_mutex(void *unused)
{
	take();
	has_mutex = 1;
	usleep(300000);
	event();
	give();
	return unused;
}

PLAIN static void *alone(void *wait_us)
{
	usleep(*(useconds_t *)wait_us);
	event();
	return NULL;
}

PLAIN static int handlers(void)
{
	pthread_t t;
	pid_t pid;

	pthread_atfork(take, give, give);
	event();
	pthread_create(&t, NULL, with_mutex, NULL);
	while (!has_mutex)
		usleep(1000);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pthread_join(t, NULL);
}

PLAIN static int attaching(int n)
{
	useconds_t now = 0;
	int status, hung = 0;
	pid_t child[CHILDREN];
	pthread_t t;

	pthread_create(&t, NULL, alone, &now);
	for (int i = 0; i < n; i++) {
		child[i] = fork();
		if (!child[i]) {
			alarm(100);
			event();
			_exit(0);
		}
		usleep(500);
	}
	pthread_join(t, NULL);
	for (int i = 0; i < n; i++) {
		waitpid(child[i], &status, 0);
		hung += status != 0;
	}
	printf("%d\n", hung);
	return 0;
}

PLAIN static int loading(const char *file)
{
	useconds_t later = 100000;
	pthread_t t;
	void *loaded;

	pthread_create(&t, NULL, alone, &later);
	loaded = dlopen(file, RTLD_NOW);
	pthread_join(t, NULL);
	return !loaded;
}

static __thread int counts;
static volatile int callocs;

PLAIN void *calloc(size_t n, size_t bytes)
{
	void *p = malloc(n * bytes);

	callocs += counts;
	return p ? memset(p, 0, n * bytes) : NULL;
}

PLAIN static void *counted(void *unused)
{
	counts = 1;
	event();
	counts = 0;
	return unused;
}

PLAIN static int keys(void)
{
	pthread_key_t key;
	pthread_t t;

	for (int i = 0; i < 40; i++)
		pthread_key_create(&key, NULL);
	pthread_create(&t, NULL, counted, NULL);
	pthread_join(t, NULL);
	printf("%d\n", callocs);
	return 0;
}

PLAIN int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "handlers"))
		return handlers();
	if (argc > 2 && !strcmp(argv[1], "attaching"))
		return attaching(atoi(argv[2]));
	if (argc > 2 && !strcmp(argv[1], "loading"))
		return loading(argv[2]);
	return keys();
}
