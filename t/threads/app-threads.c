/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that come, work and go in every way, each counting its own calls.
 *
 *	app-threads HOW N	in the present directory: app-threads.h
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <threads.h>
#include "app-threads.h"

enum { MOST = 100 };

struct plan {
	int creator, rounds, level;
	void *(*body)(struct plan *);
};

static struct plan plans[MOST];
static pthread_t threads[MOST];
static sem_t ready;

KEEP static int leaf(int x)
{
	COUNT("leaf");
	return x + 1;
}

KEEP static int inner(int x)
{
	COUNT("inner");
	return leaf(x) + leaf(x);
}

KEEP static int work(int rounds)
{
	int sum = 0;
	COUNT("work");
	for (int i = 0; i < rounds; i++)
		sum += i % 3 ? leaf(i) : inner(i);
	return sum;
}

KEEP static void *thread_main(void *argument)
{
	struct plan *p = argument;
	COUNT("thread_main");
	work(p->rounds);
	return p->body ? p->body(p) : argument;
}

static UNTRACED void *entry(void *argument)
{
	thread_is_here(((struct plan *)argument)->creator);
	return thread_main(argument);
}

static UNTRACED void create(int i, const pthread_attr_t *attr, void *(*body)(struct plan *))
{
	int error;

	plans[i].creator = own_tid();
	plans[i].rounds = 10 * i + 1;
	plans[i].body = body;
	thread_will_be();
	error = pthread_create(&threads[i], attr, entry, &plans[i]);
	if (error) {
		fprintf(stderr, "pthread_create: %s\n", strerror(error));
		exit(99);
	}
}

/* Joins threads 0 to n-1, each of which must return `wanted`, or its plan. */
static UNTRACED void join(int n, void *wanted)
{
	for (int i = 0; i < n; i++) {
		void *got;

		if (pthread_join(threads[i], &got) || got != (wanted ? wanted : &plans[i]))
			exit(98);
	}
}

static UNTRACED void flat(int n)
{
	for (int i = 0; i < n; i++)
		create(i, NULL, NULL);
	join(n, NULL);
}

/* Three levels: each thread creates three others, and works between. */
static UNTRACED void *tree_entry(void *argument);
KEEP static void *tree_thread(struct plan *p)
{
	struct plan below[3];
	pthread_t thread[3];
	COUNT("tree_thread");
	for (int i = 0; i < 3 && p->level < 3; i++) {
		below[i] = (struct plan){own_tid(), p->rounds + i, p->level + 1, NULL};
		thread_will_be();
		if (pthread_create(&thread[i], NULL, tree_entry, &below[i]))
			exit(99);
		work(i);
	}
	for (int i = 0; i < 3 && p->level < 3; i++)
		pthread_join(thread[i], NULL);
	work(p->rounds);
	return NULL;
}

static UNTRACED void *tree_entry(void *argument)
{
	thread_is_here(((struct plan *)argument)->creator);
	return tree_thread(argument);
}

static UNTRACED void tree(int n)
{
	struct plan root = {0, n, 0, NULL};

	tree_thread(&root);
}

static UNTRACED void *check_attributes(struct plan *p)
{
	pthread_attr_t attr;
	int detached;
	size_t stack;

	if (pthread_getattr_np(pthread_self(), &attr) ||
		pthread_attr_getdetachstate(&attr, &detached) ||
		pthread_attr_getstacksize(&attr, &stack) || stack != 300 << 10 ||
		detached != PTHREAD_CREATE_DETACHED)
		exit(97);
	pthread_attr_destroy(&attr);
	return p;
}

static UNTRACED void detached(int n)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, 300 << 10);
	for (int i = 0; i < n; i++)
		create(i, &attr, check_attributes);
	pthread_attr_destroy(&attr);
}

/* The first event of some comes when they are already cancelled. */
KEEP static void *wait_to_be_cancelled(struct plan *p)
{
	COUNT("wait_to_be_cancelled");
	sem_post(&ready);
	for (;;) {
		work(p->rounds);
		pthread_testcancel();
	}
	return NULL;
}

static UNTRACED void cancelled(int n)
{
	for (int i = 0; i < n; i++) {
		create(i, NULL, wait_to_be_cancelled);
		if (i % 2)
			sem_wait(&ready);
		if (pthread_cancel(threads[i]))
			exit(98);
	}
	join(n, PTHREAD_CANCELED);
}

/* Cancelled at any instruction, also in the middle of recording. Not counted. */
static UNTRACED void *any_moment(void *argument)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		leaf(1);
	return argument;
}

static UNTRACED void async(int n)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < 4; k++)
			if (pthread_create(&threads[k], NULL, any_moment, NULL))
				exit(99);
		usleep(7 * i % 500);
		for (int k = 0; k < 4; k++)
			pthread_cancel(threads[k]);
		for (int k = 0; k < 4; k++)
			pthread_join(threads[k], NULL);
	}
}

KEEP static void *leave(struct plan *p)
{
	COUNT("leave");
	if (leaf(1))
		pthread_exit(p);
	return NULL;
}

static UNTRACED void exits(int n)
{
	for (int i = 0; i < n; i++)
		create(i, NULL, leave);
	join(n, NULL);
}

