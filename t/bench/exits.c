/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exits N: runs itself N times as a traced program of a million calls and prints
 * the median time from the last line of main to the end of the process, in
 * microseconds.
 */
#include <sys/wait.h>
#include <unistd.h>
#include "common.h"

enum { MAX_RUNS = 1000 };

static volatile long sink;

BENCHED static void leaf(void)
{
	sink++;
}

static UNTRACED int child(void)
{
	double end;

	for (int i = 0; i < 1000000; i++)
		leaf();
	end = now_s();
	return write(STDOUT_FILENO, &end, sizeof(end)) != sizeof(end);
}

static UNTRACED double run_once(const char *self)
{
	int fd[2], status;
	double end = 0, now;
	pid_t pid;

	if (pipe(fd))
		exit(99);
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		execl("/proc/self/exe", self, "child", (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(99);
	now = now_s();
	if (read(fd[0], &end, sizeof(end)) != sizeof(end))
		exit(99);
	close(fd[0]);
	return now - end;
}

static UNTRACED int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

UNTRACED int main(int argc, char **argv)
{
	static double t[MAX_RUNS];
	int n = argc > 1 ? atoi(argv[1]) : 20;

	if (argc > 1 && !strcmp(argv[1], "child"))
		return child();
	if (n < 1 || n > MAX_RUNS)
		return 2;
	for (int i = 0; i < n; i++)
		t[i] = run_once(argv[0]);
	qsort(t, (size_t)n, sizeof(t[0]), by_size);
	printf("%.1f\n", 1e6 * t[n / 2]);
	(void)report;
	return 0;
}
