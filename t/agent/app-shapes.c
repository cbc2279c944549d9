/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of several shapes, for t7303: where their time goes is known to the exact
 * profile, and a sampled time line must agree. All waits are of the clock, so that a busy
 * machine makes calls longer, not other.
 *
 *	app-shapes SHAPE [ms]
 *
 * With $SHAPES_TRUTH it writes "FUNCTION START END" in ns of each call of a function
 * long_*() there.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef SHAPES_MPI
#include <mpi.h>
#endif

#define QUIET	   __attribute__((no_instrument_function))
#define CALLS_MOST 4096

static struct truth {
	const char *name;
	uint64_t start, end;
} truth[CALLS_MOST];
static unsigned n_truth;
static uint64_t deadline;

QUIET static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

QUIET static void spin(double us)
{
	const uint64_t end = now() + (uint64_t)(us * 1e3);

	while (now() < end)
		;
}

QUIET static int goes_on(void)
{
	return now() < deadline;
}

QUIET static unsigned begun(const char *name)
{
	const unsigned n = __atomic_fetch_add(&n_truth, 1, __ATOMIC_RELAXED);

	if (n < CALLS_MOST)
		truth[n] = (struct truth){name, now(), 0};
	return n;
}

QUIET static void ended(unsigned n)
{
	if (n < CALLS_MOST)
		truth[n].end = now();
}

#define LONG(code)                                                                                 \
	do {                                                                                       \
		const unsigned n_ = begun(__func__);                                               \
		code;                                                                              \
		ended(n_);                                                                         \
	} while (0)

QUIET static double chance(void)
{
	static __thread uint64_t x = 88172645463325252u;

	x ^= x << 13, x ^= x >> 7, x ^= x << 17;
	return (double)(x >> 11) * 0x1p-53;
}

/* ---- functions of several lengths ---------------------------------------------------- */

#define LEAF(name, us)                                                                             \
	__attribute__((noinline)) void name(void)                                                  \
	{                                                                                          \
		spin(us);                                                                          \
	}

LEAF(tiny, 0.5)
LEAF(small, 7)
LEAF(other, 23)
LEAF(relax_row, 20)
LEAF(middling, 110)
LEAF(third, 1000)
LEAF(rest, 3000)

__attribute__((noinline)) void inner(void)
{
	spin(15);
	small();
	spin(10);
	other();
}

__attribute__((noinline)) void outer(void)
{
	spin(30);
	for (int i = 0; i < 3; i++)
		inner();
}

void odd(int n);
__attribute__((noinline)) void even(int n)
{
	spin(2);
	if (n)
		odd(n - 1);
	spin(1);
}

__attribute__((noinline)) void odd(int n)
{
	spin(5);
	if (n)
		even(n - 1);
	if (n % 3 == 0)
		tiny();
}

__attribute__((noinline)) void sweep(void)
{
	for (int i = 0; i < 50; i++)
		relax_row();
	spin(40);
}

__attribute__((noinline)) void long_write(void)
{
	LONG(spin(28000));
}

/* many short calls in it */
__attribute__((noinline)) void long_solve(void)
{
	LONG(for (int i = 0; i < 1500; i++) {
		tiny();
		small();
		if (i % 10 == 0)
			middling();
	});
}

__attribute__((noinline)) void long_step(void)
{
	LONG(for (int i = 0; i < 300; i++) inner(); long_write(); long_write());
}

__attribute__((noinline)) void exchange(void)
{
	spin(4);
}

/* ---- shapes ---------------------------------------------------------------------------- */

static void nested(void)
{
	while (goes_on())
		outer();
}

static void recursive(void)
{
	while (goes_on())
		even(20), small();
}

static void leaf(void)
{
	for (int i = 0; goes_on(); i++) {
		sweep();
		if (i % 40 == 39)
			long_write();
	}
}

static void few(void)
{
	while (goes_on())
		long_solve();
}

static void steps(void)
{
	while (goes_on()) {
		long_step();
		spin(100);
	}
}

/* of a rhythm that an interval of 1, 2, 4 ms ... could go along with */
static void rhythm(void)
{
	while (goes_on())
		third(), rest();
}

static void bursts(void)
{
	while (goes_on()) {
		for (int i = 0; i < 200; i++)
			tiny();
		middling();
		spin(300);
	}
}

static void chances(void)
{
	static void (*const all[])(void) = {tiny, small, other, relax_row, middling, inner, outer};

	while (goes_on())
		all[(unsigned)(chance() * 7)]();
}

static void messages(void)
{
	while (goes_on()) {
		relax_row();
		small();
		exchange();
	}
}

static void *worker(void *which)
{
	switch ((int)(intptr_t)which) {
	case 0:
		chances();
		break;
	case 1:
		bursts();
		break;
	default:
		leaf();
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[3];

	for (intptr_t i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

#ifdef SHAPES_MPI
static void ranks(void)
{
	int rank, more = 1;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	while (more) {
		for (int i = 0; i <= 3 * rank; i++)
			inner();
		more = goes_on();
		MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
}
#endif

static const struct shape {
	const char *name;
	void (*run)(void);
} shapes[] = {{"nested", nested}, {"recursive", recursive}, {"leaf", leaf}, {"few", few},
	{"steps", steps}, {"rhythm", rhythm}, {"bursts", bursts}, {"chances", chances},
	{"messages", messages}, {"threads", threads},
#ifdef SHAPES_MPI
	{"ranks", ranks}
#endif
};

QUIET static void tell(void)
{
	const char *path = getenv("SHAPES_TRUTH");
	FILE *f = path ? fopen(path, "w") : NULL;

	for (unsigned i = 0; f && i < n_truth && i < CALLS_MOST; i++)
		fprintf(f, "%s %llu %llu\n", truth[i].name, (unsigned long long)truth[i].start,
			(unsigned long long)truth[i].end);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	const struct shape *s = NULL;

	for (unsigned i = 0; argc > 1 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!strcmp(shapes[i].name, argv[1]))
			s = &shapes[i];
	if (!s)
		return 2;
#ifdef SHAPES_MPI
	MPI_Init(&argc, &argv);
#endif
	deadline = now() + (uint64_t)(argc > 2 ? atoi(argv[2]) : 400) * 1000000u;
	s->run();
#ifdef SHAPES_MPI
	MPI_Finalize();
#endif
	tell();
	return 0;
}
