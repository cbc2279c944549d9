/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parallel regions and what is inside of them, one kind of construct per run:
 * app-openmp CASE [THREADS]. Counts by itself, see app-openmp.h.
 */
#include "app-openmp.h"

static int threads = 4;
static long result;

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

/* ---- teams ---- */

static KEEP void region(int n)
{
	COUNT("region");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(n)
	{
		TEAM(fork);
		work(1 + omp_get_thread_num());
	}
	JOIN();
}

static KEEP void parallel(void)
{
	COUNT("parallel");
	for (int i = 0; i < 5; i++)
		region(threads);
}

static KEEP void sizes(void)
{
	COUNT("sizes");
	for (int n = 1; n <= threads; n *= 2)
		region(n);
	region(1);
	region(threads);
}

static KEEP void one_way(void)
{
	COUNT("one_way");
	region(threads);
}

static KEEP void other_way(void)
{
	COUNT("other_way");
	one_way();
	region(threads);
}

static KEEP void paths(void)
{
	COUNT("paths");
	for (int i = 0; i < 3; i++) {
		one_way();
		other_way();
	}
}

static KEEP void serial(void)
{
	COUNT("serial");
	for (int i = 0; i < 3; i++) {
		struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel if (i == 1) num_threads(threads)
		{
			TEAM(fork);
			work(2);
			struct path inner = FORK(__LINE__ + 1);
#pragma omp parallel if (0)
			{
				TEAM(inner);
				work(1);
			}
			JOIN();
		}
		JOIN();
	}
}

/* ---- work-sharing ---- */

static KEEP void loops(void)
{
	COUNT("loops");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		ENTER_IF(SEES_STATIC, "omp_for", __LINE__ + 1);
#pragma omp for schedule(static)
		for (int i = 0; i < 100; i++)
			leaf();
		LEAVE();
		WAITED(PLAIN_BARRIER);
		ENTER_IF(SEES_STATIC, "omp_for", __LINE__ + 1);
#pragma omp for schedule(static, 3) nowait
		for (int i = 0; i < 50; i++)
			leaf();
		LEAVE();
		ENTER("omp_for", __LINE__ + 1);
#pragma omp for schedule(dynamic, 2)
		for (int i = 0; i < 100; i++)
			leaf();
		LEAVE();
		WAITED("omp_barrier_implicit");
		ENTER("omp_for", __LINE__ + 1);
#pragma omp for schedule(guided) nowait
		for (int i = 0; i < 100; i++)
			leaf();
		LEAVE();
		ENTER("omp_for", __LINE__ + 1);
#pragma omp for schedule(runtime) collapse(2)
		for (int i = 0; i < 10; i++)
			for (int j = 0; j < 10; j++)
				leaf();
		LEAVE();
		WAITED("omp_barrier_implicit");
	}
	JOIN();
}

/* Each thread has an iteration, as they wait for each other. */
static UNTRACED void meet(int *arrived)
{
	__atomic_add_fetch(arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < threads)
		usleep(50);
}

static KEEP void combined(void)
{
	COUNT("combined");
	for (int k = 0; k < 3; k++) {
		static char ids[6];
		int arrived = 0;
		struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel for num_threads(threads) schedule(static)
		for (int i = 0; i < 3 * threads; i++) {
			WORKED(fork, &ids[2 * k], SEES_STATIC ? "omp_for" : NULL, __LINE__ - 2);
			leaf();
		}
		JOIN();
		fork = FORK(__LINE__ + 1);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
		for (int i = 0; i < threads; i++) {
			WORKED(fork, &ids[2 * k + 1], "omp_for", __LINE__ - 2 + COMBINED_LINE);
			meet(&arrived);
			leaf();
		}
		JOIN();
	}
}

static KEEP void sections(void)
{
	COUNT("sections");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 3; k++) {
			ENTER("omp_sections", __LINE__ + 1);
#pragma omp sections
			{
#pragma omp section
				work(1);
#pragma omp section
				work(2);
#pragma omp section
				leaf();
			}
			LEAVE();
			WAITED("omp_barrier_implicit");
		}
	}
	JOIN();
}

static KEEP void singles(void)
{
	COUNT("singles");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 4; k++) {
#pragma omp single
			{
				ENTER_IF(SEES_SINGLE, "omp_single", __LINE__ - 2);
				work(2);
				LEAVE();
			}
			WAITED(PLAIN_BARRIER);
#pragma omp single nowait
			{
				ENTER_IF(SEES_SINGLE, "omp_single", __LINE__ - 2);
				leaf();
				LEAVE();
			}
#pragma omp master
			{
				ENTER_IF(SEES_MASKED, "omp_masked", __LINE__ - 2);
				leaf();
				LEAVE();
			}
#pragma omp barrier
			WAITED("omp_barrier");
		}
	}
	JOIN();
}

/* ---- waiting ---- */

static KEEP void barriers(void)
{
	COUNT("barriers");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 20; k++) {
			leaf();
#pragma omp barrier
			WAITED("omp_barrier");
		}
	}
	JOIN();
}

static KEEP void critical(void)
{
	COUNT("critical");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 20; k++) {
			WAITED("omp_critical_wait");
#pragma omp critical
			{
				ENTER("omp_critical", __LINE__ - 2);
				leaf();
				LEAVE();
			}
			WAITED("omp_critical_wait");
#pragma omp critical(named)
			{
				ENTER("omp_critical", __LINE__ - 2);
				work(1);
				LEAVE();
			}
		}
	}
	JOIN();
}

