/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * N threads of CALLS calls each, all alive at once. Then the first thread prints how many rings
 * there are, and the KiB that are allocated for them. 77: the kernel does not let us see that.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static pthread_barrier_t all_called, all_counted;
static unsigned long n_calls;
static volatile unsigned long sum;

__attribute__((noinline)) static void leaf(void)
{
	sum = 1;
}

static void *thread_main(void *unused)
{
	for (unsigned long i = 1; i < n_calls; i++)
		leaf();
	pthread_barrier_wait(&all_called);
	pthread_barrier_wait(&all_counted);
	return unused;
}

/* The agent made them, and we have no descriptor any more; this name is still the file. Half KiB.
 */
__attribute__((no_instrument_function)) static unsigned long allocated(const char *range)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/map_files/%s", range);
	if (stat(path, &st))
		exit(77);
	return (unsigned long)st.st_blocks;
}

/* Each ring is counted by the mapping that begins it, at offset 0. */
__attribute__((no_instrument_function)) static void count_rings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long offset, halves = 0, rings = 0;
	char line[512], range[64];

	if (!maps)
		exit(2);
	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "memfd:vftr-ring") &&
			sscanf(line, "%63s %*s %lx", range, &offset) == 2 && !offset) {
			halves += allocated(range);
			rings++;
		}
	fclose(maps);
	printf("%lu %lu\n", rings, halves / 2);
}

int main(int argc, char **argv)
{
	const unsigned n = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	pthread_t *thread = calloc(n + 1, sizeof(*thread));

	if (!n || !thread)
		return 1;
	n_calls = strtoul(argv[2], NULL, 10);
	pthread_barrier_init(&all_called, NULL, n + 1);
	pthread_barrier_init(&all_counted, NULL, n + 1);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, thread_main, NULL))
			return 1;
	pthread_barrier_wait(&all_called);
	count_rings();
	pthread_barrier_wait(&all_counted);
	for (unsigned i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}
