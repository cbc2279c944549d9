/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A C program whose profile is known: recursion of all kinds, function
 * pointers, longjmp, static functions, calls from qsort and from atexit's
 * neighbourhood. app-count FILE [REPEAT] writes its own counts to FILE.
 */
#include <setjmp.h>
#include "app-counter.h"

static volatile long sink;

KEEP static void leaf(void)
{
	COUNT("leaf");
	sink++;
}

static inline void inlined(int n)
{
	COUNT("inlined");
	for (int i = 0; i < n; i++)
		leaf();
}

KEEP static long fib(int n)
{
	COUNT("fib");
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

KEEP static int even(int n);

KEEP static int odd(int n)
{
	COUNT("odd");
	return n == 0 ? 0 : even(n - 1);
}

KEEP static int even(int n)
{
	COUNT("even");
	return n == 0 ? 1 : odd(n - 1);
}

/* a, a, b, a, a: folds where it is direct, and only there */
KEEP static void again(int n);

KEEP static void between(int n)
{
	COUNT("between");
	again(n);
}

KEEP static void again(int n)
{
	COUNT("again");
	if (n % 3 == 1)
		between(n - 1);
	else if (n > 0)
		again(n - 1);
	leaf();
}

KEEP static int compare(const void *a, const void *b)
{
	COUNT("compare");
	return *(const int *)a - *(const int *)b;
}

KEEP static void sorted(void)
{
	COUNT("sorted");
	int v[64];

	for (int i = 0; i < 64; i++)
		v[i] = (i * 37) % 64;
	qsort(v, 64, sizeof(v[0]), compare);
}

static void (*const pointers[])(void) = {leaf, sorted};

KEEP static void by_pointer(int n)
{
	COUNT("by_pointer");
	for (int i = 0; i < n; i++)
		pointers[i % 2]();
}

static jmp_buf back;

KEEP static void jumps(int n)
{
	COUNT("jumps");
	leaf();
	if (n < 0)
		return;
	if (n == 0)
		longjmp(back, 1);
	jumps(n - 1);
}

KEEP static void over(int n)
{
	COUNT("over");
	jumps(n);
}

KEEP static void catches(int n)
{
	COUNT("catches");
	int mark = counter_mark();
	volatile int left = n;

	if (setjmp(back))
		counter_jumped_to(mark);
	leaf();
	if (left-- > 0)
		over(left);
	inlined(2);
}

KEEP static void tail(int n)
{
	COUNT("tail");
	if (n)
		leaf();
}

int main(int argc, char **argv)
{
	int repeat = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;

	COUNT("main");
	if (argc < 2) {
		fprintf(stderr, "usage: app-count FILE [REPEAT]\n");
		return 2;
	}
	for (int i = 0; i < repeat; i++) {
		fib(12 + i % 3);
		even(30 + i);
		again(20);
		by_pointer(5);
		catches(4);
		inlined(3 + i);
		tail(i);
	}
	counter_write(argv[1], "w");
	return 0;
}
