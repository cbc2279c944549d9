/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What only gcc's runtime has, or shows: app-openmp-gnu CASE [THREADS]. Entry
 * points that older compilers call are called by hand. Counts by itself, see
 * app-openmp.h.
 */
#include <stdbool.h>
#include <stdint.h>
#include "app-openmp.h"

static int threads = 4;
static long result;

static UNTRACED void wrong(const char *what)
{
	fprintf(stderr, "app-openmp-gnu: wrong %s\n", what);
	_exit(3);
}

static KEEP void leaf(void)
{
	COUNT("leaf");
	__atomic_add_fetch(&result, 1, __ATOMIC_RELAXED);
}

/* ---- entry points of gcc before 4.9 ---- */

extern void GOMP_parallel_start(void (*)(void *), void *, unsigned);
extern void GOMP_parallel_loop_dynamic_start(
	void (*)(void *), void *, unsigned, long, long, long, long);
extern void GOMP_parallel_loop_runtime_start(
	void (*)(void *), void *, unsigned, long, long, long);
extern void GOMP_parallel_sections_start(void (*)(void *), void *, unsigned, unsigned);
extern void GOMP_parallel_end(void);
extern bool GOMP_loop_dynamic_next(long *, long *);
extern bool GOMP_loop_runtime_next(long *, long *);
extern void GOMP_loop_end_nowait(void);
extern unsigned GOMP_sections_next(void);
extern void GOMP_sections_end_nowait(void);

static int deeper;

static UNTRACED void old_body(void *fork)
{
	TEAM(*(struct path *)fork);
	leaf();
	if (deeper && omp_get_level() == 1) {
		struct path inner = FORK(1);
		GOMP_parallel_start(old_body, &inner, 2);
		old_body(&inner);
		GOMP_parallel_end();
		JOIN();
		leaf();
	}
}

static UNTRACED void old_loop(void *fork)
{
	TEAM(*(struct path *)fork);
	long from, to;

	ENTER("omp_for", 0);
	while (GOMP_loop_dynamic_next(&from, &to))
		for (long i = from; i < to; i++)
			leaf();
	GOMP_loop_end_nowait();
	LEAVE();
	leaf();
}

static UNTRACED void old_runtime(void *fork)
{
	TEAM(*(struct path *)fork);
	long from, to;

	ENTER("omp_for", 0);
	while (GOMP_loop_runtime_next(&from, &to))
		leaf();
	GOMP_loop_end_nowait();
	LEAVE();
}

static UNTRACED void old_sections(void *fork)
{
	TEAM(*(struct path *)fork);

	ENTER("omp_sections", 0);
	for (unsigned n; (n = GOMP_sections_next());)
		leaf();
	GOMP_sections_end_nowait();
	LEAVE();
}

static KEEP void old(void)
{
	COUNT("old");
	for (deeper = 0; deeper < 2; deeper++) {
		struct path fork = FORK(0);
		GOMP_parallel_start(old_body, &fork, threads);
		old_body(&fork);
		GOMP_parallel_end();
		JOIN();
	}
	leaf();
	struct path fork = FORK(0);
	GOMP_parallel_loop_dynamic_start(old_loop, &fork, threads, 0, 40, 1, 1);
	old_loop(&fork);
	GOMP_parallel_end();
	JOIN();
	fork = FORK(0);
	GOMP_parallel_loop_runtime_start(old_runtime, &fork, threads, 0, 40, 1);
	old_runtime(&fork);
	GOMP_parallel_end();
	JOIN();
	fork = FORK(0);
	GOMP_parallel_sections_start(old_sections, &fork, threads, 5);
	old_sections(&fork);
	GOMP_parallel_end();
	JOIN();
}

/* ---- work-sharing that clang does otherwise ---- */

static KEEP void copied(void)
{
	COUNT("copied");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 5; k++) {
			int value = -1;
			WAITED("omp_barrier_implicit");
#pragma omp single copyprivate(value)
			{
				ENTER("omp_single", 0);
				leaf();
				value = k;
				LEAVE();
				WAITED("omp_barrier_implicit");
			}
			WAITED("omp_barrier");
			if (value != k)
				wrong("value");
		}
	}
	JOIN();
}

static KEEP void crossed(void)
{
	COUNT("crossed");
	static int v[40];
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		ENTER("omp_for", 0);
#pragma omp for ordered(1) schedule(dynamic)
		for (int i = 1; i < 40; i++) {
			leaf();
#pragma omp ordered depend(sink : i - 1)
			v[i] = v[i - 1] + 1;
#pragma omp ordered depend(source)
		}
		LEAVE();
		WAITED("omp_barrier_implicit");
		ENTER("omp_for", 0);
#pragma omp for ordered(1) schedule(static, 1) nowait
		for (unsigned long long i = 1; i < 40; i++) {
#pragma omp ordered depend(sink : i - 1)
			leaf();
#pragma omp ordered depend(source)
		}
		LEAVE();
	}
	JOIN();
	if (v[39] != 39)
		wrong("order");
}

