/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of three threads has a lock while the others want it: by locks, nest locks and critical
 * constructs, and in a loop with an ordered part. Prints for each, and for each of the others, what
 * it waited while that thread had it by its own clock: "KIND INSTANCES SECONDS". With the argument
 * "alone" nobody wants it meanwhile; with "left" a signal handler leaves the wait for it by a jump,
 * and what comes then is no wait. With -DWITH_MPI it is a rank, and prints what its first thread
 * waited so, too: "first KIND INSTANCES SECONDS".
 */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <omp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define KEEP	__attribute__((noinline))
#define ROUNDS	8
#define THREADS 3
#define HOLD_MS 30
#define LATE_MS 10

static omp_lock_t lock;
static omp_nest_lock_t nest;
static int alone, first_n;
static double first_s;
static volatile int counter;

static struct {
	double from, to;
} had, wanted[THREADS];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pass(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, NULL);
}

static KEEP void have_lock(void)
{
	omp_set_lock(&lock);
	had.from = now();
	pass(HOLD_MS);
	had.to = now();
	omp_unset_lock(&lock);
}

static KEEP void want_lock(int me)
{
	wanted[me].from = now();
	omp_set_lock(&lock);
	wanted[me].to = now();
	omp_unset_lock(&lock);
}

/* Once more while the others want it. */
static KEEP void have_nest_lock(void)
{
	omp_set_nest_lock(&nest);
	had.from = now();
	pass(HOLD_MS / 2);
	omp_set_nest_lock(&nest);
	pass(HOLD_MS / 4);
	omp_unset_nest_lock(&nest);
	pass(HOLD_MS / 4);
	had.to = now();
	omp_unset_nest_lock(&nest);
}

static KEEP void want_nest_lock(int me)
{
	wanted[me].from = now();
	omp_set_nest_lock(&nest);
	wanted[me].to = now();
	omp_unset_nest_lock(&nest);
}

static KEEP void have_tested(void)
{
	while (!omp_test_lock(&lock))
		pass(1);
	had.from = now();
	pass(HOLD_MS);
	had.to = now();
	omp_unset_lock(&lock);
}

static KEEP void have_named(void)
{
#pragma omp critical(named)
	{
		had.from = now();
		pass(HOLD_MS);
		had.to = now();
	}
}

static KEEP void want_named(int me)
{
	wanted[me].from = now();
#pragma omp critical(named)
	wanted[me].to = now();
}

static KEEP void have_unnamed(void)
{
#pragma omp critical
	{
		had.from = now();
		pass(HOLD_MS);
		had.to = now();
	}
}

static KEEP void want_unnamed(int me)
{
	wanted[me].from = now();
#pragma omp critical
	wanted[me].to = now();
}

/* Another lock than the one that the others have. */
static KEEP void have_another(void)
{
#pragma omp critical(another)
	{
		had.from = had.to = now();
		pass(HOLD_MS);
	}
}

static const struct {
	const char *name;
	void (*have)(void);
	void (*want)(int me);
} kinds[] = {
	{"lock", have_lock, want_lock},
	{"nest", have_nest_lock, want_nest_lock},
	{"tested", have_tested, want_lock},
	{"named", have_named, want_named},
	{"unnamed", have_unnamed, want_unnamed},
	{"another", have_another, want_named},
};

static double overlap(int i)
{
	double from = wanted[i].from > had.from ? wanted[i].from : had.from;
	double to = wanted[i].to < had.to ? wanted[i].to : had.to;

	return to > from ? to - from : 0.0;
}

/* The thread with the highest number has it. */
static void play(int k, int *n, double *s)
{
#pragma omp parallel num_threads(THREADS)
	{
		int me = omp_get_thread_num();

		if (me == THREADS - 1)
			kinds[k].have();
		if (alone) {
#pragma omp barrier
		}
		if (me < THREADS - 1) {
			pass(alone ? 1 : LATE_MS);
			kinds[k].want(me);
		}
	}
	for (int i = 0; i < THREADS - 1; i++) {
		*n += overlap(i) > 0.0;
		*s += overlap(i);
	}
	first_n += overlap(0) > 0.0;
	first_s += overlap(0);
}

/* The thread with the first turn is late for it. */
static KEEP void late_turn(int me)
{
	if (me == 0)
		pass(HOLD_MS);
}

/* Until the one before is out of it; to come in then takes as long as this one has no CPU. */
static double in_turn(void)
{
	double sum = 0.0, left[THREADS];

#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
	{
#pragma omp for ordered schedule(static, 1)
		for (int i = 0; i < THREADS; i++) {
			double before;

			late_turn(i);
			before = now();
#pragma omp ordered
			{
				if (i && left[i - 1] > before)
					sum += left[i - 1] - before;
				counter++;
				left[i] = now();
			}
		}
	}
	return sum;
}

static sigjmp_buf out;

static void leave(int signal)
{
	siglongjmp(out, signal);
}

static KEEP void later(void)
{
	counter++;
}

static KEEP int left(void)
{
	const struct itimerval once = {.it_value = {0, 1000 * LATE_MS}};

	signal(SIGALRM, leave);
	omp_set_lock(&lock);
	if (!sigsetjmp(out, 1)) {
		setitimer(ITIMER_REAL, &once, NULL);
		omp_set_lock(&lock); /* for ever */
	}
	if (omp_test_lock(&lock))
		return 1;
	later();
	return 0;
}

static void say_first(const char *kind)
{
#ifdef WITH_MPI
	printf("first %s %d %.9f\n", kind, first_n, first_s);
#endif
	first_n = 0;
	first_s = 0.0;
}

int main(int argc, char **argv)
{
	double turns = 0.0;

#ifdef WITH_MPI
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
#endif
	alone = argc > 1 && !strcmp(argv[1], "alone");
	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	if (argc > 1 && !strcmp(argv[1], "left"))
		return left();
	for (int k = 0; k < (int)(sizeof(kinds) / sizeof(kinds[0])); k++) {
		int n = 0;
		double s = 0.0;

		for (int i = 0; i < ROUNDS; i++)
			play(k, &n, &s);
		printf("%s %d %.9f\n", kinds[k].name, n, s);
		say_first(kinds[k].name);
	}
	for (int i = 0; i < ROUNDS && !alone; i++)
		turns += in_turn();
	printf("turn %d %.9f\n", alone ? 0 : ROUNDS * (THREADS - 1), turns);
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return 0;
}
