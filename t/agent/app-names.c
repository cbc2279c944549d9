/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions whose names are a problem: `helper` is static here and in
 * app-names-other.c, `twin` is static there and global here. Calls, with
 * N = argv[1] (3 by default): main calls helper N times, other_work once and
 * twin twice; other_work calls its own helper 2 N times and its own twin once.
 * With a second argument the program first removes that file, or, given a
 * third, replaces it by that one: what it was run from is no longer there.
 */
#include <stdio.h>
#include <stdlib.h>

int other_work(int n);
int twin(int x);

static __attribute__((noinline)) int helper(int x)
{
	return x + 1;
}

__attribute__((noinline)) int twin(int x)
{
	return x * 2;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 3, sum = 0;

	if (argc > 3 ? rename(argv[3], argv[2]) : argc > 2 && remove(argv[2])) {
		perror(argv[2]);
		return 1;
	}
	for (int i = 0; i < n; i++)
		sum = helper(sum);
	sum += other_work(n);
	sum += twin(1) + twin(2);
	return sum == n + 2 * n + 3 + 2 + 4 ? 0 : 2;
}
