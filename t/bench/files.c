/* SPDX-License-Identifier: BSD-3-Clause */
/* ns per read of BYTES from a file in memory: `files PATH BYTES READS`. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	static char to[1 << 16];
	int fd = argc > 3 ? open(argv[1], O_RDONLY) : -1;
	size_t bytes = argc > 3 ? (size_t)atol(argv[2]) : 0;
	long reads = argc > 3 ? atol(argv[3]) : 0;
	double begin;

	if (fd < 0 || bytes > sizeof(to))
		return 1;
	for (int warm = 2; warm; warm--) {
		begin = now_ns();
		for (long i = 0; i < reads; i++) {
			if (read(fd, to, bytes) != (ssize_t)bytes)
				lseek(fd, 0, SEEK_SET);
		}
	}
	printf("%.1f\n", (now_ns() - begin) / (double)reads);
	return 0;
}