static KEEP void wide_loops(void)
{
	COUNT("wide_loops");
	const unsigned long long low = 1ull << 63;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		ENTER("omp_for", 0);
#pragma omp for schedule(dynamic, 3) nowait
		for (unsigned long long i = low; i < low + 30; i++)
			leaf();
		LEAVE();
		ENTER("omp_for", 0);
#pragma omp for schedule(monotonic : guided) nowait
		for (unsigned long long i = low + 30; i > low; i--)
			leaf();
		LEAVE();
		ENTER("omp_for", 0);
#pragma omp for schedule(runtime)
		for (unsigned long long i = low; i < low + 30; i += 3)
			leaf();
		LEAVE();
		WAITED("omp_barrier_implicit");
		ENTER("omp_for", 0);
#pragma omp for schedule(static) ordered
		for (unsigned long long i = low; i < low + 30; i++) {
			WAITED("omp_ordered_wait");
#pragma omp ordered
			{
				ENTER("omp_ordered", 0);
				leaf();
				LEAVE();
			}
		}
		LEAVE();
		WAITED("omp_barrier_implicit");
	}
	JOIN();
	if (result != 100)
		wrong("number of iterations");
}

/* ---- reductions that tasks take part in ---- */

/* gcc ends such a construct with a barrier of its own, and then the one of libgomp. */
static KEEP void task_reductions(void)
{
	COUNT("task_reductions");
	long a = 0, b = 0, c = 0;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads) reduction(task, + : a)
	{
		TEAM(fork);
		CREATED(__LINE__ + 1);
#pragma omp task in_reduction(+ : a)
		{
			TASK(fork, __LINE__ - 2);
			leaf();
			a += 2;
		}
		a++;
		WAITED("omp_barrier");
#pragma omp barrier
		ENTER("omp_for", 0);
#pragma omp for reduction(task, + : b) schedule(dynamic)
		for (int i = 0; i < 20; i++) {
			leaf();
			CREATED(__LINE__ + 1);
#pragma omp task in_reduction(+ : b)
			{
				TASK(fork, __LINE__ - 2);
				b += 1;
			}
		}
		LEAVE();
		WAITED("omp_barrier_implicit");
		WAITED("omp_barrier_implicit");
		ENTER("omp_scope", 0);
#pragma omp scope reduction(task, + : c)
		{
			leaf();
			CREATED(__LINE__ + 1);
#pragma omp task in_reduction(+ : c)
			{
				TASK(fork, __LINE__ - 2);
				c += 3;
			}
			WAITED("omp_barrier");
		}
		LEAVE();
		WAITED("omp_barrier_implicit");
	}
	JOIN();
	if (a != 3 * threads || b != 20 || c != 3 * threads)
		wrong("sums");
}

/* ---- teams and devices, on this machine ---- */

static KEEP void devices(void)
{
	COUNT("devices");
	uintptr_t call = (uintptr_t)leaf; /* a device could not count as we do */
	int x = 1;

	ENTER("omp_teams", 0);
#pragma omp teams num_teams(2)
	{
		leaf();
	}
	LEAVE();
	ENTER("omp_target_data", 0);
#pragma omp target data map(tofrom : x)
	{
		ENTER("omp_target", 0);
#pragma omp target map(x)
		{
			((void (*)(void))call)();
			x++;
		}
		LEAVE();
		ENTER("omp_target_update", 0);
#pragma omp target update from(x)
		LEAVE();
		leaf();
	}
	LEAVE();
	ENTER("omp_target_data", 0);
#pragma omp target enter data map(to : x)
	LEAVE();
	ENTER("omp_target_data", 0);
#pragma omp target exit data map(from : x)
	LEAVE();
	leaf();
	if (x != 2)
		wrong("x");
}

/* ---- tasks where there is no team ---- */

static KEEP void alone(void)
{
	COUNT("alone");
	for (int i = 0; i < 3; i++) {
		ENTER("omp_task_create", __LINE__ + 1);
#pragma omp task
		{
			ENTER("omp_task", __LINE__ - 2);
			leaf();
			LEAVE();
		}
		LEAVE();
	}
	WAITED("omp_taskwait");
#pragma omp taskwait
	leaf();
}

/* More groups within each other than are kept in mind for one task. */
static KEEP void groups(int depth)
{
	COUNT("groups");
	if (depth == 0)
		return;
	leaf();
#pragma omp taskgroup
	groups(depth - 1);
}

static KEEP void deep(void)
{
	COUNT("deep");
	groups(100);
	leaf();
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"old", old},
	{"copied", copied},
	{"crossed", crossed},
	{"wide_loops", wide_loops},
	{"task_reductions", task_reductions},
	{"devices", devices},
	{"alone", alone},
	{"deep", deep},
};

int main(int argc, char **argv)
{
	COUNT("main");
	if (argc > 2)
		threads = atoi(argv[2]);
	omp_set_dynamic(0);
	omp_set_max_active_levels(3);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			write_counts();
			return 0;
		}
	fprintf(stderr, "app-openmp-gnu: no such case\n");
	return 2;
}
