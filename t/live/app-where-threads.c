/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For tests of `vftr where': app-where-threads DIR NAME N. N threads, the first one of them, each
 * with some frames, wait until DIR/end is there. DIR/there.NAME is written when all have been made.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))

static const char *dir;
static pthread_barrier_t met;

static APART void wait_for_end(void)
{
	char path[4096];

	pthread_barrier_wait(&met);
	snprintf(path, sizeof(path), "%s/end", dir);
	while (access(path, F_OK) && !access(dir, F_OK))
		usleep(200000);
}

static APART void *work(void *arg)
{
	wait_for_end();
	return arg;
}

int main(int argc, char **argv)
{
	const long n = argc > 3 ? atol(argv[3]) : 0;
	pthread_t *threads = calloc((size_t)n + 1, sizeof(*threads));
	char path[4096];
	FILE *f;

	dir = argv[1];
	if (n < 1 || !threads || pthread_barrier_init(&met, NULL, (unsigned)n))
		return 1;
	for (long i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 1;
	snprintf(path, sizeof(path), "%s/there.%s", dir, argv[2]);
	f = fopen(path, "w");
	if (!f || fclose(f))
		return 1;
	work(NULL);
	for (long i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
