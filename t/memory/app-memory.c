/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of which it is known what they allocate: the first argument says which one. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KIB 1024ul
#define MIB (1024 * KIB)

static void *volatile keep[100000];

static __attribute__((noinline)) void *use(void *p)
{
	if (p)
		*(volatile char *)p = 1;
	return p;
}

/* 10 blocks of 1 MiB, one after the other */
__attribute__((noinline)) void one_by_one(void)
{
	for (int i = 0; i < 10; i++)
		free(use(malloc(MIB)));
}

/* 5 of 2 MiB, of which 2 stay */
__attribute__((noinline)) void leaves_two(void)
{
	for (int i = 0; i < 5; i++)
		keep[i] = use(malloc(2 * MIB));
	for (int i = 0; i < 3; i++)
		free(keep[i]);
}

/* the peak: 30 MiB, when leaves_two() has 4 */
__attribute__((noinline)) void peak(void)
{
	void *a = use(calloc(10, MIB)), *b = use(malloc(20 * MIB));

	free(b);
	free(a);
}

static void large(void)
{
	one_by_one();
	leaves_two();
	peak();
}

/* each function once, of 1 MiB */
__attribute__((noinline)) void each_function(void)
{
	void *p;

	free(use(malloc(MIB)));
	free(use(calloc(1024, KIB)));
	free(use(realloc(NULL, MIB)));
	free(use(reallocarray(NULL, 1024, KIB)));
	if (!posix_memalign(&p, 64, MIB))
		free(use(p));
	free(use(aligned_alloc(64, MIB)));
	free(use(memalign(64, MIB)));
	free(use(valloc(MIB)));
	free(use(pvalloc(MIB)));
	p = malloc(MIB);
	memset(p, 'x', MIB - 1);
	((char *)p)[MIB - 1] = 0;
	free(use(strdup(p)));
	free(p);
}

/* a block grows from 1 to 16 MiB, and shrinks to 100 KiB, which stay; one fails */
__attribute__((noinline)) void chain(void)
{
	char *p = malloc(MIB), *q;

	for (size_t n = 2; n <= 16; n++) {
		p = realloc(p, n * MIB);
		p[n * MIB - 1] = 1;
	}
	p = realloc(p, 100 * KIB);
	q = realloc(p, (size_t)1 << 62);
	keep[0] = q ? q : p;
}

/* 200000 blocks of 100 to 1100 bytes, one after the other: 120 000 000 bytes on average 600 */
__attribute__((noinline)) void small_ones(void)
{
	for (unsigned i = 0; i < 200000; i++)
		free(use(malloc(100 + i % 1001)));
}

/* 100000 blocks of 300 bytes, all of which stay */
__attribute__((noinline)) void small_leaks(void)
{
	for (unsigned i = 0; i < 100000; i++)
		keep[i] = use(malloc(300));
}

static pthread_barrier_t barrier;

__attribute__((noinline)) void thread_allocates(void)
{
	for (int i = 0; i < 100; i++)
		keep[i] = use(malloc(MIB));
}

static void *allocator(void *arg)
{
	thread_allocates();
	pthread_barrier_wait(&barrier);
	return arg;
}

__attribute__((noinline)) void thread_frees(void)
{
	for (int i = 0; i < 99; i++)
		free(keep[i]);
}

static void threads(void)
{
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, allocator, NULL);
	pthread_barrier_wait(&barrier);
	thread_frees();
	pthread_join(t, NULL);
}

__attribute__((noinline)) void child_allocates(void)
{
	keep[1] = use(malloc(3 * MIB));
	free(keep[0]);
}

static void forks(void)
{
	keep[0] = use(malloc(MIB));
	if (!fork()) {
		child_allocates();
		exit(0);
	}
	wait(NULL);
	free(keep[0]);
}

static void killed(void)
{
	leaves_two();
	raise(SIGKILL);
}

/* 20 threads, each with 10 blocks that destructors of the thread's data free at its end */
static pthread_key_t keys[10];

__attribute__((noinline)) void has_data(void)
{
	for (int i = 0; i < 10; i++)
		pthread_setspecific(keys[i], use(malloc(100 * KIB)));
}

static void *thread_with_data(void *arg)
{
	has_data();
	return arg;
}

static void destructors(void)
{
	pthread_t t;

	for (int i = 0; i < 10; i++)
		pthread_key_create(&keys[i], free);
	for (int i = 0; i < 20; i++) {
		pthread_create(&t, NULL, thread_with_data, NULL);
		pthread_join(t, NULL);
	}
}

/* allocates and frees at random in 8 threads, with each other's blocks */
static int storm_rounds; /* $STORMS */

static void *storm(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg + 1;

	for (int i = 0; i < storm_rounds; i++) {
		const unsigned at = rand_r(&seed) % 1000;
		const size_t size = rand_r(&seed) % 16 ? rand_r(&seed) % 2000 : 70 * KIB;
		void *p = malloc(size), *old;

		if (p && size)
			memset(p, (int)size, size < 64 ? size : 64);
		old = __atomic_exchange_n(&keep[at], p, __ATOMIC_ACQ_REL);
		if (i % 7)
			free(old);
		else
			free(realloc(old, 1 + rand_r(&seed) % 100000));
	}
	return NULL;
}