static UNTRACED int c11_entry(void *argument)
{
	thread_is_here(((struct plan *)argument)->creator);
	thread_main(argument);
	if (((struct plan *)argument)->rounds % 20 == 1)
		thrd_exit(-7);
	return -7;
}

static UNTRACED void c11(int n)
{
	thrd_t thread[MOST];
	int result;

	for (int i = 0; i < n; i++) {
		plans[i] = (struct plan){own_tid(), 10 * i + 1, 0, NULL};
		thread_will_be();
		if (thrd_create(&thread[i], c11_entry, &plans[i]) != thrd_success)
			exit(99);
	}
	for (int i = 0; i < n; i++)
		if (thrd_join(thread[i], &result) != thrd_success || result != -7)
			exit(98);
}

/* Destructors of thread-specific data, some of which want to be called again. */
static pthread_key_t early, late;

KEEP static void early_destructor(void *value)
{
	COUNT("early_destructor");
	work(*(int *)value);
}

KEEP static void late_destructor(void *value)
{
	COUNT("late_destructor");
	work(*(int *)value);
	if (++*(int *)value < 3)
		pthread_setspecific(late, value);
}

static __thread int values[2];

static UNTRACED void *with_data(struct plan *p)
{
	pthread_setspecific(early, &values[0]);
	pthread_setspecific(late, &values[1]);
	return p;
}

static UNTRACED void destructors(int n)
{
	if (pthread_key_create(&late, late_destructor))
		exit(99);
	for (int i = 0; i < n; i++)
		create(i, NULL, with_data);
	join(n, NULL);
}

/* Named by themselves before and after the first event, and by their creator. */
static UNTRACED void *name_late(struct plan *p)
{
	pthread_setname_np(pthread_self(), "late");
	sem_post(&ready);
	pause();
	return p;
}

static UNTRACED void *named_by_creator(struct plan *p)
{
	sem_post(&ready);
	pause();
	return p;
}

static UNTRACED void *early_entry(void *argument)
{
	pthread_setname_np(pthread_self(), "early");
	return entry(argument);
}

static UNTRACED void names(int n)
{
	(void)n;
	create(0, NULL, name_late);
	create(1, NULL, named_by_creator);
	sem_wait(&ready);
	sem_wait(&ready);
	if (pthread_setname_np(threads[1], "by creator") ||
		pthread_setname_np(threads[1], "much too long for a name") != ERANGE)
		exit(98);
	plans[2] = (struct plan){own_tid(), 1, 0, NULL};
	thread_will_be();
	pthread_create(&threads[2], NULL, early_entry, &plans[2]);
	pthread_join(threads[2], NULL);
	pthread_setname_np(pthread_self(), "the first");
	living = 0; /* two never end */
}

/* Errors are those of the real function, and cost nothing. */
static UNTRACED void errors(int n)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	if (pthread_attr_setstacksize(&attr, (size_t)1 << 46))
		exit(97);
	for (int i = 0; i < 1000 * n; i++)
		if (pthread_create(&t, &attr, entry, NULL) != EAGAIN)
			exit(98);
	pthread_attr_destroy(&attr);
	flat(n);
}

static UNTRACED void *short_thread(void *argument)
{
	work(1);
	return argument;
}

static UNTRACED long resident_kib(void)
{
	char line[256];
	long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* n threads, eight at a time; prints by how many KiB the last half has grown us. */
static UNTRACED void churn(int n)
{
	long before = 0;

	for (int i = 0; i < n; i += 8) {
		if (i == n / 16 * 8)
			before = resident_kib();
		for (int k = 0; k < 8; k++)
			if (pthread_create(&threads[k], NULL, short_thread, NULL))
				exit(99);
		for (int k = 0; k < 8; k++)
			pthread_join(threads[k], NULL);
	}
	printf("%ld\n", resident_kib() - before);
}

/* Eight threads count their calls in a file until the process is killed. */
static long *shared;

KEEP static void counted(long *calls)
{
	++*calls;
}

static UNTRACED void *run_on(void *argument)
{
	long *mine = argument;

	mine[0] = own_tid();
	for (;;)
		counted(&mine[1]);
	return NULL;
}

static UNTRACED void killed(int n)
{
	int fd = open("shared", O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || ftruncate(fd, 16 * n))
		exit(99);
	shared = mmap(NULL, 16 * (size_t)n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run_on, &shared[2 * i]))
			exit(99);
	for (int i = 0; i < n; i++)
		while (*(long volatile *)&shared[2 * i + 1] < 2000)
			usleep(1000);
	kill(getpid(), SIGKILL);
	pause();
}

static const struct {
	const char *how;
	void (*run)(int n);
} ways[] = {{"flat", flat}, {"tree", tree}, {"detached", detached}, {"cancelled", cancelled},
	{"async", async}, {"exits", exits}, {"c11", c11}, {"destructors", destructors},
	{"names", names}, {"errors", errors}, {"churn", churn}, {"killed", killed}};

KEEP static void go(const char *how, int n)
{
	COUNT("go");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(ways[i].how, how))
			ways[i].run(n);
}

static UNTRACED void set_up(void)
{
	sem_init(&ready, 0, 0);
	if (pthread_key_create(&early, early_destructor))
		exit(99);
	begin(".");
}

int main(int argc, char **argv)
{
	COUNT("main");
	set_up();
	go(argv[1], argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1);
	end();
	return 0;
}
