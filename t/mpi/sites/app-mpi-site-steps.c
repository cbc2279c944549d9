/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signal handlers at any instruction of what records the place of a call of MPI, by
 * t/hook/app-stepper.c:
 *
 *	app-mpi-site-steps calls|above|jumps|forks PREFIX same|other
 *
 * The handler calls the same function from other lines; does so on a stack of its own that lies
 *above that of the thread; leaves by a jump that no library sees; or forks, and calls it in the
 *child, which then goes on. The call that is interrupted comes from the line of the one before, or
 *from another one. Each process writes PREFIX and its pid: a line "KIND FILE:LINE CALLS" for each
 *place. KIND is `handler' in the handler, else `usual'; or `left' where a call may have been left
 *by a jump or have begun in the parent. MPI is not started: MPI_Initialized() does not want that.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES 300
#define STACK ((size_t)1 << 20)

static struct {
	const char *kind;
	long calls;
} places[LINES];
static void *before[5]; /* __builtin_setjmp() */
static int jumps, forks, other, is_child;

/* each call is on a line of its own */
/* clang-format off */
#define AT(what) do { int flag; places[__LINE__].kind = (what); places[__LINE__].calls++; MPI_Initialized(&flag); } while (0)
/* clang-format on */

static void handle(int signal)
{
	(void)signal;
	if (jumps)
		__builtin_longjmp(before, 1);
	if (forks) {
		const pid_t child = fork();

		if (child > 0)
			waitpid(child, NULL, 0);
		is_child = !child;
		if (is_child)
			memset(places, 0, sizeof(places));
	}
	AT("handler");
	AT("handler");
	AT("handler");
}

static int round_begins(void)
{
	long more = 0;

#if defined(__x86_64__)
	__asm__ volatile("int3" : "+a"(more) : : "memory");
#endif
	return more != 0;
}

#define KEEP __attribute__((noinline, noclone))

KEEP static void first(void)
{
	AT((jumps || forks) && !other ? "left" : "usual");
}

KEEP static void second(void)
{
	AT((jumps || forks) && other ? "left" : "usual");
}

KEEP static void third(void)
{
	AT("usual");
}

static void *rounds(void *stack)
{
	const stack_t above = {.ss_sp = stack, .ss_size = STACK};
	struct sigaction a = {
		.sa_handler = handle, .sa_flags = SA_NODEFER | (stack ? SA_ONSTACK : 0)};

	if ((stack && sigaltstack(&above, NULL)) || sigaction(SIGUSR1, &a, NULL))
		abort();
	for (;;) {
		first();
		if (!__builtin_setjmp(before)) {
			if (!round_begins())
				return NULL;
			if (other)
				second();
			else
				first();
		}
		/* whatever the interrupted call left behind, each is from its own line */
		first();
		third();
		second();
		third();
		third();
		if (is_child)
			return NULL;
	}
}

/* A thread's stack, and above it one for handlers. */
static void on_two_stacks(void)
{
	char *low =
		mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	if (low == MAP_FAILED || pthread_attr_setstack(&a, low, STACK) ||
		pthread_create(&t, &a, rounds, low + STACK) || pthread_join(t, NULL))
		abort();
}

int main(int argc, char **argv)
{
	char name[4096];
	FILE *f;

	if (argc != 4)
		return 2;
	jumps = !strcmp(argv[1], "jumps");
	forks = !strcmp(argv[1], "forks");
	other = !strcmp(argv[3], "other");
	if (strcmp(argv[1], "above"))
		rounds(NULL);
	else
		on_two_stacks();
	snprintf(name, sizeof(name), "%s%d", argv[2], (int)getpid());
	f = fopen(name, "w");
	for (int i = 0; f && i < LINES; i++)
		if (places[i].calls)
			fprintf(f, "%s app-mpi-site-steps.c:%d %ld\n", places[i].kind, i,
				places[i].calls);
	return !f || fclose(f);
}
