/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs whose hardware counters are known: app-hwprof WHAT.
 *   calls   foo (20 times) calls bar twice; rec calls itself 6 deep; a pause
 *   jump    longjmp over two frames
 *   threads N threads do `calls' without the pause, at once
 *   loop    spin() executes 3 instructions times its argument
 *   fault   touch() writes to 1000 fresh pages, and nobody else to as many
 *   io      reads and writes files of known size
 *   fork    a child does `calls', too
 *   closes  closes all descriptors it may have, opens a file, and works on
 *   flood N N calls of bar
 *   energy FOLDER  uses() makes the counters of two packages go on (t3501)
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "vftrace.h"

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))
#define PAGES	 1000

static volatile long sink;
static jmp_buf place;

KEEP static void bar(void)
{
	sink++;
}

KEEP static void foo(void)
{
	bar();
	bar();
}

KEEP static void rec(int n)
{
	if (n > 1)
		rec(n - 1);
	else
		bar();
}

KEEP static void pausing(void)
{
	vftrace_pause();
	foo();
	vftrace_resume();
	bar();
}

KEEP static void calls(void)
{
	for (int i = 0; i < 20; i++)
		foo();
	rec(6);
}

KEEP static void *thread(void *unused)
{
	calls();
	return NULL;
}

KEEP static void threads(int n)
{
	pthread_t t[64];

	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(t[i], NULL);
}

KEEP static void jumps(void)
{
	longjmp(place, 1);
}

KEEP static void between(void)
{
	jumps();
}

KEEP static void jump(void)
{
	if (!setjmp(place))
		between();
	bar();
}

/* dec, test or cmp, jump: at least two, at most four instructions a turn */
KEEP static void spin(long n)
{
#if defined(__x86_64__)
	__asm__ volatile("1: nop; dec %0; jnz 1b" : "+r"(n) : : "cc");
#else
	for (; n; n--)
		sink++;
#endif
}

KEEP static void touch(char *pages)
{
	for (int i = 0; i < PAGES; i++)
		pages[i * 4096] = 1;
}

KEEP static void fault(void)
{
	char *pages = mmap(NULL, (size_t)PAGES * 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(pages, (size_t)PAGES * 4096, MADV_NOHUGEPAGE);
	touch(pages);
	bar();
}

KEEP static void writes(const char *file)
{
	static char data[100000];
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (int i = 0; i < 3; i++)
		if (write(fd, data, sizeof(data)) != (ssize_t)sizeof(data))
			exit(2);
	close(fd);
}

KEEP static void reads(const char *file)
{
	static char data[50000];
	int fd = open(file, O_RDONLY);

	for (int i = 0; i < 4; i++)
		if (read(fd, data, sizeof(data)) != (ssize_t)sizeof(data))
			exit(2);
	bar();
	close(fd);
}

KEEP static void closes(void)
{
	int fd;

	calls();
	close_range(3, ~0u, 0);
	for (int i = 3; i < 600; i++) {
		fd = open("of-the-program", O_RDWR | O_CREAT, 0600);
		if (fd != i)
			exit(3);
	}
	for (int i = 3; i < 600; i++)
		if (write(i, "x", 1) != 1)
			exit(4);
	calls();
	for (int i = 3; i < 600; i++)
		if (lseek(i, 0, SEEK_CUR) != 1)
			exit(5);
}

UNTRACED static void put(const char *folder, int zone, long value)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/intel-rapl:%d/energy_uj", folder, zone);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%ld\n", value) < 0 || fclose(f))
		exit(6);
}

/* Longer than the library takes a value for good. */
KEEP static void uses(const char *folder, long first, long second)
{
	usleep(5000);
	put(folder, 0, first);
	put(folder, 1, second);
}

KEEP static void energy(const char *folder)
{
	uses(folder, 2000, 1000000);
	uses(folder, 5000, 200);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 4;

	if (!strcmp(what, "calls")) {
		calls();
		pausing();
	} else if (!strcmp(what, "jump")) {
		jump();
	} else if (!strcmp(what, "threads")) {
		threads((int)n);
	} else if (!strcmp(what, "loop")) {
		spin(n);
	} else if (!strcmp(what, "fault")) {
		fault();
	} else if (!strcmp(what, "io")) {
		writes("io.data");
		reads("io.data");
	} else if (!strcmp(what, "fork")) {
		pid_t pid = fork();

		calls();
		if (!pid)
			exit(0);
		waitpid(pid, NULL, 0);
	} else if (!strcmp(what, "closes")) {
		closes();
	} else if (!strcmp(what, "energy")) {
		energy(argv[2]);
	} else if (!strcmp(what, "flood")) {
		for (long i = 0; i < n; i++)
			bar();
	} else {
		return 1;
	}
	return 0;
}
