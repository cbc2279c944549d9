/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explicit tasks, and what can be cancelled: app-openmp-tasks CASE [THREADS].
 * Counts by itself, see app-openmp.h; results are checked as well: a task must
 * get its data whatever we put beside them.
 */
#include <stdint.h>
#include "app-openmp.h"

/* Arrays whose length is known at run time have to be copied by a function; clang can't. */
#ifdef __clang__
#define LENGTH(n, known) (known)
#else
#define LENGTH(n, known) (n)
#endif

static int threads = 4;
static long result;
static volatile int three = 3;

static UNTRACED void wrong(const char *what)
{
	fprintf(stderr, "app-openmp-tasks: wrong %s\n", what);
	_exit(3);
}

static KEEP void leaf(void)
{
	COUNT("leaf");
	__atomic_add_fetch(&result, 1, __ATOMIC_RELAXED);
}

static KEEP void work(int times)
{
	COUNT("work");
	for (int i = 0; i < times; i++)
		leaf();
}

/* ---- who waits for whom ---- */

static KEEP long fib(int n, const struct path *fork)
{
	COUNT("fib");
	long a, b;

	if (n < 2)
		return n;
	CREATED(__LINE__ + 1);
#pragma omp task shared(a)
	{
		TASK(*fork, __LINE__ - 2);
		a = fib(n - 1, fork);
	}
	CREATED(__LINE__ + 1);
#pragma omp task shared(b) untied
	{
		TASK(*fork, __LINE__ - 2);
		b = fib(n - 2, fork);
	}
	WAITED("omp_taskwait");
#pragma omp taskwait
	return a + b;
}

static KEEP void recursive(void)
{
	COUNT("recursive");
	long sum = 0;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
#pragma omp master
		{
			ENTER_IF(SEES_MASKED, "omp_masked", __LINE__ - 2);
			sum = fib(14, &fork);
			LEAVE();
		}
	}
	JOIN();
	if (sum != 377)
		wrong("sum");
}

static KEEP void dependent(void)
{
	COUNT("dependent");
	int a = 0, b = 0, c[10] = {0};
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
#pragma omp master
		{
			ENTER_IF(SEES_MASKED, "omp_masked", __LINE__ - 2);
			for (int i = 0; i < 10; i++) {
				CREATED(__LINE__ + 1);
#pragma omp task depend(out : a) priority(i) shared(a)
				{
					TASK(fork, __LINE__ - 2);
					leaf();
					a = i + 1;
				}
				CREATED(__LINE__ + 1);
#pragma omp task depend(in : a) depend(out : c[i]) shared(a, c)
				{
					TASK(fork, __LINE__ - 2);
					work(2);
					c[i] = a;
				}
			}
			CREATED(__LINE__ + 1);
#pragma omp task depend(in : c[3], c[9]) depend(inout : b) shared(b, c)
			{
				TASK(fork, __LINE__ - 2);
				b = c[3] + c[9];
			}
			WAITED("omp_taskwait");
#pragma omp taskwait
			LEAVE();
		}
	}
	JOIN();
	if (b != 14 || a != 10)
		wrong("order");
}

static KEEP void groups(void)
{
	COUNT("groups");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 3; k++) {
			long here = 0;
			ENTER("omp_taskgroup", __LINE__ + 1);
#pragma omp taskgroup
			{
				for (int i = 0; i < 5; i++) {
					CREATED(__LINE__ + 1);
#pragma omp task shared(here)
					{
						TASK(fork, __LINE__ - 2);
						work(1);
						__atomic_add_fetch(&here, 1, __ATOMIC_RELAXED);
					}
				}
				leaf();
				WAITED("omp_taskgroup_wait");
			}
			LEAVE();
			if (here != 5)
				wrong("group");
		}
		/* these run in the barrier at the end, or earlier */
		for (int i = 0; i < 5; i++) {
			CREATED(__LINE__ + 1);
#pragma omp task
			{
				TASK(fork, __LINE__ - 2);
				leaf();
			}
		}
	}
	JOIN();
}

/* ---- those that run at once ---- */