static void storms(void)
{
	pthread_t t[8];

	storm_rounds = getenv("STORMS") ? atoi(getenv("STORMS")) : 200000;
	for (uintptr_t i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, storm, (void *)i);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 1000; i++)
		free(keep[i]);
}

/* 20000 blocks of 64 KiB are live at a time: more than the first tables have room for */
__attribute__((noinline)) void many_blocks(void)
{
	for (int i = 0; i < 20000; i++)
		keep[i] = malloc(64 * KIB);
	for (int i = 0; i < 20000; i++)
		free(keep[i]);
}

/* The kernel takes all of the last page; then one of two pages. */
__attribute__((noinline)) void odd_maps(void)
{
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	munmap(mmap(NULL, MIB, both, anonymous, -1, 0), MIB - 100);
	munmap(mmap(NULL, page + 100, both, anonymous, -1, 0), 1);
}

/* 4 MiB of the kernel's, of which half goes at once; 1 MiB that grows to 2 and stays; others that
 * are none: a file's, room that is reserved, and a mapping that fails */
__attribute__((noinline)) void maps(void)
{
	const int anonymous = MAP_PRIVATE | MAP_ANONYMOUS, both = PROT_READ | PROT_WRITE;
	char *p = mmap(NULL, 4 * MIB, both, anonymous, -1, 0);
	FILE *f = tmpfile();

	munmap(p, 2 * MIB);
	munmap(p + 2 * MIB, 2 * MIB);
	p = mmap(NULL, MIB, both, anonymous, -1, 0);
	keep[0] = mremap(p, MIB, 2 * MIB, MREMAP_MAYMOVE);
	((char *)keep[0])[2 * MIB - 1] = 1;
	if (ftruncate(fileno(f), 2 * MIB))
		return;
	p = mmap(NULL, 2 * MIB, both, MAP_SHARED, fileno(f), 0);
	p[2 * MIB - 1] = 1;
	munmap(p, 2 * MIB);
	fclose(f);
	mmap(NULL, 3 * MIB, PROT_NONE, anonymous, -1, 0);
	mmap(NULL, (size_t)1 << 62, both, anonymous, -1, 0);
}

static void on_alarm(int signal)
{
	(void)signal;
	free(use(malloc(100 * KIB))); /* not allowed, and done all the same */
}

/* A handler that allocates while the program does something else. */
static void handler(void)
{
	signal(SIGUSR1, on_alarm);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
}

/* 300 small blocks that cannot be had; then some of no bytes, and 1 MiB */
__attribute__((noinline)) void failing(void)
{
	const struct rlimit limit = {40 * MIB, 40 * MIB};
	unsigned n = 0, failed = 0;

	setrlimit(RLIMIT_AS, &limit);
	while (failed < 300) {
		keep[n] = malloc(60000);
		if (keep[n])
			n++;
		else
			failed++;
	}
	for (unsigned i = 0; i < 300; i++)
		free(malloc(0));
	while (n)
		free(keep[--n]);
	free(use(malloc(MIB)));
}

/* 20 children of a process with many blocks; 16 threads of each allocate as their first thing */
static void *thread_of_child(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 100; i++)
		((void **)arg)[i] = malloc(100 * KIB);
	return arg;
}

__attribute__((noinline)) void child_with_threads(void)
{
	pthread_t t[16];

	pthread_barrier_init(&barrier, NULL, 16);
	for (int i = 0; i < 16; i++)
		pthread_create(&t[i], NULL, thread_of_child, (void *)&keep[100 * i]);
	for (int i = 0; i < 16; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 1600; i++)
		free(keep[i]);
}

static void children(void)
{
	for (int i = 0; i < 40000; i++)
		keep[i] = malloc(64 * KIB);
	for (int i = 0; i < 20; i++) {
		if (!fork()) {
			child_with_threads();
			exit(0);
		}
		wait(NULL);
	}
}

static void work_ms(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* 200 steps, in each of which a block of 100 KiB is freed, and another one is not */
__attribute__((noinline)) void step(int i)
{
	free(use(malloc(100 * KIB)));
	keep[i] = use(malloc(100 * KIB));
	work_ms(2);
}

static void grows(void)
{
	for (int i = 0; i < 200; i++)
		step(i);
}

static void frees_in_the_end(void)
{
	grows();
	for (int i = 0; i < 200; i++)
		free(keep[i]);
}

/* 200 blocks that are there from the begin to the end */
__attribute__((noinline)) void build(void)
{
	for (int i = 0; i < 200; i++)
		keep[i] = use(malloc(100 * KIB));
}

static void built(void)
{
	build();
	work_ms(1500);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"large", large},
	{"each", each_function},
	{"chain", chain},
	{"small", small_ones},
	{"leaks", small_leaks},
	{"threads", threads},
	{"forks", forks},
	{"killed", killed},
	{"destructors", destructors},
	{"storms", storms},
	{"many", many_blocks},
	{"maps", maps},
	{"odd_maps", odd_maps},
	{"handler", handler},
	{"failing", failing},
	{"children", children},
	{"grows", grows},
	{"frees", frees_in_the_end},
	{"built", built},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (argc == 2 && !strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			return 0;
		}
	return 2;
}