static KEEP void locks(void)
{
	COUNT("locks");
	omp_lock_t lock;
	omp_nest_lock_t nest;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 20; k++) {
			omp_set_lock(&lock);
			WAITED("omp_lock_wait");
			leaf();
			omp_unset_lock(&lock);
			omp_set_nest_lock(&nest);
			WAITED("omp_lock_wait");
			omp_set_nest_lock(&nest);
			WAITED("omp_lock_wait");
			leaf();
			omp_unset_nest_lock(&nest);
			omp_unset_nest_lock(&nest);
		}
	}
	JOIN();
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest);
}

/* Whether getting a lock without waiting for it can be told from waiting: it depends. */
static KEEP void tests(void)
{
	COUNT("tests");
	omp_lock_t lock;
	omp_nest_lock_t nest;

	omp_init_lock(&lock);
	omp_init_nest_lock(&nest);
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		for (int k = 0; k < 20; k++) {
			if (omp_test_lock(&lock)) {
				leaf();
				usleep(100);
				omp_unset_lock(&lock);
			}
			work(1);
			if (omp_test_nest_lock(&nest)) {
				leaf();
				omp_unset_nest_lock(&nest);
			}
			work(2);
		}
	}
	JOIN();
	omp_destroy_lock(&lock);
	omp_destroy_nest_lock(&nest);
}

static KEEP void ordered(void)
{
	COUNT("ordered");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		ENTER("omp_for", __LINE__ + 1);
#pragma omp for ordered schedule(dynamic)
		for (int i = 0; i < 40; i++) {
			leaf();
			WAITED("omp_ordered_wait");
#pragma omp ordered
			{
				ENTER("omp_ordered", __LINE__ - 2);
				work(1);
				LEAVE();
			}
		}
		LEAVE();
		WAITED("omp_barrier_implicit");
	}
	JOIN();
}

static KEEP void reductions(void)
{
	COUNT("reductions");
	long sum = 0;
	double product = 1;
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads) reduction(+ : sum) reduction(* : product)
	{
		TEAM(fork);
		work(1);
		ENTER("omp_for", __LINE__ + 1);
#pragma omp for schedule(dynamic) nowait
		for (int i = 0; i < 50; i++) {
			leaf();
			sum += i;
		}
		LEAVE();
		product *= 2;
	}
	JOIN();
	if (sum != 49 * 25 || product < 1)
		exit(1);
}

/* ---- ends ---- */

/*
 * With OMP_CANCELLATION=true. A loop of a dynamic schedule only once: LLVM's runtime
 * fails or hangs at the next ones.
 */
static KEEP void cancelled(void)
{
	COUNT("cancelled");
	for (int k = 0; k < 5; k++) {
		struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
		{
			TEAM(fork);
			ENTER_IF(SEES_STATIC, "omp_for", __LINE__ + 1);
#pragma omp for schedule(static)
			for (int i = 0; i < 100; i++) {
				leaf();
#pragma omp cancel for if (i % 20 == k)
			}
			LEAVE();
			WAITED(PLAIN_BARRIER);
			if (k == 0) {
				ENTER("omp_for", __LINE__ + 1);
#pragma omp for schedule(monotonic : dynamic)
				for (int i = 0; i < 100; i++) {
					leaf();
#pragma omp cancel for if (i == 20)
				}
				LEAVE();
				WAITED("omp_barrier_implicit");
			}
			ENTER("omp_sections", __LINE__ + 1);
#pragma omp sections
			{
#pragma omp section
				{
					work(1);
#pragma omp cancel sections
				}
#pragma omp section
				work(2);
			}
			LEAVE();
			WAITED("omp_barrier_implicit");
			work(1);
		}
		JOIN();
	}
}

/* How often a barrier is waited at, and by whom, is the runtime's business then. */
static KEEP void abandoned(void)
{
	COUNT("abandoned");
	for (int k = 0; k < 5; k++) {
		struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
		{
			TEAM(fork);
			work(1);
			ENTER("omp_for", __LINE__ + 1);
#pragma omp for schedule(dynamic) nowait
			for (int i = 0; i < 20; i++)
				leaf();
			LEAVE();
			if (omp_get_thread_num() == k % threads) {
#pragma omp cancel parallel
			}
#pragma omp barrier
			if (k > 10)
				leaf();
		}
		JOIN();
		work(1);
	}
}

/* The process ends inside of the region, on whatever thread comes first. */
static KEEP void exits(void)
{
	COUNT("exits");
	struct path fork = FORK(__LINE__ + 1);
#pragma omp parallel num_threads(threads)
	{
		TEAM(fork);
		work(2);
		WAITED("omp_barrier");
#pragma omp barrier
		if (omp_get_thread_num() == threads - 1) {
			write_counts();
			exit(7);
		}
		for (;;)
			usleep(1000);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"parallel", parallel},
	{"sizes", sizes},
	{"paths", paths},
	{"serial", serial},
	{"loops", loops},
	{"combined", combined},
	{"sections", sections},
	{"singles", singles},
	{"barriers", barriers},
	{"critical", critical},
	{"locks", locks},
	{"tests", tests},
	{"ordered", ordered},
	{"reductions", reductions},
	{"exits", exits},
	{"cancelled", cancelled},
	{"abandoned", abandoned},
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
	fprintf(stderr, "app-openmp: no such case\n");
	return 2;
}