static KEEP void undeferred(void)
{
	COUNT("undeferred");
	int later = 0, n = 0;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int i = 0; i < 4; i++) {
			CREATED(__LINE__ + 1);
#pragma omp task if (0)
			{
				TASK(fork, __LINE__ - 2);
				work(1);
			}
			CREATED(__LINE__ + 1);
#pragma omp task if (later) mergeable shared(n)
			{
				TASK(fork, __LINE__ - 2);
				__atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);
			}
			CREATED(__LINE__ + 1);
#pragma omp task final(1)
			{
				TASK(fork, __LINE__ - 2);
				leaf();
				CREATED(__LINE__ + 1);
#pragma omp task
				{
					TASK(fork, __LINE__ - 2);
					leaf();
				}
			}
		}
	}
	JOIN();
	if (n != 4 * threads)
		wrong("number of tasks");
}

/* ---- data that come with a task ---- */

struct wide {
	long v[8];
} __attribute__((aligned(64)));

struct large {
	char v[100000];
};

static KEEP void copies(void)
{
	COUNT("copies");
	static struct large many;
	struct wide wide = {{1, 2, 3, 4, 5, 6, 7, 8}};
	int n = 100 * three;
	int v[LENGTH(n, 300)];
	long good = 0;

	memset(&many, 42, sizeof(many));
	for (int i = 0; i < n; i++)
		v[i] = i;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
#pragma omp master
		{
			ENTER_IF(SEES_MASKED, "omp_masked", __LINE__ - 2);
			for (int k = 0; k < 6; k++) {
				struct large large = many;

				CREATED(__LINE__ + 1);
#pragma omp task firstprivate(v, k) shared(good) if (k % 3)
				{
					TASK(fork, __LINE__ - 2);
					int ok = 1;
					for (int i = 0; i < 300; i++)
						ok &= v[i] == i;
					v[0] = 9;
					__atomic_add_fetch(&good, ok, __ATOMIC_RELAXED);
				}
				CREATED(__LINE__ + 1);
#pragma omp task firstprivate(wide, k) shared(good) if (k % 3)
				{
					TASK(fork, __LINE__ - 2);
					int ok = (uintptr_t)&wide % 64 == 0;
					for (int i = 0; i < 8; i++)
						ok &= wide.v[i] == i + 1;
					wide.v[0] = 9;
					__atomic_add_fetch(&good, ok, __ATOMIC_RELAXED);
				}
				CREATED(__LINE__ + 1);
#pragma omp task firstprivate(large, k) shared(good) if (k % 3)
				{
					TASK(fork, __LINE__ - 2);
					int ok = !memcmp(&large, &many, sizeof(large));
					large.v[k] = 1;
					__atomic_add_fetch(&good, ok, __ATOMIC_RELAXED);
				}
			}
			LEAVE();
		}
	}
	JOIN();
	if (good != 18)
		wrong("data");
}

static KEEP void detached(void)
{
	COUNT("detached");
	long done = 0;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
#pragma omp master
		{
			ENTER_IF(SEES_MASKED, "omp_masked", __LINE__ - 2);
			for (int i = 0; i < 4; i++) {
				omp_event_handle_t event;
				int v[LENGTH(three, 3)];

				v[2] = i;
				CREATED(__LINE__ + 1);
#pragma omp task detach(event) firstprivate(v) shared(done)
				{
					TASK(fork, __LINE__ - 2);
					leaf();
					__atomic_add_fetch(&done, v[2], __ATOMIC_RELAXED);
					omp_fulfill_event(event);
				}
				CREATED(__LINE__ + 1);
#pragma omp task detach(event) shared(done)
				{
					TASK(fork, __LINE__ - 2);
					leaf();
					__atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
					omp_fulfill_event(event);
				}
			}
			WAITED("omp_taskwait");
#pragma omp taskwait
			if (done != 6 + 4)
				wrong("number of detached tasks");
			LEAVE();
		}
	}
	JOIN();
}

/* ---- taskloop; one iteration for each task, so that each counts itself ---- */

