/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls MPI from many lines, and counts the calls of each by itself:
 *
 *	app-mpi-sites PREFIX LIBRARY ROUNDS [LIBRARY]
 *
 * Two ranks. Each process writes PREFIX and its pid, a line "FUNCTION FILE:LINE CALLS" for each
 * place. There are three lines with MPI_Send that take turns and one that does not, two threads, a
 * function pointer, a library that is loaded (this file with -DLIBRARY), a reduction that calls
 * MPI, and a child of fork(). With a second library the two are
 * loaded and unloaded in turn. Nothing is instrumented.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES 1000

/* each call is on a line of its own */
/* clang-format off */

extern void counted(const char *function, int line);
/* the call follows on the same line */
#define AT(function, arguments) (counted(#function, __LINE__), function arguments)

#ifdef LIBRARY
void from_library(int other, int round);
void from_library(int other, int round)
{
	int x = round, y = 0;

	AT(MPI_Sendrecv, (&x, 1, MPI_INT, other, 9, &y, 1, MPI_INT, other, 9, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE));
	if (round & 1)
		AT(MPI_Sendrecv, (&x, 1, MPI_INT, other, 9, &y, 1, MPI_INT, other, 9,
					 MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}
#else
static struct place {
	char function[32]; /* a copy: libraries go */
	long calls;
} places[LINES];

void counted(const char *function, int line)
{
	if (!places[line].calls)
		snprintf(places[line].function, sizeof(places[line].function), "%s", function);
	__atomic_add_fetch(&places[line].calls, 1, __ATOMIC_RELAXED);
}

static int rank, other, rounds;

static void write_places(const char *prefix)
{
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s%d", prefix, (int)getpid());
	f = fopen(name, "w");
	for (int i = 0; f && i < LINES; i++)
		if (places[i].calls)
			fprintf(f, "%s app-mpi-sites.c:%d %ld\n", places[i].function, i,
				places[i].calls);
	if (!f || fclose(f))
		abort();
}

static void *in_thread(void *number)
{
	const int tag = 100 + (int)(long)number;
	int x = 0;

	for (int i = 0; i < rounds; i++) {
		if (i % 2 == (int)(long)number)
			AT(MPI_Send, (&x, 1, MPI_INT, other, tag, MPI_COMM_WORLD));
		else
			AT(MPI_Send, (&x, 1, MPI_INT, other, tag, MPI_COMM_WORLD));
		AT(MPI_Recv, (&x, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	return NULL;
}

static void in_threads(void)
{
	pthread_t t[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, in_thread, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static void in_turns(void)
{
	int x = 0;

	for (int i = 0; i < rounds; i++) {
		AT(MPI_Send, (&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		AT(MPI_Send, (&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		if (i % 3)
			AT(MPI_Send, (&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD));
		for (int k = 0; k < 2 + !!(i % 3); k++)
			AT(MPI_Recv, (&x, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
	for (int i = 0; i < rounds; i++)
		AT(MPI_Barrier, (MPI_COMM_WORLD));
}

static int (*volatile barrier)(MPI_Comm) = MPI_Barrier;

static void by_pointer(void)
{
	for (int i = 0; i < rounds; i++) {
		counted("MPI_Barrier", __LINE__), barrier(MPI_COMM_WORLD);
		AT(MPI_Barrier, (MPI_COMM_WORLD));
	}
}

static void add(void *in, void *out, int *n, MPI_Datatype *type)
{
	int bytes;

	AT(MPI_Type_size, (*type, &bytes));
	for (int i = 0; i < *n; i++)
		((int *)out)[i] += ((int *)in)[i];
}

static void in_reduction(void)
{
	MPI_Op op;
	int x = 1, y, bytes;

	AT(MPI_Op_create, (add, 1, &op));
	for (int i = 0; i < rounds; i++) {
		AT(MPI_Allreduce, (&x, &y, 1, MPI_INT, op, MPI_COMM_WORLD));
		AT(MPI_Type_size, (MPI_INT, &bytes));
	}
	AT(MPI_Op_free, (&op));
}

static void in_child(const char *prefix)
{
	int flag;
	pid_t child;

	AT(MPI_Initialized, (&flag));
	child = fork();
	if (!child)
		memset(places, 0, sizeof(places));
	for (int i = 0; i < rounds; i++)
		AT(MPI_Initialized, (&flag));
	if (child) {
		waitpid(child, NULL, 0);
		return;
	}
	AT(MPI_Initialized, (&flag));
	write_places(prefix);
	_exit(0);
}

/* Returns where it was. */
static void *by_library(const char *path, int unload)
{
	void (*from_library)(int, int);
	void *library = dlopen(path, RTLD_NOW);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		abort();
	}
	*(void **)&from_library = dlsym(library, "from_library");
	for (int i = 0; i < rounds; i++)
		from_library(other, i);
	if (unload)
		dlclose(library);
	return *(void **)&from_library;
}

/* The program's maker sees to it that the same code is at the same place in both. */
static void by_libraries_in_turn(const char *one, const char *two)
{
	int same = 0;

	for (int i = 0; i < 4; i++) {
		void *first = by_library(one, 1);

		same += by_library(two, 1) == first;
	}
	if (!rank)
		printf("%d at the same place\n", same);
}

int main(int argc, char **argv)
{
	int level;

	AT(MPI_Init_thread, (&argc, &argv, MPI_THREAD_MULTIPLE, &level));
	AT(MPI_Comm_rank, (MPI_COMM_WORLD, &rank));
	other = !rank;
	rounds = atoi(argv[3]);
	in_turns();
	if (level == MPI_THREAD_MULTIPLE)
		in_threads();
	by_pointer();
	in_reduction();
	if (argc > 4)
		by_libraries_in_turn(argv[2], argv[4]);
	else
		by_library(argv[2], 0);
	in_child(argv[1]);
	AT(MPI_Finalize, ());
	write_places(argv[1]);
	return 0;
}
#endif
