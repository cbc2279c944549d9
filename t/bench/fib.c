/* SPDX-License-Identifier: BSD-3-Clause */
/* fib N [REPEAT]: recursion and nothing else. */
#include "common.h"

BENCHED static long fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

UNTRACED int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 27, repeat = argc > 2 ? atoi(argv[2]) : 10;
	double calls, from, best = 1e9;
	long a = 0, b = 1, sum = 0;

	for (int i = 0; i < n; i++) {
		long c = a + b;

		a = b;
		b = c;
	}
	calls = 2.0 * (double)b - 1;
	from = now_s();
	for (int i = 0; i < repeat; i++) {
		double t = now_s();

		sum += fib(n);
		t = (now_s() - t) / calls;
		best = t < best ? t : best;
	}
	report(calls * repeat, now_s() - from, best);
	return sum == 42;
}
