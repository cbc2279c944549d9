/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 100 times: a function that a longjmp() has left, then what argv[1] says, which the program calls
 * of libvftrace or of the C library, then a function.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "vftrace.h"
#ifdef WITH_MPI
#include <mpi.h>
#endif

/* so its calls are main's */
#define INLINE __attribute__((no_instrument_function, always_inline)) inline

static jmp_buf back;
static FILE *file;
static void *volatile block;

__attribute__((noinline)) static void work(void)
{
	__asm__ volatile("");
}

__attribute__((noinline)) static void decode(void)
{
	longjmp(back, 1);
}

/* as a function of a library, it has no frame */
__attribute__((no_instrument_function, noinline)) static void close_file(void)
{
	fclose(file);
	__asm__ volatile("");
}

INLINE static void after_jump(const char *what)
{
	if (!strcmp(what, "file"))
		fclose(file);
	else if (!strcmp(what, "library"))
		close_file();
	else if (!strcmp(what, "memory"))
		free(block);
	else if (!strcmp(what, "io"))
		vftrace_io_end(VFTRACE_IO_READ, vftrace_io_begin(), 10);
	else if (!strcmp(what, "pause"))
		vftrace_pause(), vftrace_resume();
#ifdef WITH_MPI
	else if (!strcmp(what, "mpi"))
		MPI_Comm_rank(MPI_COMM_WORLD, &(int){0});
#endif
	else if (!strcmp(what, "stack"))
		free(vftrace_get_stack());
}

int main(int argc, char **argv)
{
#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
#endif
	for (int i = 0; argc > 1 && i < 100; i++) {
		if (!strcmp(argv[1], "file") || !strcmp(argv[1], "library"))
			file = fopen("/dev/null", "r");
		block = malloc(1000000);
		if (!setjmp(back))
			decode();
		after_jump(argv[1]);
		work();
	}
#ifdef WITH_MPI
	MPI_Finalize();
#endif
	return 0;
}