static KEEP void loops(void)
{
	COUNT("loops");
	long sum = 0;
	int v[LENGTH(three, 3)];

	v[1] = 5;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
#pragma omp master
		{
			ENTER_IF(SEES_MASKED, "omp_masked", __LINE__ - 2);
			ENTER("omp_taskloop", __LINE__ + 1);
#pragma omp taskloop num_tasks(20) shared(sum)
			for (int i = 0; i < 20; i++) {
				TASK(fork, __LINE__ - 2);
				leaf();
				__atomic_add_fetch(&sum, i, __ATOMIC_RELAXED);
			}
			LEAVE();
			ENTER("omp_taskloop", __LINE__ + 1);
#pragma omp taskloop grainsize(1) nogroup firstprivate(v) shared(sum)
			for (unsigned long long i = 1ull << 63; i < (1ull << 63) + 10; i++) {
				TASK(fork, __LINE__ - 2);
				leaf();
				__atomic_add_fetch(&sum, v[1], __ATOMIC_RELAXED);
			}
			LEAVE();
			WAITED("omp_taskwait");
#pragma omp taskwait
			ENTER("omp_taskloop", __LINE__ + 1);
#pragma omp taskloop num_tasks(8) reduction(+ : sum)
			for (int i = 0; i < 8; i++) {
				TASK(fork, __LINE__ - 2);
				leaf();
				sum += 1;
			}
			LEAVE();
			LEAVE();
		}
	}
	JOIN();
	if (sum != 190 + 50 + 8)
		wrong("sum");
}

/* ---- what ends early: with OMP_CANCELLATION=true ---- */

static KEEP void cancelled(void)
{
	COUNT("cancelled");
	long ran = 0;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
#pragma omp master
		{
			ENTER_IF(SEES_MASKED, "omp_masked", __LINE__ - 2);
			ENTER("omp_taskgroup", __LINE__ + 1);
#pragma omp taskgroup
			{
				for (int i = 0; i < 50; i++) {
					CREATED(__LINE__ + 1);
#pragma omp task shared(ran)
					{
						TASK(fork, __LINE__ - 2);
						__atomic_add_fetch(&ran, 1, __ATOMIC_RELAXED);
						work(1);
						if (i == 3) {
#pragma omp cancel taskgroup
						}
						leaf();
					}
				}
				WAITED("omp_taskgroup_wait");
			}
			LEAVE();
			leaf();
			LEAVE();
		}
	}
	JOIN();
	if (omp_get_cancellation() && ran == 50 && threads == 1)
		wrong("number of tasks: none was cancelled");
}

/* A thread leaves the region from the midst of a group and a critical section. */
static KEEP void left(void)
{
	COUNT("left");
	for (int k = 0; k < 10; k++) {
		struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
		{
			TEAM(fork);
			leaf();
			if (omp_get_thread_num() == k % threads) {
				ENTER("omp_taskgroup", __LINE__ + 1);
#pragma omp taskgroup
				{
					work(1);
					WAITED("omp_taskgroup_wait");
				}
				LEAVE();
#pragma omp cancel parallel
			}
#pragma omp cancellation point parallel
		}
		JOIN();
		leaf();
	}
}

/* After the cancelled loop the threads go on. */
static KEEP void loop_left(void)
{
	COUNT("loop_left");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 5; k++) {
			ENTER("omp_for", __LINE__ + 1);
#pragma omp for schedule(dynamic)
			for (int i = 0; i < 100; i++) {
				struct path before = *here();
				leaf();
				if (i == 20) {
#pragma omp cancel for
				}
				restore(&before);
			}
			LEAVE();
			WAITED("omp_barrier_implicit");
			leaf();
		}
	}
	JOIN();
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"recursive", recursive},
	{"dependent", dependent},
	{"groups", groups},
	{"undeferred", undeferred},
	{"copies", copies},
	{"detached", detached},
	{"loops", loops},
	{"cancelled", cancelled},
	{"left", left},
	{"loop_left", loop_left},
};

int main(int argc, char **argv)
{
	COUNT("main");
	if (argc > 2)
		threads = (int)strtol(argv[2], NULL, 10);
	omp_set_dynamic(0);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			write_counts();
			return 0;
		}
	fprintf(stderr, "app-openmp-tasks: no such case\n");
	return 2;
}
