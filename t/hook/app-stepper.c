/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-stepper ADDRESS FIRST STEP LAST PROGRAM ARGS...
 *
 * Runs PROGRAM and interrupts the function at ADDRESS after every STEP-th of
 * its instructions: each time PROGRAM says that a round begins (int3), the next
 * call of the function goes k instructions on, in single steps; then SIGUSR1 is
 * delivered. k is FIRST, FIRST + STEP ... until LAST or the function's return.
 * PROGRAM learns from rax whether there is another round. The exit status is
 * PROGRAM's, 99 if it was ended by a signal. x86-64 only.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static uintptr_t address;
static long saved; /* the word at address; its first byte becomes int3 */
static bool armed, done;
static long k, step, last, hits;

static void fail(const char *what)
{
	perror(what);
	exit(97);
}

static void arm(pid_t tid, bool on)
{
	long word;

	if (armed == on)
		return;
	errno = 0;
	if (on)
		saved = ptrace(PTRACE_PEEKTEXT, tid, address, 0);
	if (errno)
		fail("no such address");
	word = on ? (saved & ~0xffl) | 0xcc : saved;
	if (ptrace(PTRACE_POKETEXT, tid, address, word))
		fail("breakpoint");
	armed = on;
}

static long user(pid_t tid, size_t member)
{
	return ptrace(PTRACE_PEEKUSER, tid, offsetof(struct user, regs) + member, 0);
}

#define REGISTER(tid, name) user(tid, offsetof(struct user_regs_struct, name))
#define SET_REGISTER(tid, name, to)                                                                \
	ptrace(PTRACE_POKEUSER, tid,                                                               \
		offsetof(struct user, regs) + offsetof(struct user_regs_struct, name), to)

/* The tracee stands at the function's first instruction. Signal to go on with. */
static int walk(pid_t tid)
{
	long stack = REGISTER(tid, rsp), back = ptrace(PTRACE_PEEKDATA, tid, stack, 0);
	int status;

	hits++;
	for (long i = 0; i < k; i++) {
		if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid)
			fail("step");
		if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) {
			fprintf(stderr, "status %x after %ld steps\n", (unsigned)status, i);
			exit(96);
		}
		if (REGISTER(tid, rip) == back && REGISTER(tid, rsp) > stack) {
			done = true;
			return 0;
		}
	}
	k += step;
	done = k > last;
	return SIGUSR1;
}

/* Signal to go on with. */
static int on_trap(pid_t tid)
{
	if (armed && (uintptr_t)REGISTER(tid, rip) == address + 1) {
		arm(tid, false);
		SET_REGISTER(tid, rip, address);
		return walk(tid);
	}
	SET_REGISTER(tid, rax, (long)!done);
	arm(tid, !done);
	return 0;
}

static int serve(pid_t pid)
{
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		int signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;

		if (!WIFSTOPPED(status)) {
			if (tid == pid)
				return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
			continue;
		}
		if (signal == SIGTRAP)
			signal = status >> 16 ? 0 : on_trap(tid);
		else if (signal == SIGSTOP)
			signal = 0; /* a new thread */
		ptrace(PTRACE_CONT, tid, 0, signal);
	}
	return 98;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 6)
		return 2;
	address = strtoul(argv[1], NULL, 16);
	k = atol(argv[2]);
	step = atol(argv[3]);
	last = atol(argv[4]);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		execv(argv[5], argv + 5);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		fail(argv[5]);
	ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	ptrace(PTRACE_CONT, pid, 0, 0);
	status = serve(pid);
	fprintf(stderr, "%ld rounds, up to %ld instructions%s\n", hits, k,
		done ? "" : " (not all)");
	return status;
}
