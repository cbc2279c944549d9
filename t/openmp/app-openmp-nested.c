/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams within teams, three levels deep: app-openmp-nested CASE [A B C], with A,
 * B and C threads. Counts by itself, see app-openmp.h.
 */
#include "app-openmp.h"

static int size[4] = {1, 2, 2, 2}; /* by level */
static long result;

static KEEP void leaf(void)
{
	COUNT("leaf");
	__atomic_add_fetch(&result, 1, __ATOMIC_RELAXED);
}

/* Who we are must be what the runtime says, at all levels. */
static UNTRACED void check_level(int level)
{
	int ok = omp_get_level() == level && omp_get_ancestor_thread_num(0) == 0;

	ok &= omp_get_ancestor_thread_num(level) == omp_get_thread_num();
	for (int l = 1; l <= level; l++)
		ok &= omp_get_team_size(l) == size[l];
	if (!ok)
		_exit(3);
}

static KEEP void third(void)
{
	COUNT("third");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(size[3])
	{
		TEAM(fork);
		check_level(3);
		leaf();
		ENTER("omp_for", __LINE__ + 1);
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < 5; i++)
			leaf();
		LEAVE();
	}
	JOIN();
}

static KEEP void second(void)
{
	COUNT("second");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(size[2])
	{
		TEAM(fork);
		check_level(2);
		third();
#pragma omp barrier
		WAITED("omp_barrier");
		leaf();
		if (omp_get_thread_num() == 0)
			third();
	}
	JOIN();
}

static KEEP void first(void)
{
	COUNT("first");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(size[1])
	{
		TEAM(fork);
		check_level(1);
		for (int i = 0; i <= omp_get_thread_num() % 2; i++)
			second();
		leaf();
	}
	JOIN();
}

static KEEP void nested(void)
{
	COUNT("nested");
	for (int i = 0; i < 3; i++)
		first();
}

/* Teams of changing sizes and depths: the runtime puts its workers elsewhere each time. */
static KEEP void reused(void)
{
	COUNT("reused");
	static const int shapes[][3] = {{2, 2, 2}, {4, 1, 1}, {1, 4, 2}, {3, 2, 1}, {1, 1, 4}};

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (int l = 0; l < 3; l++)
			size[l + 1] = shapes[i][l];
		first();
		struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(size[3])
		{
			TEAM(fork);
			leaf();
		}
		JOIN();
	}
}

/* More levels than may be active: the inner ones have one thread each. */
static KEEP void limited(void)
{
	COUNT("limited");
	omp_set_max_active_levels(1);
	size[2] = size[3] = 1;
	first();
}

static KEEP int descend(int depth)
{
	COUNT("descend");
	int sum = 0;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(2) reduction(+ : sum)
	{
		TEAM(fork);
		sum = 1;
		if (depth > 1)
			sum += descend(depth - 1);
	}
	JOIN();
	return sum;
}

/* One region that contains itself. */
static KEEP void recursive(void)
{
	COUNT("recursive");
	if (descend(3) != 2 + 4 + 8)
		_exit(4);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"nested", nested}, {"reused", reused}, {"limited", limited},
		{"recursive", recursive}};

	COUNT("main");
	for (int i = 2; i < argc && i < 5; i++)
		size[i - 1] = (int)strtol(argv[i], NULL, 10);
	omp_set_dynamic(0);
	omp_set_max_active_levels(8);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			write_counts();
			return 0;
		}
	fprintf(stderr, "app-openmp-nested: no such case\n");
	return 2;
}
