/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-rights FILE: what a traced program may do: it prints its own state and that of a child
 * that is executed, and then waits until FILE is there. With --children it ends instead.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* "NoNewPrivs: 0", "Seccomp: 0" of this process. */
void __attribute__((noinline)) say_state(const char *who)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NoNewPrivs:", 11) || !strncmp(line, "Seccomp:", 8))
			printf("%s %s", who, line);
	if (f)
		fclose(f);
	printf("%s %d\n", who, (int)geteuid());
}

/* By ptrace(), as debuggers do. */
int __attribute__((noinline)) traces_a_child(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status))
		return 0;
	ptrace(PTRACE_CONT, child, 0, 0);
	return waitpid(child, &status, 0) == child && WIFEXITED(status);
}

int main(int argc, char **argv)
{
	char *again[] = {argv[0], "--child", NULL};
	int status;
	pid_t child;

	if (argc > 1 && !strcmp(argv[1], "--child")) {
		say_state("child");
		return 0;
	}
	say_state("program");
	fflush(stdout);
	child = fork();
	if (!child) {
		execv("/proc/self/exe", again);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("traces %d\n", traces_a_child());
	fflush(stdout);
	while (argc > 1 && access(argv[1], F_OK))
		usleep(10000);
	return 0;
}
