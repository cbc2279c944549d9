/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-fork-stepped K: its third MPI_Comm_rank() runs in single steps, and after K of them a handler
 * forks; the child has an event in the handler, and then both go on. x86-64 only.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PLAIN	  __attribute__((no_instrument_function))
#define TRAP_FLAG 0x100L

static volatile int steps, last;
static volatile pid_t child = -1;

__attribute__((noinline)) void event(void)
{
	__asm__ volatile("");
}

PLAIN static void step(int signal, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	(void)signal, (void)info;
	if (++steps < last)
		return;
	at->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
	child = fork();
	if (!child)
		event();
}

PLAIN int main(int argc, char **argv)
{
	struct sigaction a = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
	int rank;

	last = atoi(argv[1]);
	MPI_Init(&argc, &argv);
	sigaction(SIGTRAP, &a, NULL);
	for (volatile int i = 0; i < 3; i++) {
		if (i == 2)
			__asm__ volatile("sub $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; "
					 "add $128, %%rsp" ::
						 : "memory", "cc");
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	}
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	MPI_Finalize();
	return child < 0;
}
